/** The interface of keys to the HTTP edge and the limiter. */

import type { ProblemCode, Scope } from "@netfacts/contracts";
import type { KeyLimits, Pepper } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

/** A key whose secret, state and client address were verified. It never has the secret. It is the same object until the key or its plan changes. */
export interface VerifiedKey {
  readonly id: string;
  /** Account for its requests; a successor keeps the bucket of the key that it replaces. */
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
  /** Headers of every answer to a replaced key, which name its end; null: it was not replaced. */
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
   * Checks, in this order: form and checksum; a cached copy with a matching secret, or else throttle, id and secret; state; address; scope.
   *
   * @param authorization  the header as received; undefined or empty = `missing_api_key`.
   * @param clientAddress  text of the client's address after trusted proxies; IPv4-mapped IPv6 counts as IPv4.
   * @param scope          the scope that the route requires; absent = none (`/me`).
   *
   * Never throws. Cost with a cached key: one SHA-256, no store call, and no promise, which would cost more than the hash.
   */
  verify(authorization: string | undefined, clientAddress: string, scope?: Scope): Verification | Promise<Verification>;
  /** The bucket of the key in the header, if its secret matches the last copy read, however old; else null. Never asks the store. */
  bucketOf(authorization: string): string | null;
  /**
   * Follows a verified key during a long answer. `onChange` is called, never within this call, when the rights of the key change, and at most
   * once with a refusal. It is called within a second after a change that reaches us, or after the key expires or can no longer be checked.
   *
   * @returns a function that stops following; call it when the answer ends.
   */
  hold(key: VerifiedKey, clientAddress: string, scope: Scope | undefined, onChange: KeyChangeListener): () => void;
  /** Ends the subscriptions; the store stays open. */
  stop(): void;
}

export type KeyChangeListener = (verification: Verification) => void;

export interface KeyringSettings {
  /** A cached key is read again after this time. */
  readonly cacheLifetimeMs: number;
  /** The same while broadcasts of changes cannot reach us. */
  readonly cacheBlindMs: number;
  /** Time after its last read for which a cached key is valid while the store is unavailable and broadcasts of changes can reach us. */
  readonly cacheAwayMs: number;
  readonly cacheEntriesMax: number;
  /** Time for which the id of a failed try is remembered: further tries of it that fail do not read the store. */
  readonly unknownLifetimeMs: number;
  readonly unknownEntriesMax: number;
  /** Failed keys per IPv4 /32 or IPv6 /64 and window, including those in flight. Beyond it they get `too_many_failed_keys` until the window ends. */
  readonly failedKeysMax: number;
  readonly failedKeysWindowMs: number;
  readonly failedSourcesMax: number;
  /** Uncached keys per second that are still read from the store for such an address; valid ones are not counted. */
  readonly failedReadsPerSecond: number;
  /** The same for all addresses together, from the first try on. */
  readonly triesPerSecond: number;
  /** Least time before a failed key is refused, so that the time does not reveal the reason. */
  readonly failureMs: number;
  /** Limits of the plan `default` until it is written. */
  readonly defaultLimits: KeyLimits;
  /** Pepper secrets by `pepper_id`, for keys that were stored as HMAC. */
  readonly peppers: ReadonlyMap<string, string>;
  /** Pepper with which keys are rehashed when they are used; null: hashes do not change. */
  readonly pepper: Pepper | null;
}

/** The part of the bus that the keyring needs; `@netfacts/messaging` has it. */
export interface ChangeChannel {
  subscribe(subject: string, listener: (payload: unknown) => void): { stop(): unknown };
  watchConnection(listener: (up: boolean) => void): { stop(): unknown };
  /** Whether the broker answers within `msMax`; absent if there is no broker. */
  probe?(msMax: number): Promise<boolean>;
}

export interface KeyringOptions {
  readonly store: Pick<Store, "keys" | "plans" | "onChange">;
  /** Carries `keys.changed` = `{ key_id, version }` or `{ plan, version }`; absent if there is only the store's own change signal. */
  readonly messaging?: ChangeChannel;
  /** `now`: Unix ms, for expiry. `monotonic`: ms that never jump, for lifetimes; default `performance.now`. */
  readonly clock: { now(): number; monotonic?(): number };
  /** Called once for each unknown pepper of a stored key: such keys are refused. */
  readonly onUnknownPepper?: (pepperId: string) => void;
  /** Called when far more changes are announced than operators make. */
  readonly onManyChanges?: () => void;
  /** Settings that differ from `defaultKeyringSettings`. */
  readonly settings?: Partial<KeyringSettings>;
}
