/** The service `asn-prefix`: answers `asn` and `prefix` from the generation in service, and what changed from all that are kept. */

import { createResponder, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import { type PastThread, serveChanges, servePast } from "@netfacts/pod";
import { enterDataset, recordHandlers } from "@netfacts/records";
import type { DatasetHolder } from "@netfacts/snapshot";

export interface AsnPrefixDeps {
  readonly messaging: Messaging;
  readonly dataset: DatasetHolder;
  /** null: questions about the past are not answered. */
  readonly past?: PastThread | null;
  readonly clock: { now(): number };
  /** Told of failures that the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
  /** Told why questions about the past cannot be served; the others are. */
  readonly onNoPast?: (cause: unknown) => void;
}

export interface AsnPrefixApp {
  start(): Promise<void>;
  /** Takes nothing new and finishes what was taken. */
  stop(): Promise<void>;
}

export function buildApp({ messaging, dataset, past = null, clock, onFailure, onNoPast = () => {} }: AsnPrefixDeps): AsnPrefixApp {
  const handler = createResponder({
    enter: (pinned) => enterDataset(dataset, clock, pinned),
    ops: recordHandlers("asn-prefix"),
    onFailure,
  });
  const subscriptions: Subscription[] = [];
  return {
    async start() {
      subscriptions.push(await messaging.serve("asn-prefix", handler));
      if (past?.isOn !== true) return;
      const deps = { messaging, service: "asn-prefix", past, clock, onFailure } as const;
      for (const serve of [servePast, serveChanges]) await serve(deps).then((served) => subscriptions.push(served), onNoPast);
    },
    async stop() {
      past?.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}
