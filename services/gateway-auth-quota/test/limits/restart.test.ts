/** Limits over the end of real processes: graceful, and by kill -9. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { testProgramArgs } from "../../../../test/support/programs.ts";

const program = testProgramArgs("services/gateway-auth-quota/test/support/limiter-process.ts");
let folder: string;
const children = new Set<ChildProcess>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-restart-"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  rmSync(folder, { recursive: true });
});

/** 10 a second, so blocks of 3; a window of a day. */
const limits = (month: number) => ({ rate: { limit: 864_000, windowSeconds: 86_400 }, month: { limit: month }, concurrency: null });

class GatewayProcess {
  readonly #child: ChildProcess;
  readonly #lines: Interface;

  constructor(month: number) {
    this.#child = spawn(process.execPath, [...program, join(folder, "store.sqlite"), JSON.stringify(limits(month))], {
      env: { ...compileCache, NODE_NO_WARNINGS: "1" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.add(this.#child);
    this.#lines = createInterface({ input: this.#child.stdout as NonNullable<ChildProcess["stdout"]> });
  }

  async ask(command: string): Promise<unknown> {
    const answer = once(this.#lines, "line");
    this.#child.stdin?.write(`${command}\n`);
    return JSON.parse(String((await answer)[0]));
  }

  async stop(): Promise<void> {
    const exit = once(this.#child, "exit");
    await this.ask("stop");
    expect(await exit).toEqual([0, null]);
  }

  async kill(): Promise<void> {
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }
}

test("a graceful restart leaves what remains unchanged", async () => {
  const before = new GatewayProcess(1_000);
  expect(await before.ask("admit 10")).toBe(10);
  expect(await before.ask("peek")).toEqual([863_990, 990]);
  await before.stop();
  const after = new GatewayProcess(1_000);
  expect(await after.ask("peek")).toEqual([863_990, 990]);
  expect(await after.ask("admit 1000")).toBe(990);
  await after.stop();
});

test("kill -9 loses at most one block and admits nothing twice", async () => {
  const limit = 200;
  let admitted = 0;
  for (let kills = 0; kills < 3; kills++) {
    const victim = new GatewayProcess(limit);
    admitted += Number(await victim.ask("admit 10"));
    await victim.kill();
  }
  const survivor = new GatewayProcess(limit);
  const [, remaining] = (await survivor.ask("peek")) as [number, number];
  const lost = limit - admitted - remaining;
  expect(lost).toBeGreaterThanOrEqual(0);
  expect(lost).toBeLessThanOrEqual(3 * 3);
  admitted += Number(await survivor.ask("admit 500"));
  expect(admitted).toBe(limit - lost);
  await survivor.stop();
});

test("two processes at once share one limit and admit it exactly", async () => {
  const gateways = [new GatewayProcess(300), new GatewayProcess(300)];
  const admitted = await Promise.all(gateways.map((gateway) => gateway.ask("admit 120")));
  for (const gateway of gateways) await gateway.stop();
  const last = new GatewayProcess(300);
  expect(Number(await last.ask("admit 500")) + admitted.reduce((sum: number, count) => sum + Number(count), 0)).toBe(300);
  await last.stop();
});
