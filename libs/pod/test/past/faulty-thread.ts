/** A thread of the past that does what the operation says: for what the real one cannot be made to do. */

import { parentPort } from "node:worker_threads";
import type { FromPastThread, ToPastThread } from "../../src/past/past-messages.ts";

const tell = (message: FromPastThread) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToPastThread) => {
  if (message.kind === "ping") tell({ kind: "pong", bytes: 7, kept: 1 });
  if (message.kind !== "ask") return;
  const { id, item } = message;
  const hoard: string[][] = [];
  switch (item.op) {
    case "crash":
      throw new Error("a fault of the thread");
    case "hang":
      for (;;);
    case "hoard":
      for (;;) hoard.push(new Array<string>(100_000).fill(item.query));
    case "silent":
      return;
    case "not_opened":
      tell({ kind: "not_opened", cause: new Error("no store") });
      return;
    case "fail":
      tell({ kind: "failed", id, cause: new Error("a fault of one answer") });
      return;
    default: {
      const body = Buffer.from(item.query);
      const reply = {
        status: 200,
        contentType: "json",
        body,
        counted: true,
        cacheable: true,
        maxAgeSeconds: 0,
        etag: "",
        snapshotId: "",
      } as const;
      tell({ kind: "answer", id, reply });
    }
  }
});
