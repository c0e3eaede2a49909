/** Rows of an export: the members of the `/ip` record that fit a table, for a range of addresses. */

import type { IpRecord } from "@netfacts/contracts";
import { type AddressRange, AnswerNotes, addressRanges, ipRecord } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";

/** The columns of an export, in order. Null: unknown, or none. */
export interface AddressFacts {
  /** Longest announced prefix that covers the range. */
  readonly prefix: string | null;
  /** Origin that is seen by most full-feed peers. */
  readonly asn: number | null;
  readonly as_name: string | null;
  /** All origins, most seen first; AS_SETs are left out. */
  readonly origins: readonly number[];
  readonly rpki_state: string | null;
  readonly registry: string | null;
  readonly allocation_status: string | null;
  readonly registration_country: string | null;
  /** `YYYY-MM-DD`. */
  readonly allocated_on: string | null;
  readonly network_type: string | null;
  /** All types, strongest first, without duplicates. */
  readonly network_types: readonly string[];
  /** Name in the IANA registries. */
  readonly special_purpose: string | null;
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  /** In degrees (WGS 84). */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly radius_km: number | null;
}

export interface AddressRow extends AddressRange {
  readonly facts: AddressFacts;
}

/**
 * Rows in ascending order, IPv4 first. Equal neighbours are joined, and ranges without facts are left out.
 *
 * @param ranges  neighbours from `addressRanges`, all of them or some that follow one another.
 */
export function* addressRows(
  generation: Generation,
  nowMs: number,
  ranges: Iterable<AddressRange> = addressRanges(generation),
): Generator<AddressRow> {
  let row: AddressRow | null = null;
  let rowText = "";
  for (const { first, last } of ranges) {
    const facts = factsOf(ipRecord(first, new AnswerNotes(generation, nowMs)));
    const text = JSON.stringify(facts);
    if (row !== null && rowText === text && row.first.version === first.version) {
      row = { first: row.first, last, facts };
      continue;
    }
    if (row !== null && isKnown(row.facts)) yield row;
    row = { first, last, facts };
    rowText = text;
  }
  if (row !== null && isKnown(row.facts)) yield row;
}

/** @param record  record of any address of the range. */
export function factsOf(
  record: Pick<IpRecord, "routing" | "rpki" | "allocation" | "network_type" | "network_types" | "special_purpose" | "location">,
): AddressFacts {
  const { routing, rpki, allocation, location } = record;
  const [origin] = routing.origins;
  return {
    prefix: routing.prefix,
    asn: origin?.asn ?? null,
    as_name: origin?.name ?? null,
    origins: routing.origins.flatMap(({ asn }) => (asn === null ? [] : [asn])),
    rpki_state: routing.prefix === null ? null : rpki.state,
    registry: allocation?.registry ?? null,
    allocation_status: allocation?.status ?? null,
    registration_country: allocation?.registration_country ?? null,
    allocated_on: allocation?.allocated_on ?? null,
    network_type: record.network_type?.type ?? null,
    network_types: [...new Set(record.network_types.map(({ type }) => type))],
    special_purpose: record.special_purpose?.name ?? null,
    country: location?.country ?? null,
    region: location?.region ?? null,
    city: location?.city ?? null,
    latitude: location?.latitude ?? null,
    longitude: location?.longitude ?? null,
    radius_km: location?.radius_km ?? null,
  };
}

function isKnown(facts: AddressFacts): boolean {
  return Object.values(facts).some((fact) => fact !== null && !(Array.isArray(fact) && fact.length === 0));
}
