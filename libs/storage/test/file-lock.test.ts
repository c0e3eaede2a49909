/** Locks between processes. That they hold between processes: services/standalone/test/home.test.ts. */

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { tryFileLock } from "../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a lock is taken once, and again when it is released; nothing is written", () => {
  const path = join(folder, "a.lock");
  const release = tryFileLock(path);
  expect(tryFileLock(path)).toBeNull();
  expect(readdirSync(folder)).toEqual(["a.lock"]);
  release?.();
  const again = tryFileLock(path);
  expect(again).not.toBeNull();
  again?.();
  expect(statSync(path).size).toBe(0);
});

test("a lock whose release nobody refers to holds", async () => {
  const path = join(folder, "a.lock");
  expect(tryFileLock(path)).not.toBeNull();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round++) {
    collect();
    await sleep(10);
  }
  expect(tryFileLock(path)).toBeNull();
});

test("a lock that cannot be made names its file", () => {
  const path = join(folder, "none", "a.lock");
  expect(() => tryFileLock(path)).toThrow(`the lock ${path} cannot be acquired`);
});
