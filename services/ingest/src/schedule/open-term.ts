/** Opens a term of leading: pods follow its snapshots, the current one is copied, and its runs begin. */

import { join } from "node:path";
import type { Broadcast } from "@netfacts/pod";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { Term } from "../leadership/leadership.ts";
import { ActivationCoordinator, type ActivationOutcome, type ActivationSettings } from "../publish/activation-coordinator.ts";
import { SnapshotCopy } from "../publish/snapshot-copy.ts";
import { TermWork, type TermWorkDeps } from "./term-work.ts";

export interface TermDeps extends Omit<TermWorkDeps, "activation" | "restore" | "snapshots"> {
  readonly snapshots: SnapshotStore;
  readonly broadcast: Broadcast;
  readonly activation: ActivationSettings;
}

export interface OpenTerm {
  readonly work: TermWork;
  readonly activation: ActivationCoordinator;
  /** Resolves after the end of the term, when none of its work is in progress. */
  readonly ended: Promise<void>;
}

/** @param term  its abort ends everything that was opened here */
export function openTerm(deps: TermDeps, term: Term): OpenTerm {
  const { snapshots, stateFolder, metrics, log } = deps;
  const observePods = ({ loaded, refused, loading }: ActivationOutcome): void => {
    for (const [outcome, pods] of Object.entries({ loaded, refused, loading })) metrics.pods.set({ outcome }, pods.length);
  };
  const activation = new ActivationCoordinator({
    broadcast: deps.broadcast,
    store: snapshots,
    settings: deps.activation,
    events: {
      activated(outcome) {
        observePods(outcome);
        log.info(podsOf(outcome), "snapshot activated");
      },
      heldBack(outcome) {
        observePods(outcome);
        log.error(
          podsOf(outcome),
          "every pod rejected the snapshot and continues to serve the previous one; fix the reported causes and start a new run",
        );
      },
      refused: (id) => copy.doubt(id),
    },
  });
  const copy = new SnapshotCopy({
    folder: join(stateFolder, "serving"),
    store: snapshots,
    activate: (id) => activation.activate(id),
    repaired: (id) => activation.announceRepaired(id),
    log,
  });
  activation.start();
  const work = new TermWork({ ...deps, activation, restore: () => copy.restore() }, term);
  metrics.leads.set({}, 1);
  const ended = new Promise<void>((resolve) => {
    term.signal.addEventListener("abort", () => {
      metrics.leads.set({}, 0);
      metrics.endTerm();
      const heard = activation.stop().catch((err: unknown) => log.warn({ err }, "still waiting for reports of pods"));
      resolve(Promise.all([copy.stop(), work.close(), heard]).then(() => undefined));
    });
  });
  void work.start(() => copy.start());
  return { work, activation, ended };
}

function podsOf({ id, waitedMs, loaded, refused, loading }: ActivationOutcome): object {
  return { snapshot: id, waited_ms: waitedMs, loaded, refused, loading };
}
