/** The actions of operators: appended, never changed. */

import type { AuditAction } from "@netfacts/contracts";

export interface AuditEntry {
  /** Unique; orders entries with the same `at`. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Who acted: `key:7Q9M3W8K`, `cli:root`. */
  readonly actor: string;
  /** What was done: `key.revoke`, `run.start`. */
  readonly action: string;
  /** The id of the key, run or snapshot, for example; null: there is none. */
  readonly target: string | null;
  /** The client's address, or `cli` for the command line; null: not known. */
  readonly address: string | null;
  /** The key that authorised it; null for the command line. */
  readonly keyId: string | null;
  /** Other useful facts, as JSON. */
  readonly details: unknown;
}

/** Entries with `from` ≤ time < `to`, Unix milliseconds; only those older than the entry `before`, which is the last one of the previous page. */
export interface AuditQuery {
  readonly limit: number;
  readonly from?: number;
  readonly to?: number;
  readonly before?: Pick<AuditEntry, "at" | "id">;
  /** Exact matches; absent: any. */
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
}

export interface AuditRepository {
  /** Stores the entry. The text of any key in it is stored in its shown form, without the secret. */
  append(entry: Omit<AuditEntry, "id"> & { readonly action: AuditAction }): Promise<AuditEntry>;
  /** Latest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>;
}
