/** Which thread does a piece of work, and what becomes of the one that waits. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "@jest/globals";
import { SpareThread } from "../src/index.ts";

const module = new URL("./support/echo-thread.ts", import.meta.url);
const spares: SpareThread[] = [];

function spare(workerData?: string): SpareThread {
  const made = new SpareThread(module, { workerData });
  spares.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(spares.splice(0).map((one) => one.close()));
});

/** What the thread says when it has done the work. */
async function done(thread: Worker, work: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  thread.on("message", (message: { kind: string }) => message.kind === "done" && resolve(message));
  thread.once("error", reject);
  thread.postMessage(work);
  return promise;
}

test("the thread that waits does the next piece of work, and a new one the piece after it", async () => {
  const threads = spare();
  threads.prepare();
  threads.prepare();
  const first = threads.take();
  const second = threads.take();
  // A thread that has ended has none.
  const { threadId } = first;
  expect(second.threadId).not.toBe(threadId);
  expect(await done(first, "one")).toEqual({ kind: "done", message: "one", threadId });
  expect(await done(second, "two")).toMatchObject({ message: "two" });
});

test("only one thread waits", async () => {
  const threads = spare();
  threads.prepare();
  threads.prepare();
  const [first, second] = [threads.take(), threads.take()];
  // Threads are counted as they start: a third one would stand between these.
  expect(second.threadId).toBe(first.threadId + 1);
  await Promise.all([done(first, "one"), done(second, "two")]);
});

test("a thread that cannot start is dropped, and the next owner gets the error", async () => {
  const threads = spare("fail");
  threads.prepare();
  // Nobody listens to the thread that waits: its error must not end this process.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const [error] = (await once(threads.take(), "error")) as [Error];
  expect(error.message).toBe("cannot start");
});

test("after close no thread waits, and work still gets one", async () => {
  const threads = spare();
  threads.prepare();
  await threads.close();
  threads.prepare();
  expect(await done(threads.take(), "late")).toMatchObject({ message: "late" });
});

test("a thread that waits does not keep the process alive", () => {
  const script = `
    import { SpareThread } from ${JSON.stringify(fileURLToPath(new URL("../src/index.ts", import.meta.url)))};
    new SpareThread(new URL(${JSON.stringify(module.href)})).prepare();
    setTimeout(() => {}, 300);`;
  const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "--no-warnings", "--eval", script], {
    encoding: "utf8",
    timeout: 20_000,
  });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
});
