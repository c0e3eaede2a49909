/** The side of a pod that answers about the past: a service of its own, so that no answer of today waits behind it. */

import { decodeQuery, type OperationName, pastServiceOf, type ServiceName } from "@netfacts/contracts";
import {
  createResponder,
  type ItemHandler,
  type Messaging,
  problemReply,
  type ReplyItem,
  type RequestItem,
  type Subscription,
} from "@netfacts/messaging";
import { type AnswerContext, recordHandlers, type SnapshotService } from "@netfacts/records";
import type { PastAnswer, PastGenerations } from "@netfacts/snapshot";

export interface ServePastDeps {
  readonly messaging: Messaging;
  readonly service: SnapshotService & ServiceName;
  readonly past: PastGenerations;
  readonly clock: { now(): number };
  /** Told of failures that the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

/** Kept of a question's time, for the way back. */
export const returnMs = 250;

/** Begins to answer. The promise is rejected where the broker does not let this process serve it: then only the present is answered. */
export async function servePast({ messaging, service, past, clock, onFailure }: ServePastDeps): Promise<Subscription> {
  const handlers = recordHandlers(service);
  const ops = new Map<string, ItemHandler<null>>(
    [...handlers].map(([op, answer]) => [
      op,
      async (item) => {
        const { view } = decodeQuery(op as OperationName, item.query);
        if (view.past === undefined) throw new Error("the question is not about the past");
        const found = await past.at(view.past, Math.max(0, item.budgetMs - returnMs));
        if ("refusal" in found) return refused(found);
        const { generation, publication } = found;
        const context: AnswerContext = { generation, nowMs: view.past.at * 1_000, past: { publication, presentMs: clock.now() } };
        return answer(item, context);
      },
    ]),
  );
  return messaging.serve(pastServiceOf(service), createResponder({ enter: () => ({ context: null }), ops, onFailure }));
}

/** The problem of a question that cannot be answered. */
export function refused(answer: Extract<PastAnswer, { refusal: string }>): ReplyItem {
  switch (answer.refusal) {
    case "out_of_range": {
      const { earliest, latest } = answer;
      const detail = `No snapshot of that time is kept. The earliest was published at ${earliest}, the latest at ${latest}.`;
      return problemReply({ code: "as_of_out_of_range", detail, range: { earliest, latest } });
    }
    case "gone":
      return problemReply({ code: "cursor_expired" });
    case "loading":
      return problemReply({ code: "history_loading" });
    case "overloaded":
      return problemReply({ code: "history_loading", detail: "Too many snapshots of the past are waiting to be loaded for this key." });
    case "unreadable":
      return problemReply({ code: "snapshot_unreadable" });
    case "empty":
    case "unavailable":
      return problemReply({ code: "data_not_ready" });
  }
}
