/** What operators did: appended, never changed. */

import type { AuditAction } from "@netfacts/contracts";

export interface AuditEntry {
  /** Unique; with `at` it orders entries of one millisecond. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Who: `key:7Q9M3W8K`, `cli:root`. */
  readonly actor: string;
  /** What: `key.revoke`, `run.start`. */
  readonly action: string;
  /** To what: the id of a key, run or snapshot, for example; null where there is none. */
  readonly target: string | null;
  /** From where: the client's address, or `cli` for the command line; null: not known. */
  readonly address: string | null;
  /** The key that allowed it; null for the command line. */
  readonly keyId: string | null;
  /** What else is worth knowing, as JSON. */
  readonly details: unknown;
}

/** Entries from `from` on and before `to`, Unix milliseconds; older than the entry `before`, which is the last of the page before. */
export interface AuditQuery {
  readonly limit: number;
  readonly from?: number;
  readonly to?: number;
  readonly before?: Pick<AuditEntry, "at" | "id">;
  /** Exactly these, where they are given. */
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
}

export interface AuditRepository {
  /** Any key's text in the entry is stored in its shown form, without the secret. */
  append(entry: Omit<AuditEntry, "id"> & { readonly action: AuditAction }): Promise<AuditEntry>;
  /** The latest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>;
}
