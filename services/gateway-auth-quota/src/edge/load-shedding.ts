/**
 * Load shedding: what could be answered late only is refused at once, so that what is taken is answered in time. Two bounds: questions in
 * flight to each service, so that a slow one takes no room from the others, and how late the event loop is.
 */

import { ProblemError, type ServiceName, serviceNames } from "@netfacts/contracts";
import { Shares } from "@netfacts/messaging";

export interface SheddingSettings {
  /** Questions in flight to one service; one more is refused. */
  readonly inFlightMax: number;
  /** Lateness of the event loop beyond which questions are refused; 0: never. */
  readonly loopDelayMsMax: number;
}

/** How often the lateness is looked at. */
const sampleMs = 50;

/** So many looks in a row must find the loop late: one pause of the machine is no overload. */
const lateSamplesMin = 3;

/** What is bounded apart: each service, and all questions about the past, which may wait for a snapshot. */
export type ShedName = ServiceName | "history";
const shedNames: readonly ShedName[] = [...serviceNames, "history"];

export class LoadShedder {
  readonly #settings: SheddingSettings;
  readonly #inFlight: Record<ShedName, number>;
  #timer: NodeJS.Timeout | undefined;
  /** Of keys, in the questions whose key is known. */
  readonly #shares: Readonly<Record<ShedName, Shares>>;
  #lateSamples = 0;
  #halfLateSamples = 0;

  constructor(settings: SheddingSettings) {
    this.#settings = settings;
    this.#inFlight = ofEach(() => 0);
    this.#shares = ofEach(() => new Shares(settings.inFlightMax, "kept free"));
  }

  /** Watches the event loop from now on. */
  start(): void {
    if (this.#settings.loopDelayMsMax === 0) return;
    let dueAt = performance.now() + sampleMs;
    this.#timer = setInterval(() => {
      const now = performance.now();
      const { loopDelayMsMax } = this.#settings;
      this.#lateSamples = now - dueAt > loopDelayMsMax ? this.#lateSamples + 1 : 0;
      this.#halfLateSamples = now - dueAt > loopDelayMsMax / 2 ? this.#halfLateSamples + 1 : 0;
      dueAt = now + sampleMs;
    }, sampleMs).unref();
  }

  /** Whether the event loop is half as late as what refuses everything: requests without a key are then refused first. */
  get isStrained(): boolean {
    return this.#halfLateSamples >= lateSamplesMin;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Takes a question for a service; call `leave` when it has ended, also when this throws.
   *
   * @throws ProblemError `temporarily_overloaded`
   */
  enter(service: ShedName): void {
    this.#inFlight[service] += 1;
    if (this.#inFlight[service] > this.#settings.inFlightMax || this.#lateSamples >= lateSamplesMin)
      throw new ProblemError("temporarily_overloaded");
  }

  leave(service: ShedName): void {
    this.#inFlight[service] -= 1;
  }

  /**
   * Counts a question that was entered for its key, and runs it, where the key has its share of the places left.
   *
   * @throws ProblemError `temporarily_overloaded`, by rejecting
   */
  async within<T>(service: ShedName, bucket: string, ask: () => Promise<T>): Promise<T> {
    const share = this.#shares[service].enter(bucket);
    if (share === null) throw new ProblemError("temporarily_overloaded", { detail: "The key has too many requests in progress." });
    try {
      return await ask();
    } finally {
      this.#shares[service].leave(share);
    }
  }
}

function ofEach<T>(make: () => T): Record<ShedName, T> {
  return Object.fromEntries(shedNames.map((name) => [name, make()])) as Record<ShedName, T>;
}
