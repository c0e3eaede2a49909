/** Threads that tests start load what the run's bundle has of their module. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "@jest/globals";
import { runFolderVariable } from "../support/run-folder.ts";

const root = resolve(import.meta.dirname, "../..");
/** The unit run makes none. */
const bundle = join(process.env[runFolderVariable] ?? "", "bundle");
const expected = existsSync(bundle) ? bundle : root;

test("a thread's module is the one of the bundle", async () => {
  // Without data it fails, and tells where.
  const worker = new Worker(new URL("../../libs/snapshot/src/loader-worker.ts", import.meta.url));
  const error = await new Promise<Error>((resolve) => worker.once("error", resolve));
  expect(error.stack).toContain(`${expected}/`);
});

test("what the bundle does not have is loaded as it is, and data arrive as they are", async () => {
  const source = "import { parentPort, workerData } from 'node:worker_threads'; parentPort.postMessage(workerData);";
  const workerData = { path: "file:///nowhere.ts", bytes: new Uint8Array([1, 2]), list: [{ a: 1 }] };
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
  expect(await new Promise((resolve) => worker.once("message", resolve))).toEqual(workerData);
});
