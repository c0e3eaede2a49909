/**
 * The thread of the past: it holds the kept snapshots and answers from them, so that loading, answering and garbage collection delay no answer about
 * the present. It ends with its process, or when the process terminates it.
 */

import { constants } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { createResponder, type ReplyItem } from "@netfacts/messaging";
import { type OpenedStore, openStoreSource, PastGenerations } from "@netfacts/snapshot";
import { lowerPriority } from "@netfacts/threads";
import { pastHandlers } from "./past-handlers.ts";
import type { AskedItem, FromPastThread, PastThreadData, ToPastThread } from "./past-messages.ts";
import { PresentSnapshots } from "./present-snapshots.ts";

const { source, options } = workerData as PastThreadData;
// Answers about the present have priority.
lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL);
try {
  answerAll(await openStoreSource(source));
} catch (cause) {
  tell({ kind: "not_opened", cause: cause as Error });
  parentPort?.close();
}

function answerAll({ store }: OpenedStore): void {
  const present = new PresentSnapshots();
  const past = new PastGenerations(
    store,
    source,
    present,
    {
      loaded: (snapshot, loadMs) => tell({ kind: "loaded", snapshot, loadMs }),
      failed: (snapshot, cause) => tell({ kind: "not_loaded", snapshot, cause }),
    },
    options,
  );
  const ops = pastHandlers(past);

  const answer = (id: number, asked: AskedItem, nowMs: number): void => {
    const respond = createResponder({
      enter: () => ({ context: { nowMs } }),
      ops,
      onFailure: (_, cause) => tell({ kind: "failed", id, cause }),
    });
    void respond({ items: [{ ...asked, traceparent: null }], pinnedSnapshot: null }, (_, reply) => {
      if (reply !== "not_yet") tellAnswer(id, reply);
    });
  };

  // Messages that came meanwhile are received from here on.
  parentPort?.on("message", (message: ToPastThread) => {
    if (message.kind === "ask") answer(message.id, message.item, message.nowMs);
    else if (message.kind === "ping") tell({ kind: "pong", bytes: past.bytes, kept: past.kept.length });
    else {
      present.change(message);
      void past.presentChanged();
    }
  });
}

function tell(message: FromPastThread, memory: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, memory);
}

/** Copies the body, which may be a part of memory that others use. */
function tellAnswer(id: number, reply: ReplyItem): void {
  const body = Uint8Array.from(reply.body);
  tell({ kind: "answer", id, reply: { ...reply, body } }, [body.buffer]);
}
