/** The formats of an export, which convert rows to the bytes of a file. */

import { compareAddresses, formatAddress } from "@netfacts/address";
import { countryFlag, csvCell } from "@netfacts/records";
import { type BasicType, ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { AddressFacts, AddressRow } from "./address-row.ts";
import { MmdbWriter } from "./mmdb.ts";
import { MmdbDouble, type MmdbMap, MmdbUint16, type MmdbValue } from "./mmdb-data.ts";

/** Metadata of a file, if its format can store it. */
export interface About {
  readonly snapshotId: string;
  /** Time of the newest section, in ms since 1970. */
  readonly asOfMs: number;
  readonly databaseType: string;
}

export type ExportFormat = (rows: Iterable<AddressRow>, about: About) => Iterable<Uint8Array | string>;

/** Names and types of the columns, in order. `origins` and `network_types` are lists separated by spaces. */
const columns: readonly (readonly [
  name: "first" | "last" | keyof AddressFacts,
  type: Extract<BasicType, "STRING" | "INT64" | "DOUBLE">,
])[] = [
  ["first", "STRING"],
  ["last", "STRING"],
  ["prefix", "STRING"],
  ["asn", "INT64"],
  ["as_name", "STRING"],
  ["origins", "STRING"],
  ["rpki_state", "STRING"],
  ["registry", "STRING"],
  ["allocation_status", "STRING"],
  ["registration_country", "STRING"],
  ["allocated_on", "STRING"],
  ["network_type", "STRING"],
  ["network_types", "STRING"],
  ["special_purpose", "STRING"],
  ["country", "STRING"],
  ["region", "STRING"],
  ["city", "STRING"],
  ["latitude", "DOUBLE"],
  ["longitude", "DOUBLE"],
  ["radius_km", "DOUBLE"],
];

export const formats: Readonly<Record<"mmdb" | "csv" | "ndjson" | "parquet", ExportFormat>> = { mmdb, csv, ndjson, parquet };

/** A row as one object: its bounds as text, then the facts. */
function rowObject({ first, last, facts }: AddressRow): { first: string; last: string } & AddressFacts {
  return { first: formatAddress(first), last: formatAddress(last), ...facts };
}

function* csv(rows: Iterable<AddressRow>): Generator<string> {
  yield `${columns.map(([name]) => name).join(",")}\r\n`;
  for (const row of rows) {
    const object = rowObject(row);
    yield `${columns.map(([name]) => csvCell(object[name])).join(",")}\r\n`;
  }
}

function* ndjson(rows: Iterable<AddressRow>): Generator<string> {
  for (const row of rows) yield `${JSON.stringify(rowObject(row))}\n`;
}

/** Rows of one row group, whose columns are in memory together. */
const rowGroupRows = 16_384;

/** Columns without nulls: bounds and lists. */
const required: readonly string[] = ["first", "last", "origins", "network_types"];

function* parquet(rows: Iterable<AddressRow>, { snapshotId }: About): Generator<Uint8Array> {
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: "root", num_children: columns.length },
    ...columns.map(
      ([name, type]): SchemaElement => ({
        name,
        repetition_type: required.includes(name) ? "REQUIRED" : "OPTIONAL",
        ...(type === "STRING" ? { type: "BYTE_ARRAY", converted_type: "UTF8" } : { type }),
      }),
    ),
  ];
  const file = new ParquetWriter({ writer, schema, createdBy: "netfacts", kvMetadata: [{ key: "netfacts.snapshot", value: snapshotId }] });
  for (const group of groupsOf(rows)) {
    const objects = group.map(rowObject);
    const columnData = columns.map(([name, type]) => ({ name, data: objects.map((object) => cell(object[name], type)) }));
    file.write({ columnData, rowGroupSize: rowGroupRows });
  }
  file.finish();
  yield writer.getBytes();
}

function* groupsOf(rows: Iterable<AddressRow>): Generator<AddressRow[]> {
  let group: AddressRow[] = [];
  for (const row of rows) {
    if (group.push(row) < rowGroupRows) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function cell(value: string | number | null | readonly (string | number)[], type: string): string | number | bigint | null {
  if (Array.isArray(value)) return value.join(" ");
  return type === "INT64" && typeof value === "number" ? BigInt(value) : (value as string | number | null);
}

function* mmdb(rows: Iterable<AddressRow>, { snapshotId, asOfMs, databaseType }: About): Generator<Uint8Array> {
  const writer = new MmdbWriter();
  for (const { first, last, facts } of rows) {
    // The file has IPv4 in this space. IPv6 has only two special addresses there.
    const clipped = first.version === 6 && compareAddresses(first, afterIpv4) < 0 ? afterIpv4 : first;
    if (compareAddresses(clipped, last) <= 0) writer.add(clipped, last, mmdbRecord(facts));
  }
  const description = `Netfacts snapshot ${snapshotId}`;
  yield* writer.file({ databaseType, description, builtAt: Math.floor(asOfMs / 1_000) });
}

/** `::1:0:0`, the first address after `::/96`. */
const afterIpv4 = { version: 6, w0: 0, w1: 0, w2: 1, w3: 0 } as const;

/** The members that readers of GeoIP2 and GeoLite2 databases know; others are in `netfacts`. */
function mmdbRecord(facts: AddressFacts): MmdbMap {
  const { latitude, longitude, radius_km } = facts;
  return known({
    autonomous_system_number: facts.asn,
    autonomous_system_organization: facts.as_name,
    city: facts.city === null ? null : { names: { en: facts.city } },
    country: countryOf(facts.country),
    location:
      latitude === null || longitude === null
        ? null
        : known({
            latitude: new MmdbDouble(latitude),
            longitude: new MmdbDouble(longitude),
            accuracy_radius: radius_km === null ? null : new MmdbUint16(Math.ceil(radius_km)),
          }),
    registered_country: countryOf(facts.registration_country),
    // ISO 3166-2 without the country, as in these databases.
    subdivisions: facts.region === null ? null : [{ iso_code: facts.region.replace(/^[A-Z]{2}-/, "") }],
    netfacts: known({
      prefix: facts.prefix,
      origins: facts.origins.length === 1 && facts.origins[0] === facts.asn ? null : facts.origins,
      rpki_state: facts.rpki_state,
      registry: facts.registry,
      allocation_status: facts.allocation_status,
      allocated_on: facts.allocated_on,
      network_type: facts.network_type,
      network_types: facts.network_types.length > 1 ? facts.network_types : null,
      special_purpose: facts.special_purpose,
    }),
  });
}

function countryOf(code: string | null): MmdbMap | null {
  const name = countryFlag(code)?.name;
  return code === null ? null : { iso_code: code, ...(name != null && { names: { en: name } }) };
}

/** The members that are neither null nor empty maps. */
function known(members: Readonly<Record<string, MmdbValue | null>>): MmdbMap {
  const isKnown = (value: MmdbValue | null): value is MmdbValue =>
    value !== null &&
    (typeof value !== "object" || value instanceof MmdbDouble || value instanceof MmdbUint16 || Object.keys(value).length > 0);
  return Object.fromEntries(Object.entries(members).filter((member): member is [string, MmdbValue] => isKnown(member[1])));
}
