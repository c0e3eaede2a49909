/** A frame handler made of one function per operation: one item that fails fails alone. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { problemReply } from "./problem-reply.ts";
import type { FrameHandler, ReplyItem, RequestItem } from "./types.ts";

/** Answers one item. `pinned` is the snapshot that must answer; null: the current one. */
export type ItemHandler = (item: RequestItem, pinned: string | null) => ReplyItem | Promise<ReplyItem>;

export interface ResponderOptions {
  readonly ops: ReadonlyMap<string, ItemHandler>;
  /** Told of what the caller must not see: the cause behind an `internal_error`. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

/** How long a frame may keep the event loop before others have their turn. */
const turnMs = 2;

/** The handler's promise ends when every item is answered; slow items hold up no other. */
export function createResponder({ ops, onFailure }: ResponderOptions): FrameHandler {
  return async ({ items, pinnedSnapshot }, answer) => {
    const slow: Promise<void>[] = [];
    let turnStart = performance.now();
    for (const [index, item] of items.entries()) {
      if (performance.now() - turnStart > turnMs) {
        await nextTurn();
        turnStart = performance.now();
      }
      const fail = (cause: unknown) => {
        onFailure(item, cause);
        answer(index, problemReply({ code: "internal_error" }));
      };
      try {
        const reply = handlerOf(ops, item)(item, pinnedSnapshot);
        if ("then" in reply) slow.push(reply.then((late) => answer(index, late)).catch(fail));
        else answer(index, reply);
      } catch (cause) {
        fail(cause);
      }
    }
    await Promise.all(slow);
  };
}

function handlerOf(ops: ReadonlyMap<string, ItemHandler>, item: RequestItem): ItemHandler {
  const handler = ops.get(item.op);
  if (handler === undefined) throw new Error(`operation ${item.op} is not served here`);
  return handler;
}
