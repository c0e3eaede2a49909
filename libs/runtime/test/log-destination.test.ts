/** Where lines go: together at the end of a turn, and none is lost however the process ends by itself. */

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { compileCache } from "../../../test/support/compile-cache.ts";
import { until } from "../../../test/support/http.ts";
import { createLogger, openLogFile } from "../src/index.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "netfacts-log-"));
});
afterAll(() => rm(folder, { recursive: true }));

const messages = (lines: string) => lines.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).msg]));

describe("a log file", () => {
  test("has the lines of a turn in their order, once the turn is over", async () => {
    const to = join(folder, "turn.log");
    const log = createLogger({ service: "example", to });
    const all = Array.from({ length: 5 }, (_, index) => `line ${index}`);
    for (const message of all) log.info(message);
    expect(readFileSync(to, "utf8")).toBe("");
    await nextTurn();
    expect(messages(readFileSync(to, "utf8"))).toEqual(all);
  });

  test("has lines that come right after a write some milliseconds later, all of them and in their order", async () => {
    const to = join(folder, "pause.log");
    const log = createLogger({ service: "example", to });
    const all: string[] = [];
    let waited = 0;
    for (let turn = 0; turn < 100; turn++) {
      all.push(`line ${turn}`);
      log.info(`line ${turn}`);
      await nextTurn();
      if (messages(readFileSync(to, "utf8")).length < all.length) waited += 1;
    }
    // A turn may be longer than the pause; not all of a hundred are.
    expect(waited).toBeGreaterThan(0);
    await sleep(50);
    expect(messages(readFileSync(to, "utf8"))).toEqual(all);
  });

  test("does not keep a long turn's lines until its end", () => {
    const to = join(folder, "long.log");
    const log = createLogger({ service: "example", to });
    for (let index = 0; index < 1_000; index++) log.info({ index }, "one of many");
    expect(messages(readFileSync(to, "utf8")).length).toBeGreaterThan(500);
  });

  test("has a fatal line, and what came before it, at once", () => {
    const to = join(folder, "fatal.log");
    const log = createLogger({ service: "example", to });
    log.info("before");
    log.fatal("the end");
    expect(messages(readFileSync(to, "utf8"))).toEqual(["before", "the end"]);
  });
});

describe("a log file with bounds", () => {
  const noAge = 3_600_000;
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

  test("is set aside while the process writes, and stays within twice its bound; its own user alone reads it", async () => {
    const path = join(folder, "bounded.log");
    const to = openLogFile(path, { bytesMax: 100_000, ageMsMax: noAge });
    const logs = ["one", "two"].map((service) => createLogger({ service, to }));
    for (let turn = 0; turn < 60; turn++) {
      for (const log of logs) for (let line = 0; line < 50; line++) log.info({ turn, line }, "a line of this log");
      await sleep(12);
    }
    logs[0]?.info("the last");
    await sleep(50);
    expect(sizeOf(path)).toBeLessThanOrEqual(100_000);
    expect(sizeOf(`${path}.1`)).toBeLessThanOrEqual(100_000);
    expect(sizeOf(`${path}.1`)).toBeGreaterThan(50_000);
    expect(messages(readFileSync(path, "utf8")).at(-1)).toBe("the last");
    for (const each of [path, `${path}.1`]) expect(statSync(each).mode & 0o777).toBe(0o600);
  });

  test("keeps every line of one that is set aside, also lines of one turn", async () => {
    const path = join(folder, "whole.log");
    const log = createLogger({ service: "example", to: openLogFile(path, { bytesMax: 40_000, ageMsMax: noAge }) });
    const all = Array.from({ length: 600 }, (_, index) => `line ${index}`);
    for (const message of all) log.info(message);
    await sleep(50);
    expect(messages(readFileSync(`${path}.1`, "utf8") + readFileSync(path, "utf8"))).toEqual(all);
  });

  test("is set aside when its first line is too old, and removed when it has been so for as long", async () => {
    const path = join(folder, "aged.log");
    const start = Date.now();
    const now = jest.spyOn(Date, "now").mockReturnValue(start);
    const log = createLogger({ service: "example", to: openLogFile(path, { bytesMax: 1e9, ageMsMax: 500 }) });
    log.info("first");
    await sleep(20);
    now.mockReturnValue(start + 400);
    log.info("second");
    await sleep(20);
    utimesSync(path, start / 1_000 + 0.4, start / 1_000 + 0.4);
    now.mockReturnValue(start + 501);
    log.info("third");
    await sleep(20);
    expect(messages(readFileSync(`${path}.1`, "utf8"))).toEqual(["first", "second"]);
    expect(messages(readFileSync(path, "utf8"))).toEqual(["third"]);
    now.mockReturnValue(start + 901);
    await until(() => sizeOf(`${path}.1`) === 0);
    now.mockRestore();
  });

  test("goes on when the earlier file is too old and cannot be removed", async () => {
    const path = join(folder, "stuck.log");
    // Not a file: the system refuses to remove it, as it does on a read-only file system.
    mkdirSync(`${path}.1`);
    utimesSync(`${path}.1`, 0, 0);
    const log = createLogger({ service: "example", to: openLogFile(path, { bytesMax: 1e9, ageMsMax: 10 }) });
    // Longer than the interval at which earlier files are removed.
    await sleep(100);
    log.info("later");
    await nextTurn();
    expect(messages(readFileSync(path, "utf8"))).toEqual(["later"]);
  });

  test("is set aside by its age also when the clock was ahead at its first line", async () => {
    const path = join(folder, "ahead.log");
    const ahead = jest.spyOn(Date, "now").mockReturnValue(Date.UTC(2099, 0, 1));
    const log = createLogger({ service: "example", to: openLogFile(path, { bytesMax: 1e9, ageMsMax: 100 }) });
    log.info("first");
    await nextTurn();
    ahead.mockRestore();
    await until(async () => {
      log.info("later");
      await nextTurn();
      return !messages(readFileSync(path, "utf8")).includes("first");
    });
  });
});

test.each([
  ["ends", ""],
  ["exits", "process.exit(0);"],
  ["throws", "throw new Error('a fault');"],
])("a process that %s in the turn of its lines has written them", async (_how, ending) => {
  const program = `import { createLogger } from "@netfacts/runtime";
    const log = createLogger({ service: "example" });
    log.info("first"); log.info("last"); ${ending}`;
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "--no-warnings", "--eval", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    env: { ...compileCache, PATH: process.env.PATH },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const written = (await text(child.stderr)).split("\n").filter((line) => line.startsWith("{"));
  expect(messages(written.join("\n"))).toEqual(["first", "last"]);
});

describe("a log that nobody reads", () => {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const args = ["--conditions=source", "--input-type=module", "--no-warnings", "--eval"];
  const env = { ...compileCache, PATH: process.env.PATH };
  /** More than a pipe, a socket and our memory hold; a line of its own on standard output says that nothing waited for it. */
  const program = `import { createLogger } from "@netfacts/runtime";
    const log = createLogger({ service: "example" });
    for (let turn = 0; turn < 100; turn++) {
      for (let index = 0; index < 200; index++) log.info({ filling: "x".repeat(200) }, "one of many");
      await new Promise(setImmediate);
    }
    process.stdout.write("still here\\n");`;

  test("as a socket: what was dropped is told once it is read again, and the rest is there", async () => {
    const goOn = `${program}
      process.stdin.once("data", () => {
        log.info("later");
        setTimeout(() => process.exit(0), 2_000);
      });`;
    const child = spawn(process.execPath, [...args, goOn], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    let read = "";
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      read += piece;
    });
    await until(() => read.includes("log lines were dropped"));
    child.stdin.write("go on\n");
    await new Promise((resolve) => child.once("close", resolve));
    const lines = read.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
    const dropped = lines.find(({ msg }) => msg === "log lines were dropped, because the log was not read");
    expect(dropped?.lines).toBeGreaterThan(0);
    expect(lines.filter(({ msg }) => msg === "one of many").length + dropped.lines).toBe(20_000);
    expect(lines.at(-1).msg).toBe("later");
  });

  test("as a pipe: the process goes on, and ends", async () => {
    const shell = `exec 3>&1; "$0" "$@" 2>&1 1>&3 | sleep 20`;
    const child = spawn("sh", ["-c", shell, process.execPath, ...args, `${program}\nprocess.stdout.write("ended\\n");`], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let out = "";
    for await (const piece of child.stdout) {
      out += piece;
      if (out.includes("ended")) break;
    }
    process.kill(-(child.pid as number), "SIGKILL");
    expect(out).toBe("still here\nended\n");
  });
});
