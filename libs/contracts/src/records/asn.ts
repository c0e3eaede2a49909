/** The record of `/asn/AS<number>`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { AsnSpecialPurpose, allocationStatuses, Block, CountryFlag, Holder, NetworkType } from "../parts/registration.ts";
import { NullableRpkiState } from "../parts/rpki.ts";
import {
  Asn,
  CalendarDate,
  Count,
  member,
  NullableBoolean,
  NullableCount,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  record,
  Share,
} from "../schema.ts";

const NullableDate = nullable(CalendarDate);

/** Address space that the holder of the AS number holds too; `total` is null where no file tells the holder. */
export const AsnAllocation = record({
  registry: member(Type.String(), "The registry that lists it."),
  block: member(Block, "The record as it was published."),
  allocated_on: member(NullableDate, "Date of the record; null where the file tells none."),
});
export type AsnAllocation = Static<typeof AsnAllocation>;

const familyCounts = {
  prefixes: member(Count, "Prefixes that at least one full-feed peer sees."),
  prefixes_aggregated: member(Count, "The same, merged without adding unannounced space."),
};

/** What the AS announces; overlapping space counts once, `largest` is the shortest prefix length. */
export const AsnCounts = record({
  ipv4: member(
    record({
      ...familyCounts,
      addresses: member(Count, "Addresses in them, overlap counted once."),
      largest: member(NullableCount, "The shortest prefix length; null without prefixes."),
    }),
    "Of IPv4.",
  ),
  ipv6: member(
    record({
      ...familyCounts,
      slash48s: member(Count, "Distinct /48s that they touch, overlap counted once."),
      largest: member(NullableCount, "The shortest prefix length; null without prefixes."),
    }),
    "Of IPv6.",
  ),
  moas_prefixes: member(Count, "Prefixes among them that other ASes originate too."),
  low_visibility_prefixes: member(Count, "Prefixes that no full-feed peer sees, which are counted nowhere else."),
});
export type AsnCounts = Static<typeof AsnCounts>;

export const AsnRpki = record({
  valid: member(NullableCount, "Prefixes that are valid with this origin; null where no routes are imported."),
  invalid: member(NullableCount, "Prefixes that are invalid with this origin; null where no routes are imported."),
  not_found: member(NullableCount, "Prefixes that no VRP covers; null where no routes are imported."),
  valid_share: member(nullable(Share), "Valid prefixes over all; null where there are none."),
  vrps_for_this_as: member(NullableCount, "VRPs that name this AS, whatever it announces."),
});
export type AsnRpki = Static<typeof AsnRpki>;

export const Aspa = record({
  present: member(Type.Boolean(), "Whether the AS has a validated ASPA."),
  providers: member(Type.Array(Asn), "The providers that it names, ascending."),
  expires_at: member(NullableTimestamp, "When it expires; null where there is none, or its source does not tell."),
  ta: member(NullableText, "Trust anchor; null where there is none, or its source does not tell."),
});
export type Aspa = Static<typeof Aspa>;

/** A position in observed paths (left = towards the collector), never a business relation. */
export const Neighbour = record({
  asn: member(Asn, "The neighbouring AS."),
  name: member(NullableText, "Its name; null where not known."),
  position: member(
    oneOf(["left", "right", "uncertain"]),
    "Where it stands in observed paths, never a business relation: `left` is towards the collector, `uncertain` was seen only as a collector's own peer.",
  ),
  paths_left: member(Count, "Paths on which it stands to the left."),
  paths_right: member(Count, "Paths on which it stands to the right."),
  share: member(nullable(Share), "Its paths over all paths on that side; null where there are none."),
  ipv4: member(Type.Boolean(), "Whether it was seen on paths to IPv4 prefixes."),
  ipv6: member(Type.Boolean(), "Whether it was seen on paths to IPv6 prefixes."),
  aspa: member(NullableText, "`provider` where the ASPA of the AS names it; else null."),
});
export type Neighbour = Static<typeof Neighbour>;

export const Neighbours = record({
  method: member(Type.String(), "How they were found: `observed-paths`, prepends collapsed, paths with sets or loops left out."),
  counts: member(
    record({
      left: member(Count, "ASes towards the collector."),
      right: member(Count, "ASes away from the collector."),
      uncertain: member(Count, "ASes seen only as a collector's own peer."),
    }),
    "How many there are at each position.",
  ),
  items: member(Type.Array(Neighbour), "Those on the most paths, up to `limit`."),
});
export type Neighbours = Static<typeof Neighbours>;

/** One announced prefix; of an aggregate of several, what holds for each alone is null. */
export const AsnPrefix = record({
  prefix: member(Type.String(), "The prefix in CIDR form."),
  visibility_ratio: member(
    nullable(Share),
    "Share of full-feed peers that see it from this AS; null where there are none, and of a merged prefix.",
  ),
  rpki_state: member(NullableRpkiState, "Verdict with this origin; null where no usable VRPs are imported, and of a merged prefix."),
  is_moas: member(NullableBoolean, "Whether other ASes originate it too; null of a merged prefix."),
});
export type AsnPrefix = Static<typeof AsnPrefix>;

export const AsnRecord = record({
  asn: member(Asn, "The AS number asked."),
  asdot: member(Type.String(), "The same in asdot (RFC 5396): `1.10` for 65546."),
  name: member(NullableText, "Name of the AS; null where not known."),
  organisation: member(NullableText, "Who runs it, from profiles; null where not known."),
  website: member(NullableText, "Its website, from profiles; null where not known."),
  registry: member(NullableText, "The registry that allocated the number; null where no imported file has it."),
  registration_country: member(NullableText, "Country of the registration; null where not known."),
  country_flag: member(nullable(CountryFlag), "The flag of that country; null where not known."),
  status: member(nullable(oneOf(allocationStatuses)), "The registry's status of the number; null where no imported file has it."),
  allocated_on: member(NullableDate, "Date of the record; null where the file tells none."),
  holder: member(nullable(Holder), "Who holds it, by the registry's opaque ids; null where the file has none."),
  special_purpose: member(nullable(AsnSpecialPurpose), "What the number is set apart for (IANA); null: nothing."),
  allocations: member(
    record({
      items: member(Type.Array(AsnAllocation), "This page of them."),
      total: member(NullableCount, "How many there are; null where the holder is not known."),
      next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
    }),
    "Address space that the same holder holds.",
  ),
  network_type: member(nullable(NetworkType), "Kind of network; null where not known."),
  announced: member(NullableBoolean, "Whether the AS originates any prefix; null where no routes are imported."),
  first_seen_at: member(
    NullableTimestamp,
    "The earliest table of this installation in which it originated anything; null before there is a history.",
  ),
  last_seen_at: member(NullableTimestamp, "The latest such table; null before there is a history."),
  counts: member(nullable(AsnCounts), "How much it announces; null where no routes are imported."),
  rpki: member(nullable(AsnRpki), "How much of that RPKI covers; null where no usable VRPs are imported."),
  aspa: member(nullable(Aspa), "Whom it names as its providers; null where no ASPAs are imported."),
  neighbours: member(nullable(Neighbours), "Who stands next to it in observed paths; null where paths are not known."),
  prefixes: member(
    record({
      items: member(Type.Array(AsnPrefix), "This page of them, ascending."),
      total: member(Count, "How many there are, by the filters asked."),
      limit: member(Count, "Items of a page."),
      next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
    }),
    "The prefixes that it originates.",
  ),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type AsnRecord = Static<typeof AsnRecord>;
