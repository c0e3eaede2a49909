/** The record of one AS: registration, what it announces, and how much of that RPKI covers. */

import { formatAsdot, formatPrefix, type Prefix } from "@netfacts/address";
import type { AsnCounts, AsnPrefix, AsnQuestion, AsnRecord, AsnRpki, Aspa, RpkiState } from "@netfacts/contracts";
import type { Generation } from "../generation.ts";
import { type RouteTable, searchAscending } from "../lookup/route-table.ts";
import { aggregate, countAddresses, countSlash48s, mergeRuns } from "./address-space.ts";
import { type AnswerNotes, secondsTimestamp } from "./answer.ts";
import { countryFlag } from "./country-flag.ts";
import { networkTypeOfAs } from "./network-type.ts";
import { neighboursRecord } from "./path-parts.ts";
import { asnSpecialPurposeRecord, blockRecord, holderRecord } from "./registration-parts.ts";
import { share } from "./route-parts.ts";
import { validationState } from "./validation-parts.ts";

/** The record without `meta`, which `notes` gives. */
export type AsnRecordBody = Omit<AsnRecord, "meta">;

/** A prefix that the AS originates. */
interface Originated {
  readonly entry: number;
  readonly prefix: Prefix;
  /** Full-feed peers that see it with this origin. */
  readonly full: number;
  readonly state: RpkiState | null;
  readonly moas: boolean;
}

export function asnRecord(question: AsnQuestion, notes: AnswerNotes): AsnRecordBody {
  const { generation } = notes;
  const { asn, limit } = question;
  notes.use("routes", "allocations", "vrps", "aspas", "as_names", "profiles", "network_types");
  const { allocations, names, routes } = generation;
  const profile = generation.profiles?.lookupProfile(asn) ?? null;
  const registered = allocations?.asn(asn) ?? null;
  const originated = routes === null ? [] : originatedBy(generation, routes, asn);
  if (originated.length > 0 && asnSpecialPurposeRecord(asn) !== null)
    notes.warn("bogon_announced", `AS${asn} is special-purpose and originates prefixes`);
  else if (originated.length > 0 && (registered?.status === "available" || registered?.status === "reserved"))
    notes.warn("bogon_announced", `AS${asn} originates prefixes; the registry calls the number ${registered.status}`);
  return {
    asn,
    asdot: formatAsdot(asn),
    name: names?.lookupName(asn) ?? null,
    organisation: profile?.organisation ?? null,
    website: profile?.website ?? null,
    registry: registered?.registry ?? null,
    registration_country: registered?.country ?? null,
    country_flag: countryFlag(registered?.country ?? null),
    status: registered?.status ?? null,
    allocated_on: registered?.date ?? null,
    holder: holderRecord(generation, registered?.holder ?? null),
    special_purpose: asnSpecialPurposeRecord(asn),
    allocations: allocationsOf(generation, registered?.holder ?? null, limit, notes),
    network_type: networkTypeOfAs(generation, asn),
    announced: routes === null ? null : originated.length > 0,
    first_seen_at: null,
    last_seen_at: null,
    counts: routes === null ? null : countsOf(originated),
    rpki: rpkiOf(generation, asn, originated),
    aspa: aspaOf(generation, asn),
    neighbours: neighboursRecord(asn, limit, notes),
    prefixes: prefixesOf(generation, originated, question, notes),
  };
}

function originatedBy(generation: Generation, routes: RouteTable, asn: number): Originated[] {
  return routes.originatedBy(asn).map(({ entry, full }) => {
    const prefix = routes.prefixes.prefixAt(entry);
    return { entry, prefix, full, state: validationState(generation, prefix, asn).state, moas: routes.originCount(entry) > 1 };
  });
}

function allocationsOf(generation: Generation, holder: number | null, limit: number, notes: AnswerNotes): AsnRecord["allocations"] {
  if (holder === null || generation.allocations === null) return { items: [], total: null, next_cursor: null };
  const table = generation.allocations;
  const { records } = table.holder(holder);
  if (records.length > limit) notes.warn("truncated", `allocations shows ${limit} of ${records.length}`);
  const items = Array.from(records.subarray(0, limit), (record) => {
    const entry = table.entry(record);
    return { registry: entry.registry, block: blockRecord(entry), allocated_on: entry.date };
  });
  return { items, total: records.length, next_cursor: null };
}

/** Prefixes that at least one full-feed peer sees count; the others are told apart. */
function countsOf(originated: readonly Originated[]): AsnCounts {
  const seen = originated.filter(({ full }) => full > 0);
  const family = (version: 4 | 6) => {
    const prefixes = seen.filter(({ prefix }) => prefix.version === version).map(({ prefix }) => prefix);
    const runs = mergeRuns(prefixes);
    const lengths = prefixes.map(({ length }) => length);
    return {
      runs,
      counts: { prefixes: prefixes.length, prefixes_aggregated: aggregate(runs).length },
      largest: lengths.length === 0 ? null : Math.min(...lengths),
    };
  };
  const ipv4 = family(4);
  const ipv6 = family(6);
  return {
    ipv4: { ...ipv4.counts, addresses: countAddresses(ipv4.runs), largest: ipv4.largest },
    ipv6: { ...ipv6.counts, slash48s: countSlash48s(ipv6.runs), largest: ipv6.largest },
    moas_prefixes: seen.filter(({ moas }) => moas).length,
    low_visibility_prefixes: originated.length - seen.length,
  };
}

function rpkiOf(generation: Generation, asn: number, originated: readonly Originated[]): AsnRpki | null {
  const index = generation.vrpCountByAs;
  if (index === null) return null;
  const at = searchAscending(index.asn, asn);
  const vrps = at < 0 ? 0 : (index.count[at] as number);
  if (generation.routes === null) return { valid: null, invalid: null, not_found: null, valid_share: null, vrps_for_this_as: vrps };
  const seen = originated.filter(({ full }) => full > 0);
  const count = (state: RpkiState) => seen.filter((item) => item.state === state).length;
  const valid = count("valid");
  return {
    valid,
    invalid: count("invalid"),
    not_found: count("not-found"),
    valid_share: share(valid, seen.length),
    vrps_for_this_as: vrps,
  };
}

/** Whom the AS names as its providers; null where no ASPAs are imported, so that it is not known whether there is one. */
function aspaOf({ aspas }: Generation, asn: number): Aspa | null {
  if (aspas === null) return null;
  const aspa = aspas.lookupAspa(asn);
  if (aspa === null) return { present: false, providers: [], expires_at: null, ta: null };
  return { present: true, providers: [...aspa.providers], expires_at: secondsTimestamp(aspa.expiresAt), ta: aspa.ta };
}

function prefixesOf(
  generation: Generation,
  originated: readonly Originated[],
  question: AsnQuestion,
  notes: AnswerNotes,
): AsnRecord["prefixes"] {
  const { family, rpki, limit } = question;
  const chosen = originated.filter(
    ({ prefix, state }) => (family === null || prefix.version === family) && (rpki === null || state === rpki),
  );
  const shown = question.aggregate ? aggregated(generation, chosen) : chosen;
  if (shown.length > limit) notes.warn("truncated", `prefixes shows ${limit} of ${shown.length}`);
  const items = shown.slice(0, limit).map((item) => ("entry" in item ? prefixItem(generation, item) : item));
  return { items, total: shown.length, limit, next_cursor: null };
}

function prefixItem(generation: Generation, { prefix, full, state, moas }: Originated): AsnPrefix {
  return {
    prefix: formatPrefix(prefix),
    visibility_ratio: share(full, generation.peersTotal(prefix.version)),
    rpki_state: state,
    is_moas: moas,
  };
}

/** Merged without adding unannounced space; a prefix that stays as it is keeps what is known of it. */
function aggregated(generation: Generation, originated: readonly Originated[]): AsnPrefix[] {
  const alone = new Map(originated.map((item) => [formatPrefix(item.prefix), item]));
  const inside = (version: 4 | 6) => originated.filter(({ prefix }) => prefix.version === version).map(({ prefix }) => prefix);
  return [...aggregate(mergeRuns(inside(4))), ...aggregate(mergeRuns(inside(6)))].map((prefix) => {
    const text = formatPrefix(prefix);
    const same = alone.get(text);
    return same === undefined ? { prefix: text, visibility_ratio: null, rpki_state: null, is_moas: null } : prefixItem(generation, same);
  });
}
