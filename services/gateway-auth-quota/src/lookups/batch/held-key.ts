/** The key of a batch as it is now: what its items may ask, and whether the batch may go on. */

import { type OperationName, operations, ProblemError } from "@netfacts/contracts";
import type { Pass } from "../../edge/guard.ts";
import type { VerifiedKey } from "../../keys/index.ts";
import type { Item } from "./item-reader.ts";

export interface HeldKeyListener {
  /** The limits or scopes of the key may have changed. */
  changed(): void;
  /** Called at most once, and last. */
  withdrawn(problem: ProblemError): void;
}

export class HeldKey {
  /** Ends the hold. */
  readonly release: () => void;
  readonly #listener: HeldKeyListener;
  #refusals: ReadonlyMap<OperationName, ProblemError>;
  #withdrawn: ProblemError | null = null;

  constructor(pass: Pick<Pass, "key" | "hold">, listener: HeldKeyListener) {
    this.#listener = listener;
    this.#refusals = refusalsOf(pass.key);
    this.release = pass.hold((change) => {
      if (change instanceof ProblemError) this.withdraw(change);
      else if (this.#withdrawn === null) {
        this.#refusals = refusalsOf(change);
        listener.changed();
      }
    });
  }

  /** Ends the batch: nothing more is asked with the key. */
  withdraw(problem: ProblemError): void {
    if (this.#withdrawn !== null) return;
    this.#withdrawn = problem;
    this.#listener.withdrawn(problem);
  }

  /** Why the batch ends; null while the key may be used. */
  get withdrawnBy(): ProblemError | null {
    return this.#withdrawn;
  }

  /** The item as it may be asked with this key. */
  readonly admit = (item: Item): Item => {
    const problem = this.#withdrawn ?? ("op" in item ? this.#refusals.get(item.op) : undefined);
    return problem === undefined ? item : { problem, echo: item.echo };
  };
}

function refusalsOf({ scopes }: VerifiedKey): ReadonlyMap<OperationName, ProblemError> {
  const refusals = new Map<OperationName, ProblemError>();
  for (const { name, scope } of Object.values(operations)) {
    if (scope !== null && !scopes.has(scope))
      refusals.set(name, new ProblemError("insufficient_scope", { detail: `The key does not have the scope \`${scope}\`.` }));
  }
  return refusals;
}
