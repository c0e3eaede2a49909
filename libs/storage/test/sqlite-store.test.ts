/** The SQLite store: the contract, and what only a file can suffer. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { createFirstKey, createKey } from "@netfacts/keys";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { limitFiles } from "../../../test/support/full-disk.ts";
import { type LimitWindow, openSqliteStore, type Store, StoreError } from "../src/index.ts";
import { eventLoopWaitMs, SqliteConnection } from "../src/sqlite/connection.ts";
import { openOwnFile } from "../src/sqlite/own-file.ts";
import { sqliteLimits } from "../src/sqlite/sqlite-limits.ts";
import { listSql } from "../src/sqlite/sqlite-usage.ts";
import { describeStore } from "./contract.ts";
import { rejection } from "./store-faults.ts";

let folder: string | null = null;
const open: Store[] = [];

function path(): string {
  folder ??= mkdtempSync(join(tmpdir(), "netfacts-store-"));
  return join(folder, "data", "store.sqlite");
}

async function openStore(options: { now?: () => number; check?: boolean } = {}): Promise<Store> {
  const store = await openSqliteStore(path(), options);
  open.push(store);
  return store;
}

async function dispose(): Promise<void> {
  await Promise.all(open.splice(0).map((store) => store.close()));
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
}

/** The fault and message with which opening fails. */
async function refusal(): Promise<{ fault: string; message: string }> {
  const error = await openStore().then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StoreError)) throw new Error(`expected a StoreError, got ${String(error)}`);
  expect(error.message).not.toContain("\n");
  expect(error.message).toContain(path());
  return { fault: error.fault, message: error.message };
}

describeStore("SQLite", { changesSeen: "any", open: openStore, dispose });

afterEach(dispose);

const counted = { bucket: "7Q9M3W8K", policy: "month", start: 0, expiresAt: Date.UTC(2100, 0, 1) };
const spec = { label: "a", scopes: ["ip"] as const };

test("a run whose report is damaged says so, and hides no other run", async () => {
  const { runs } = await openStore();
  for (const id of ["first", "second"]) await runs.save({ id, startedAt: 0, endedAt: 1, state: "succeeded", report: { snapshot: id } });
  const connection = new SqliteConnection(path());
  connection.run("UPDATE runs SET report = '{not json' WHERE id = 'first'");
  connection.close();
  const error = "the report of this run is damaged in the store";
  expect((await runs.list(9)).map(({ id, state, report }) => [id, state, report])).toEqual([
    ["second", "succeeded", { snapshot: "second" }],
    ["first", "succeeded", { error }],
  ]);
  expect((await runs.find("first"))?.report).toEqual({ error });
});

test.each([
  ["a key", {}],
  ["a kind of request of a key", { routeClass: "ip" }],
])("a page of the usage of %s is read in its order, and not sorted", async (_, of) => {
  await openStore();
  const connection = new SqliteConnection(path());
  const sql = `EXPLAIN QUERY PLAN ${listSql({ from: "2026-11-01", to: "2026-11-30", keyId: "7Q9M3W8K", ...of })}`;
  const steps = connection.all(sql, ...Array.from({ length: sql.split("?").length - 1 }, () => "1"));
  connection.close();
  expect(steps.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH usage USING PRIMARY KEY \(key_id=\? /)]);
});

test("others have the event loop while the usage of many keys is listed or summed", async () => {
  const { usage } = await openStore();
  const keys = Array.from({ length: 400 }, (_, index) => `K${String(index).padStart(7, "0")}`);
  const of = { bucket: "b", day: "2026-11-21", routeClass: "ip", counted: 1, uncounted: 0 };
  await usage.add({ writer: "one", sequence: 1, increments: keys.map((keyId) => ({ ...of, keyId })) });
  const turnsOf = async (work: Promise<unknown>): Promise<number> => {
    let turns = 0;
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await setImmediate();
      turns += 1;
    }
    await over;
    return turns;
  };
  const month = { from: "2026-11-01", to: "2026-11-30" };
  const without = { from: "2025-11-01", to: "2025-11-30" };
  for (const work of [
    () => usage.total(month),
    () => usage.list(month),
    () => usage.total(without),
    () => usage.list(without, { limit: 1 }),
  ])
    expect(await turnsOf(work())).toBeGreaterThan(10);
});

describe("the file", () => {
  test("is made with its folder, for its owner only", async () => {
    await openStore();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test("holds no secret", async () => {
    const store = await openStore();
    const created = await createFirstKey(store);
    await store.close();
    const secret = created?.secret.slice(17, 49) ?? "";
    expect(secret).toHaveLength(32);
    expect(readFileSync(path()).includes(secret)).toBe(false);
  });

  test("can be opened by many at once when it is new", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => openStore()));
    await createKey(stores[3] as Store, spec);
    expect(await stores[7]?.keys.list()).toHaveLength(1);
  });

  test("of an earlier version is brought up to date with what it holds", async () => {
    const store = await openStore();
    const { key } = await createKey(store, spec);
    await store.close();
    const old = new DatabaseSync(path());
    const later = [
      "usage",
      "usage_writers",
      "profiles",
      "audit",
      "leases",
      "plans",
      "idempotency",
      "as_statements",
      "as_statement_versions",
    ];
    for (const table of later) old.exec(`DROP TABLE ${table}`);
    for (const index of ["keys_by_creation", "keys_by_plan"]) old.exec(`DROP INDEX ${index}`);
    for (const column of ["concurrency_limit", "rotated_at", "stepping_down"]) old.exec(`ALTER TABLE keys DROP COLUMN ${column}`);
    old.exec("PRAGMA user_version = 1");
    old.close();
    const migrated = await openStore();
    expect(await migrated.keys.list()).toEqual([key]);
    expect(await migrated.leases.acquire("ingest", "a", 1_000)).toMatchObject({ outcome: "held" });
  });

  test("refuses changes of the audit, by whomever", async () => {
    const store = await openStore();
    await store.audit.append({ at: 1, actor: "cli", action: "key.create", target: null, address: null, keyId: null, details: null });
    await store.close();
    const other = new DatabaseSync(path());
    expect(() => other.exec("UPDATE audit SET actor = 'nobody'")).toThrow("only appended to");
    other.close();
  });

  test("forgets expired counters when it is opened", async () => {
    const store = await openStore();
    await store.limits.take({ bucket: "b", policy: "rate", start: 0, expiresAt: 1_000 }, 5, 5);
    const later = await openStore();
    expect(await later.limits.take({ bucket: "b", policy: "rate", start: 0, expiresAt: 1_000 }, 5, 5)).toMatchObject({
      outcome: "granted",
    });
  });
});

test("the lease of a dead owner ends in its time when the clock was set back, and not that of one who lives", async () => {
  let now = Date.UTC(2026, 10, 21);
  const { leases } = await openStore({ now: () => now });
  await leases.acquire("ingest", "dead", 15_000);
  now -= 3_600_000;
  expect(await leases.acquire("ingest", "next", 15_000)).toMatchObject({ outcome: "taken", lease: { until: now + 15_000 } });
  now += 15_000;
  expect(await leases.acquire("ingest", "next", 15_000)).toMatchObject({ outcome: "held", lease: { owner: "next", fence: 2 } });
  now -= 3_600_000;
  expect(await leases.renew("ingest", "next", 15_000)).toMatchObject({ outcome: "held", lease: { until: now + 15_000 } });
  expect(await leases.acquire("ingest", "third", 300)).toMatchObject({ outcome: "taken", lease: { owner: "next", until: now + 15_000 } });
});

test("counters of a month survive a start with the clock two years ahead, and go when there are those of two later months", async () => {
  const months = [0, 1, 24, 25].map((index) => ({
    ...{ bucket: "b", policy: "month", start: Date.UTC(2026, 10 + index) / 1_000, expiresAt: Date.UTC(2026, 11 + index) },
  }));
  const [november, december, ahead, afterAhead] = months as [LimitWindow, LimitWindow, LimitWindow, LimitWindow];
  const at = (window: LimitWindow) => ({ now: () => window.start * 1_000 + 1 });
  const leased = async (window: LimitWindow) => (await (await openStore(at(window))).limits.read(window)).leased;
  await (await openStore(at(november))).limits.take(november, 10, 3);
  await (await openStore(at(ahead))).limits.take(ahead, 10, 1);
  await openStore(at(ahead));
  expect(await leased(november)).toBe(3);
  await (await openStore(at(december))).limits.take(december, 10, 2);
  expect(await leased(november)).toBe(3);
  await (await openStore(at(afterAhead))).limits.take(afterAhead, 10, 1);
  await openStore(at(afterAhead));
  expect([await leased(november), await leased(december), await leased(ahead)]).toEqual([0, 0, 1]);
});

describe("a store that cannot be used says so in one line", () => {
  test("text in its place", async () => {
    await (await openStore()).close();
    writeFileSync(path(), "this is no database ".repeat(400));
    expect(await refusal()).toMatchObject({ fault: "damaged", message: expect.stringContaining("restore it from a backup") });
  });

  test("damaged pages", async () => {
    const store = await openStore();
    for (let i = 0; i < 60; i++) await createKey(store, { ...spec, label: "x".repeat(90) });
    await store.close();
    const file = openSync(path(), "r+");
    writeSync(file, Buffer.alloc(6_000, 0xa5), 0, 6_000, 4_096 * 3 + 100);
    expect(await refusal()).toMatchObject({ fault: "damaged" });
  });

  test("damaged pages, without a check: when they are read", async () => {
    const store = await openStore();
    for (let i = 0; i < 60; i++) await createKey(store, { ...spec, label: "x".repeat(90) });
    await store.close();
    const file = openSync(path(), "r+");
    const { size } = statSync(path());
    // The last pages are of the keys, which filled the file.
    writeSync(file, Buffer.alloc(4_096 * 3, 0xa5), 0, 4_096 * 3, size - 4_096 * 3);
    const unchecked = await openStore({ check: false });
    expect(await unchecked.plans.list()).toEqual([]);
    expect(await rejection(unchecked.keys.list())).toMatchObject({ fault: "damaged" });
  });

  test("cut short", async () => {
    const store = await openStore();
    for (let i = 0; i < 60; i++) await createKey(store, { ...spec, label: "x".repeat(90) });
    await store.close();
    truncateSync(path(), 4_096 * 2);
    expect(await refusal()).toMatchObject({ fault: "damaged" });
  });

  test("another program's database", async () => {
    await (await openStore()).close();
    rmSync(path());
    const other = new DatabaseSync(path());
    other.exec("CREATE TABLE theirs (a)");
    other.close();
    expect(await refusal()).toMatchObject({ fault: "foreign" });
  });

  test("written by a newer version", async () => {
    await (await openStore()).close();
    const database = new DatabaseSync(path());
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(await refusal()).toMatchObject({ fault: "newer", message: expect.stringContaining("schema version 99") });
  });

  test("a file where its folder should be", async () => {
    await (await openStore()).close();
    const error: unknown = await openSqliteStore(join(path(), "store.sqlite")).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ fault: "unavailable" });
  });

  test("held by another program", async () => {
    await (await openStore()).close();
    const holder = new DatabaseSync(path());
    holder.exec("BEGIN EXCLUSIVE");
    const held = await refusal();
    holder.close();
    expect(held).toMatchObject({ fault: "locked", message: expect.stringContaining("another program uses it") });
  });

  test("no permission to write", async () => {
    await (await openStore()).close();
    chmodSync(path(), 0o444);
    chmodSync(join(path(), ".."), 0o555);
    chmodSync(join(path(), "..", ".."), 0o755);
    const line = await text(opener().stdout as NonNullable<ChildProcess["stdout"]>);
    chmodSync(join(path(), ".."), 0o755);
    expect(line).toMatch(/^readonly: store .*; give this user write permission .*\n$/);
  });

  test("a full disk: the write fails, what was there stays, and space heals it", async () => {
    await (await openStore()).close();
    const connection = new SqliteConnection(path());
    connection.exec("CREATE TABLE ballast (bytes BLOB)");
    connection.exec("PRAGMA max_page_count = 40");
    const fill = (): number => connection.run("INSERT INTO ballast VALUES (zeroblob(1000000))");
    expect(fill).toThrow(StoreError);
    expect(fill).toThrow(/full; free some space/);
    expect(connection.get("SELECT count(*) AS n FROM ballast")).toMatchObject({ n: 0 });
    connection.exec("PRAGMA max_page_count = 4000");
    expect(fill()).toBe(1);
    connection.close();
  });

  test("a file that the first writes could not finish, as on a full disk, can be read by nobody else", async () => {
    await expect(openOwnFile(path(), "CREATE TABLE a (b); SELECT nothing", () => {})).rejects.toThrow();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test("a full disk at an open is told as such", async () => {
    await (await openStore()).close();
    const child = run(`
      import { once } from "node:events";
      import { openSqliteStore } from "@netfacts/storage";
      process.stdout.write("up\\n");
      await once(process.stdin, "data");
      process.stdout.write(await openSqliteStore(process.argv[1]).then(() => "opened", ({ fault, message }) => fault + ": " + message));
      process.exit();`);
    const out = child.stdout as NonNullable<ChildProcess["stdout"]>;
    await once(out, "data");
    const isLimited = limitFiles(child.pid as number, 4_096);
    child.stdin?.write("\n");
    const said = await text(out);
    if (isLimited) expect(said).toMatch(/^full: store .*: database or disk is full; free some space on its disk$/);
  });

  test.each([
    ["locked", (file: DatabaseSync) => file.exec("BEGIN IMMEDIATE"), (file: DatabaseSync) => file.exec("ROLLBACK")],
    ["readonly", null, null],
  ] as const)("%s: a lease that failed, and a return, have changed nothing, and are looked up as not done", async (fault, hold, letGo) => {
    await (await openStore()).close();
    const connection = new SqliteConnection(path());
    connection.exec("PRAGMA busy_timeout = 20");
    const limits = sqliteLimits(connection, Date.now);
    await limits.take(counted, 100, 10);
    const other = new DatabaseSync(path());
    if (hold === null) connection.exec("PRAGMA query_only = ON");
    else hold(other);
    expect(await limits.take(counted, 100, 5)).toMatchObject({ outcome: "unknown", cause: { fault } });
    expect(await limits.giveBack(counted, 5)).toMatchObject({ outcome: "unknown", cause: { fault } });
    await expect(limits.time()).rejects.toMatchObject({ fault });
    letGo?.(other);
    connection.exec("PRAGMA query_only = OFF");
    expect(other.prepare("SELECT leased FROM limit_windows").all()).toEqual([{ leased: 10 }]);
    expect(await limits.recover(counted, { owner: "f00d", number: 1 })).toMatchObject({ outcome: "not-done", leased: 10 });
    other.close();
    connection.close();
  });

  test("locked for long: one limit waits for it, the next ones fail at once, and one tries again after as long as the first waited", async () => {
    await (await openStore()).close();
    let now = 0;
    const connection = new SqliteConnection(path(), () => now);
    connection.exec("PRAGMA busy_timeout = 20");
    const limits = sqliteLimits(connection, Date.now);
    const other = new DatabaseSync(path());
    other.exec("BEGIN IMMEDIATE");
    const locked = { outcome: "unknown", cause: { fault: "locked" } };
    expect(await limits.take(counted, 100, 5)).toMatchObject(locked);
    other.exec("ROLLBACK");
    other.close();
    // Nobody asks the file.
    now = eventLoopWaitMs - 1;
    expect(await limits.take(counted, 100, 5)).toMatchObject(locked);
    now = eventLoopWaitMs;
    expect(await limits.take(counted, 100, 5)).toMatchObject({ outcome: "granted", leased: 5 });
    connection.close();
  });

  test("locked for a moment: writes that wait are done in the order of their calls", async () => {
    await (await openStore()).close();
    let now = 0;
    const connection = new SqliteConnection(path(), () => now);
    connection.exec("PRAGMA busy_timeout = 20");
    const other = new DatabaseSync(path());
    other.exec("BEGIN IMMEDIATE");
    const done: string[] = [];
    const write = (name: string): Promise<void> =>
      connection.patiently(() => {
        connection.exec("DELETE FROM runs");
        done.push(name);
      });
    const first = write("first");
    await setImmediate();
    other.exec("ROLLBACK");
    other.close();
    // The file is free before the first write tries it again.
    now = eventLoopWaitMs;
    await Promise.all([first, write("second")]);
    expect(done).toEqual(["first", "second"]);
    connection.close();
  });

  test("locked for a moment: what is no limit waits for it, and the event loop does not", async () => {
    const store = await openStore();
    const other = new DatabaseSync(path());
    other.exec("BEGIN IMMEDIATE");
    // A pause of the machine uses up none of the two seconds.
    let now = performance.now();
    const clock = jest.spyOn(performance, "now").mockImplementation(() => now);
    const made = createKey(store, { label: "a", scopes: ["ip"] });
    for (let attempt = 0; attempt < 3; attempt++) {
      await sleep(eventLoopWaitMs);
      now += eventLoopWaitMs;
    }
    other.exec("ROLLBACK");
    const { key } = await made;
    clock.mockRestore();
    expect(await store.keys.find(key.id)).toEqual(key);
    other.exec("BEGIN IMMEDIATE");
    expect((await rejection(createKey(store, { label: "b", scopes: ["ip"] }))).fault).toBe("locked");
    other.close();
  });

  test("full: leases that failed have changed nothing", async () => {
    await (await openStore()).close();
    const connection = new SqliteConnection(path());
    const limits = sqliteLimits(connection, Date.now);
    connection.exec("PRAGMA max_page_count = 1");
    let granted = 0;
    let take = await limits.take(counted, 100, 1);
    while (take.outcome === "granted") take = await limits.take({ ...counted, start: ++granted }, 100, 1);
    expect(take).toMatchObject({ outcome: "unknown", cause: { fault: "full" } });
    const failed = { ...counted, start: granted };
    expect(await limits.recover(failed, { owner: "f00d", number: 1 })).toMatchObject({ outcome: "not-done", leased: 0 });
    connection.exec("PRAGMA max_page_count = 4000");
    expect(connection.get("SELECT count(*) AS counters, sum(leased) AS units FROM limit_windows")).toEqual({
      counters: granted,
      units: granted,
    });
    expect(await limits.take(failed, 100, 1)).toMatchObject({ outcome: "granted", leased: 1 });
    connection.close();
  });

  test("a disk that fails: units whose return may have been written are lost, so that nobody spends them twice", async () => {
    await (await openStore()).close();
    const connection = new SqliteConnection(path());
    const limits = sqliteLimits(connection, Date.now);
    await limits.take(counted, 100, 10);
    connection.getNamed = () => {
      throw new StoreError("unavailable", path(), "disk I/O error");
    };
    expect(await limits.giveBack(counted, 5)).toEqual({ outcome: "refused" });
    connection.close();
  });

  test("moved away: nothing is written where nobody would find it; put back, it is written again", async () => {
    const store = await openStore();
    const window = { bucket: "b", policy: "rate", start: 0, expiresAt: 1 };
    await createKey(store, spec);
    const [data, away] = [dirname(path()), join(dirname(path()), "..", "away")];
    for (const replaces of [false, true]) {
      renameSync(data, away);
      if (replaces) await (await openSqliteStore(path())).close();
      await expect(createKey(store, spec)).rejects.toMatchObject({ fault: "readonly", message: expect.stringContaining("was moved") });
      expect(await store.limits.take(window, 5, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "readonly" } });
      expect(await store.limits.giveBack(window, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "readonly" } });
      await expect(store.limits.time()).rejects.toMatchObject({ fault: "readonly" });
      expect(await store.keys.list()).toHaveLength(1);
      rmSync(data, { recursive: true, force: true });
      renameSync(away, data);
    }
    await createKey(store, spec);
    expect(await store.keys.list()).toHaveLength(2);
  });

  test("closed: leases are unknown, all else rejects", async () => {
    const store = await openStore();
    await store.close();
    await expect(store.keys.list()).rejects.toMatchObject({ fault: "closed" });
    const window = { bucket: "b", policy: "rate", start: 0, expiresAt: 1 };
    expect(await store.limits.take(window, 5, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "closed" } });
    expect(await store.limits.giveBack(window, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "closed" } });
    await expect(store.limits.time()).rejects.toMatchObject({ fault: "closed" });
  });
});

describe("processes", () => {
  test("a key written just before kill -9 is there", async () => {
    const program = `
      import { createKey } from "@netfacts/keys";
import { openSqliteStore } from "@netfacts/storage";
      const store = await openSqliteStore(process.argv[1]);
      const { key } = await createKey(store, { label: "killed", scopes: ["ip"] });
      process.stdout.write(key.id);
      process.kill(process.pid, "SIGKILL");`;
    const child = run(program);
    const [id] = await Promise.all([text(child.stdout as NonNullable<ChildProcess["stdout"]>), once(child, "exit")]);
    expect((await (await openStore()).keys.find(id))?.label).toBe("killed");
  });

  test("listening does not keep a process alive", async () => {
    const child = run(`
      import { openSqliteStore } from "@netfacts/storage";
      (await openSqliteStore(process.argv[1])).onChange(() => {});`);
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

function run(program: string): ChildProcess {
  return spawn(process.execPath, ["--conditions=source", "--input-type=module", "--eval", program, path()], {
    cwd: import.meta.dirname,
    env: { ...compileCache, NODE_NO_WARNINGS: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/**
 * Opens the store as a user who may only read: ourselves, or nobody when we are root, whom permissions do not stop.
 * The child becomes nobody only once it runs: another user may be unable to read Node or this checkout.
 */
function opener(): ChildProcess {
  return run(`
    import { openSqliteStore } from "@netfacts/storage";
    if (process.getuid?.() === 0) process.seteuid(65_534);
    try { await openSqliteStore(process.argv[1]); console.log("opened"); }
    catch (error) { console.log(error.fault + ": " + error.message); }`);
}
