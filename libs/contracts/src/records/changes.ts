/** The records of `/changes/…`: what changed for a prefix or an AS between kept snapshots. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { Asn, CalendarDate, member, NullableText, nullable, oneOf, record, Timestamp } from "../schema.ts";

const changeKinds = ["origin_appeared", "origin_vanished", "rpki_state_changed", "registration_changed", "name_changed"] as const;

const SnapshotOfChange = record({
  snapshot: member(Type.String(), "Id of the snapshot."),
  published_at: member(Timestamp, "Time at which this installation published the snapshot."),
});

export const RegistrationOfChange = record({
  registry: member(Type.String(), "Registry that lists the block or the AS number."),
  status: member(Type.String(), "Status as the registry writes it."),
  registration_country: member(NullableText, "Country code of the registration; null if the registry gives none."),
  allocated_on: member(nullable(CalendarDate), "Date of the registration; null if the registry gives none."),
  block: member(
    nullable(record({ start: member(Type.String(), "First address."), end: member(Type.String(), "Last address.") })),
    "The registered block that wins for every address of the prefix; null for an AS number.",
  ),
});
export type RegistrationOfChange = Static<typeof RegistrationOfChange>;

export const ChangeItem = record({
  change: member(oneOf(changeKinds), "Kind of change."),
  prefix: member(NullableText, "Prefix of the route, for changes of origins and of RPKI states; otherwise null."),
  origin: member(nullable(Asn), "Origin AS of the route; null if the origin is an AS_SET or unknown, and for other changes."),
  as_set: member(nullable(Type.Array(Asn)), "Members of the AS_SET that is the origin; otherwise null."),
  from: member(NullableText, "RPKI state or name before the change; null if there was no name, and for other changes."),
  to: member(NullableText, "RPKI state or name after the change; null if there is no name, and for other changes."),
  registration_from: member(
    nullable(RegistrationOfChange),
    "Registration before the change; null if there was none, and for other changes.",
  ),
  registration_to: member(nullable(RegistrationOfChange), "Registration after the change; null if there is none, and for other changes."),
  before: member(SnapshotOfChange, "The last kept snapshot before the change."),
  after: member(SnapshotOfChange, "The first kept snapshot after the change."),
});
export type ChangeItem = Static<typeof ChangeItem>;

/** Members besides the subject. */
const changesMembers = {
  earliest: member(Timestamp, "Publication of the earliest kept snapshot. Earlier changes are not known."),
  latest: member(Timestamp, "Publication of the latest snapshot. If it equals `earliest`, there is nothing to compare."),
  changes: member(
    record({
      items: member(
        Type.Array(ChangeItem),
        "Items of this page, newest first. It can be empty although `next_cursor` is not null: then the time of the request was used up before a change was found.",
      ),
      skipped: member(
        Type.Array(SnapshotOfChange),
        "Damaged snapshots that this page skipped, newest first. Changes at their time are shown between the snapshots around them.",
      ),
      next_cursor: member(NullableText, "Cursor of the next page; null if all kept snapshots are compared."),
    }),
    "Differences between each kept snapshot and the one before it.",
  ),
  meta: member(Meta, "Request id, time and warnings. `data` is empty, as the record comes from several snapshots."),
};

export const AsnChangesRecord = record({
  subject: member(record({ asn: member(Asn, "The requested AS.") }), "The AS that the changes are about."),
  ...changesMembers,
});
export type AsnChangesRecord = Static<typeof AsnChangesRecord>;

export const PrefixChangesRecord = record({
  subject: member(
    record({ prefix: member(Type.String(), "The requested prefix in CIDR form.") }),
    "The prefix that the changes are about.",
  ),
  ...changesMembers,
});
export type PrefixChangesRecord = Static<typeof PrefixChangesRecord>;

const registrationFacts = {
  registry: { from: "allocations", example: "ripencc" },
  status: { from: "allocations", example: "allocated" },
  registration_country: { from: "allocations", example: "NL" },
  allocated_on: { from: "allocations", example: "1993-09-01" },
  block: { start: { from: "allocations", example: "193.0.0.0" }, end: { from: "allocations", example: "193.0.7.255" } },
} as const satisfies FactsOf<RegistrationOfChange>;

const snapshotFacts = { snapshot: "snapshot", published_at: "snapshot" } as const;

const changesFacts: FactsOf<Omit<AsnChangesRecord, "subject">> = {
  earliest: "snapshot",
  latest: "snapshot",
  changes: {
    items: {
      change: ["routes", "vrps", "allocations", "as_names"],
      prefix: { from: "routes", example: "193.0.0.0/21" },
      origin: { from: "routes", unit: asNumber, example: 3333 },
      as_set: { from: "routes", unit: asNumber, example: [64500, 64501] },
      from: { from: ["vrps", "as_names"], example: "not-found" },
      to: { from: ["vrps", "as_names"], example: "valid" },
      registration_from: registrationFacts,
      registration_to: registrationFacts,
      before: snapshotFacts,
      after: snapshotFacts,
    },
    skipped: snapshotFacts,
    next_cursor: { from: ["snapshot", "request"], example: "AgYBAAAAmHQnGoB7HWlAdx1pOd1eyMIwb3A" },
  },
  meta: { page: "meta" },
};

export const asnChangesFacts: FactsOf<AsnChangesRecord> = { subject: { asn: { from: "request", unit: asNumber } }, ...changesFacts };

export const prefixChangesFacts: FactsOf<PrefixChangesRecord> = { subject: { prefix: "request" }, ...changesFacts };
