/** Leases: which process leads. All times are the store's own, so that the clocks of processes do not matter. */

export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Increases whenever the lease goes to an owner who did not hold it. Reveals actions of an older holder. */
  readonly fence: number;
  /** Unix milliseconds on the store's clock. */
  readonly until: number;
}

export type LeaseOutcome =
  /**
   * The caller holds the lease. It counts `ttlMs` on its monotonic clock from before its request, and stops leading when they are over: the store's
   * count began later.
   */
  | { readonly outcome: "held"; readonly lease: Lease }
  /** Another holds it. */
  | { readonly outcome: "taken"; readonly lease: Lease };

export type RenewOutcome =
  | { readonly outcome: "held"; readonly lease: Lease }
  /** Another process took it, or it was released: the caller no longer leads. */
  | { readonly outcome: "lost" };

/** After any rejection the caller does not know whether it holds the lease: it stops leading when its time is over, and asks again. */
export interface LeaseRepository {
  /**
   * Takes the lease if it is free, released or expired; renews it for its owner. Of many concurrent callers one gets it.
   *
   * @param owner  a name that no other process and no other run has.
   * @throws RangeError unless ttlMs is an integer from 1 to 600,000.
   */
  acquire(name: string, owner: string, ttlMs: number): Promise<LeaseOutcome>;
  /** Succeeds unless another owner has taken it, even when it has expired. */
  renew(name: string, owner: string, ttlMs: number): Promise<RenewOutcome>;
  /** Frees the lease at once; does nothing when the owner does not hold it. */
  release(name: string, owner: string): Promise<void>;
  /** The current lease; null when nobody holds it. */
  read(name: string): Promise<Lease | null>;
}
