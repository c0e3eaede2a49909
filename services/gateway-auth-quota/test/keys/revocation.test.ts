/**
 * A key changed by another process is answered by its new state within a second.
 *
 * @alone It asserts deadlines.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { createKeyring, type Keyring } from "../../src/keys/index.ts";

/** Disables and enables a key, one command a line, as the command line would; says when each change is written. */
const changer = `
  import { createInterface } from "node:readline";
  import { disableKey, enableKey } from "@netfacts/keys";
import { openSqliteStore } from "@netfacts/storage";
  const store = await openSqliteStore(process.argv[1]);
  for await (const line of createInterface({ input: process.stdin })) {
    const [state, id] = line.split(" ");
    await (state === "disable" ? disableKey : enableKey)(store, id);
    console.log("written");
  }
  await store.close();`;

let folder: string;
let store: Store;
let keyring: Keyring;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-revocation-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
  keyring = createKeyring({ store, clock: { now: Date.now } });
});
afterEach(async () => {
  keyring.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

test("a change by another process is seen within a second: median of ten, each within ten", async () => {
  const { key, secret } = await createKey(store, { label: "a", scopes: ["ip"] });
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "--eval", changer, join(folder, "store.sqlite")], {
    cwd: import.meta.dirname,
    env: { ...compileCache, NODE_NO_WARNINGS: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const delays: number[] = [];
  for (let i = 0; i < 10; i++) {
    const disable = i % 2 === 0;
    const ok = async (): Promise<boolean> => (await keyring.verify(`Bearer ${secret}`, "198.51.100.7")).ok;
    expect(await ok()).toBe(disable);
    const written = once(lines, "line");
    child.stdin.write(`${disable ? "disable" : "enable"} ${key.id}\n`);
    await written;
    const started = performance.now();
    while ((await ok()) === disable && performance.now() - started < 10_000) await sleep(5);
    delays.push(performance.now() - started);
  }
  const exit = once(child, "exit");
  child.stdin.end();
  await exit;
  delays.sort((a, b) => a - b);
  expect(delays[5]).toBeLessThan(1_000);
  expect(delays[9]).toBeLessThan(10_000);
});
