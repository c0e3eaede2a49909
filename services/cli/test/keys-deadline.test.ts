/**
 * How soon a change by `netfacts keys` reaches a store that another process has open.
 *
 * @alone It asserts a deadline.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteStore } from "@netfacts/storage";
import { runJson, runProcess, temporaryFolder } from "./support/run.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryFolder();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("a change by the program reaches an open store within a second: median of ten, each within ten", async () => {
  const id = String((await runJson(dataDir, "keys", "create", "--label", "siem-prod")).id);
  const store = await openSqliteStore(join(dataDir, "store.sqlite"));
  const delays: number[] = [];
  for (let i = 0; i < 10; i++) {
    const { promise, resolve } = Promise.withResolvers<number>();
    const end = store.onChange(() => resolve(performance.now()));
    const ended = runProcess(dataDir, "keys", i % 2 === 0 ? "disable" : "enable", id).then(({ code }) => ({
      code,
      at: performance.now(),
    }));
    const seen = await promise;
    expect((await store.keys.find(id))?.state).toBe(i % 2 === 0 ? "disabled" : "active");
    const { code, at } = await ended;
    expect(code).toBe(0);
    // Counted from the end of the program, which comes just after its write; often the change was seen before.
    delays.push(Math.max(0, seen - at));
    end();
  }
  await store.close();
  delays.sort((a, b) => a - b);
  expect(delays[5]).toBeLessThan(1_000);
  expect(delays[9]).toBeLessThan(10_000);
});
