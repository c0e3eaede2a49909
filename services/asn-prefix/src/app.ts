/** The service `asn-prefix`: answers about ASes and prefixes from the generation in service, and about changes from all kept snapshots. */

import { createResponder, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import { type PastThread, serveChanges, servePast } from "@netfacts/pod";
import { enterDataset, recordHandlers } from "@netfacts/records";
import type { DatasetHolder } from "@netfacts/snapshot";

export interface AsnPrefixDeps {
  readonly messaging: Messaging;
  readonly dataset: DatasetHolder;
  /** Thread for questions about the past; null: they are not answered. */
  readonly past?: PastThread | null;
  readonly clock: { now(): number };
  /** Called with failures that the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
  /** Called with the reason if questions about the past cannot be answered. Others are answered nevertheless. */
  readonly onNoPast?: (cause: unknown) => void;
}

export interface AsnPrefixApp {
  start(): Promise<void>;
  /** Accepts no more questions and finishes pending ones. */
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
