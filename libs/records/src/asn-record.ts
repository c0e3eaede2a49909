/** The record of one AS: registration, the prefixes that it announces, and how many of them RPKI covers. */

import { formatAsdot, formatPrefix, specialPurposeAsn } from "@netfacts/address";
import type { AsnCounts, AsnPrefix, AsnQuestion, AsnRecord, AsnRpki, Aspa } from "@netfacts/contracts";
import { type OriginState, originStates, stateWords } from "@netfacts/rpki";
import { type Generation, type OriginatedRows, type RouteTable, searchAscending, secondsTimestamp } from "@netfacts/snapshot";
import { MergedSpace, mergedRow } from "./address-space.ts";
import type { AnswerNotes } from "./answer.ts";
import { countryFlag, isCountry } from "./country-flag.ts";
import { networkTypesOfAs } from "./network-type.ts";
import { neighboursRecord } from "./path-parts.ts";
import { asnSpecialPurposeRecord, blockRecord, holderRecord } from "./registration-parts.ts";
import { announcedOf, share } from "./route-parts.ts";

/** The record without `meta`, which `notes` provides. */
export type AsnRecordBody = Omit<AsnRecord, "meta">;

/** The prefixes that an AS originates, read in one pass. An AS may have tens of thousands of prefixes, so there is no object for each. */
interface Originated {
  readonly table: RouteTable;
  readonly rows: OriginatedRows;
  /** The state of each row; null: no VRPs are imported. */
  readonly states: Uint8Array | null;
  /** Prefixes that at least one full-feed peer sees: only these are counted in sizes. */
  readonly seen: {
    readonly ipv4: MergedSpace;
    readonly ipv6: MergedSpace;
    readonly moas: number;
  };
  /** Number of rows with each state, by the number of the state. */
  readonly byState: readonly number[];
}

export function asnRecord(question: AsnQuestion, notes: AnswerNotes): AsnRecordBody {
  const { generation } = notes;
  const { asn } = question;
  notes.use("routes", "allocations", "vrps", "aspas", "as_names", "profiles", "network_types");
  const { allocations, names, routes } = generation;
  const profile = generation.profiles?.lookupProfile(asn) ?? null;
  const registered = allocations?.asn(asn) ?? null;
  const originated = routes === null ? null : originatedBy(generation, routes, asn);
  const announced = announcedBy(generation, originated);
  const seen = routes?.seenAs(asn) ?? null;
  if (announced && specialPurposeAsn(asn)?.originates === false)
    notes.warn("bogon_announced", `AS${asn} is special-purpose and originates prefixes`);
  else if (announced && (registered?.status === "available" || registered?.status === "reserved"))
    notes.warn("bogon_announced", `AS${asn} originates prefixes, but its registry status is ${registered.status}`);
  return {
    asn,
    asdot: formatAsdot(asn),
    name: names?.lookupName(asn) ?? null,
    organisation: profile?.organisation ?? null,
    organisation_country: profile?.country ?? null,
    website: profile?.website ?? null,
    registry: registered?.registry ?? null,
    registration_country: registered?.country ?? null,
    country_flag: countryFlag(shownCountry(registered?.country ?? null, profile?.country ?? null)),
    status: registered?.status ?? null,
    allocated_on: registered?.date ?? null,
    holder: holderRecord(generation, registered?.holder ?? null),
    special_purpose: asnSpecialPurposeRecord(asn),
    allocations: allocationsOf(generation, registered?.holder ?? null, question, notes),
    ...networkTypesOfAs(generation, asn),
    announced,
    first_seen_at: secondsTimestamp(seen?.first ?? null),
    last_seen_at: secondsTimestamp(seen?.last ?? null),
    counts: originated === null ? null : countsOf(generation, originated),
    rpki: rpkiOf(generation, asn, announced === null ? null : originated),
    aspa: aspaOf(generation, asn),
    neighbours: neighboursRecord(question, notes),
    prefixes: prefixesOf(generation, originated, announced, question, notes),
  };
}

/** The country of registration; if the registry gives only a region or nothing, the organisation's country, if it is known. */
function shownCountry(registered: string | null, organisation: string | null): string | null {
  return registered !== null && isCountry(registered) ? registered : (organisation ?? registered);
}

/** The result for an AS with this many prefixes is cached: reading it takes about a millisecond. */
const rememberedFrom = 1_024;
const largeOf = new WeakMap<Generation, Map<number, Originated>>();

function originatedBy(generation: Generation, table: RouteTable, asn: number): Originated {
  const known = largeOf.get(generation)?.get(asn);
  if (known !== undefined) return known;
  const originated = readOriginated(generation, table, asn);
  if (originated.rows.entry.length < rememberedFrom) return originated;
  const large = largeOf.get(generation) ?? new Map<number, Originated>();
  largeOf.set(generation, large.set(asn, originated));
  return originated;
}

function readOriginated({ vrps }: Generation, table: RouteTable, asn: number): Originated {
  const rows = table.originatedBy(asn);
  const count = rows.entry.length;
  const states = vrps === null ? null : new Uint8Array(count);
  const ipv4 = new MergedSpace(4, count);
  const ipv6 = new MergedSpace(6, count);
  const byState = [0, 0, 0, 0];
  let moas = 0;
  for (let row = 0; row < count; row++) {
    const entry = rows.entry[row] as number;
    const prefix = table.prefixes.prefixAt(entry);
    const state = vrps?.originState(prefix, asn) ?? originStates.notFound;
    if (states !== null) states[row] = state;
    byState[state] = (byState[state] as number) + 1;
    if (rows.full[row] === 0) continue;
    (prefix.version === 4 ? ipv4 : ipv6).add(prefix, row);
    if (table.originCount(entry) > 1) moas++;
  }
  return { table, rows, states, seen: { ipv4, ipv6, moas }, byState };
}

function allocationsOf(generation: Generation, holder: number | null, question: AsnQuestion, notes: AnswerNotes): AsnRecord["allocations"] {
  if (holder === null || generation.allocations === null) return { items: [], total: null, next_cursor: null };
  const table = generation.allocations;
  const { records } = table.holder(holder);
  const start = notes.start("allocations");
  const items = Array.from(records.subarray(start, start + question.limit), (record) => {
    const entry = table.entry(record);
    return { registry: entry.registry, block: blockRecord(entry), allocated_on: entry.date };
  });
  const next_cursor = notes.nextCursor("asn", question, "allocations", items.length, records.length);
  return { items, total: records.length, next_cursor };
}

/** Whether the AS originates any prefix; null if none is found and the sample dataset cannot tell for one of the families. */
function announcedBy(generation: Generation, originated: Originated | null): boolean | null {
  if (originated !== null && originated.rows.entry.length > 0) return true;
  return announcedOf(generation, 4) === null || announcedOf(generation, 6) === null ? null : false;
}

/** Sizes count the prefixes that full-feed peers see: without such peers in a family, its sizes are null. */
function countsOf(generation: Generation, { rows, seen }: Originated): AsnCounts {
  const { ipv4, ipv6, moas } = seen;
  const [tells4, tells6] = [generation.peersTotal(4) > 0, generation.peersTotal(6) > 0];
  return {
    ipv4: tells4
      ? { prefixes: ipv4.added, prefixes_aggregated: ipv4.size, addresses: ipv4.countAddresses(), largest: ipv4.shortest }
      : { prefixes: null, prefixes_aggregated: null, addresses: null, largest: null },
    ipv6: tells6
      ? { prefixes: ipv6.added, prefixes_aggregated: ipv6.size, slash48s: ipv6.countSlash48s(), largest: ipv6.shortest }
      : { prefixes: null, prefixes_aggregated: null, slash48s: null, largest: null },
    moas_prefixes: tells4 || tells6 ? moas : null,
    low_visibility_prefixes: rows.entry.length - ipv4.added - ipv6.added,
  };
}

function rpkiOf(generation: Generation, asn: number, originated: Originated | null): AsnRpki | null {
  const index = generation.vrpCountByAs;
  if (index === null) return null;
  const at = searchAscending(index.asn, asn);
  const vrps = at < 0 ? 0 : (index.count[at] as number);
  if (originated === null) return { valid: null, invalid: null, not_found: null, valid_share: null, vrps_for_this_as: vrps };
  const [notFound, valid, invalidAs, invalidLength] = originated.byState as [number, number, number, number];
  const invalid = invalidAs + invalidLength;
  return { valid, invalid, not_found: notFound, valid_share: share(valid, valid + invalid + notFound), vrps_for_this_as: vrps };
}

/** The providers that the AS authorises; null: no ASPAs are imported, so it is not known whether there is one. */
function aspaOf({ aspas }: Generation, asn: number): Aspa | null {
  if (aspas === null) return null;
  const aspa = aspas.lookupAspa(asn);
  if (aspa === null) return { present: false, providers: [], expires_at: null, ta: null };
  return { present: true, providers: [...aspa.providers], expires_at: secondsTimestamp(aspa.expiresAt), ta: aspa.ta };
}

function prefixesOf(
  generation: Generation,
  originated: Originated | null,
  announced: boolean | null,
  question: AsnQuestion,
  notes: AnswerNotes,
): AsnRecord["prefixes"] {
  const { limit } = question;
  if (originated === null || announced === null) return { items: [], total: null, limit, next_cursor: null };
  const start = notes.start("prefixes");
  const chosen = chosenRows(originated, question);
  const { items, total } = question.aggregate
    ? aggregated(generation, originated, chosen, start, limit)
    : { items: Array.from(chosen.subarray(start, start + limit), (row) => prefixItem(generation, originated, row)), total: chosen.length };
  return { items, total, limit, next_cursor: notes.nextCursor("asn", question, "prefixes", items.length, total) };
}

function chosenRows({ table, rows, states }: Originated, { family, rpki }: AsnQuestion): Uint32Array {
  const chosen = new Uint32Array(rows.entry.length);
  let count = 0;
  for (let row = 0; row < rows.entry.length; row++) {
    if (family !== null && table.prefixes.prefixAt(rows.entry[row] as number).version !== family) continue;
    if (rpki !== null && (states === null || stateWords(states[row] as OriginState).state !== rpki)) continue;
    chosen[count++] = row;
  }
  return chosen.subarray(0, count);
}

function prefixItem(generation: Generation, { table, rows, states }: Originated, row: number): AsnPrefix {
  const entry = rows.entry[row] as number;
  const prefix = table.prefixes.prefixAt(entry);
  return {
    prefix: formatPrefix(prefix),
    visibility_ratio: share(rows.full[row] as number, generation.peersTotal(prefix.version)),
    rpki_state: states === null ? null : stateWords(states[row] as OriginState).state,
    is_moas: table.originCount(entry) > 1,
  };
}

/** Merged without adding unannounced space; a prefix that is not merged keeps its facts. */
function aggregated(
  generation: Generation,
  originated: Originated,
  chosen: Uint32Array,
  start: number,
  limit: number,
): { items: AsnPrefix[]; total: number } {
  const { table, rows } = originated;
  const ipv4 = new MergedSpace(4, chosen.length);
  const ipv6 = new MergedSpace(6, chosen.length);
  for (const row of chosen) {
    const prefix = table.prefixes.prefixAt(rows.entry[row] as number);
    (prefix.version === 4 ? ipv4 : ipv6).add(prefix, row);
  }
  const items: AsnPrefix[] = [];
  let before = 0;
  for (const space of [ipv4, ipv6]) {
    for (let at = Math.max(0, start - before); at < space.size && items.length < limit; at++) {
      const row = space.rowAt(at);
      const merged = { prefix: formatPrefix(space.prefixAt(at)), visibility_ratio: null, rpki_state: null, is_moas: null };
      items.push(row === mergedRow ? merged : prefixItem(generation, originated, row));
    }
    before += space.size;
  }
  return { items, total: ipv4.size + ipv6.size };
}
