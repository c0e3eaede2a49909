/** The rows of sections for comparing two snapshots. */

import { formatAddress, formatPrefix } from "@netfacts/address";
import type { AspaSet, VrpSet } from "@netfacts/rpki";
import type { AllocationEntry, AllocationTable, AsnEntry } from "../lookup/allocation-table.ts";
import type { AsNameTable } from "../lookup/as-names.ts";
import type { ProfileTable } from "../lookup/profiles.ts";
import type { RouteOrigin, RouteTable } from "../lookup/route-table.ts";
import { secondsTimestamp } from "../seconds-timestamp.ts";
import { addressKey, byKey, numberKey, prefixKey, type SectionRow } from "./section-row.ts";

/** One row per prefix and origin. The times of first and last sight are left out: last_seen moves with every table. */
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
  if (asSet !== null) return `set ${asSet.map((member) => numberKey(member)).join()}`;
  return asn === null ? "none" : `as ${numberKey(asn)}`;
}

export function* vrpRows(vrps: VrpSet): Generator<SectionRow> {
  for (let index = 0; index < vrps.size; index++) {
    const { prefix, maxLength, asn, ta, expiresAt, loose } = vrps.vrpAt(index);
    yield {
      key: `${prefixKey(prefix)} ${numberKey(maxLength, 3)} ${numberKey(asn)}`,
      identity: { prefix: formatPrefix(prefix), max_length: maxLength, asn },
      value: { ta, expires_at: secondsTimestamp(expiresAt), loose },
    };
  }
}

export function* aspaRows(aspas: AspaSet): Generator<SectionRow> {
  for (let index = 0; index < aspas.size; index++) {
    const { customer, providers, ta, expiresAt } = aspas.aspaAt(index);
    yield { key: numberKey(customer), identity: { customer }, value: { providers, ta, expires_at: secondsTimestamp(expiresAt) } };
  }
}

/** Opaque ids are left out: registries may replace all of them from one day to the next. */
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
      key: `as ${numberKey(first)} ${numberKey(last)} ${entry.registry}`,
      identity: { first_asn: first, last_asn: last, registry: entry.registry },
      value: registration(entry),
    };
}

function registration({ country, status, date }: AllocationEntry | AsnEntry): SectionRow["value"] {
  return { status, registration_country: country, allocated_on: date };
}

export function* nameRows(names: AsNameTable): Generator<SectionRow> {
  for (const [asn, name] of names.entries()) yield { key: numberKey(asn), identity: { asn }, value: { name } };
}

export function* profileRows(profiles: ProfileTable): Generator<SectionRow> {
  for (const [asn, { organisation, website, country = null, networkType }] of profiles.entries())
    yield { key: numberKey(asn), identity: { asn }, value: { organisation, website, country, network_type: networkType } };
}
