/** Which of several ingest processes leads: by a lease in the store, held for a term at a time. */

import type { LeaseRepository } from "@netfacts/storage";

/** The lease's name in the store. */
export const leaseName = "ingest";

/** The caller led, and does no more, or cannot know whether it does. What it wanted to do must not be done. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** From the moment in which a process got the lease to the one in which it can no longer be sure of it. */
export interface Term {
  /** Aborted with a `LeadershipLostError` when the term is over. */
  readonly signal: AbortSignal;
  /**
   * Resolves when the store itself says that the lease is still ours: to be asked before anything that only a leader may do. A process
   * that was frozen has no other way to learn what happened meanwhile.
   *
   * @throws LeadershipLostError
   */
  confirm(): Promise<void>;
}

export interface LeadershipOptions {
  readonly leases: LeaseRepository;
  /** A name that no other process and no other run has. */
  readonly owner: string;
  /** The lease is free so long after its holder was last heard of. It is renewed, and asked for, three times as often. */
  readonly ttlMs: number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Called when this process begins to lead. */
  onTerm(term: Term): void;
  /** Called for each time that the store did not answer, with the fault, and with null when it answers again. */
  onStore?(fault: Error | null): void;
  /** ms that never jump and go on while the process is frozen. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

interface RunningTerm extends Term {
  readonly ending: AbortController;
  /** By the monotonic clock. */
  until: number;
  timer: NodeJS.Timeout | undefined;
}

const renewalsPerTtl = 3;

/** Asks for the lease as long as another has it, and keeps it as long as the store lets it. */
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

  /** Asks for the first time; resolves when the store has answered or failed to. */
  async start(): Promise<void> {
    await this.#takeTurn();
  }

  /** Ends the term and frees the lease, so that another takes over within a third of its length. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#turn;
    this.#end("this process is stopping");
    await this.#release();
  }

  /** Ends the term and frees the lease, and asks for none until `resume`: another process can do what this one cannot. */
  async withhold(reason: string): Promise<void> {
    this.#isWithheld = true;
    this.#end(reason);
    // Behind an answer that may be on its way, and before what is asked after `resume`.
    this.#turn = this.#turn.then(() => this.#release());
    await this.#turn;
  }

  /** The lease is asked for again within a third of its length. */
  resume(): void {
    this.#isWithheld = false;
  }

  /** Null unless this process leads now. */
  get term(): Term | null {
    this.#endIfOver();
    return this.#term;
  }

  /** The owner of the lease now, which may be another process; null when nobody holds it. @throws StoreError */
  async leader(): Promise<string | null> {
    return (await this.#options.leases.read(leaseName))?.owner ?? null;
  }

  /** Also where the last answer came too late to begin a term; who holds nothing frees nothing. */
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

  /** The time counts from before the store was asked: its own began later. */
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
