/** Elects the leader among several ingest processes by a lease in the store. A process leads for one term at a time. */

import type { LeaseRepository } from "@netfacts/storage";

/** The lease's name in the store. */
export const leaseName = "ingest";

/** The process no longer leads, or cannot know whether it does. It must not do what only a leader may do. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** The time from when a process gets the lease until it can no longer be sure to hold it. */
export interface Term {
  /** Aborted with a `LeadershipLostError` when the term is over. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the store confirms that this process still holds the lease. Call it before anything that only a leader may do: a
   * process that was frozen has no other way to learn what happened meanwhile.
   *
   * @throws LeadershipLostError
   */
  confirm(): Promise<void>;
}

export interface LeadershipOptions {
  readonly leases: LeaseRepository;
  /** A name that is unique to this start of this process. */
  readonly owner: string;
  /** Time after which an unrenewed lease expires, in ms. It is renewed and requested three times within this time. */
  readonly ttlMs: number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Called when this process begins to lead. */
  onTerm(term: Term): void;
  /** Called with the fault each time that the store does not answer, and with null when it answers again. */
  onStore?(fault: Error | null): void;
  /** A clock in ms that never jumps, and that continues while the process is frozen. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

interface RunningTerm extends Term {
  readonly ending: AbortController;
  /** By the monotonic clock. */
  until: number;
  timer: NodeJS.Timeout | undefined;
}

const renewalsPerTtl = 3;

/** Requests the lease while another process holds it, and renews it while this process does. */
export class Leadership {
  readonly #options: LeadershipOptions;
  readonly #now: () => number;
  #term: RunningTerm | null = null;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #stopped = false;
  #isWithheld = false;
  #isStoreAway = false;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#now = options.monotonic ?? (() => performance.now());
  }

  /** Requests the lease for the first time. Resolves when the store has answered, or has failed to. */
  async start(): Promise<void> {
    await this.#takeTurn();
  }

  /** Ends the term and releases the lease, so that another process takes over within a third of `ttlMs`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#turn;
    this.#end("this process is stopping");
    await this.#release();
  }

  /** Ends the term, releases the lease, and requests none until `resume`: another process can do what this one cannot. */
  async withhold(reason: string): Promise<void> {
    this.#isWithheld = true;
    this.#end(reason);
    // Runs after a request that may be in flight, and before any request that follows `resume`.
    this.#turn = this.#turn.then(() => this.#release());
    await this.#turn;
  }

  /** Requests the lease again, within a third of `ttlMs`. */
  resume(): void {
    this.#isWithheld = false;
  }

  /** Null unless this process leads now. */
  get term(): Term | null {
    this.#endIfOver();
    return this.#term;
  }

  /** The current owner of the lease, which may be another process; null if nobody holds it. @throws StoreError */
  async leader(): Promise<string | null> {
    return (await this.#options.leases.read(leaseName))?.owner ?? null;
  }

  /** Needed even without a term: the lease may have been granted too late to begin one. Has no effect if another process holds the lease. */
  async #release(): Promise<void> {
    const { leases, owner, log } = this.#options;
    await leases
      .release(leaseName, owner)
      .catch((err: unknown) => log.warn({ err }, "the lease could not be released; it expires by itself"));
  }

  async #takeTurn(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#ask());
    await this.#turn;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#takeTurn(), Math.ceil(this.#options.ttlMs / renewalsPerTtl));
  }

  async #ask(): Promise<void> {
    const { leases, owner, ttlMs, log } = this.#options;
    if (this.#isWithheld) return;
    this.#endIfOver();
    const asked = this.#now();
    const term = this.#term;
    try {
      if (term === null) {
        const { outcome } = await leases.acquire(leaseName, owner, ttlMs);
        if (outcome === "held" && !this.#stopped && !this.#isWithheld) this.#begin(asked);
      } else {
        await this.#renew(term);
      }
      if (!this.#isStoreAway) return;
      this.#isStoreAway = false;
      log.info({}, "store is available again");
      this.#options.onStore?.(null);
    } catch (err) {
      if (err instanceof LeadershipLostError) return;
      this.#options.onStore?.(err as Error);
      if (!this.#isStoreAway) log.warn({ err, leads: term !== null }, "the lease cannot be checked; the leader steps down when it expires");
      this.#isStoreAway = true;
    }
  }

  #begin(asked: number): void {
    const ending = new AbortController();
    const term: RunningTerm = {
      ending,
      signal: ending.signal,
      confirm: () => this.#confirm(term),
      until: 0,
      timer: undefined,
    };
    this.#term = term;
    this.#extend(term, asked);
    if (this.#term !== term) return;
    this.#options.log.info({ ttl_ms: this.#options.ttlMs }, "this process is now the leader");
    this.#options.onTerm(term);
  }

  /** @throws LeadershipLostError, StoreError */
  async #renew(term: RunningTerm): Promise<void> {
    const { leases, owner, ttlMs } = this.#options;
    const asked = this.#now();
    const { outcome } = await leases.renew(leaseName, owner, ttlMs);
    if (outcome === "held") this.#extend(term, asked);
    else if (this.#term === term) this.#end("another process took the lease");
    term.signal.throwIfAborted();
  }

  async #confirm(term: RunningTerm): Promise<void> {
    this.#endIfOver();
    term.signal.throwIfAborted();
    try {
      await this.#renew(term);
    } catch (cause) {
      if (cause instanceof LeadershipLostError) throw cause;
      throw new LeadershipLostError("the store does not respond, so this process may no longer be the leader", { cause });
    }
  }

  /** Counts the time from before the request, so that the term ends before the lease does in the store. */
  #extend(term: RunningTerm, asked: number): void {
    if (this.#term !== term) return;
    term.until = asked + this.#options.ttlMs;
    clearTimeout(term.timer);
    term.timer = setTimeout(() => this.#endIfOver(), Math.max(0, Math.ceil(term.until - this.#now())));
    this.#endIfOver();
  }

  #endIfOver(): void {
    const term = this.#term;
    if (term !== null && this.#now() >= term.until) this.#end("the lease expired before it could be renewed");
  }

  #end(reason: string): void {
    const term = this.#term;
    if (term === null) return;
    this.#term = null;
    clearTimeout(term.timer);
    this.#options.log.info({ reason }, "this process is no longer the leader");
    term.ending.abort(new LeadershipLostError(`${reason}; nothing was published`));
  }
}
