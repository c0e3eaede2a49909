/** Stored keys: never the secret, only its hash. */

import type { Scope } from "@netfacts/contracts";

export type KeyEnvironment = "live" | "test";

/** `expired` is not a state: it follows from `expiresAt`. `revoked` is final. */
export type KeyState = "active" | "disabled" | "revoked";

/** At most `limit` requests per fixed window of `windowSeconds`. */
export interface RateLimit {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** At most `limit` answers per calendar month, UTC. */
export interface MonthLimit {
  readonly limit: number;
}

/** At most `limit` requests at the same time. */
export interface ConcurrencyLimit {
  readonly limit: number;
}

export interface KeyLimits {
  readonly rate: RateLimit;
  readonly month: MonthLimit;
  /** Null = none. */
  readonly concurrency: ConcurrencyLimit | null;
}

/** Times are Unix milliseconds. */
export interface KeyRecord {
  readonly id: string;
  /** Lower-case hexadecimal of the whole key's hash. */
  readonly hash: string;
  readonly hashAlgorithm: "sha256" | "hmac-sha256";
  /** Id of the pepper of the HMAC; null for plain SHA-256. */
  readonly pepperId: string | null;
  readonly environment: KeyEnvironment;
  readonly lastFour: string;
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** Canonical CIDR text; empty = every address. */
  readonly allowedCidrs: readonly string[];
  /** A plan that does not exist (any more) counts as `default`. */
  readonly plan: string;
  /** Own limits; null = those of the plan. */
  readonly rate: RateLimit | null;
  readonly month: MonthLimit | null;
  readonly concurrency: ConcurrencyLimit | null;
  /** Its usage is counted under this: its own id, or the bucket that it inherited by rotation. */
  readonly bucket: string;
  readonly state: KeyState;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** Set by rotation: the id of the successor, the time of the rotation, and the time until which this key still works. */
  readonly replacedBy: string | null;
  readonly rotatedAt: number | null;
  readonly validUntil: number | null;
  /** Somebody is about to end it as an admin key: until that is decided, nobody may rely on it (`keys/admin-guard.ts`). */
  readonly steppingDown: boolean;
  /** 1 at creation; increases by one with each change. */
  readonly version: number;
}

/** The members that a change may set; all others are fixed at creation. */
export type KeyEdit = Partial<
  Pick<
    KeyRecord,
    | "label"
    | "scopes"
    | "allowedCidrs"
    | "plan"
    | "rate"
    | "month"
    | "concurrency"
    | "state"
    | "expiresAt"
    | "replacedBy"
    | "rotatedAt"
    | "validUntil"
    | "steppingDown"
  >
>;

export type KeyUpdate =
  | { readonly outcome: "updated"; readonly key: KeyRecord }
  /** Somebody else changed it since `version`; `key` is its current state. */
  | { readonly outcome: "conflict"; readonly key: KeyRecord }
  | { readonly outcome: "absent" };

/** The hash of a key, and the pepper used. */
export type KeyHash = Pick<KeyRecord, "hash" | "hashAlgorithm" | "pepperId">;

/** A page of keys, oldest first, then by id. Absent filters match every key. */
export interface KeyQuery {
  readonly limit: number;
  /** The last key of the previous page. */
  readonly after?: Pick<KeyRecord, "createdAt" | "id">;
  readonly plan?: string;
  readonly scope?: Scope;
  readonly state?: KeyState;
}

export interface KeyRepository {
  /** `exists` = the id is taken; nothing was written. A written key survives a power failure. */
  insert(key: KeyRecord): Promise<"inserted" | "exists">;
  find(id: string): Promise<KeyRecord | null>;
  /** Every key, oldest first, then by id. */
  list(): Promise<KeyRecord[]>;
  page(query: KeyQuery): Promise<KeyRecord[]>;
  /** Writes the change only if the key still has this version. */
  update(id: string, version: number, change: KeyEdit): Promise<KeyUpdate>;
  /**
   * Replaces the hash by another one of the same key (with another pepper), only if it still is `from`. The version is unchanged, and nobody is
   * informed: for readers the key is the same.
   *
   * @returns whether it was replaced.
   */
  rehash(id: string, from: string, to: KeyHash): Promise<boolean>;
}
