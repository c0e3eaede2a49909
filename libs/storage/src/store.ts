/** The store: every repository of the control data in one object. */

import type { KeyStore } from "@netfacts/keys";
import type { LeaseRepository } from "./lease-repository.ts";
import type { LimitRepository } from "./limit-repository.ts";
import type { ProfileRepository } from "./profile-repository.ts";
import type { RunRepository } from "./run-repository.ts";
import type { StatementRepository } from "./statement-repository.ts";
import type { UsageRepository } from "./usage-repository.ts";

/** Methods of the repositories reject with `StoreError`, unless their outcome type has a case for it. */
export interface Store extends KeyStore {
  readonly limits: LimitRepository;
  readonly runs: RunRepository;
  readonly usage: UsageRepository;
  readonly profiles: ProfileRepository;
  readonly statements: StatementRepository;
  readonly leases: LeaseRepository;
  /**
   * The writes that `onChange` reports: `any`, or `own` = only those through this object. With `own`, the writer of a key or plan informs the other
   * processes by a broadcast (docs/design/protocols.md#keys).
   */
  readonly changesSeen: "any" | "own";
  /**
   * Calls the listener within a second after a key or a plan was written, and whenever the signal itself was lost or came back, as a change may then
   * have been missed. It does not say what changed: readers read again.
   *
   * @returns a function that ends the listening.
   */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
