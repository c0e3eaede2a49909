/** Idempotency-Keys: the request that used each, and its result (docs/design/protocols.md#keys). */

export interface IdempotencyClaim {
  /** Digest of the caller and the Idempotency-Key. */
  readonly id: string;
  /** Digest of the request. */
  readonly bodyHash: string;
  /** The id of what the request creates; for a change of state, whether it was completed. */
  readonly target: string;
  /** Unix milliseconds: from then on the claim is not valid. */
  readonly expiresAt: number;
}

/** `claimed`: by this call. `known`: an earlier call has claimed it, with these values. */
export type IdempotencyOutcome =
  | { readonly outcome: "claimed" }
  | { readonly outcome: "known"; readonly bodyHash: string; readonly target: string };

export interface IdempotencyRepository {
  /** Writes the claim, unless there is one with its id that has not expired at `now`; atomic over all processes. */
  claim(claim: IdempotencyClaim, now: number): Promise<IdempotencyOutcome>;
  /** Changes the target of a claim; the claim of another request is not changed. */
  settle(claim: Pick<IdempotencyClaim, "id" | "bodyHash" | "target">): Promise<void>;
  /** Removes the claim of a request that was refused and changed nothing; the claim of another request is not removed. */
  release(claim: Pick<IdempotencyClaim, "id" | "bodyHash">): Promise<void>;
}
