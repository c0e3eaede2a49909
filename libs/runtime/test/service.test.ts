/** The process of a service, seen from outside. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { until } from "../../../test/support/http.ts";
import { startOtlpReceiver } from "../../../test/support/otlp-receiver.ts";
import { testProgramArgs } from "../../../test/support/programs.ts";

const program = testProgramArgs("libs/runtime/test/support/service-child.ts");
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Child {
  readonly process: ChildProcess;
  out(): string[];
  /** The lines of its log, or of what it says instead. */
  err(): string[];
  readonly ended: Promise<number | string>;
}

function launch(what: string, env: Readonly<Record<string, string>> = {}): Child {
  const child = spawn(process.execPath, [...program, what], {
    env: { ...compileCache, TELEMETRY_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
  const lines = (text: string) => text.split("\n").filter(Boolean);
  return {
    process: child,
    out: () => lines(out),
    err: () => lines(err),
    ended: once(child, "close").then(([status, signal]) => status ?? signal),
  };
}

async function started(child: Child): Promise<string> {
  await until(() => child.err().some((line) => line.includes('"started"')));
  return JSON.parse(child.err().find((line) => line.includes('"started"')) ?? "{}").operations_url;
}

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status;
}

test("is healthy from the start, ready when the app is, and no more as soon as it stops; then closes everything, the latest first", async () => {
  const child = launch("plain");
  const url = await started(child);
  expect(await statusOf(`${url}/healthz`)).toBe(200);
  expect(await statusOf(`${url}/readyz`)).toBe(503);
  child.process.kill("SIGUSR2");
  await until(async () => (await statusOf(`${url}/readyz`)) === 200);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain("process_resident_memory_bytes");
  child.process.kill("SIGTERM");
  await until(() => child.out().includes("stopping the app"));
  expect(await statusOf(`${url}/readyz`)).toBe(503);
  expect(await child.ended).toBe(0);
  expect(child.out()).toEqual(["stopping the app", "stopped the app", "closed the connection", "closed the store", "stopped"]);
});

test("tells the faults of the process's settings and of the service's at once", async () => {
  const child = launch("plain", { LOG_LEVEL: "loud", RATE: "fast" });
  expect(await child.ended).toBe(2);
  expect(child.err()).toEqual([
    'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud"',
    'RATE must be a number, not "fast"',
  ]);
});

test("a start that fails closes what was opened and says why", async () => {
  const child = launch("unable");
  expect(await child.ended).toBe(1);
  expect(child.out()).toEqual(["closed the connection", "closed the store"]);
  expect(child.err()).toEqual(["no store"]);
});

test("a start that fails says why, and not what then does not close", async () => {
  const child = launch("unable and faulty");
  expect(await child.ended).toBe(1);
  expect(child.out()).toEqual(["closed the connection", "closed the store"]);
  expect(child.err()).toEqual(["no store"]);
});

test("a signal while it starts gives the start up, and what it opens late is closed too", async () => {
  const child = launch("starting");
  await until(() => child.out().includes("starting"));
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(0);
  expect(child.out()).toContain("closed the store");
  expect(child.err().join()).not.toContain("the start was given up");
});

test("what does not close keeps nothing else open, and makes the status 1", async () => {
  const child = launch("faulty stop");
  await started(child);
  child.process.kill("SIGTERM");
  expect(await child.ended).toBe(1);
  expect(child.out()).toContain("closed the store");
  expect(child.err().at(-1)).toContain("the connection did not close");
});

test("a fault that nobody caught is a line of the log and status 1", async () => {
  const child = launch("faulty");
  expect(await child.ended).toBe(1);
  const last = JSON.parse(child.err().at(-1) ?? "{}");
  expect(last).toMatchObject({ level: "fatal", service: "child", msg: "service terminated by an internal error" });
  expect(last.err.message).toBe("nobody expected this");
});

test("a stop waits for no collector, with telemetry on", async () => {
  const receiver = await startOtlpReceiver();
  try {
    receiver.answerWith(503);
    const child = launch("plain", receiver.env);
    const url = await started(child);
    await statusOf(`${url}/readyz`);
    child.process.kill("SIGTERM");
    expect(await child.ended).toBe(0);
  } finally {
    await receiver.stop();
  }
});
