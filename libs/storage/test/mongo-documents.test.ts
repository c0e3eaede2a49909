/** Documents of MongoDB that another program made invalid: what reads them fails, says why once, and nothing else does. */

import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { type Db, Decimal128, Double, Int32, Long, MongoClient } from "mongodb";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import type { LimitWindow } from "../src/index.ts";
import { type MongoStore, openMongoStore } from "../src/mongo/index.ts";
import { rejection } from "./store-faults.ts";

let server: Mongodb;
let client: MongoClient;
let db: Db;
let store: MongoStore;
let reported: string[];

beforeAll(async () => {
  server = await startMongodb();
  client = await MongoClient.connect(server.url);
});
beforeEach(async () => {
  const database = `netfacts-test-${randomUUID()}`;
  db = client.db(database);
  reported = [];
  const onInvalid = ({ explanation }: Error & { readonly explanation: string }): void => void reported.push(explanation);
  // Outcomes, not times.
  store = await openMongoStore(server.database(database), { patience: 30, onInvalid });
});
afterEach(async () => {
  await store.close();
  await db.dropDatabase();
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const gold = { name: "gold", rate: { limit: 1_000, windowSeconds: 60 }, month: { limit: 5_000 }, concurrency: null, updatedAt: 10 };
const spec = { label: "a", scopes: ["ip"] as const };
const month: LimitWindow = { bucket: "7Q9M3W8K", policy: "month", start: 1_793_491_200, expiresAt: Date.UTC(2100, 0, 1) };

/** Of keys and plans: their ids are texts. */
const raw = (collection: string) => db.collection<{ _id: string }>(collection);

test.each([
  ["month.limit", { $set: { "month.limit": "1000" } }, "is a text"],
  ["month.limit", { $set: { "month.limit": Decimal128.fromString("1000") } }, "is a Decimal128"],
  ["month.limit", { $set: { "month.limit": 1.5 } }, "is 1.5"],
  ["month.limit", { $set: { "month.limit": 0 } }, "is 0"],
  ["month.limit", { $unset: { "month.limit": 1 } }, "is missing"],
  ["rate", { $set: { rate: null } }, "is null"],
  ["rate.windowSeconds", { $set: { "rate.windowSeconds": Long.fromString("9007199254740993") } }, "is a Long"],
  ["concurrency.limit", { $set: { concurrency: {} } }, "is missing"],
] as const)("a plan whose %s is changed by %j fails, and others do not", async (member, change, what) => {
  await store.plans.put(gold);
  await store.plans.put({ ...gold, name: "team" });
  await raw("plans").updateOne({ _id: "gold" }, change);
  const { fault, message } = await rejection(store.plans.find("gold"));
  expect([fault, message]).toEqual(["invalid", expect.stringContaining(`document "gold" of plans is not valid: ${member} must be`)]);
  expect(message).toMatch(new RegExp(`${what}; correct it in the database$`));
  expect((await store.plans.list()).map(({ name }) => name)).toEqual(["team"]);
  await rejection(store.plans.find("gold"));
  expect(reported).toEqual([expect.stringContaining(member)]);
});

test.each([
  ["Long", Long.fromNumber(1_000)],
  ["Double", new Double(1_000)],
  ["Int32", new Int32(1_000)],
])("a limit may be a %s", async (_type, limit) => {
  await store.plans.put(gold);
  await raw("plans").updateOne({ _id: "gold" }, { $set: { "month.limit": limit } });
  expect((await store.plans.find("gold"))?.month).toEqual({ limit: 1_000 });
});

test.each([
  ["state", { $set: { state: "Disabled" } }],
  ["expiresAt", { $set: { expiresAt: "2020-01-01" } }],
  ["expiresAt", { $unset: { expiresAt: 1 } }],
  ["validUntil", { $set: { validUntil: new Date() } }],
  ["scopes", { $unset: { scopes: 1 } }],
  ["allowedCidrs", { $set: { allowedCidrs: "192.0.2.0/24" } }],
  ["rate.limit", { $set: { rate: { limit: "abc", windowSeconds: 60 } } }],
  ["hash", { $set: { hash: 5 } }],
] as const)("a key whose %s is changed by %j fails, and lists have the others", async (member, change) => {
  const keys = [];
  for (let i = 0; i < 4; i++) keys.push((await createKey(store, spec)).key.id);
  const [first, bad, ...rest] = (await store.keys.list()).map(({ id }) => id);
  await raw("keys").updateOne({ _id: bad as string }, change);
  const { fault, explanation } = await rejection(store.keys.find(bad as string));
  expect([fault, explanation]).toEqual(["invalid", expect.stringMatching(`"${bad}" of keys is not valid: ${member} must be`)]);
  expect((await store.keys.list()).map(({ id }) => id)).toEqual([first, ...rest]);
  // A page of fewer is the last one.
  expect((await store.keys.page({ limit: 2 })).map(({ id }) => id)).toEqual([first, rest[0]]);
  expect((await store.keys.page({ limit: 4 })).map(({ id }) => id)).toEqual([first, ...rest]);
  expect(reported).toEqual([explanation]);
});

test("what earlier versions did not write may be missing", async () => {
  const { key } = await createKey(store, spec);
  await store.plans.put(gold);
  await raw("keys").updateOne({ _id: key.id }, { $unset: { concurrency: 1, rotatedAt: 1, steppingDown: 1 } });
  await raw("plans").updateOne({ _id: "gold" }, { $unset: { concurrency: 1 } });
  expect(await store.keys.find(key.id)).toEqual(key);
  expect(await store.plans.find("gold")).toEqual({ ...gold, version: 1 });
});

test.each([
  ["leased", "abc"],
  ["leased", null],
  ["leased", 2.5],
  ["held", { beef: "many" }],
  ["heldAt", { beef: "now" }],
  ["reserved", null],
] as const)("a counter whose %s is %j gives nothing out, and others do", async (member, value) => {
  const { limits } = store;
  const mark = (number: number) => ({ owner: "f00d", number });
  await limits.take(month, 10, 3, mark(1));
  await raw("limit_windows").updateOne({}, { $set: { [member]: value } });
  const cause = {
    fault: "invalid",
    explanation: expect.stringMatching(`"7Q9M3W8K:month:1793491200" of limit_windows is not valid: ${member}`),
  };
  expect(await limits.take(month, 10, 1, mark(2))).toMatchObject({ outcome: "unknown", cause });
  expect(await limits.recover(month, mark(2))).toMatchObject({ outcome: "unknown", cause });
  expect((await rejection(limits.read(month, "f00d"))).fault).toBe("invalid");
  expect(await limits.take({ ...month, bucket: "other" }, 10, 1, mark(3))).toMatchObject({ outcome: "granted" });
  expect(reported).toHaveLength(1);
});

test("a counter may be a floating-point number", async () => {
  await store.limits.take(month, 10, 3);
  await raw("limit_windows").updateOne({}, { $set: { leased: new Double(4) } });
  expect(await store.limits.take(month, 10, 3)).toMatchObject({ outcome: "granted", leased: 7 });
});
