/** Answers about the past, from the canonical query to the reply: of one kept snapshot, or about changes between them. */

import { type ChangesName, decodeQuery, isChanges, type OperationName, operations } from "@netfacts/contracts";
import { type ItemHandler, problemReply, type ReplyItem } from "@netfacts/messaging";
import { type AnswerContext, changesAnswer, changesQuestion, isRefusal, recordHandlers, type Steps, walkChanges } from "@netfacts/records";
import type { PastAnswer, PastGenerations } from "@netfacts/snapshot";

/** The shared context of the items of a frame. */
export interface PastContext {
  /** The present time, in ms since 1970. */
  readonly nowMs: number;
}

/** Part of a question's time that is reserved for sending the reply. */
const returnMs = 250;

/** The handlers of all operations that can be asked about the past, by name. */
export function pastHandlers(past: PastGenerations): ReadonlyMap<string, ItemHandler<PastContext>> {
  const records = [...recordHandlers("ip-routing"), ...recordHandlers("asn-prefix")];
  const changes = Object.values(operations).flatMap(({ name }) => (isChanges(name) ? [name] : []));
  return new Map([
    ...records.map(([op, answer]): [string, ItemHandler<PastContext>] => [
      op,
      async (item, { nowMs }) => {
        const { view } = decodeQuery(op as OperationName, item.query);
        if (view.past === undefined) throw new Error("the question is not about the past");
        const found = await past.at(view.past, Math.max(0, item.budgetMs - returnMs));
        if ("refusal" in found) return refused(found);
        const { generation, publication } = found;
        const context: AnswerContext = { generation, nowMs: view.past.at * 1_000, past: { publication, presentMs: nowMs } };
        return answer(item, context);
      },
    ]),
    ...changes.map((op): [string, ItemHandler<PastContext>] => [op, changesHandler(op, past)]),
  ]);
}

function changesHandler(op: ChangesName, past: PastGenerations): ItemHandler<PastContext> {
  return async ({ query, requestId, budgetMs }, { nowMs }) => {
    const asked = changesQuestion(op, query);
    const page = await walkChanges(past, { ...asked.walk, msMax: Math.max(0, budgetMs - returnMs) }, inTurns);
    if (isRefusal(page)) return refused(page);
    const latest = await past.manifest(page.publications.at(-1)?.id ?? "");
    return changesAnswer(asked, page, latest, { requestId, nowMs });
  };
}

/** Runs the steps, and gives other work a turn after each step. */
async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The problem of a question that cannot be answered. */
function refused(answer: Extract<PastAnswer, { refusal: string }>): ReplyItem {
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
