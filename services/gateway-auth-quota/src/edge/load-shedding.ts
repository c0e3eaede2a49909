/**
 * Load shedding: a question that would be answered late is refused at once, so that accepted questions are answered in time. There are two
 * limits: the questions in flight to each service, so that a slow service takes no room from the others, and the delay of the event loop.
 */

import { ProblemError, type ServiceName, serviceNames } from "@netfacts/contracts";
import { Shares } from "@netfacts/messaging";

export interface SheddingSettings {
  /** Most questions in flight to one service; further ones are refused. */
  readonly inFlightMax: number;
  /** Event-loop delay above which questions are refused, in ms; 0: never. */
  readonly loopDelayMsMax: number;
}

/** Interval at which the delay is measured. */
const sampleMs = 50;

/** Number of consecutive late samples that mean overload: a single pause of the machine does not. */
const lateSamplesMin = 3;

/** Limited separately: each service, and all questions about the past, which may wait for a snapshot. */
export type ShedName = ServiceName | "history";
const shedNames: readonly ShedName[] = [...serviceNames, "history"];

export class LoadShedder {
  readonly #settings: SheddingSettings;
  readonly #inFlight: Record<ShedName, number>;
  #timer: NodeJS.Timeout | undefined;
  /** Shares of keys in the questions whose key is known. */
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

  /** Whether the event-loop delay is above half of the limit: then requests without a key are refused, before any others are. */
  get isStrained(): boolean {
    return this.#halfLateSamples >= lateSamplesMin;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Counts a question for a service. Call `leave` when the question has ended, and also when this throws.
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
   * Asks a question that was entered, if the key has a place left, and counts it for the key meanwhile.
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
