/** States of origin validation (RFC 6811) as small numbers, for whole tables. */

/** The validation states of a route; `invalidAs` and `invalidLength` include the reason. Stored in bytes, so the numbers must not change. */
export const originStates = { notFound: 0, valid: 1, invalidAs: 2, invalidLength: 3 } as const;

/** 0 not found, 1 valid, 2 invalid for its AS, 3 invalid for its length. */
export type OriginState = (typeof originStates)[keyof typeof originStates];

export type ValidityState = "valid" | "invalid" | "not-found";
export type InvalidReason = "as" | "length";

export interface StateWords {
  readonly state: ValidityState;
  /** Null unless invalid. */
  readonly reason: InvalidReason | null;
}

const words: readonly [StateWords, StateWords, StateWords, StateWords] = [
  { state: "not-found", reason: null },
  { state: "valid", reason: null },
  { state: "invalid", reason: "as" },
  { state: "invalid", reason: "length" },
];

/** State and reason of a number, in the words of answers. Allocates nothing: equal numbers give the same object. */
export function stateWords(state: OriginState): StateWords {
  return words[state];
}
