/** The service `asn-prefix`: answers `asn` and `prefix` from the generation in service. */

import { createResponder, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import { enterDataset, recordHandlers } from "@netfacts/records";
import type { DatasetHolder } from "@netfacts/snapshot";

export interface AsnPrefixDeps {
  readonly messaging: Messaging;
  readonly dataset: DatasetHolder;
  readonly clock: { now(): number };
  /** Told of failures that the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

export interface AsnPrefixApp {
  start(): Promise<void>;
  /** Takes nothing new and finishes what was taken. */
  stop(): Promise<void>;
}

export function buildApp({ messaging, dataset, clock, onFailure }: AsnPrefixDeps): AsnPrefixApp {
  const handler = createResponder({
    enter: (pinned) => enterDataset(dataset, clock, pinned),
    ops: recordHandlers("asn-prefix"),
    onFailure,
  });
  let subscription: Subscription | null = null;
  return {
    async start() {
      subscription = await messaging.serve("asn-prefix", handler);
    },
    async stop() {
      await subscription?.stop();
    },
  };
}
