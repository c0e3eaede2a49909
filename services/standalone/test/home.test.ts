/** The hold on the state folder. */

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { forkTestProgram } from "../../../test/support/programs.ts";
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
  // The file of the lock, which nobody holds.
  expect(readdirSync(folder)).toEqual(["owner.lock"]);
  takeHome(folder, "http://127.0.0.1:1").release();
});

test.each([
  ["of a process that is gone", JSON.stringify({ pid: 2 ** 22 + 1, url: "http://x" })],
  ["of an earlier process with the number of a living one", JSON.stringify({ pid: process.pid, url: "http://x" })],
  ["that a crash cut short", '{"pid":'],
])("the mark %s is taken over", (_whose, text) => {
  writeFileSync(ownerFile(), text);
  const home = takeHome(folder, "http://127.0.0.1:8080");
  expect(JSON.parse(readFileSync(ownerFile(), "utf8")).pid).toBe(process.pid);
  home.release();
});

test("the mark of another process is not removed", () => {
  const home = takeHome(folder, "http://127.0.0.1:8080");
  writeFileSync(ownerFile(), JSON.stringify({ pid: 1, url: "http://other" }));
  home.release();
  expect(readdirSync(folder)).toEqual(["owner.json", "owner.lock"]);
});

test("a folder that is held is not taken whatever the mark says: in another container, the number of its owner is nobody's", () => {
  const home = takeHome(folder, "http://127.0.0.1:8080");
  writeFileSync(ownerFile(), JSON.stringify({ pid: 2 ** 22 + 1, url: "http://x" }));
  expect(() => takeHome(folder, "http://127.0.0.1:1")).toThrow(`in use by process ${2 ** 22 + 1} (http://x)`);
  rmSync(ownerFile());
  expect(() => takeHome(folder, "http://127.0.0.1:1")).toThrow("in use by another process; stop it");
  home.release();
});

/** Processes that take the folder at the same time. */
async function takers(count: number): Promise<{ readonly said: string; readonly child: ChildProcess }[]> {
  const children = Array.from({ length: count }, () => forkTestProgram("services/standalone/test/home-process.ts", [folder]));
  return await Promise.all(children.map(async (child) => ({ said: String((await once(child, "message"))[0]), child })));
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

test("of processes that start at the same time after a crash, one has the folder, until it is killed", async () => {
  for (let round = 0; round < 3; round++) {
    writeFileSync(ownerFile(), JSON.stringify({ pid: 2 ** 22 + 1, url: "http://x" }));
    const found = await takers(4);
    const owners = found.filter(({ said }) => said === "taken");
    try {
      expect(owners.length).toBe(1);
      expect(() => takeHome(folder, "http://127.0.0.1:1")).toThrow(`in use by process ${owners[0]?.child.pid} (http://127.0.0.1:8080)`);
    } finally {
      for (const { child } of found) await kill(child);
    }
  }
  takeHome(folder, "http://127.0.0.1:1").release();
});

test("a link to nothing is named with its target, and nothing is made there", () => {
  const link = join(folder, "link");
  symlinkSync(join(folder, "unmounted", "data"), link);
  expect(() => takeHome(link, "http://127.0.0.1:1")).toThrow(
    `${link} is a link to ${join(folder, "unmounted", "data")}, which does not exist; choose another folder with NETFACTS_HOME=`,
  );
});
