/** Ingest's side of two-phase activation: announces a published snapshot, waits until the pods have loaded it, and activates it. */

import { type PodReport, readPodReport, reloadSubjects, type SnapshotNotice } from "@netfacts/contracts";
import { type Broadcast, podReportIntervalMs } from "@netfacts/pod";
import type { SnapshotStore } from "@netfacts/snapshot";

export const activationDefaults = {
  /** Time that known pods have to load the snapshot, in ms. After it, the snapshot is activated without them. */
  waitMs: 10_000,
  /** A pod that has sent no report for this time, in ms, no longer counts. */
  podSilentMs: 3 * podReportIntervalMs,
  /** Time that unknown pods have to send a report, in ms, if this coordinator has not listened long enough to know all pods. */
  discoverMs: 1_000,
  /** Time between checks for a snapshot that is published but not active, in ms: the store may have been unavailable at its activation. */
  lookMs: 15_000,
} as const;

export type ActivationSettings = Partial<Record<keyof typeof activationDefaults, number>>;

/** Most pods that are tracked. Pods name themselves, so made-up names could otherwise fill the memory and the log. */
const podsMax = 512;

export interface ActivationEvents {
  activated?(outcome: ActivationOutcome): void;
  /** Every pod that reported refused the snapshot. The active snapshot and the pointer stay until a pod has loaded the new one after all. */
  heldBack?(outcome: ActivationOutcome): void;
  /** A pod refused a snapshot, or still does. */
  refused?(id: string): void;
}

/** What the pods had reported when the wait ended. The lists have names of pods. */
export interface ActivationOutcome {
  readonly id: string;
  readonly activated: boolean;
  readonly waitedMs: number;
  readonly loaded: readonly string[];
  readonly refused: readonly { readonly pod: string; readonly reason: string }[];
  /** Known pods that have neither loaded nor refused it yet. They serve it as soon as they have loaded it. */
  readonly loading: readonly string[];
}

export interface ActivationDeps {
  readonly broadcast: Broadcast;
  readonly store: Pick<SnapshotStore, "pointer" | "activate">;
  readonly events?: ActivationEvents;
  readonly settings?: ActivationSettings;
}

/** Used by the leader only: call `start` when a term begins, and `stop` when it ends. */
export class ActivationCoordinator {
  readonly #deps: ActivationDeps;
  readonly #settings: Record<keyof typeof activationDefaults, number>;
  readonly #pods = new Map<string, { readonly report: PodReport; readonly seenAtMs: number }>();
  #listeningSinceMs = 0;
  #subscription: { stop(): Promise<void> } | null = null;
  #heardReport: () => void = () => undefined;
  /** The snapshot that every pod refused; null once another one is activated. */
  #heldBack: string | null = null;
  #underWay: { readonly id: string; readonly outcome: Promise<ActivationOutcome> } | null = null;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: ActivationDeps) {
    this.#deps = deps;
    this.#settings = { ...activationDefaults, ...deps.settings };
  }

  start(): void {
    this.#listeningSinceMs = performance.now();
    this.#subscription = this.#deps.broadcast.subscribe(reloadSubjects.loaded, (payload) => this.#hear(payload));
    this.#timer = setInterval(() => void this.#look(), this.#settings.lookMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#heardReport();
    await this.#subscription?.stop();
  }

  /** The last report of each live pod, sorted by the pod's name. */
  pods(): PodReport[] {
    const oldest = performance.now() - this.#settings.podSilentMs;
    for (const [pod, { seenAtMs }] of this.#pods) if (seenAtMs < oldest) this.#pods.delete(pod);
    return [...this.#pods.values()].map(({ report }) => report).sort((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  /**
   * Call it after `store.publish`. Resolves when the snapshot is active or held back. Throws what the store throws, also if another
   * snapshot was published meanwhile. The pods then keep what they serve, and a later check completes the activation.
   */
  activate(id: string): Promise<ActivationOutcome> {
    if (this.#underWay?.id === id) return this.#underWay.outcome;
    const outcome = this.#activate(id).finally(() => {
      if (this.#underWay?.outcome === outcome) this.#underWay = null;
    });
    this.#underWay = { id, outcome };
    return outcome;
  }

  async #activate(id: string): Promise<ActivationOutcome> {
    const started = performance.now();
    this.#heldBack = null;
    this.#notify(reloadSubjects.published, id);
    await this.#untilLoaded(id, started);
    const outcome = this.#outcome(id, performance.now() - started);
    if (this.#stopped) return { ...outcome, activated: false };
    if (!outcome.activated) {
      this.#heldBack = id;
      this.#deps.events?.heldBack?.(outcome);
      return outcome;
    }
    await this.#deps.store.activate(id);
    this.#notify(reloadSubjects.activate, id);
    this.#deps.events?.activated?.(outcome);
    return outcome;
  }

  /** Announces that the active snapshot was repaired: pods that refused it try again. */
  announceRepaired(id: string): void {
    this.#notify(reloadSubjects.published, id);
  }

  /** Completes an activation that an earlier leader began; null if there is none. */
  async resume(): Promise<ActivationOutcome | null> {
    const pointer = await this.#deps.store.pointer();
    if (pointer === null || pointer.published === pointer.active) return null;
    return this.activate(pointer.published);
  }

  /** Like `resume`, for an activation that nothing else completes. */
  async #look(): Promise<void> {
    if (this.#underWay !== null) return;
    const pointer = await this.#deps.store.pointer().catch(() => null);
    // A process that was frozen finds here that it no longer leads.
    if (pointer === null || this.#stopped || this.#underWay !== null) return;
    const { published, active } = pointer;
    if (published !== active && published !== this.#heldBack) await this.activate(published).catch(() => undefined);
  }

  #hear(payload: unknown): void {
    const report = readPodReport(payload);
    if (report === null) return;
    if (!this.#pods.has(report.pod) && this.#pods.size >= podsMax && this.pods().length >= podsMax) return;
    this.#pods.set(report.pod, { report, seenAtMs: performance.now() });
    this.#heardReport();
    if (report.outcome === "refused" && report.snapshot !== null) this.#deps.events?.refused?.(report.snapshot);
    // The pod has loaded it after all. Its time to load has passed, so it is activated at once.
    if (this.#heldBack !== null && report.snapshot === this.#heldBack && report.outcome === "loaded")
      void this.resume().catch(() => undefined);
  }

  /** Waits until every known pod has loaded the snapshot, for at most `waitMs`. */
  async #untilLoaded(id: string, started: number): Promise<void> {
    const { waitMs, discoverMs } = this.#settings;
    // Every pod must have had time for one report. If no pod is known, the broadcast may have just been restored, so the time starts again.
    const since = this.pods().length === 0 ? started : this.#listeningSinceMs;
    const allKnownAt = Math.min(since + podReportIntervalMs + discoverMs, started + waitMs);
    const earliest = Math.max(started, Math.min(allKnownAt, started + discoverMs));
    for (let now = started; !this.#stopped && now < started + waitMs; now = performance.now()) {
      const ready = this.pods().every((report) => report.snapshot === id && report.outcome === "loaded");
      if (ready && now >= earliest) return;
      const until = ready ? earliest : started + waitMs;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(1, Math.ceil(until - now)));
        this.#heardReport = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  #outcome(id: string, waitedMs: number): ActivationOutcome {
    const loaded: string[] = [];
    const refused: { pod: string; reason: string }[] = [];
    const loading: string[] = [];
    for (const { pod, snapshot, outcome, reason } of this.pods()) {
      if (snapshot !== id || outcome === null) loading.push(pod);
      else if (outcome === "loaded") loaded.push(pod);
      else refused.push({ pod, reason: reason ?? "" });
    }
    const activated = refused.length === 0 || loaded.length > 0 || loading.length > 0;
    return { id, activated, waitedMs: Math.round(waitedMs), loaded, refused, loading };
  }

  #notify(subject: string, id: string): void {
    const notice: SnapshotNotice = { id };
    this.#deps.broadcast.publish(subject, notice);
  }
}
