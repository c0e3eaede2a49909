/** Builds the records of every operation that answers from a snapshot: one builder each. */

import type { ChangesName, OperationName, OperationOf, Questions, RecordOf, ServiceName, services } from "@netfacts/contracts";
import type { AnswerNotes } from "./answer.ts";
import { asnRecord } from "./asn-record.ts";
import { asnVrpsSteps } from "./asn-vrps-record.ts";
import { ipRecord } from "./ip-record.ts";
import { prefixSteps } from "./prefix-record.ts";
import { routingRecord } from "./routing-record.ts";
import { searchSteps } from "./search-record.ts";
import { statusRecord } from "./status-record.ts";
import type { Steps } from "./steps.ts";
import { validityRecord } from "./validity-record.ts";

/** Services whose answers come from a snapshot. */
export type SnapshotService = {
  readonly [S in ServiceName]: (typeof services)[S]["snapshots"] extends true ? S : never;
}[ServiceName];

/** Operations about one snapshot. */
export type SnapshotOperation = Exclude<OperationOf<SnapshotService>, ChangesName>;

/** Builds the record without its `meta`, in steps, as it is long work for some questions. The notes collect the content of `meta`. */
export type RecordBuilder<O extends OperationName> = (question: Questions[O], notes: AnswerNotes) => Steps<Omit<RecordOf<O>, "meta">>;

export const recordBuilders: { readonly [O in SnapshotOperation]: RecordBuilder<O> } = {
  search: searchSteps,
  ip: inOneStep(({ ip }, notes) => ipRecord(ip, notes)),
  routing: inOneStep(routingRecord),
  validity: inOneStep(validityRecord),
  status: inOneStep((_question, notes) => statusRecord(notes)),
  asn: inOneStep(asnRecord),
  prefix: prefixSteps,
  asn_vrps: asnVrpsSteps,
};

function inOneStep<Q, R>(build: (question: Q, notes: AnswerNotes) => R): (question: Q, notes: AnswerNotes) => Steps<R> {
  // biome-ignore lint/correctness/useYield: there is nothing to pause for.
  return function* (question, notes) {
    return build(question, notes);
  };
}
