/** A pod's side of two-phase activation over broadcasts: tells ingest what it loaded, and takes ingest's hints. */

import { type PodReport, readSnapshotNotice, reloadSubjects } from "@netfacts/contracts";
import type { SnapshotFollower } from "@netfacts/snapshot";

/** The part of messaging that is needed; payloads are JSON values. */
export interface Broadcast {
  publish(subject: string, payload: unknown): void;
  subscribe(subject: string, listener: (payload: unknown) => void): { stop(): Promise<void> };
}

export interface PodReporterDeps {
  readonly follower: SnapshotFollower;
  readonly broadcast: Broadcast;
  /** Name of this pod among all. */
  readonly pod: string;
  readonly service: string;
  /** How often it says that it is there. Ingest takes a pod for gone after three times as long. */
  readonly intervalMs?: number;
}

export const podReportIntervalMs = 5_000;
const reasonCharactersMax = 2_000;

/** Reports from `start` on: at once, regularly, when asked, and whenever something was loaded, refused or activated. */
export class PodReporter {
  readonly #deps: PodReporterDeps;
  #subscriptions: { stop(): Promise<void> }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: PodReporterDeps) {
    this.#deps = deps;
    const report = () => {
      if (this.#timer !== undefined) this.#report();
    };
    deps.follower.listen({ prepared: report, activated: report, refused: report });
  }

  start(): void {
    const { follower, broadcast, intervalMs = podReportIntervalMs } = this.#deps;
    this.#subscriptions = [
      broadcast.subscribe(reloadSubjects.published, (payload) => {
        // At once, so that ingest knows for whom it waits.
        this.#report();
        void follower.look(readSnapshotNotice(payload)?.id);
      }),
      broadcast.subscribe(reloadSubjects.activate, () => void follower.look()),
    ];
    this.#timer = setInterval(() => this.#report(), intervalMs);
    this.#timer.unref();
    this.#report();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all(this.#subscriptions.map((subscription) => subscription.stop()));
  }

  #report(): void {
    const { follower, broadcast, pod, service } = this.#deps;
    const { serving, last } = follower.state();
    const report: PodReport = {
      pod,
      service,
      serving,
      snapshot: last?.id ?? null,
      outcome: last?.outcome ?? null,
      reason: last?.reason?.slice(0, reasonCharactersMax) ?? null,
    };
    broadcast.publish(reloadSubjects.loaded, report);
  }
}
