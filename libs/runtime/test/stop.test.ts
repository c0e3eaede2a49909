/** The end of a process, seen from outside: signals, output that is closed, faults at start. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { testProgramArgs } from "../../../test/support/programs.ts";

const program = testProgramArgs("libs/runtime/test/stopping-child.ts");
const children: ChildProcess[] = [];

interface Child {
  readonly process: ChildProcess;
  readonly output: { out: string; err: string };
  /** Exit status, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

async function start(what: string): Promise<Child> {
  const child = spawn(process.execPath, [...program, what], { env: compileCache, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  const output = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => (output.out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (output.err += text));
  const ended = once(child, "close").then(([status, signal]) => status ?? signal);
  await Promise.race([ended, once(child.stdout, "data")]);
  return { process: child, output, ended };
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("stops on %s, prints stopped and ends with status 0", async (signal) => {
  const child = await start("slow");
  child.process.kill(signal);
  expect(await child.ended).toBe(0);
  expect(child.output.out.trimEnd().split("\n").at(-1)).toBe("stopped");
});

test("ends at once on a second signal", async () => {
  const child = await start("never");
  child.process.kill("SIGINT");
  await once(child.process.stderr as NodeJS.ReadableStream, "data");
  child.process.kill("SIGINT");
  expect(await child.ended).toBe(130);
  expect(child.output.out).not.toContain("stopped");
});

test("ends with status 1 when the stop fails, and says why", async () => {
  const child = await start("failing");
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(1);
  expect(child.output.err).toContain("the store did not close");
});

test("ends with status 1 when the stop takes too long", async () => {
  const child = await start("never");
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(1);
  expect(child.output.err).toContain("not stopped within 2000 ms");
});

test("stops likewise without a signal", async () => {
  const child = await start("done");
  expect(await child.ended).toBe(0);
  expect(child.output.out).toContain("stopped\n");
});

test("stops when its terminal is gone, though no signal tells", async () => {
  const child = await start("closed");
  expect(await child.ended).toBe(0);
  expect(child.output.err).toContain("the terminal was closed");
});

test("lives on when whoever read its output is gone, and still ends with status 0", async () => {
  const child = await start("quick");
  child.process.stdout?.destroy();
  child.process.stderr?.destroy();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(child.process.exitCode).toBeNull();
  child.process.kill("SIGHUP");
  expect(await child.ended).toBe(0);
});

test("tells each fault of the settings on a line and ends with status 2", async () => {
  const child = await start("misconfigured");
  expect(await child.ended).toBe(2);
  expect(child.output.err).toBe(`PORT must be a whole number, not "x"\nRATE must be a number, not "y"\n`);
});

test("tells why it cannot start in one line and ends with status 1, whatever already runs", async () => {
  const child = await start("unable");
  expect(await child.ended).toBe(1);
  expect(child.output.err).toBe("cannot start: port is in use\n");
});

test("a module that does not compile is named with its line", async () => {
  const child = await start("uncompilable");
  expect(await child.ended).toBe(1);
  expect(child.output.err).toMatch(/^data:.*:1\nimport \{ none \} from 'node:fs'\n +\^+\nThe requested module .*\n$/);
});

test("text that is no JSON is a message only", async () => {
  const child = await start("unreadable");
  expect(await child.ended).toBe(1);
  expect(child.output.err.trim().split("\n")).toHaveLength(1);
});
