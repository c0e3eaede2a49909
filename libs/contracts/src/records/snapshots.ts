/** The records of the kept snapshots in ingest's operator API: what each holds, and which pods serve it. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { records } from "../facts/units.ts";
import { Count, member, NullableText, nullable, oneOf, record, Timestamp } from "../schema.ts";

const SnapshotSection = record({
  name: member(Type.String(), "Name of the section."),
  version: member(Type.String(), "Version of the section, as in responses."),
  as_of: member(Timestamp, "Time of the data."),
  counts: member(Type.Record(Type.String(), Count), "Number of records by kind, such as `ipv4` and `ipv6`."),
});

export const KeptSnapshot = record({
  id: member(Type.String(), "Id of the snapshot, which begins with the time of its newest data."),
  current: member(Type.Boolean(), "Whether it was published last."),
  served: member(
    Type.Boolean(),
    "Whether it is the snapshot that pods are to serve. The current one is not yet served while pods load it, and never if every pod rejects it.",
  ),
  sample_data: member(Type.Boolean(), "Whether it contains the sample dataset."),
  sections: member(Type.Array(SnapshotSection), "Its sections."),
});
export type KeptSnapshot = Static<typeof KeptSnapshot>;

const ServingPod = record({
  pod: member(Type.String(), "Name of the pod."),
  service: member(Type.String(), "Its service."),
  serving: member(NullableText, "Snapshot that it answers from; null if none yet."),
  snapshot: member(NullableText, "Snapshot that it loaded or rejected last; null if none yet."),
  outcome: member(nullable(oneOf(["loaded", "refused"])), "How that went; null if there was none yet."),
  reason: member(NullableText, "Why it rejected the snapshot; null if it did not."),
});

export const KeptSnapshots = record({
  items: member(Type.Array(KeptSnapshot), "Snapshots that are kept whole, newest publication first."),
  pods: member(
    nullable(Type.Array(ServingPod)),
    "Pods that reported in the last seconds, ordered by name; null if no process collects their reports, as in the one-process form.",
  ),
});
export type KeptSnapshots = Static<typeof KeptSnapshots>;

const RowValues = Type.Record(Type.String(), Type.Unsafe<unknown>({ type: ["string", "number", "boolean", "array", "object", "null"] }));

const SnapshotChange = record({
  change: member(oneOf(["added", "removed", "changed"]), "What happened to the row."),
  row: member(RowValues, "What names the row: prefix and origin of routes, prefix, maximum length and AS of VRPs, AS number of names."),
  from: member(nullable(RowValues), "Its other values in the earlier snapshot; null if it is not there."),
  to: member(nullable(RowValues), "Its other values in the later snapshot; null if it is not there."),
});
export type SnapshotChange = Static<typeof SnapshotChange>;

export const SnapshotChanges = record({
  from: member(Type.String(), "Id of the earlier snapshot."),
  to: member(Type.String(), "Id of the later snapshot."),
  section: member(Type.String(), "The section."),
  added: member(Count, "Number of rows that only the later snapshot has."),
  removed: member(Count, "Number of rows that only the earlier snapshot has."),
  changed: member(Count, "Number of rows with other values."),
  items: member(Type.Array(SnapshotChange), "The first of these changes, as many as `limit`, in the order of the section."),
});
export type SnapshotChanges = Static<typeof SnapshotChanges>;

export const snapshotChangesFacts: FactsOf<SnapshotChanges> = {
  from: "request",
  to: "request",
  section: "request",
  added: { from: "store", unit: "rows" },
  removed: { from: "store", unit: "rows" },
  changed: { from: "store", unit: "rows" },
  items: { change: "store", row: { from: "store" }, from: { from: "store" }, to: { from: "store" } },
};

export const snapshotsFacts: FactsOf<KeptSnapshots> = {
  items: {
    id: "store",
    current: "store",
    served: "store",
    sample_data: "store",
    sections: { name: "store", version: "store", as_of: "store", counts: { from: "store", unit: records } },
  },
  pods: {
    pod: "pods",
    service: "pods",
    serving: "pods",
    snapshot: "pods",
    outcome: "pods",
    reason: { from: "pods", example: "the object of section routes is damaged" },
  },
};
