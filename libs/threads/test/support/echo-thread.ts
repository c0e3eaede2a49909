/** Answers its first message with that message and its own id, and ends; `fail` makes it throw at once. */

import { parentPort, threadId, workerData } from "node:worker_threads";

if (workerData === "fail") throw new Error("cannot start");
parentPort?.postMessage({ kind: "started" });
parentPort?.once("message", (message: unknown) => {
  parentPort?.postMessage({ kind: "done", message, threadId });
});
