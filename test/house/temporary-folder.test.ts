/** Temporary files of tests are in memory if there is room, and on the disk otherwise. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const gibibyte = 2 ** 30;
const tmpfs = 0x01021994;
const ext4 = 0xef53;
const own = process.env.TMPDIR;
let parent: string;
let memory: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "netfacts-temporary-"));
  memory = join(parent, "memory");
  mkdirSync(memory);
});
afterEach(() => {
  if (own === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = own;
  rmSync(parent, { recursive: true });
});

/** @returns the parent of the folder that a run gets. */
function parentOf({ type = tmpfs, folderGibibytes = 9, freeGibibytes = 9, folder = memory, temporary = "" }): string {
  if (temporary === "") delete process.env.TMPDIR;
  else process.env.TMPDIR = temporary;
  const made = makeTemporaryFolder({
    folder,
    fileSystem: () => ({ type, freeBytes: folderGibibytes * gibibyte }),
    freeBytes: () => freeGibibytes * gibibyte,
  });
  expect(statSync(made).mode & 0o777).toBe(0o755);
  if (dirname(made) !== memory) rmSync(made, { recursive: true });
  return dirname(made);
}

test("the folder is in memory if that has 8 GiB of room", () => {
  expect(parentOf({})).toBe(memory);
});

test("the folder is on the disk if the file system, the memory or the user's choice says so", () => {
  delete process.env.TMPDIR;
  const disk = tmpdir();
  expect(parentOf({ type: ext4 })).toBe(disk);
  expect(parentOf({ folderGibibytes: 7 })).toBe(disk);
  expect(parentOf({ freeGibibytes: 7 })).toBe(disk);
  expect(parentOf({ folder: join(parent, "missing") })).toBe(disk);
  expect(parentOf({ temporary: parent })).toBe(parent);
});

test("a folder that a killed run left a day ago is removed", () => {
  const left = join(memory, "netfacts-test-left");
  const recent = join(memory, "netfacts-test-recent");
  const foreign = join(memory, "foreign");
  for (const folder of [left, recent, foreign]) mkdirSync(folder);
  const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
  for (const folder of [left, foreign]) utimesSync(folder, twoDaysAgo, twoDaysAgo);
  parentOf({});
  expect([left, recent, foreign].map((folder) => existsSync(folder))).toEqual([false, true, true]);
});
