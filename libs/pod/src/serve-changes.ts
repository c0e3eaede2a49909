/** The side of a pod that answers what changed between kept snapshots: under a name of its own, which older pods do not serve. */

import { type ChangesName, changesServiceOf, isChanges, operations } from "@netfacts/contracts";
import { createResponder, type ItemHandler, type Subscription } from "@netfacts/messaging";
import { changesAnswer, changesQuestion, isRefusal, type Steps, walkChanges } from "@netfacts/records";
import { refused, returnMs, type ServePastDeps } from "./serve-past.ts";

/** Begins to answer. The promise is rejected where the broker does not let this process serve it. */
export async function serveChanges({ messaging, service, past, clock, onFailure }: ServePastDeps): Promise<Subscription> {
  const names = Object.values(operations)
    .filter((operation) => operation.service === service)
    .map(({ name }) => name)
    .filter((name): name is ChangesName => isChanges(name));
  const ops = new Map<string, ItemHandler<null>>(
    names.map((op) => [
      op,
      async ({ query, requestId, budgetMs }) => {
        const asked = changesQuestion(op, query);
        const page = await walkChanges(past, { ...asked.walk, msMax: Math.max(0, budgetMs - returnMs) }, inTurns);
        if (isRefusal(page)) return refused(page);
        const latest = await past.manifest(page.publications.at(-1)?.id ?? "");
        return changesAnswer(asked, page, latest, { requestId, nowMs: clock.now() });
      },
    ]),
  );
  return messaging.serve(changesServiceOf(service), createResponder({ enter: () => ({ context: null }), ops, onFailure }));
}

/** The result; whatever else waits has a turn after each step. */
async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
