/** What the end of a process does to usage: a kill costs what was counted since the last writing, a stop nothing. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { testProgramArgs } from "../../../../test/support/programs.ts";

const program = testProgramArgs("services/gateway-auth-quota/test/support/usage-process.ts");
let folder: string;
let store: Store;
const children = new Set<ChildProcess>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-usage-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await store.close();
  rmSync(folder, { recursive: true });
});

function start(flushMs: number) {
  const child = spawn(process.execPath, [...program, join(folder, "store.sqlite"), `${flushMs}`], {
    env: { ...compileCache, NODE_NO_WARNINGS: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.add(child);
  const lines = createInterface({ input: child.stdout });
  return {
    async ask(command: string): Promise<void> {
      const answer = once(lines, "line");
      child.stdin.write(`${command}\n`);
      await answer;
    },
    async kill(): Promise<void> {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

const written = async (): Promise<number> => (await store.usage.monthTotal("7Q9M3W8K", "2026-11")).counted;

async function untilWritten(count: number): Promise<void> {
  const deadline = performance.now() + 15_000;
  while ((await written()) < count && performance.now() < deadline) await sleep(20);
  expect(await written()).toBe(count);
}

test("kill -9 costs at most what was counted since the last writing; what was written stays, once", async () => {
  let sure = 0;
  for (let kills = 0; kills < 2; kills++) {
    const victim = start(200);
    await victim.ask("count 100");
    await untilWritten(sure + 100);
    await victim.ask("count 50");
    await victim.kill();
    sure = await written();
    expect(sure).toBeGreaterThanOrEqual(100);
    expect(sure % 50).toBe(0);
  }
  // A stop writes what an interval of an hour has not.
  const last = start(3_600_000);
  await last.ask("count 30");
  expect(await written()).toBe(sure);
  await last.ask("stop");
  expect(await written()).toBe(sure + 30);
});
