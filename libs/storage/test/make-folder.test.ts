/** Folders that are made with those above them, or refused. */

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { makeFolder } from "../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("is made with all above it, of the mode that is asked for, and left as it is when it is there", () => {
  const wanted = join(folder, "a", "b", "c");
  makeFolder(wanted, 0o700);
  makeFolder(wanted);
  makeFolder(`${wanted}/`);
  for (const made of [join(folder, "a"), wanted]) expect(statSync(made).mode & 0o777).toBe(0o700);
});

test("may be reached over a link", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "link"));
  makeFolder(join(folder, "link"));
  makeFolder(join(folder, "link", "inside"));
  expect(existsSync(join(folder, "real", "inside"))).toBe(true);
});

test.each([
  ["a file", ["file"], "EEXIST"],
  ["in a file", ["file", "inside"], "ENOTDIR"],
])("is refused where it is %s", (_what, path, code) => {
  writeFileSync(join(folder, "file"), "");
  symlinkSync("nothing", join(folder, "nowhere"));
  expect(() => makeFolder(join(folder, ...path))).toThrow(expect.objectContaining({ code }));
});

/** `/proc` says of a new folder what other file systems say of one whose parent is missing; `/sys` refuses. */
test.each(["/proc/netfacts", "/proc/netfacts/a/b", "/proc/self/fd/netfacts", "/sys/netfacts"])(
  "is refused where none can be: %s",
  (path) => {
    expect(() => makeFolder(path)).toThrow(/^E[A-Z]+: .*, mkdir '\//);
  },
);

test.each([
  ["at", ["nowhere"]],
  ["behind", ["nowhere", "inside", "deeper"]],
])("is refused %s a link to nothing, whose target is named and not made", (_where, path) => {
  symlinkSync("/nothing", join(folder, "nowhere"));
  expect(() => makeFolder(join(folder, ...path))).toThrow(`${join(folder, "nowhere")} is a link to /nothing, which does not exist`);
});
