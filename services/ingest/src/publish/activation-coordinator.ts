/** Ingest's side of two-phase activation: tells the pods what was published, waits until they have loaded it, and lets it be served. */

import { type PodReport, readPodReport, reloadSubjects, type SnapshotNotice } from "@netfacts/contracts";
import { type Broadcast, podReportIntervalMs } from "@netfacts/pod";
import type { SnapshotStore } from "@netfacts/snapshot";

export const activationDefaults = {
  /** How long pods that are known have time to load; then the others go on without them. */
  waitMs: 10_000,
  /** A pod that was silent for so long is gone. */
  podSilentMs: 3 * podReportIntervalMs,
  /** How long unknown pods have to show themselves, when this coordinator has not listened long enough to know all. */
  discoverMs: 1_000,
  /** How often it is looked for what is published and not active: the store may have been away when that was to be changed. */
  lookMs: 15_000,
} as const;

export type ActivationSettings = Partial<Record<keyof typeof activationDefaults, number>>;

/** Names are what pods say of themselves: whoever makes them up fills no memory and no log. */
const podsMax = 512;

export interface ActivationEvents {
  activated?(outcome: ActivationOutcome): void;
  /** Every pod that answered refused it: what is served stays so, and the pointer too, until one has loaded it after all. */
  heldBack?(outcome: ActivationOutcome): void;
  /** A pod refused it, or still does. */
  refused?(id: string): void;
}

/** How far the pods had come when the wait was over. Names of pods. */
export interface ActivationOutcome {
  readonly id: string;
  readonly activated: boolean;
  readonly waitedMs: number;
  readonly loaded: readonly string[];
  readonly refused: readonly { readonly pod: string; readonly reason: string }[];
  /** Known, and neither of both so far: they serve it as soon as they have it. */
  readonly loading: readonly string[];
}

export interface ActivationDeps {
  readonly broadcast: Broadcast;
  readonly store: Pick<SnapshotStore, "pointer" | "activate">;
  readonly events?: ActivationEvents;
  readonly settings?: ActivationSettings;
}

/** Belongs to the leader: `start` when leading begins, `stop` when it ends. */
export class ActivationCoordinator {
  readonly #deps: ActivationDeps;
  readonly #settings: Record<keyof typeof activationDefaults, number>;
  readonly #pods = new Map<string, { readonly report: PodReport; readonly seenAtMs: number }>();
  #listeningSinceMs = 0;
  #subscription: { stop(): Promise<void> } | null = null;
  #heardReport: () => void = () => undefined;
  /** What every pod refused, as long as nothing else is published. */
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

  /** The pods that are there, as they reported last, by name. */
  pods(): PodReport[] {
    const oldest = performance.now() - this.#settings.podSilentMs;
    for (const [pod, { seenAtMs }] of this.#pods) if (seenAtMs < oldest) this.#pods.delete(pod);
    return [...this.#pods.values()].map(({ report }) => report).sort((a, b) => (a.pod < b.pod ? -1 : 1));
  }

  /**
   * After `store.publish`: resolves when the snapshot is active, or held back. Throws what the store throws, also when another
   * snapshot was published meanwhile; the pods then go on with what they serve, and a later look brings it to its end.
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

  /** What is active was repaired: pods that refused it try again. */
  announceRepaired(id: string): void {
    this.#notify(reloadSubjects.published, id);
  }

  /** Brings to its end what a leader before began; null when there is nothing to do. */
  async resume(): Promise<ActivationOutcome | null> {
    const pointer = await this.#deps.store.pointer();
    if (pointer === null || pointer.published === pointer.active) return null;
    return this.activate(pointer.published);
  }

  /** As `resume`, of what nobody else brings to its end. */
  async #look(): Promise<void> {
    if (this.#underWay !== null) return;
    const pointer = await this.#deps.store.pointer().catch(() => null);
    // A frozen process learns here that it leads no more.
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
    // Repaired after all: its own bound has passed, so that it is activated at once.
    if (this.#heldBack !== null && report.snapshot === this.#heldBack && report.outcome === "loaded")
      void this.resume().catch(() => undefined);
  }

  /** Until every known pod has loaded it, or the bound. */
  async #untilLoaded(id: string, started: number): Promise<void> {
    const { waitMs, discoverMs } = this.#settings;
    // One report of each pod must have had time to come. With none known the broadcast itself may be just back: they are given it anew.
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
