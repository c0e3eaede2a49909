/** Copies of a store in a database: taken while it is used, put into another one, and what keys, limits, usage and the audit are then. */

import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import { createKey, revokeKey } from "@netfacts/keys";
import { Collection, Long, MongoClient, MongoNetworkError } from "mongodb";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import type { ObservationRepository, ObservationRow, Store, StoredRow, StoreError } from "../src/index.ts";
import { CopyWriter } from "../src/mongo/copy-file.ts";
import { backUpMongoObservations, backUpMongoStore, type MongoStore, openMongoStore, restoreMongoStore } from "../src/mongo/index.ts";
import { MongoConnection } from "../src/mongo/mongo-connection.ts";
import { rejection } from "./store-faults.ts";

let server: Mongodb;
let raw: MongoClient;
let folder: string;
let round = 0;
const file = randomUUID().slice(0, 8);
const stores: Store[] = [];
beforeAll(async () => {
  server = await startMongodb();
  raw = await MongoClient.connect(server.url);
});
afterAll(async () => {
  await raw?.close();
  await server?.stop();
});
beforeEach(() => {
  round += 1;
  folder = mkdtempSync(join(tmpdir(), "netfacts-copies-"));
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const name of ["from", "to"]) await raw.db(databaseOf(name)).dropDatabase();
  rmSync(folder, { recursive: true });
});

const now = Date.UTC(2026, 10, 21, 9);
const databaseOf = (side: string) => `${side}-${round}-${file}`;
const from = () => server.database(databaseOf("from"));
const to = () => server.database(databaseOf("to"));
const copy = () => join(folder, "copy.ndjson");
const month = { bucket: "7Q9M3W8K", policy: "month", start: Date.UTC(2026, 10, 1) / 1_000, expiresAt: Date.UTC(2100, 0, 1) };
const usage = { keyId: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-21", routeClass: "ip", counted: 40, uncounted: 2 };
const days = { from: "2026-11-01", to: "2026-11-30" };

async function open(uri: string): Promise<MongoStore> {
  const store = await openMongoStore(uri, { patience: 30 });
  stores.push(store);
  return store;
}

test("a copy has keys in every state, plans, limits, usage and the audit, and only its owner may read it", async () => {
  const store = await open(from());
  const { key, secret } = await createKey(store, { label: "siem", scopes: ["ip"] });
  const { key: revoked } = await createKey(store, { label: "old", scopes: ["ip"] });
  await revokeKey(store, revoked.id);
  const limits = { rate: { limit: 600, windowSeconds: 60 }, month: { limit: 100 }, concurrency: null };
  const plan = await store.plans.put({ name: "team", ...limits, updatedAt: now });
  await store.limits.take(month, 100, 40);
  await store.usage.add({ writer: "one", sequence: 1, increments: [usage] });
  const profile = { asn: 3333, profile: { website: "https://example.net" }, source: "a.csv", updatedAt: now };
  await store.profiles.put(profile);
  const entry = await store.audit.append({
    at: now,
    actor: "cli:a",
    action: "key.create",
    target: key.id,
    address: "cli",
    keyId: null,
    details: { a: [1] },
  });
  await store.bootstrap.claim(key.id);
  expect(await backUpMongoStore(from(), copy(), now)).toBe(8);
  expect(statSync(copy()).mode & 0o777).toBe(0o600);
  expect(readFileSync(copy(), "utf8")).not.toContain(secret.slice(17, -4));
  await store.limits.take(month, 100, 60);

  await restoreMongoStore(copy(), to(), { now });
  const copied = await open(to());
  expect(await copied.keys.find(key.id)).toEqual(key);
  expect(await copied.keys.find(revoked.id)).toMatchObject({ state: "revoked" });
  expect(await copied.plans.list()).toEqual([plan]);
  expect(await copied.profiles.list(10)).toEqual([profile]);
  expect(await copied.audit.list({ limit: 10 })).toEqual([entry]);
  expect(await copied.bootstrap.read()).toBe(key.id);
  expect(await copied.usage.list(days)).toEqual([usage]);
  // 64-bit counters come back as such, and times as what the server itself takes counters away by.
  const [original, counter] = await Promise.all(
    ["from", "to"].map((name) => raw.db(databaseOf(name)).collection("limit_windows").findOne({}, { promoteLongs: false })),
  );
  expect([counter?.leased, counter?.expiresAt]).toEqual([Long.fromNumber(40), original?.expiresAt]);
  expect(original?.expiresAt.getTime()).toBeGreaterThan(month.expiresAt);
  // What was leased by then is not given again.
  expect(await copied.limits.take(month, 100, 61)).toMatchObject({ outcome: "does-not-fit", leased: 40 });
  expect(await copied.limits.take(month, 100, 60)).toMatchObject({ outcome: "granted", leased: 100 });
  // A batch that was in the copy is known, and counted once.
  await copied.usage.add({ writer: "one", sequence: 1, increments: [usage] });
  await copied.usage.add({ writer: "one", sequence: 2, increments: [usage] });
  expect(await copied.usage.total(days)).toEqual({ counted: 80, uncounted: 4 });
});

test("a copy of more than fits one page is whole", async () => {
  const store = await open(from());
  const increments = Array.from({ length: 401 }, (_, at) => ({ ...usage, keyId: `K${at}` }));
  await store.usage.add({ writer: "one", sequence: 1, increments });
  expect(await backUpMongoStore(from(), copy(), now)).toBe(401);
  expect(await restoreMongoStore(copy(), to(), { now })).toEqual({ documents: 401, replaced: null, replacedObservations: null });
  expect(await (await open(to())).usage.list(days)).toEqual(await store.usage.list(days));
});

test("a database that is not empty is refused, and replaced when that is said: what it was is kept as a copy", async () => {
  const store = await open(from());
  await createKey(store, { label: "copied", scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  const other = await open(to());
  const { key } = await createKey(other, { label: "there", scopes: ["ip"] });
  expect(await restoreMongoStore(copy(), to(), { now })).toBeNull();
  expect((await other.keys.list()).map(({ label }) => label)).toEqual(["there"]);

  const replacedTo = join(folder, "replaced.ndjson");
  expect(await restoreMongoStore(copy(), to(), { now, replacedTo })).toEqual({
    documents: 1,
    replaced: replacedTo,
    replacedObservations: null,
  });
  expect((await other.keys.list()).map(({ label }) => label)).toEqual(["copied"]);
  await restoreMongoStore(replacedTo, to(), { now, replacedTo: join(folder, "again.ndjson") });
  expect(await other.keys.find(key.id)).toEqual(key);
});

test("a restore that meets what another program wrote ends, and its half is opened by nobody", async () => {
  const writer = await CopyWriter.create(copy(), now);
  // As if the second were written by a gateway in the meantime.
  for (const label of ["a", "b"]) await writer.write("keys", { _id: "7Q9M3W8K", label });
  await writer.end();
  expect(await rejection(restoreMongoStore(copy(), to(), { now }))).toMatchObject({ fault: "locked" });
  expect((await rejection(openMongoStore(to()))).message).toContain("is only partly restored");
});

test("a store that is only partly restored is opened by nobody, and whole after another restore", async () => {
  const store = await open(from());
  await createKey(store, { label: "copied", scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  await open(to());
  // As a restore leaves it that was killed.
  await raw.db(databaseOf("to")).collection<{ _id: string }>("markers").insertOne({ _id: "restoring" });
  await raw.db(databaseOf("to")).collection<{ _id: string }>("keys").insertOne({ _id: "HALFHALF" });
  const refused = await rejection(openMongoStore(to()));
  expect([refused.fault, refused.message]).toEqual(["unavailable", expect.stringContaining("run `netfacts restore` again")]);
  expect((await rejection(backUpMongoStore(to(), join(folder, "half"), now))).fault).toBe("unavailable");
  expect(await restoreMongoStore(copy(), to(), { now })).toEqual({ documents: 1, replaced: null, replacedObservations: null });
  expect((await (await open(to())).keys.list()).map(({ label }) => label)).toEqual(["copied"]);
});

/** Does something once, before a command first reads the keys of a database. */
function beforeKeysAreRead(name: string, act: () => Promise<unknown>, after = 0): { readonly mockRestore: () => void } {
  let left = after;
  const { find } = Collection.prototype;
  return jest.spyOn(Collection.prototype, "find").mockImplementation(function (this: Collection, ...given: unknown[]) {
    const cursor = find.apply(this, given as never);
    if (this.collectionName !== "keys" || this.dbName !== databaseOf(name) || left-- !== 0) return cursor;
    const { toArray } = cursor;
    cursor.toArray = async () => {
      await act();
      return await toArray.call(cursor);
    };
    return cursor;
  } as never);
}

test("a restore that another one overtakes ends, and leaves what that one restored", async () => {
  const store = await open(from());
  await createKey(store, { label: "first", scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  await createKey(store, { label: "second", scopes: ["ip"] });
  const later = join(folder, "later.ndjson");
  await backUpMongoStore(from(), later, now);
  // The first reading finds the database empty, the second is of the keys to delete.
  const spy = beforeKeysAreRead("to", () => restoreMongoStore(later, to(), { now }), 1);
  const refused = await rejection(restoreMongoStore(copy(), to(), { now }));
  spy.mockRestore();
  expect([refused.fault, refused.message]).toEqual(["locked", expect.stringContaining("is being restored by another process; wait")]);
  expect((await (await open(to())).keys.list()).map(({ label }) => label)).toEqual(["first", "second"]);
});

test("of two restores into an empty database at the same time, one is refused before it writes anything", async () => {
  const store = await open(from());
  await createKey(store, { label: "copied", scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  const restoring = { _id: "restoring", by: "another" };
  const spy = beforeKeysAreRead("to", () => raw.db(databaseOf("to")).collection<{ _id: string }>("markers").insertOne(restoring));
  expect(await rejection(restoreMongoStore(copy(), to(), { now }))).toMatchObject({ fault: "locked" });
  spy.mockRestore();
  expect(await raw.db(databaseOf("to")).collection("keys").countDocuments()).toBe(0);
  expect(await raw.db(databaseOf("to")).collection<{ _id: string }>("markers").findOne({ _id: "restoring" })).toEqual(restoring);
});

test("a restore keeps its copy of the content when the answer to its mark is lost: the next one makes none", async () => {
  await createKey(await open(from()), { label: "first", scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  await createKey(await open(to()), { label: "kept", scopes: ["ip"] });
  const { insertOne } = Collection.prototype;
  const spy = jest.spyOn(Collection.prototype, "insertOne").mockImplementation(async function (this: Collection, ...given: unknown[]) {
    await insertOne.apply(this, given as never);
    throw new MongoNetworkError("connection closed");
  } as never);
  const replacedTo = join(folder, "replaced.ndjson");
  await expect(restoreMongoStore(copy(), to(), { now, replacedTo })).rejects.toThrow("connection closed");
  spy.mockRestore();
  expect(await restoreMongoStore(copy(), to(), { now, replacedTo: join(folder, "second.ndjson") })).toMatchObject({ replaced: null });
  expect(readFileSync(replacedTo, "utf8")).toContain('"kept"');
});

test("a database whose restore begins during a backup is not copied", async () => {
  const store = await open(from());
  await createKey(store, { label: "copied", scopes: ["ip"] });
  const restoring = { _id: "restoring" };
  const spy = beforeKeysAreRead("from", () => raw.db(databaseOf("from")).collection<{ _id: string }>("markers").insertOne(restoring));
  expect((await rejection(backUpMongoStore(from(), copy(), now))).message).toContain(
    "is only partly restored; wait for the running restore",
  );
  spy.mockRestore();
  expect(existsSync(copy())).toBe(false);
});

test("backups and restores have as much patience with a busy database as other commands", async () => {
  const given = new Set<number>();
  const { within } = MongoConnection.prototype;
  const spy = jest.spyOn(MongoConnection.prototype, "within").mockImplementation(function (this: MongoConnection, timeoutMs, work) {
    given.add(this.patience);
    return within.call(this, timeoutMs, work) as never;
  });
  await backUpMongoStore(from(), copy(), now);
  await restoreMongoStore(copy(), to(), { now });
  await backUpMongoObservations(to(), `${copy()}.observations`, now);
  spy.mockRestore();
  expect([...given]).toEqual([4]);
});

test("neither takes what is no whole copy, and nothing of it is written", async () => {
  const store = await open(from());
  for (const label of ["a", "b"]) await createKey(store, { label, scopes: ["ip"] });
  await backUpMongoStore(from(), copy(), now);
  const lines = readFileSync(copy(), "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  const faultOf = async (text: string): Promise<string> => {
    const path = join(folder, "wrong");
    writeFileSync(path, text);
    return ((await rejection(restoreMongoStore(path, to(), { now }))) as StoreError).fault;
  };
  const text = `${lines.join("\n")}\n`;
  expect(await faultOf("")).toBe("foreign");
  expect(await faultOf("SQLite format 3\0\n")).toBe("foreign");
  expect(await faultOf('{"netfacts_store_copy":1}\n')).toBe("foreign");
  expect(await faultOf(text.replace('"schema":1', '"schema":2'))).toBe("newer");
  expect(await faultOf(text.replace('"netfacts_store_copy":1', '"netfacts_store_copy":2'))).toBe("newer");
  expect(await faultOf(text.replace('"label":"a"', '"label":"c"'))).toBe("damaged");
  expect(await faultOf(`${lines.slice(0, 3).join("\n")}\n`)).toBe("damaged");
  expect(await faultOf(`${[lines[0], lines[1], lines[3]].join("\n")}\n`)).toBe("damaged");
  expect(await faultOf(text.slice(0, text.length / 2))).toBe("damaged");
  expect(await faultOf(`${text}${lines[1]}\n`)).toBe("damaged");
  expect((await rejection(restoreMongoStore(join(folder, "none"), to(), { now }))).fault).toBe("unavailable");
  expect(await raw.db(databaseOf("to")).collections()).toEqual([]);

  appendFileSync(join(folder, "there"), "x");
  expect((await rejection(backUpMongoStore(from(), join(folder, "there"), now))).message).toContain("already exists");
  expect(readFileSync(join(folder, "there"), "utf8")).toBe("x");
  expect((await rejection(backUpMongoStore("mongodb://127.0.0.1:9/none", join(folder, "away"), now))).fault).toBe("unavailable");
  expect([existsSync(join(folder, "away")), readdirSync(folder).sort()]).toEqual([false, ["copy.ndjson", "there", "wrong"]]);
});

const begun = { offset: 0, checksum: 0, lines: 0, rows: 0, bad: 0, badLines: [], header: null, complete: false };

/** Another upload of so many rows, which is not complete. */
async function upload(to: ObservationRepository, id: string, rows: number) {
  const made = Array.from({ length: rows }, (_, at): ObservationRow => {
    const prefix = makePrefix(4, 0xc0000200 + at, 0, 0, 0, 32);
    return {
      line: at + 1,
      prefix,
      country: "NL",
      region: null,
      city: `C${at}`,
      latitude: 52.5,
      longitude: 4,
      accuracyKm: 1,
      observedAt: at,
      method: "gps",
    };
  });
  const begunUpload = await to.begin({ id, format: "ndjson", source: "probes", keyId: null }, now);
  return to.store(begunUpload, made, { ...begun, offset: 10 * rows, lines: rows, rows }, now);
}

async function rowsOf(repository: ObservationRepository): Promise<StoredRow[]> {
  const all: StoredRow[] = [];
  for await (const group of repository.all()) all.push(...group);
  return all;
}

test("uploaded observations have a copy of their own, and an upload resumes where it was", async () => {
  const store = await open(from());
  const rows = `${copy()}.observations`;
  expect(await backUpMongoObservations(from(), rows, now)).toBeNull();
  expect(existsSync(rows)).toBe(false);

  const first = await upload(store.observations, "first", 2_005);
  await upload(store.observations, "second", 3);
  await createKey(store, { label: "copied", scopes: ["ip"] });
  expect(await backUpMongoStore(from(), copy(), now)).toBe(1);
  expect(await backUpMongoObservations(from(), rows, now)).toBe(2 + 2_008 + 1);
  expect(statSync(rows).mode & 0o777).toBe(0o600);

  const restored = await restoreMongoStore(copy(), to(), { now, observations: rows });
  expect(restored).toEqual({ documents: 1, replaced: null, replacedObservations: null });
  const { observations } = await open(to());
  expect(await rowsOf(observations)).toEqual(await rowsOf(store.observations));
  expect(await observations.find("first")).toEqual(first);
  // Rows that no run has seen, whatever was seen before in that database.
  expect(await observations.revision()).toBeGreaterThan(now);
  const again = await observations.begin({ id: "third", format: "csv", source: "x", keyId: null }, now);
  expect(again.number).toBe(3);
});

/** Copies a store with one upload of two rows. @returns the path of the copied observations */
async function copyWithUpload(store: MongoStore): Promise<string> {
  const rows = `${copy()}.observations`;
  await upload(store.observations, "copied", 2);
  await backUpMongoStore(from(), copy(), now);
  await backUpMongoObservations(from(), rows, now);
  return rows;
}

test("observations of a database are replaced only when that is said, and stay when the copy has none", async () => {
  const [store, other] = [await open(from()), await open(to())];
  const rows = await copyWithUpload(store);
  await upload(other.observations, "there", 1);
  expect(await restoreMongoStore(copy(), to(), { now, observations: rows })).toBeNull();
  expect((await other.observations.uploads(9)).map(({ id }) => id)).toEqual(["there"]);

  expect(await restoreMongoStore(copy(), to(), { now })).toEqual({ documents: 0, replaced: null, replacedObservations: null });
  expect((await other.observations.uploads(9)).map(({ id }) => id)).toEqual(["there"]);

  const replacedTo = join(folder, "replaced");
  const replacedObservations = `${replacedTo}.observations`;
  expect(await restoreMongoStore(copy(), to(), { now, observations: rows, replacedTo })).toEqual({
    documents: 0,
    replaced: null,
    replacedObservations,
  });
  expect((await rowsOf(other.observations)).map(({ city }) => city)).toEqual(["C0", "C1"]);
  await restoreMongoStore(copy(), to(), { now: now + 1, observations: replacedObservations, replacedTo: join(folder, "again") });
  expect((await other.observations.uploads(9)).map(({ id }) => id)).toEqual(["there"]);
});

/** A copy that ends a restore at its second document: the state is that of a restore that was killed. */
async function endingCopy(path: string, collection: string): Promise<string> {
  const writer = await CopyWriter.create(path, now);
  for (const city of ["a", "b"]) await writer.write(collection, { _id: 1, city });
  await writer.end();
  return path;
}

test("observations that an interrupted restore has begun to replace are not left half by a copy that has none", async () => {
  const store = await open(from());
  const rows = await copyWithUpload(store);
  const ending = await endingCopy(join(folder, "ending"), "observations");
  expect((await rejection(restoreMongoStore(copy(), to(), { now, observations: ending }))).fault).toBe("locked");

  const refused = await rejection(restoreMongoStore(copy(), to(), { now }));
  expect([refused.fault, refused.message]).toEqual([
    "unavailable",
    expect.stringContaining("uploaded observations are only partly restored"),
  ]);
  expect((await rejection(openMongoStore(to()))).message).toContain("is only partly restored");
  await restoreMongoStore(copy(), to(), { now, observations: rows });
  const { observations } = await open(to());
  expect(await rowsOf(observations)).toEqual(await rowsOf(store.observations));
});

test("observations that an interrupted restore leaves unchanged are replaced only when that is said, and copied first", async () => {
  const [store, other] = [await open(from()), await open(to())];
  const rows = await copyWithUpload(store);
  await upload(other.observations, "there", 1);
  const ending = await endingCopy(join(folder, "ending"), "keys");
  expect((await rejection(restoreMongoStore(ending, to(), { now }))).fault).toBe("locked");

  expect(await restoreMongoStore(copy(), to(), { now, observations: rows })).toBeNull();
  expect((await rowsOf(other.observations)).map(({ city }) => city)).toEqual(["C0"]);
  const replacedTo = join(folder, "replaced");
  expect(await restoreMongoStore(copy(), to(), { now, observations: rows, replacedTo })).toMatchObject({
    replaced: null,
    replacedObservations: `${replacedTo}.observations`,
  });
  expect(readFileSync(`${replacedTo}.observations`, "utf8")).toContain('"there"');
  expect((await other.observations.uploads(9)).map(({ id }) => id)).toEqual(["copied"]);
});

test("rows of an upload that begins during the copy are left out, and a damaged copy changes nothing", async () => {
  const store = await open(from());
  const rows = `${copy()}.observations`;
  await upload(store.observations, "copied", 2);
  // As when it begins after the uploads were read.
  const late = { _id: 2 ** 30 * 5 + 1, prefix: "4c000020020" };
  await raw.db(databaseOf("from")).collection<{ _id: number }>("observations").insertOne(late);
  await backUpMongoStore(from(), copy(), now);
  expect(await backUpMongoObservations(from(), rows, now)).toBe(1 + 2 + 1);

  const text = readFileSync(rows, "utf8");
  writeFileSync(rows, text.replace('"C1"', '"C2"'));
  expect((await rejection(restoreMongoStore(copy(), to(), { now, observations: rows }))).message).toContain("digest");
  writeFileSync(rows, text);
  expect((await rejection(restoreMongoStore(rows, to(), { now }))).message).toContain("has documents of uploads");
  expect(await raw.db(databaseOf("to")).collections()).toEqual([]);
});
