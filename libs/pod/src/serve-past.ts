/** A pod's answers about the past: in services of their own, so that no answer about the present waits for them. */

import { changesServiceOf, isChanges, operations, pastServiceOf, type ServiceName } from "@netfacts/contracts";
import { createResponder, type ItemHandler, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import type { SnapshotService } from "@netfacts/records";
import type { PastThread } from "./past/past-thread.ts";

export interface ServePastDeps {
  readonly messaging: Messaging;
  readonly service: SnapshotService & ServiceName;
  readonly past: Pick<PastThread, "ask">;
  readonly clock: { now(): number };
  /** Called for failures whose cause the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

/** Begins to answer. Rejects if the broker does not allow this process to serve it: then only the present is answered. */
export function servePast(deps: ServePastDeps): Promise<Subscription> {
  return serve(deps, pastServiceOf(deps.service), (name) => !isChanges(name));
}

/** As `servePast`, for changes between kept snapshots: under a name of its own, which older pods do not serve. */
export function serveChanges(deps: ServePastDeps): Promise<Subscription> {
  return serve(deps, changesServiceOf(deps.service), isChanges);
}

function serve(
  { messaging, service, past, clock, onFailure }: ServePastDeps,
  servedAs: string,
  isMeant: (name: (typeof operations)[keyof typeof operations]["name"]) => boolean,
): Promise<Subscription> {
  const names = Object.values(operations).flatMap((operation) =>
    operation.service === service && isMeant(operation.name) ? [operation.name] : [],
  );
  const ops = new Map<string, ItemHandler<null>>(names.map((name) => [name, (item) => past.ask(item, clock.now())]));
  return messaging.serve(servedAs, createResponder({ enter: () => ({ context: null }), ops, onFailure }));
}
