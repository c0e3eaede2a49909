/** The store: every repository of the control data, behind one handle. */

import type { BootstrapRepository } from "./bootstrap-repository.ts";
import type { KeyRepository } from "./key-repository.ts";
import type { LimitRepository } from "./limit-repository.ts";
import type { RunRepository } from "./run-repository.ts";

/** Methods of the repositories reject with `StoreError`, unless their outcome type has a case for it. */
export interface Store {
  readonly keys: KeyRepository;
  readonly limits: LimitRepository;
  readonly runs: RunRepository;
  readonly bootstrap: BootstrapRepository;
  /**
   * Calls the listener within a second after any key was written, by this process or another, and whenever the signal
   * itself was lost or came back, as a change may then have been missed. Says that, not what: readers read again.
   *
   * @returns ends the listening.
   */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}
