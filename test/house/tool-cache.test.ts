/** The lock around getting a tool: one process at a time, and an owner that is gone holds nothing. */

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { compilerFolder } from "../support/assemblyscript.ts";
import { chromiumFolder } from "../support/chromium.ts";
import { helmFolder } from "../support/helm.ts";
import { natsServerVersion } from "../support/nats-server.ts";
import { withLock } from "../support/tool-cache.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-lock-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("two who want the lock have it one after the other", async () => {
  const lock = join(folder, "turns.lock");
  let inside = 0;
  let insideMax = 0;
  const work = async () => {
    insideMax = Math.max(insideMax, ++inside);
    await new Promise((done) => setTimeout(done, 20));
    inside--;
  };
  await Promise.all([withLock(lock, work), withLock(lock, work), withLock(lock, work)]);
  expect(insideMax).toBe(1);
});

test("the lock of a process that is gone is taken over, and that of a living one is waited for", async () => {
  const lock = join(folder, "left.lock");
  symlinkSync("2147483646", lock);
  expect(await withLock(lock, async () => "mine")).toBe("mine");
  symlinkSync("1", lock);
  await expect(withLock(lock, async () => "mine", 50)).rejects.toThrow("another process still holds");
});

test("work that fails gives the lock back", async () => {
  const lock = join(folder, "failed.lock");
  await expect(withLock(lock, () => Promise.reject(new Error("no disk")))).rejects.toThrow("no disk");
  writeFileSync(join(folder, "after"), await withLock(lock, async () => "free"));
  expect(readFileSync(join(folder, "after"), "utf8")).toBe("free");
});

test("make doctor looks for the Chromium that the tests unpack", () => {
  const doctor = readFileSync(resolve(import.meta.dirname, "../../scripts/doctor.sh"), "utf8");
  expect(doctor).toContain(`$cache/${chromiumFolder}/chromium`);
});

test("make doctor looks for the compiler that the tests install", () => {
  const doctor = readFileSync(resolve(import.meta.dirname, "../../scripts/doctor.sh"), "utf8");
  expect(doctor).toContain(`$cache/${compilerFolder}/node_modules/`);
});

test("make doctor looks for the Helm that the tests unpack", () => {
  const doctor = readFileSync(resolve(import.meta.dirname, "../../scripts/doctor.sh"), "utf8");
  expect(doctor).toContain(`$cache/${helmFolder}/helm`);
});

test("make doctor looks for the version of nats-server that the tests build", () => {
  const doctor = readFileSync(resolve(import.meta.dirname, "../../scripts/doctor.sh"), "utf8");
  expect(doctor).toContain(`nats_version=${natsServerVersion}\n`);
});
