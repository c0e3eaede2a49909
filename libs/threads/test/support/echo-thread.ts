/** Answers its first message with how long it has been there, and ends; `fail` makes it throw, at once or when it is told. */

import { parentPort, threadId, workerData } from "node:worker_threads";

if (workerData === "fail") throw new Error("cannot start");
parentPort?.postMessage({ kind: "started" });
parentPort?.once("message", (message: unknown) => {
  parentPort?.postMessage({ kind: "done", message, threadId });
});
