/** The records of every operation that answers from a snapshot: one builder each. */

import type { OperationName, OperationOf, Questions, RecordOf, ServiceName, services } from "@netfacts/contracts";
import type { AnswerNotes } from "./answer.ts";
import { asnRecord } from "./asn-record.ts";
import { ipRecord } from "./ip-record.ts";
import { prefixRecord } from "./prefix-record.ts";
import { routingRecord } from "./routing-record.ts";
import { statusRecord } from "./status-record.ts";
import { validityRecord } from "./validity-record.ts";

/** Services whose answers come from a snapshot. */
export type SnapshotService = {
  readonly [S in ServiceName]: (typeof services)[S]["snapshots"] extends true ? S : never;
}[ServiceName];

export type SnapshotOperation = OperationOf<SnapshotService>;

/** Builds the record without its `meta`; the notes collect what `meta` says. */
export type RecordBuilder<O extends OperationName> = (question: Questions[O], notes: AnswerNotes) => Omit<RecordOf<O>, "meta">;

export const recordBuilders: { readonly [O in SnapshotOperation]: RecordBuilder<O> } = {
  ip: ({ ip }, notes) => ipRecord(ip, notes),
  routing: routingRecord,
  validity: validityRecord,
  status: (_question, notes) => statusRecord(notes),
  asn: asnRecord,
  prefix: prefixRecord,
};
