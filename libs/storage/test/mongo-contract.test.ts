/** The MongoDB store: the contract. */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import type { LimitWindow } from "../src/index.ts";
import { type MongoStore, openMongoStore } from "../src/mongo/index.ts";
import { describeObservations } from "./contract/observations.ts";
import { describeStore } from "./contract.ts";

let server: Mongodb;
let client: MongoClient;
let database: string | null = null;
const stores: MongoStore[] = [];

beforeAll(async () => {
  server = await startMongodb();
  client = await MongoClient.connect(server.url);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

async function open(): Promise<MongoStore> {
  database ??= `netfacts-test-${randomUUID()}`;
  // The contract is about outcomes, not about times.
  const store = await openMongoStore(server.database(database), { patience: 30 });
  stores.push(store);
  return store;
}

async function dispose(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  if (database !== null) await client.db(database).dropDatabase();
  database = null;
}

describeStore("MongoDB", { changesSeen: "own", open, dispose });
describeObservations("MongoDB", { open: async () => (await open()).observations, dispose });

const month: LimitWindow = { bucket: "7Q9M3W8K", policy: "month", start: 1_793_491_200, expiresAt: Date.UTC(2100, 0, 1) };

test("tells by its mark whether a change was done, as often as it is asked, and does none that was given up", async () => {
  const { limits } = await open();
  const other = (await open()).limits;
  const mark = (number: number) => ({ owner: "f00d", number });
  // One that made the counter, one that never arrived, and one that arrives late.
  expect(await limits.recover(month, mark(1))).toMatchObject({ outcome: "not-done", leased: 0 });
  expect(await limits.take(month, 10, 3, mark(1))).toMatchObject({ outcome: "does-not-fit", leased: 0 });
  expect(await limits.take(month, 10, 3, mark(2))).toMatchObject({ outcome: "granted", leased: 3 });
  // A second arrival of the same change, before anybody has asked for it.
  expect(await limits.take(month, 10, 3, mark(2))).toMatchObject({ outcome: "does-not-fit", leased: 3 });
  await other.take(month, 10, 2, { owner: "beef", number: 9 });
  for (let i = 0; i < 2; i++) expect(await limits.recover(month, mark(2))).toMatchObject({ outcome: "done", leased: 5 });
  // And after it.
  expect(await limits.take(month, 10, 3, mark(2))).toMatchObject({ outcome: "does-not-fit", leased: 5 });
  expect(await limits.recover(month, mark(3))).toMatchObject({ outcome: "not-done" });
  expect(await limits.giveBack(month, 1, mark(3))).toEqual({ outcome: "refused" });
  expect(await limits.giveBack(month, 1, mark(4))).toMatchObject({ outcome: "returned", leased: 4 });
  expect(await limits.recover(month, mark(4))).toMatchObject({ outcome: "done", leased: 4 });
  expect(await other.take(month, 10, 6, { owner: "beef", number: 10 })).toMatchObject({ outcome: "granted", leased: 10 });
});

test("tells what others hold, for a while, and nothing of one's own", async () => {
  const [{ limits }, { limits: other }] = [await open(), await open()];
  await limits.take(month, 500, 40, { owner: "f00d", number: 1, held: 37 });
  expect(await other.take(month, 500, 60, { owner: "beef", number: 1, held: 60 })).toMatchObject({ leased: 100, held: 37 });
  expect(await limits.read(month, "f00d")).toMatchObject({ leased: 100, held: 60 });
  expect(await limits.giveBack(month, 30, { owner: "f00d", number: 2, held: 7 })).toMatchObject({ leased: 70, held: 60 });
  expect(await other.recover(month, { owner: "beef", number: 2 })).toMatchObject({ outcome: "not-done", held: 7 });
  await client
    .db(database ?? "")
    .collection("limit_windows")
    .updateOne({}, { $set: { "heldAt.beef": new Date(0) } });
  expect(await limits.read(month, "f00d")).toMatchObject({ leased: 70, held: 0 });
});

test("tells what others may return, for a while, and nothing of one's own", async () => {
  const [{ limits }, { limits: other }] = [await open(), await open()];
  await limits.take(month, 500, 400, { owner: "f00d", number: 1, reserved: 400 });
  await other.take(month, 500, 100, { owner: "beef", number: 1, reserved: 70 });
  expect(await other.take(month, 500, 1, { owner: "beef", number: 2, reserved: 70 })).toMatchObject({
    left: 0,
    leased: 500,
    reserved: 400,
  });
  expect(await limits.giveBack(month, 300, { owner: "f00d", number: 2, reserved: 0 })).toMatchObject({ leased: 200, reserved: 70 });
  expect(await other.take(month, 500, 1, { owner: "beef", number: 3, reserved: 71 })).toMatchObject({ leased: 201, reserved: 0 });
  await client
    .db(database ?? "")
    .collection("limit_windows")
    .updateOne({}, { $set: { "reservedAt.beef": new Date(0) } });
  expect(await limits.take(month, 500, 1, { owner: "f00d", number: 3 })).toMatchObject({ leased: 202, reserved: 0 });
});

test("does not tell what others said before the clock of the server was set back", async () => {
  const { limits } = await open();
  await limits.take(month, 500, 70, { owner: "beef", number: 1, held: 60, reserved: 10 });
  expect(await limits.read(month, "f00d")).toMatchObject({ held: 60, reserved: 10 });
  const later = new Date(Date.now() + 300_000);
  await client
    .db(database ?? "")
    .collection("limit_windows")
    .updateOne({}, { $set: { "heldAt.beef": later, "reservedAt.beef": later } });
  expect(await limits.read(month, "f00d")).toMatchObject({ leased: 70, held: 0, reserved: 0 });
});
