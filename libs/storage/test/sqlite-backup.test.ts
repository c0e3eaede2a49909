/** Copies of a SQLite store: taken while it is used, put back, and what limits and usage are then. */

import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { tryFileLock } from "../src/file-lock.ts";
import {
  backUpSqliteObservations,
  backUpSqliteStore,
  openSqliteObservations,
  openSqliteStore,
  restoreSqlite,
  type Store,
} from "../src/index.ts";
import { fileError } from "../src/store-error.ts";

let folder: string;
const stores: Store[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-backup-"));
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  rmSync(folder, { recursive: true });
});

const path = (): string => join(folder, "store.sqlite");
const copy = (): string => join(folder, "copy.sqlite");
const now = Date.UTC(2026, 10, 21, 9);
const restoreStore = (copy: string, path: string) => restoreSqlite({ copy, path }, null, now).replaced;
const month = { bucket: "7Q9M3W8K", policy: "month", start: Date.UTC(2026, 10, 1) / 1_000, expiresAt: Date.UTC(2100, 0, 1) };
const usage = { keyId: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-21", routeClass: "ip", counted: 40, uncounted: 2 };

async function open(file = path()): Promise<Store> {
  const store = await openSqliteStore(file, { now: () => now });
  stores.push(store);
  return store;
}

async function close(store: Store): Promise<void> {
  stores.splice(stores.indexOf(store), 1);
  await store.close();
}

/** So that pages before it, which opening reads, are whole. */
function overwritePage(file: string, page: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xff, 4_096 * (page - 1), 4_096 * page);
  writeFileSync(file, bytes);
}

test("a copy of a store in use has its keys, limits and usage, and only its owner may read it", async () => {
  const store = await open();
  const { key } = await createKey(store, { label: "siem", scopes: ["ip"] });
  await store.limits.take(month, 100, 40);
  await store.usage.add({ writer: "one", sequence: 1, increments: [usage] });
  backUpSqliteStore(path(), copy());
  expect(statSync(copy()).mode & 0o777).toBe(0o600);
  await store.limits.take(month, 100, 60);
  const copied = await open(copy());
  expect(await copied.keys.find(key.id)).toEqual(key);
  expect(await copied.limits.read(month)).toMatchObject({ leased: 40 });
  expect(await copied.usage.list({ from: "2026-11-01", to: "2026-11-30" })).toEqual([usage]);
});

test("neither the store nor a copy of it holds a key, but for its id and its last four characters", async () => {
  const store = await open();
  const created = await Promise.all(["a", "b"].map((label) => createKey(store, { label, scopes: ["ip"] })));
  backUpSqliteStore(path(), copy());
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  for (const { key, secret } of created) {
    expect(files.filter((text) => text.includes(key.hash)).length).toBeGreaterThan(0);
    for (let at = secret.lastIndexOf("_") + 1; at + 8 <= secret.length - 4; at++)
      expect(files.filter((text) => text.includes(secret.slice(at, at + 8)))).toEqual([]);
  }
});

test("a restored copy counts on from its moment: what was leased by then is not given again, what was leased since is", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  await store.usage.add({ writer: "one", sequence: 1, increments: [usage] });
  backUpSqliteStore(path(), copy());
  await store.limits.take(month, 100, 50);
  await store.usage.add({ writer: "one", sequence: 2, increments: [usage] });
  await close(store);
  const replaced = restoreStore(copy(), path());
  expect(replaced).toBe(`${path()}.replaced-20261121T090000Z`);
  const restored = await open();
  expect(await restored.limits.take(month, 100, 61)).toMatchObject({ outcome: "does-not-fit", left: 60, leased: 40 });
  expect(await restored.limits.take(month, 100, 60)).toMatchObject({ outcome: "granted", leased: 100 });
  // A writer that was there before is known: neither twice nor too little.
  await restored.usage.add({ writer: "one", sequence: 1, increments: [usage] });
  await restored.usage.add({ writer: "one", sequence: 2, increments: [usage] });
  expect(await restored.usage.total({ from: "2026-11-01", to: "2026-11-30" })).toEqual({ counted: 80, uncounted: 4 });
  const before = await open(replaced ?? "");
  expect(await before.limits.read(month)).toMatchObject({ leased: 90 });
});

test("what a copy replaced is not replaced itself, however soon the next one comes", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  backUpSqliteStore(path(), copy());
  await store.limits.take(month, 100, 50);
  await close(store);
  const names = [1, 2, 3].map(() => restoreStore(copy(), path()) ?? "");
  expect(names).toEqual(["", "-2", "-3"].map((number) => `${path()}.replaced-20261121T090000Z${number}`));
  expect(await (await open(names[0])).limits.read(month)).toMatchObject({ leased: 90 });
  expect(await (await open()).limits.read(month)).toMatchObject({ leased: 40 });
});

test("both files that were replaced together have the same ending", async () => {
  await close(await open());
  backUpSqliteStore(path(), copy());
  const observations = { copy: join(folder, "copy.sqlite.observations"), path: join(folder, "observations.sqlite") };
  await (await openSqliteObservations(observations.path)).close();
  backUpSqliteObservations(observations.path, observations.copy);
  restoreSqlite({ copy: copy(), path: path() }, null, now);
  const second = restoreSqlite({ copy: copy(), path: path() }, observations, now);
  expect(second.replaced).toMatch(/store\.sqlite\.replaced-20261121T090000Z-2$/);
  expect(second.replacedObservations).toMatch(/observations\.sqlite\.replaced-20261121T090000Z-2$/);
});

test("a store in a folder where this user may not write is neither copied nor replaced, and the messages say why", async () => {
  await close(await open());
  backUpSqliteStore(path(), copy());
  for (const file of [path(), copy()]) chmodSync(file, 0o444);
  chmodSync(folder, 0o555);
  const program = `
    import { backUpSqliteStore, restoreSqlite } from "@netfacts/storage";
    if (process.getuid?.() === 0) process.setuid(65_534);
    const [path, copy] = process.argv.slice(1);
    for (const work of [() => backUpSqliteStore(path, copy + ".2"), () => restoreSqlite({ copy, path }, null, 0)])
      try { work(); }
      catch (error) { process.stdout.write(error.message + "\\n"); }`;
  const args = ["--conditions=source", "--input-type=module", "--disable-warning=ExperimentalWarning", "--eval", program, path(), copy()];
  const said = execFileSync(process.execPath, args, { encoding: "utf8", cwd: import.meta.dirname });
  chmodSync(folder, 0o755);
  expect(said).toBe(
    `store ${path()}: cannot be read, because ${folder} is not writable by this user; copy the whole folder to where this user may write, and back that copy up\n` +
      `store ${path()}: EACCES: permission denied, open '${folder}/restore.lock'; give this user write permission to the file and its folder\n`,
  );
});

test("a store that somebody has open is not replaced, and not changed", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  backUpSqliteStore(path(), copy());
  await store.limits.take(month, 100, 1);
  expect(() => restoreStore(copy(), path())).toThrow(expect.objectContaining({ fault: "locked" }));
  expect(await store.limits.read(month)).toMatchObject({ leased: 41 });
  expect(readdirSync(folder).filter((name) => name.includes("restoring") || name.includes("replaced"))).toEqual([]);
});

test("a lost or damaged store is replaced too", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  backUpSqliteStore(path(), copy());
  await close(store);
  writeFileSync(path(), "this was a database once".repeat(1_000));
  expect(restoreStore(copy(), path())).not.toBeNull();
  rmSync(path());
  expect(restoreStore(copy(), path())).toBeNull();
  expect(await (await open()).limits.read(month)).toMatchObject({ leased: 40 });
});

test("what a lost store left of its write-ahead log is not replayed into the copy", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  backUpSqliteStore(path(), copy());
  await store.limits.take(month, 100, 50);
  // As after a crash: the log is there, and its database is gone.
  copyFileSync(`${path()}-wal`, join(folder, "wal"));
  await close(store);
  rmSync(path());
  copyFileSync(join(folder, "wal"), `${path()}-wal`);
  expect(restoreStore(copy(), path())).toBeNull();
  expect(await (await open()).limits.read(month)).toMatchObject({ leased: 40 });
});

test("neither takes what is no whole store, and a copy is never written over a file", async () => {
  const store = await open();
  await createKey(store, { label: "siem", scopes: ["ip"] });
  backUpSqliteStore(path(), copy());
  const fault = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return (error as { fault?: unknown }).fault;
    }
  };
  expect(fault(() => backUpSqliteStore(path(), copy()))).toBe("unavailable");
  expect(fault(() => backUpSqliteStore(join(folder, "none.sqlite"), join(folder, "b")))).toBe("unavailable");
  const foreign = join(folder, "foreign.sqlite");
  const other = new DatabaseSync(foreign);
  other.exec("CREATE TABLE t (a)");
  other.close();
  expect(fault(() => backUpSqliteStore(foreign, join(folder, "b")))).toBe("foreign");
  expect(fault(() => restoreStore(foreign, path()))).toBe("foreign");
  const newer = new DatabaseSync(copy());
  newer.exec("PRAGMA user_version = 999");
  newer.close();
  expect(fault(() => restoreStore(copy(), path()))).toBe("newer");
  for (const damage of [() => overwritePage(copy(), 3), () => truncateSync(copy(), 8_192)]) {
    rmSync(copy());
    backUpSqliteStore(path(), copy());
    damage();
    expect(fault(() => restoreStore(copy(), path()))).toBe("damaged");
  }
  expect(
    readdirSync(folder)
      .sort()
      .filter((name) => !/-(wal|shm)$/.test(name)),
  ).toEqual(["copy.sqlite", "foreign.sqlite", "store.sqlite"]);
});

/** Both are in use, and copies of both of an earlier moment are there. */
async function openBoth() {
  const store = await open();
  await store.limits.take(month, 100, 40);
  const file = join(folder, "observations.sqlite");
  const observations = await openSqliteObservations(file);
  const upload = (id: string) => observations.begin({ id, format: "csv", source: "test", keyId: null }, now);
  await upload("before");
  backUpSqliteStore(path(), copy());
  backUpSqliteObservations(file, `${copy()}.observations`);
  await store.limits.take(month, 100, 50);
  await upload("since");
  const files = [
    { copy: copy(), path: path() },
    { copy: `${copy()}.observations`, path: file },
  ] as const;
  return { store, observations, files };
}

/** What is in the two files now. */
async function contents(file: string) {
  const observations = await openSqliteObservations(file);
  const uploads = (await observations.uploads(10)).map(({ id }) => id).sort();
  await observations.close();
  return { leased: (await (await open()).limits.read(month))?.leased, uploads };
}

const leftovers = () => readdirSync(folder).filter((name) => /restoring|replaced/.test(name));

test("store and observations are replaced together", async () => {
  const { store, observations, files } = await openBoth();
  await close(store);
  await observations.close();
  expect(restoreSqlite(...files, now)).toEqual({
    replaced: `${path()}.replaced-20261121T090000Z`,
    replacedObservations: `${files[1].path}.replaced-20261121T090000Z`,
  });
  expect(await contents(files[1].path)).toEqual({ leased: 40, uploads: ["before"] });
});

test.each([0, 1] as const)("neither of two files is replaced while copy %i is damaged", async (damaged) => {
  const { store, observations, files } = await openBoth();
  await close(store);
  await observations.close();
  writeFileSync(files[damaged].copy, "some other file".repeat(1_000));
  expect(() => restoreSqlite(...files, now)).toThrow("nothing was changed; restore another copy");
  expect(leftovers()).toEqual([]);
  expect(await contents(files[1].path)).toEqual({ leased: 90, uploads: ["before", "since"] });
});

test.each(["store", "observations"] as const)("neither of two files is replaced while somebody has the %s open", async (used) => {
  const { store, observations, files } = await openBoth();
  if (used === "store") await observations.close();
  else await close(store);
  expect(() => restoreSqlite(...files, now)).toThrow(expect.objectContaining({ fault: "locked" }));
  expect(leftovers()).toEqual([]);
  if (used === "store") await close(store);
  else await observations.close();
  expect(await contents(files[1].path)).toEqual({ leased: 90, uploads: ["before", "since"] });
});

test("if the second file cannot be put in its place, the first is put back", async () => {
  const { store, observations, files } = await openBoth();
  await close(store);
  await observations.close();
  const [, { path: file }] = files;
  rmSync(file);
  // A log that cannot be removed.
  mkdirSync(`${file}-wal`);
  expect(() => restoreSqlite(...files, now)).toThrow(expect.objectContaining({ fault: "unavailable" }));
  expect(leftovers()).toEqual([]);
  rmSync(`${file}-wal`, { recursive: true });
  expect(await contents(file)).toEqual({ leased: 90, uploads: [] });
});

test("a store that an interrupted restore has moved away is not replaced by an empty one", async () => {
  const { store, observations, files } = await openBoth();
  await close(store);
  await observations.close();
  const openers = [() => openSqliteStore(path()), () => openSqliteObservations(files[1].path)];
  for (const [index, { copy, path: file }] of files.entries()) {
    // As after a kill between the two renames.
    copyFileSync(copy, `${file}.restoring`);
    renameSync(file, `${file}.replaced-20261121T080000Z`);
    await expect(openers[index]?.()).rejects.toThrow("is missing, because a restore was interrupted; run `netfacts restore` again");
    expect(existsSync(file)).toBe(false);
  }
  expect(restoreSqlite(...files, now)).toEqual({ replaced: null, replacedObservations: null });
  expect(await contents(files[1].path)).toEqual({ leased: 40, uploads: ["before"] });
});

test.each([0, 1, 2, 3])(
  "a restore that is killed after %i of its 4 renames leaves both files as they were, or no store that opens",
  async (renames) => {
    const { store, observations, files } = await openBoth();
    await close(store);
    await observations.close();
    const program = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    import { restoreSqlite } from "@netfacts/storage";
    const { renameSync } = fs;
    let left = ${renames};
    fs.renameSync = (...given) => (left-- === 0 ? process.kill(process.pid, "SIGKILL") : renameSync(...given));
    syncBuiltinESMExports();
    restoreSqlite(...${JSON.stringify(files)}, ${now});`;
    const args = ["--conditions=source", "--input-type=module", "--disable-warning=ExperimentalWarning", "--eval", program];
    expect(spawnSync(process.execPath, args, { cwd: import.meta.dirname })).toMatchObject({ signal: "SIGKILL" });
    if (renames === 0) expect(await contents(files[1].path)).toEqual({ leased: 90, uploads: ["before", "since"] });
    else await expect(open()).rejects.toThrow("is missing, because a restore was interrupted; run `netfacts restore` again");
    for (const other of stores.splice(0)) await other.close();
    restoreSqlite(...files, now);
    expect(await contents(files[1].path)).toEqual({ leased: 40, uploads: ["before"] });
    expect(leftovers().filter((name) => name.includes("restoring"))).toEqual([]);
  },
);

test("of two restores at the same time, the second changes nothing", async () => {
  await close(await open());
  backUpSqliteStore(path(), copy());
  writeFileSync(`${path()}.restoring`, "half of the other one's copy");
  const unlock = tryFileLock(join(folder, "restore.lock"));
  expect(() => restoreStore(copy(), path())).toThrow("is being restored by another process; wait until that restore has ended");
  expect(readFileSync(`${path()}.restoring`, "utf8")).toBe("half of the other one's copy");
  unlock?.();
  expect(restoreStore(copy(), path())).not.toBeNull();
});

test("a store is restored on a new machine, into a folder that only its owner may enter", async () => {
  const store = await open();
  await store.limits.take(month, 100, 40);
  backUpSqliteStore(path(), copy());
  const elsewhere = join(folder, "new", "state");
  writeFileSync(join(folder, "no-store"), "some other file\n".repeat(100));
  expect(() => restoreStore(join(folder, "no-store"), join(elsewhere, "store.sqlite"))).toThrow("is not a database");
  expect(readdirSync(folder)).not.toContain("new");
  expect(restoreStore(copy(), join(elsewhere, "store.sqlite"))).toBeNull();
  expect(statSync(elsewhere).mode & 0o777).toBe(0o700);
  expect(await (await open(join(elsewhere, "store.sqlite"))).limits.read(month)).toMatchObject({ leased: 40 });
});

test.each(["ENOSPC", "EDQUOT", "EFBIG"])("a copy that cannot be written because of %s asks for space", (code) => {
  expect(fileError(path(), Object.assign(new Error(code), { code })).message).toContain("free some space");
});
