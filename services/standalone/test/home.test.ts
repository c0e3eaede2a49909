/** The hold on the state folder. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { HomeTakenError, takeHome } from "../src/home.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-home-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const ownerFile = () => join(folder, "owner.json");

test("is taken once, names where its owner answers, and leaves nothing when it is released", () => {
  const home = takeHome(folder, "http://127.0.0.1:0");
  home.answersAt("http://127.0.0.1:8080");
  expect(() => takeHome(folder, "http://127.0.0.1:1")).toThrow(`in use by process ${process.pid} (http://127.0.0.1:8080)`);
  expect(() => takeHome(folder, "http://127.0.0.1:1")).toThrow(HomeTakenError);
  home.release();
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["of a process that is gone", JSON.stringify({ pid: 2 ** 22 + 1, started: "1", url: "http://x" })],
  ["of an earlier process with the number of a living one", JSON.stringify({ pid: process.pid, started: "1", url: "http://x" })],
  ["that a crash cut short", '{"pid":'],
])("the mark %s is taken over", (_whose, text) => {
  writeFileSync(ownerFile(), text);
  const home = takeHome(folder, "http://127.0.0.1:8080");
  expect(JSON.parse(readFileSync(ownerFile(), "utf8")).pid).toBe(process.pid);
  home.release();
});

test("the mark of another process is not removed", () => {
  const home = takeHome(folder, "http://127.0.0.1:8080");
  writeFileSync(ownerFile(), JSON.stringify({ pid: 1, started: null, url: "http://other" }));
  home.release();
  expect(readdirSync(folder)).toEqual(["owner.json"]);
});
