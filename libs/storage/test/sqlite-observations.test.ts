/** Observations in an SQLite file: the contract, and what is particular to the file. */

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "@jest/globals";
import { parsePrefix } from "@netfacts/address";
import {
  backUpSqliteObservations,
  backUpSqliteStore,
  type ObservationStore,
  openSqliteObservations,
  openSqliteStore,
  restoreSqlite,
  StoreError,
  type UploadRecord,
} from "../src/index.ts";
import { describeObservations } from "./contract/observations.ts";

let folder: string | null = null;
const stores: ObservationStore[] = [];

function path(): string {
  folder ??= mkdtempSync(join(tmpdir(), "netfacts-observations-"));
  return join(folder, "observations.sqlite");
}

async function open(): Promise<ObservationStore> {
  const store = await openSqliteObservations(path());
  stores.push(store);
  return store;
}

async function dispose(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
}

afterEach(dispose);

describeObservations("SQLite", { open, dispose });

test("the file can be read by its owner only", async () => {
  await open();
  expect(statSync(path()).mode & 0o077).toBe(0);
});

test("a folder that cannot be made is reported as a fault of the store", async () => {
  await open();
  const error = await openSqliteObservations(join(path(), "observations.sqlite")).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ name: "StoreError", fault: "unavailable" });
});

test("a file that another process makes at the same time is waited for", async () => {
  const other = new DatabaseSync(path());
  // As while another process switches the new file to WAL mode.
  other.exec("BEGIN IMMEDIATE; CREATE TABLE half (id INTEGER)");
  const opening = open();
  await new Promise((resolve) => setImmediate(resolve));
  other.exec("ROLLBACK");
  other.close();
  expect(await (await opening).rowCount()).toBe(0);
});

test("a checksum counts for the bytes that it is of: an earlier program stores more and leaves it, or makes a file without it", async () => {
  const store = await open();
  const upload = await store.begin({ id: "one", format: "csv", source: "probes", keyId: null }, 1);
  const progress = { ...upload, offset: 20, checksum: 7, lines: 2 };
  expect(await store.store(upload, [], progress, 2)).toMatchObject({ offset: 20, checksum: 7 });
  const earlier = new DatabaseSync(path());
  earlier.exec("UPDATE uploads SET stored_bytes = 30, lines = 3");
  expect(await store.find("one")).toMatchObject({ offset: 30, checksum: null });
  earlier.exec("ALTER TABLE uploads DROP COLUMN checksum; ALTER TABLE uploads DROP COLUMN checksum_bytes");
  earlier.close();
  await Promise.all(stores.splice(0).map((each) => each.close()));
  expect(await (await open()).find("one")).toMatchObject({ offset: 30, checksum: null });
});

test("a new file has pages of 1 KiB, and one that has pages of 4 KiB keeps them and its rows", async () => {
  const pageBytes = () => readFileSync(path()).readUInt16BE(16);
  await (await open()).begin({ id: "one", format: "csv", source: "probes", keyId: null }, 1);
  await Promise.all(stores.splice(0).map((store) => store.close()));
  expect(pageBytes()).toBe(1_024);
  const database = new DatabaseSync(path());
  database.exec("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM");
  database.close();
  expect(await (await open()).find("one")).toMatchObject({ number: 1, source: "probes" });
  expect(pageBytes()).toBe(4_096);
});

test("a copy made during an upload has the rows and the progress of one moment, and the upload resumes from it", async () => {
  const store = await open();
  const begun = await store.begin({ id: "one", format: "csv", source: "probes", keyId: null }, 1);
  const reading = parsePrefix("192.0.2.0/24");
  if (!reading.ok) throw new Error("no prefix");
  const { prefix } = reading;
  const said = { country: "NL", region: null, city: null, latitude: null, longitude: null, accuracyKm: null, observedAt: 5, method: null };
  const rows = (from: number) => Array.from({ length: 100 }, (_, at) => ({ line: from + at, prefix, ...said }));
  const progress = (parts: number) => ({
    offset: parts * 1_000,
    checksum: parts,
    lines: parts * 100,
    rows: parts * 100,
    bad: 0,
    badLines: [],
    header: "h",
    complete: parts === 2,
  });
  const half = (await store.store(begun, rows(1), progress(1), 2)) as UploadRecord;
  const copy = join(folder ?? "", "copy");
  backUpSqliteObservations(path(), copy);
  expect(statSync(copy).mode & 0o077).toBe(0);
  await store.store(half, rows(101), progress(2), 3);
  const keys = join(folder ?? "", "keys");
  await (await openSqliteStore(keys)).close();
  backUpSqliteStore(keys, `${keys}-copy`);
  const restore = () => restoreSqlite({ copy: `${keys}-copy`, path: keys }, { copy, path: path() }, 0).replacedObservations as string;
  expect(restore).toThrow(expect.objectContaining({ fault: "locked" }));
  expect(await store.rowCount()).toBe(200);
  await stores.pop()?.close();
  const replaced = restore();
  const restored = await open();
  expect([await restored.rowCount(), await restored.find("one")]).toEqual([100, half]);
  await restored.store(half, rows(101), progress(2), 3);
  expect(await restored.rowCount()).toBe(200);
  const before = await openSqliteObservations(replaced);
  stores.push(before);
  expect(await before.rowCount()).toBe(200);
  await (await openSqliteStore(join(folder ?? "", "keys"))).close();
  expect(() => backUpSqliteObservations(join(folder ?? "", "keys"), join(folder ?? "", "no"))).toThrow(
    expect.objectContaining({ fault: "foreign" }),
  );
});

test("a store of keys is not taken for one of observations, and not changed", async () => {
  await (await openSqliteStore(path())).close();
  const error = await openSqliteObservations(path()).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).fault).toBe("foreign");
  await (await openSqliteStore(path())).close();
});
