/** The shared store of the one-process form: the contract, and what becomes of files that cannot be used. */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { openSqliteStore } from "../../src/shared/sqlite-store.ts";
import { becomes, describeSharedStore } from "./contract.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "netfacts-answers-"));
const settings = { bytesMax: 1_048_576, ageMaxSeconds: 3_600, clock: { now: () => Date.now() }, onFault: () => undefined };

describeSharedStore("shared answers in a file", async () => {
  const folder = newFolder();
  return {
    open: async (options) => openSqliteStore({ ...settings, path: join(folder, "answers.sqlite"), ...options }),
    remove: async () => rmSync(folder, { recursive: true }),
  };
});

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a damaged file is made anew", async () => {
  const path = join(folder, "answers.sqlite");
  writeFileSync(path, "this is no database, and longer than the header of one: ".repeat(50));
  const faults: string[] = [];
  const store = openSqliteStore({ ...settings, path, onFault: (reason) => faults.push(reason) });
  store.put("a.b", "kept");
  await becomes(store, "a.b", "kept");
  expect(faults).toEqual([expect.stringMatching(/not a database/)]);
  await store.close();
});

test("only the owner may read the file and its logs, also those that an earlier version made", async () => {
  const path = join(folder, "answers.sqlite");
  await openSqliteStore({ ...settings, path }).close();
  chmodSync(path, 0o644);
  const store = openSqliteStore({ ...settings, path });
  store.put("a.b", "kept");
  await becomes(store, "a.b", "kept");
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
  expect(modes).toEqual(["", "-shm", "-wal"].map((suffix) => [`answers.sqlite${suffix}`, 0o600]));
  await store.close();
});

test("where no file can be made, nothing is kept, and reading says so", async () => {
  const faults: string[] = [];
  const store = openSqliteStore({ ...settings, path: join(folder, "missing", "answers.sqlite"), onFault: (reason) => faults.push(reason) });
  store.put("a.b", "lost");
  await expect(store.get("a.b", 10)).rejects.toThrow("cannot be used");
  expect(faults.length).toBeGreaterThan(0);
  await store.close();
});

test("a file that could not be used is opened again after a while", async () => {
  const missing = join(folder, "missing");
  const store = openSqliteStore({ ...settings, path: join(missing, "answers.sqlite"), retryMs: 20 });
  await expect(store.get("a.b", 10)).rejects.toThrow("cannot be used");
  mkdirSync(missing);
  await until(async () => {
    store.put("a.b", "kept");
    return (await store.get("a.b", 10).catch(() => null)) === "kept";
  });
  await store.close();
  expect(readdirSync(missing)).toEqual(["answers.sqlite"]);
});

test("a file that disappears while it is used does no harm", async () => {
  const path = join(folder, "answers.sqlite");
  const store = openSqliteStore({ ...settings, path });
  store.put("a.b", "kept");
  await becomes(store, "a.b", "kept");
  for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) rmSync(path + suffix);
  chmodSync(folder, 0o500);
  store.put("a.c", "later");
  expect(await store.get("a.c", 10)).toBe("later");
  await sleep(200);
  // Written or not, it answers what it has or says that it cannot.
  expect(await store.get("a.b", 10).catch((error: Error) => error.message)).toMatch(/^kept$|cannot be used/);
  await store.close();
  chmodSync(folder, 0o700);
});
