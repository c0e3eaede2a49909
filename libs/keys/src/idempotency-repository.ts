/** What an Idempotency-Key stood for: the body that it came with, and what that made (docs/design/protocols.md#keys). */

export interface IdempotencyClaim {
  /** Digest of who asked and the Idempotency-Key. */
  readonly id: string;
  /** Digest of the request that it came with. */
  readonly bodyHash: string;
  /** The id of what is about to be made; of a change of state, whether it was made. */
  readonly target: string;
  /** Unix milliseconds: from then on it stands for nothing. */
  readonly expiresAt: number;
}

/** `claimed`: by this call. `known`: another call was first, with these. */
export type IdempotencyOutcome =
  | { readonly outcome: "claimed" }
  | { readonly outcome: "known"; readonly bodyHash: string; readonly target: string };

export interface IdempotencyRepository {
  /** Writes the claim unless there is one of its id that has not expired at `now`; unique over all processes. */
  claim(claim: IdempotencyClaim, now: number): Promise<IdempotencyOutcome>;
  /** Changes what a claim stands for; one of another request stays. */
  settle(claim: Pick<IdempotencyClaim, "id" | "bodyHash" | "target">): Promise<void>;
  /** Removes the claim of a request that was refused and changed nothing; one of another request stays. */
  release(claim: Pick<IdempotencyClaim, "id" | "bodyHash">): Promise<void>;
}
