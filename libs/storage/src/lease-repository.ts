/** Leases: which process leads. Times are the store's own, so that clocks of processes do not matter. */

export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Rises whenever the lease goes to an owner who did not hold it: what an older holder still does can be told by it. */
  readonly fence: number;
  /** Store's time, Unix milliseconds. */
  readonly until: number;
}

export type LeaseOutcome =
  /**
   * The caller holds it. It counts `ttlMs` from before it asked, by its monotonic clock, and stops leading when they are over:
   * the store's count began later.
   */
  | { readonly outcome: "held"; readonly lease: Lease }
  /** Another holds it. */
  | { readonly outcome: "taken"; readonly lease: Lease };

export type RenewOutcome =
  | { readonly outcome: "held"; readonly lease: Lease }
  /** Another took it, or it was released: the caller leads no more. */
  | { readonly outcome: "lost" };

/** After any rejection the caller does not know whether it holds the lease: it stops leading when its time is over, and asks again. */
export interface LeaseRepository {
  /**
   * Takes the lease if it is free, released or expired; renews it for an owner who has it. Of many callers at a time one gets it.
   *
   * @param owner  a name that no other process and no other run has.
   * @throws RangeError unless ttlMs is a positive integer.
   */
  acquire(name: string, owner: string, ttlMs: number): Promise<LeaseOutcome>;
  /** Succeeds as long as nobody else has got it, even when it has expired. */
  renew(name: string, owner: string, ttlMs: number): Promise<RenewOutcome>;
  /** Frees it at once; nothing happens when the owner does not hold it. */
  release(name: string, owner: string): Promise<void>;
  /** Who holds it now; null when nobody does. */
  read(name: string): Promise<Lease | null>;
}
