/** The service `ip-routing`: answers `ip`, `routing`, `validity` and `status` from the generation in service. */

import { createResponder, type Messaging, type RequestItem, type Subscription } from "@netfacts/messaging";
import { type PastThread, servePast } from "@netfacts/pod";
import { enterDataset } from "@netfacts/records";
import type { DatasetHolder } from "@netfacts/snapshot";
import { IpAnswers } from "./domain/ip-answers.ts";
import { answerIpTogether, createOperations } from "./operations/operations.ts";

export interface IpRoutingDeps {
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

export interface IpRoutingApp {
  start(): Promise<void>;
  /** Accepts no more questions and finishes pending ones. */
  stop(): Promise<void>;
}

export function buildApp({ messaging, dataset, past = null, clock, onFailure, onNoPast = () => {} }: IpRoutingDeps): IpRoutingApp {
  const ipAnswers = new IpAnswers();
  const handler = createResponder({
    enter: (pinned) => enterDataset(dataset, clock, pinned),
    ops: createOperations(ipAnswers),
    together: answerIpTogether(ipAnswers),
    onFailure,
  });
  const subscriptions: Subscription[] = [];
  return {
    async start() {
      subscriptions.push(await messaging.serve("ip-routing", handler));
      if (past?.isOn !== true) return;
      await servePast({ messaging, service: "ip-routing", past, clock, onFailure }).then((past) => subscriptions.push(past), onNoPast);
    },
    async stop() {
      past?.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}
