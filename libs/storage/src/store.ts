/** The store: every repository of the control data, behind one handle. */

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
   * Which writes `onChange` tells of: `any`, or `own` = those through this handle only. With `own` whoever writes a key or plan tells the
   * other processes by a broadcast (docs/design/protocols.md#keys).
   */
  readonly changesSeen: "any" | "own";
  /**
   * Calls the listener within a second after a key or a plan was written, and whenever the signal itself was lost or came back, as a change
   * may then have been missed. Says that, not what: readers read again.
   *
   * @returns ends the listening.
   */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
