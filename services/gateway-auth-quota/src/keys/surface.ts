/** The types by which the HTTP edge and the limiter know a key. */

import type { ProblemCode, Scope } from "@netfacts/contracts";
import type { KeyLimits, Pepper } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

/** A key whose secret matched and whose state and client address allow it. One object per load from the store; never the secret. */
export interface VerifiedKey {
  readonly id: string;
  /** What its requests are counted under; a rotated key keeps the bucket of its predecessor. */
  readonly bucket: string;
  readonly label: string;
  /** `nf_live_7Q9M3W8K_…x4Pq`: safe to show and to log. */
  readonly display: string;
  readonly environment: "live" | "test";
  readonly scopes: ReadonlySet<Scope>;
  /** CIDRs as text; empty = every address. */
  readonly allowedCidrs: readonly string[];
  readonly plan: string;
  /** Own limits of the key, else those of its plan. */
  readonly limits: KeyLimits;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly rotation: { readonly replacedBy: string | null; readonly validUntil: number | null };
  /** What every answer to a replaced key says of its end; null: it was not replaced. */
  readonly endHeaders: Readonly<Record<string, string>> | null;
}

export type KeyProblemCode = Extract<
  ProblemCode,
  | "missing_api_key"
  | "invalid_api_key"
  | "too_many_failed_keys"
  | "revoked_api_key"
  | "disabled_api_key"
  | "expired_api_key"
  | "ip_not_allowed"
  | "insufficient_scope"
  | "upstream_unavailable"
  | "internal_error"
>;

/**
 * `key` in a refusal is set for `insufficient_scope` only: such a request is authenticated, so the edge charges its rate
 * (`limiter.admit(key, { month: 0 })`) and sends the limit headers with the 403.
 * `retryAfterSeconds` is set for `too_many_failed_keys` and `upstream_unavailable`.
 */
export type Verification =
  | { readonly ok: true; readonly key: VerifiedKey }
  | {
      readonly ok: false;
      readonly code: KeyProblemCode;
      /** Public text; names neither the key nor whether its id is known. */
      readonly detail: string;
      readonly retryAfterSeconds: number | null;
      readonly key: VerifiedKey | null;
    };

export interface Keyring {
  /**
   * Checks in the order shape and checksum → cached and its secret matches, or else throttle → known → secret → state → address → scope.
   *
   * @param authorization  the header as received; undefined or empty = `missing_api_key`.
   * @param clientAddress  text of the client's address after trusted proxies; IPv4-mapped IPv6 counts as IPv4.
   * @param scope          the scope that the route wants; absent = none (`/me`).
   *
   * Never throws. Cost with a cached key: one SHA-256, no store call and no promise, as one each time would cost more than that.
   */
  verify(authorization: string | undefined, clientAddress: string, scope?: Scope): Verification | Promise<Verification>;
  /** The bucket of the key in the header, if its secret matches what was read of it at last, however long ago; else null. Never asks the store. */
  bucketOf(authorization: string): string | null;
  /**
   * Follows a verified key for an answer that lasts. `onChange` is called, never within this call, when the key may do something else than
   * before, and at most once with a refusal: within a second of a change that reaches us, of the key's expiry, or of a time in which the key cannot be checked.
   *
   * @returns ends it; call it when the answer ends.
   */
  hold(key: VerifiedKey, clientAddress: string, scope: Scope | undefined, onChange: KeyChangeListener): () => void;
  /** Ends the subscriptions; the store stays open. */
  stop(): void;
}

export type KeyChangeListener = (verification: Verification) => void;

export interface KeyringSettings {
  /** A cached key is read again after this time. */
  readonly cacheLifetimeMs: number;
  /** The same while changes cannot reach us. */
  readonly cacheBlindMs: number;
  /** With the store away a cached key may serve this long after its last read, while changes can still reach us. */
  readonly cacheAwayMs: number;
  readonly cacheEntriesMax: number;
  /** How long an id that failed is remembered: tries of it that fail again are not read from the store. */
  readonly unknownLifetimeMs: number;
  readonly unknownEntriesMax: number;
  /** Failed keys per IPv4 /32 or IPv6 /64 and window, with those in flight; then failed keys are `too_many_failed_keys` until the window ends. */
  readonly failedKeysMax: number;
  readonly failedKeysWindowMs: number;
  readonly failedSourcesMax: number;
  /** Keys that are not cached and are read from the store for such an address beyond that; a valid one is not counted. */
  readonly failedReadsPerSecond: number;
  /** The same for all addresses, from the first try on. */
  readonly triesPerSecond: number;
  /** A failed key is refused no sooner than this, so that the time does not show what it failed at. */
  readonly failureMs: number;
  /** Limits of the plan `default` while nobody has written it. */
  readonly defaultLimits: KeyLimits;
  /** Pepper secrets by `pepper_id`, for keys that were stored as HMAC. */
  readonly peppers: ReadonlyMap<string, string>;
  /** The pepper that keys get when they are used; null: their hashes stay as they are. */
  readonly pepper: Pepper | null;
}

/** What the keyring needs of the bus: `@netfacts/messaging` has it. */
export interface ChangeChannel {
  subscribe(subject: string, listener: (payload: unknown) => void): { stop(): unknown };
  watchConnection(listener: (up: boolean) => void): { stop(): unknown };
  /** Whether the broker answers within so many ms; absent where there is none. */
  probe?(msMax: number): Promise<boolean>;
}

export interface KeyringOptions {
  readonly store: Pick<Store, "keys" | "plans" | "onChange">;
  /** Carries `keys.changed` = `{ key_id, version }` or `{ plan, version }`; absent where the store's own change signal is all there is. */
  readonly messaging?: ChangeChannel;
  /** `now`: Unix ms, for expiry. `monotonic`: ms that never jump, for lifetimes; default `performance.now`. */
  readonly clock: { now(): number; monotonic?(): number };
  /** Called once for each pepper that a key was hashed with and that is not at hand: such keys are refused. */
  readonly onUnknownPepper?: (pepperId: string) => void;
  /** Called when more changes are announced than operators make. */
  readonly onManyChanges?: () => void;
  /** What differs from `defaultKeyringSettings`. */
  readonly settings?: Partial<KeyringSettings>;
}
