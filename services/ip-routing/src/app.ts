/** The service `ip-routing`: answers `ip`, `routing`, `validity` and `status` from the generation in service. */

import { createResponder, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import { enterDataset } from "@netfacts/records";
import type { DatasetHolder } from "@netfacts/snapshot";
import { IpAnswers } from "./domain/ip-answers.ts";
import { answerIpTogether, createOperations } from "./operations/operations.ts";

export interface IpRoutingDeps {
  readonly messaging: Messaging;
  readonly dataset: DatasetHolder;
  readonly clock: { now(): number };
  /** Told of failures that the caller must not see. */
  readonly onFailure: (item: RequestItem, cause: unknown) => void;
}

export interface IpRoutingApp {
  start(): Promise<void>;
  /** Takes nothing new and finishes what was taken. */
  stop(): Promise<void>;
}

export function buildApp({ messaging, dataset, clock, onFailure }: IpRoutingDeps): IpRoutingApp {
  const ipAnswers = new IpAnswers();
  const handler = createResponder({
    enter: (pinned) => enterDataset(dataset, clock, pinned),
    ops: createOperations(ipAnswers),
    together: answerIpTogether(ipAnswers),
    onFailure,
  });
  let subscription: Subscription | null = null;
  return {
    async start() {
      subscription = await messaging.serve("ip-routing", handler);
    },
    async stop() {
      await subscription?.stop();
    },
  };
}
