/** A section as rows that two snapshots can be compared by: what names a row, and what may differ about it. */

import { type Address, formatAddress, formatPrefix, type Prefix } from "@netfacts/address";
import type { AspaSet, VrpSet } from "@netfacts/rpki";
import type { AllocationEntry, AllocationTable, AsnEntry } from "../lookup/allocation-table.ts";
import type { AsNameTable } from "../lookup/as-names.ts";
import type { NetworkTypeTable } from "../lookup/network-types.ts";
import type { ProfileTable } from "../lookup/profiles.ts";
import type { RouteOrigin, RouteTable } from "../lookup/route-table.ts";
import { secondsTimestamp } from "../seconds-timestamp.ts";

export interface SectionRow {
  /** What rows of two snapshots are matched by; ascends from row to row. */
  readonly key: string;
  /** Names the row, for people and programs. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** What may change while it stays the same row: plain values, and lists of them. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** A row for each origin of each prefix. When it was seen is left out: last_seen moves with every table. */
export function* routeRows(routes: RouteTable): Generator<SectionRow> {
  const { base } = routes.prefixes;
  for (let entry = 0; entry < base.size; entry++) {
    const prefix = base.prefixAt(entry);
    const text = formatPrefix(prefix);
    const key = prefixKey(prefix);
    const rows = routes.origins(entry).map(({ asn, asSet, full, partial }) => ({
      key: `${key} ${originKey({ asn, asSet })}`,
      identity: { prefix: text, origin: asSet ?? asn },
      value: { peers_seeing: full, partial_peers_seeing: partial },
    }));
    yield* rows.length > 1 ? rows.sort(byKey) : rows;
  }
}

function originKey({ asn, asSet }: Pick<RouteOrigin, "asn" | "asSet">): string {
  if (asSet !== null) return `set ${asSet.map((member) => padded(member)).join()}`;
  return asn === null ? "none" : `as ${padded(asn)}`;
}

export function* vrpRows(vrps: VrpSet): Generator<SectionRow> {
  for (let index = 0; index < vrps.size; index++) {
    const { prefix, maxLength, asn, ta, expiresAt, loose } = vrps.vrpAt(index);
    yield {
      key: `${prefixKey(prefix)} ${padded(maxLength, 3)} ${padded(asn)}`,
      identity: { prefix: formatPrefix(prefix), max_length: maxLength, asn },
      value: { ta, expires_at: secondsTimestamp(expiresAt), loose },
    };
  }
}

export function* aspaRows(aspas: AspaSet): Generator<SectionRow> {
  for (let index = 0; index < aspas.size; index++) {
    const { customer, providers, ta, expiresAt } = aspas.aspaAt(index);
    yield { key: padded(customer), identity: { customer }, value: { providers, ta, expires_at: secondsTimestamp(expiresAt) } };
  }
}

/** Opaque ids are left out: registries may write all of them anew from one day to the next. */
export function* allocationRows(allocations: AllocationTable): Generator<SectionRow> {
  const rows: SectionRow[] = [];
  for (let record = 0; record < allocations.size; record++) {
    const { start, end, ...entry } = allocations.entry(record);
    rows.push({
      key: `${addressKey(start)} ${addressKey(end)} ${entry.registry}`,
      identity: { start: formatAddress(start), end: formatAddress(end), registry: entry.registry },
      value: registration(entry),
    });
  }
  yield* rows.sort(byKey);
  for (const { first, last, ...entry } of allocations.asnRuns())
    yield {
      key: `as ${padded(first)} ${padded(last)} ${entry.registry}`,
      identity: { first_asn: first, last_asn: last, registry: entry.registry },
      value: registration(entry),
    };
}

function registration({ country, status, date }: AllocationEntry | AsnEntry): SectionRow["value"] {
  return { status, registration_country: country, allocated_on: date };
}

export function* nameRows(names: AsNameTable): Generator<SectionRow> {
  for (const [asn, name] of names.entries()) yield { key: padded(asn), identity: { asn }, value: { name } };
}

export function* profileRows(profiles: ProfileTable): Generator<SectionRow> {
  for (const [asn, { organisation, website, networkType }] of profiles.entries())
    yield { key: padded(asn), identity: { asn }, value: { organisation, website, network_type: networkType } };
}

export function* networkTypeRows(types: NetworkTypeTable): Generator<SectionRow> {
  for (const [prefix, type] of types.prefixes())
    yield { key: prefixKey(prefix), identity: { prefix: formatPrefix(prefix) }, value: { ...type } };
  for (const [asn, type] of types.asns()) yield { key: `as ${padded(asn)}`, identity: { asn }, value: { ...type } };
}

function byKey(a: SectionRow, b: SectionRow): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Ascends as prefixes do in a section: by address, then by length. */
function prefixKey(prefix: Prefix): string {
  return `${addressKey(prefix)} ${padded(prefix.length, 3)}`;
}

function addressKey({ version, w0, w1, w2, w3 }: Address): string {
  return version === 4 ? `4 ${hex(w0)}` : `6 ${hex(w0)}${hex(w1)}${hex(w2)}${hex(w3)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, "0");
}

/** Digits enough for any AS number, unless told otherwise. */
function padded(value: number, digits = 10): string {
  return String(value).padStart(digits, "0");
}
