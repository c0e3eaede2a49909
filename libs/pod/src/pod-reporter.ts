/** A pod's side of two-phase activation by broadcasts: reports to ingest what it loaded, and receives ingest's hints. */

import { setTimeout as sleep } from "node:timers/promises";
import { type PodReport, readSnapshotNotice, reloadSubjects } from "@netfacts/contracts";
import type { SnapshotFollower } from "@netfacts/snapshot";

/** The part of messaging that is used; payloads are JSON values. */
export interface Broadcast {
  publish(subject: string, payload: unknown): void;
  subscribe(subject: string, listener: (payload: unknown) => void): { stop(): Promise<void> };
}

export interface PodReporterDeps {
  readonly follower: SnapshotFollower;
  readonly broadcast: Broadcast;
  /** Name of this pod, unique among all pods. */
  readonly pod: string;
  readonly service: string;
  /** Interval of reports. Ingest considers a pod gone after three times this interval. */
  readonly intervalMs?: number;
}

export const podReportIntervalMs = 5_000;
const reasonCharactersMax = 2_000;
/** Hints within this time are handled together: each costs a read of the store, and a faulty sender may publish them without end. */
const hintMs = 20;

/** Request of one or more hints: to read the pointer. For a published snapshot also to try that one again, and to report. */
interface Hint {
  readonly id: string | undefined;
  readonly reports: boolean;
}

/** Reports from `start` on: at once, regularly, on request, and whenever a snapshot was loaded, refused or activated. */
export class PodReporter {
  readonly #deps: PodReporterDeps;
  #subscriptions: { stop(): Promise<void> }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isTaking = false;
  #next: Hint | null = null;

  constructor(deps: PodReporterDeps) {
    this.#deps = deps;
    const report = () => {
      if (this.#timer !== undefined) this.#report();
    };
    deps.follower.listen({ prepared: report, activated: report, refused: report });
  }

  start(): void {
    const { broadcast, intervalMs = podReportIntervalMs } = this.#deps;
    this.#subscriptions = [
      // Also reports at once, so that ingest knows which pods to wait for.
      broadcast.subscribe(reloadSubjects.published, (payload) => void this.#take({ id: readSnapshotNotice(payload)?.id, reports: true })),
      broadcast.subscribe(reloadSubjects.activate, () => void this.#take({ id: undefined, reports: false })),
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

  /** Handles the first hint at once; hints that come meanwhile are handled together afterwards. */
  async #take({ id, reports }: Hint): Promise<void> {
    if (this.#isTaking) {
      this.#next = { id: id ?? this.#next?.id, reports: reports || this.#next?.reports === true };
      return;
    }
    this.#isTaking = true;
    for (let hint: Hint | null = { id, reports }; hint !== null && this.#timer !== undefined; ) {
      if (hint.reports) this.#report();
      await Promise.all([this.#deps.follower.look(hint.id), sleep(hintMs, undefined, { ref: false })]);
      hint = this.#next;
      this.#next = null;
    }
    this.#isTaking = false;
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
