/** Exports against the records that the API answers with, by the readers that people have. */

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Address, compareAddresses, formatAddress, nextAddress } from "@netfacts/address";
import type { IpRecord } from "@netfacts/contracts";
import { type AddressRange, AnswerNotes, addressRanges, ipRecord } from "@netfacts/records";
import type { Generation } from "@netfacts/snapshot";
import { open as openMmdb } from "maxmind";
import { Reader } from "mmdb-lib";
import { type AddressRow, addressRows } from "../../services/cli/src/export/address-row.ts";
import { formats } from "../../services/cli/src/export/formats.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { findPythonWith } from "../support/python-packages.ts";
import { pick, seeded } from "../support/random.ts";
import { isLong, runs, seed } from "../support/runs.ts";
import { sampleGeneration } from "../support/sample-snapshot.ts";

const asked = runs(100_000);
const now = Date.UTC(2026, 10, 21, 9);
const folder = temporaryFolder();
const database = join(folder, "samples.mmdb");
/** Of the ranges of all addresses, an ordinary run exports one window of this many, and leaves out the next seven. */
const windowRanges = 500;
const windowEvery = isLong ? 1 : 8;
let generation: Generation;
/** What is exported: a first and a last address each, in ascending order. */
let windows: readonly AddressRange[];
let ipv6: readonly AddressRange[];
let rows: readonly AddressRow[];
afterAll(removeFolders);

/** What a database says of an address. */
interface Found {
  readonly autonomous_system_number?: number;
  readonly autonomous_system_organization?: string;
  readonly country?: { readonly iso_code: string };
  readonly registered_country?: { readonly iso_code: string; readonly names?: { readonly en: string } };
  readonly netfacts?: Readonly<Record<string, unknown>>;
}

beforeAll(async () => {
  generation = await sampleGeneration();
  const exported = exportedRanges();
  windows = exported.map((ranges) => ({ first: (ranges[0] as AddressRange).first, last: (ranges.at(-1) as AddressRange).last }));
  ipv6 = exported.flat().filter(({ first }) => first.version === 6);
  rows = exported.flatMap((ranges) => [...addressRows(generation, now, ranges)]);
  const about = { snapshotId: generation.id, asOfMs: now, databaseType: "Netfacts" };
  writeFileSync(database, Buffer.concat([...formats.mmdb(rows, about)].map((piece) => Buffer.from(piece))));
});

/** The ranges of each window. A window has one family, and each family begins with one. */
function exportedRanges(): AddressRange[][] {
  const all = [...addressRanges(generation)];
  return [4, 6].flatMap((version) => {
    const ranges = all.filter(({ first }) => first.version === version);
    const stride = windowRanges * windowEvery;
    return Array.from({ length: Math.ceil(ranges.length / stride) }, (_, index) =>
      ranges.slice(index * stride, index * stride + windowRanges),
    );
  });
}

const record = (address: Address): IpRecord => ipRecord(address, new AnswerNotes(generation, now)) as IpRecord;

/** In the members of a row. */
function factsOf({ routing, rpki, allocation, network_type, network_types, special_purpose, location }: IpRecord): Record<string, unknown> {
  const [origin] = routing.origins;
  return {
    prefix: routing.prefix,
    asn: origin?.asn ?? null,
    as_name: origin?.name ?? null,
    origins: routing.origins.map(({ asn }) => asn).filter((asn) => asn !== null),
    rpki_state: routing.prefix === null ? null : rpki.state,
    registry: allocation?.registry ?? null,
    allocation_status: allocation?.status ?? null,
    registration_country: allocation?.registration_country ?? null,
    allocated_on: allocation?.allocated_on ?? null,
    network_type: network_type?.type ?? null,
    network_types: network_types.map(({ type }) => type).filter((type, at, all) => all.indexOf(type) === at),
    special_purpose: special_purpose?.name ?? null,
    country: location?.country ?? null,
    region: location?.region ?? null,
    city: location?.city ?? null,
    latitude: location?.latitude ?? null,
    longitude: location?.longitude ?? null,
    radius_km: location?.radius_km ?? null,
  };
}

/** Anywhere, and beside the ends of rows, where a range could be one too long or too short. */
function* addresses(): Generator<Address> {
  const random = seeded(seed(20_261_124));
  const word = () => random(2 ** 32);
  const isExported = (address: Address) => holding(windows, address) !== undefined;
  const anywhere = (): Address => {
    for (let tries = 0; tries < 1_000; tries++) {
      const address: Address = { version: 4, w0: word(), w1: 0, w2: 0, w3: 0 };
      if (isExported(address)) return address;
    }
    throw new Error("no random address is in a window");
  };
  const inside = ({ first, last }: AddressRange): Address => {
    const differs = (["w0", "w1", "w2", "w3"] as const).findIndex((name) => first[name] !== last[name]);
    const wordAt = (at: number, low: number, high: number) =>
      at < differs || differs < 0 ? low : at === differs ? low + random(high - low + 1) : word();
    const address: Address = {
      version: first.version,
      w0: wordAt(0, first.w0, last.w0),
      w1: wordAt(1, first.w1, last.w1),
      w2: wordAt(2, first.w2, last.w2),
      w3: wordAt(3, first.w3, last.w3),
    };
    return compareAddresses(first, address) <= 0 && compareAddresses(address, last) <= 0 ? address : last;
  };
  for (let index = 0; index < asked; index++) {
    const row = pick(random, rows);
    const next = nextAddress(row.last);
    if (index % 4 === 0) yield anywhere();
    else if (index % 8 === 1) {
      // Nearly all of IPv6 is in a few ranges, so one is chosen first.
      yield inside(pick(random, ipv6));
    } else if (index % 2 === 1) yield row.first;
    else yield next !== null && isExported(next) ? next : row.last;
  }
}

test("rows are in order, do not overlap, and differ from their neighbours", () => {
  const faults: AddressRow[] = [];
  for (const [index, row] of rows.entries()) {
    const { first, last, facts } = row;
    const previous = rows[index - 1];
    const touches = previous !== undefined && compareAddresses(nextAddress(previous.last) ?? previous.last, first) === 0;
    const isEqual = touches && JSON.stringify(facts) === JSON.stringify(previous.facts);
    const overlaps = previous !== undefined && compareAddresses(previous.last, first) >= 0;
    if (compareAddresses(first, last) > 0 || overlaps || isEqual) faults.push(row);
  }
  expect(faults).toEqual([]);
});

test("addresses have in the database, by two readers, and in the rows what the API answers", async () => {
  const maxmind = await openMmdb<never>(database);
  const mmdbLib = new Reader<never>(readFileSync(database));
  const differences: unknown[] = [];
  // Texts, as comparing so many objects takes minutes.
  const compare = (address: Address, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) differences.push({ address: formatAddress(address), found, wanted });
  };
  let [announced, inDatabase] = [0, 0];
  for (const address of addresses()) {
    const text = formatAddress(address);
    const facts = factsOf(record(address));
    if (facts.prefix !== null) announced += 1;
    compare(address, rowAt(address), facts);
    // IPv4 is there, and mapped addresses are IPv4.
    if (address.version === 6 && address.w0 === 0 && address.w1 === 0 && (address.w2 === 0 || address.w2 === 0xffff)) continue;
    const found = maxmind.get(text) as Found | null;
    if (found !== null) inDatabase += 1;
    compare(address, factsIn(found), withoutPlaces(facts));
    compare(address, mmdbLib.get(text), found);
  }
  expect(differences.slice(0, 10)).toEqual([]);
  expect(Math.min(announced, inDatabase)).toBeGreaterThan(asked / 4);
});

test("Python's reader finds the same", async () => {
  const python = await findPythonWith("maxminddb-3.2.0", ["maxminddb==3.2.0"]);
  if (!python.found) throw new Error(python.remedy);
  const texts = [...addresses()].slice(0, 2_000).map(formatAddress);
  writeFileSync(join(folder, "asked"), texts.join("\n"));
  const program = `import json, maxminddb, sys
with maxminddb.open_database(sys.argv[1]) as reader:
    print(json.dumps([reader.get(line.strip()) for line in open(sys.argv[2])]))`;
  const out = execFileSync(python.command, ["-c", program, database, join(folder, "asked")], { maxBuffer: 2 ** 26 });
  const maxmind = await openMmdb<never>(database);
  expect(JSON.parse(out.toString())).toEqual(texts.map((text) => maxmind.get(text)));
});

/** The one of these ranges, which are in ascending order, that holds the address. */
function holding<Range extends AddressRange>(ranges: readonly Range[], address: Address): Range | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAddresses((ranges[middle] as Range).first, address) <= 0) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low - 1];
  return range !== undefined && compareAddresses(address, range.last) <= 0 ? range : undefined;
}

/** The facts of the row that holds the address; all null where none does. */
function rowAt(address: Address): object {
  const row = holding(rows, address);
  if (row !== undefined) return row.facts;
  return Object.fromEntries(
    Object.keys((rows[0] as AddressRow).facts).map((name) => [name, name === "origins" || name === "network_types" ? [] : null]),
  );
}

function factsIn(found: Found | null): Record<string, unknown> {
  const { netfacts = {} } = found ?? {};
  const asn = found?.autonomous_system_number ?? null;
  return {
    prefix: netfacts.prefix ?? null,
    asn,
    as_name: found?.autonomous_system_organization ?? null,
    origins: netfacts.origins ?? (asn === null ? [] : [asn]),
    rpki_state: netfacts.rpki_state ?? null,
    registry: netfacts.registry ?? null,
    allocation_status: netfacts.allocation_status ?? null,
    registration_country: found?.registered_country?.iso_code ?? null,
    allocated_on: netfacts.allocated_on ?? null,
    network_type: netfacts.network_type ?? null,
    network_types: netfacts.network_types ?? (netfacts.network_type === undefined ? [] : [netfacts.network_type]),
    special_purpose: netfacts.special_purpose ?? null,
    country: found?.country?.iso_code ?? null,
  };
}

function withoutPlaces(facts: Record<string, unknown>): Record<string, unknown> {
  const { region, city, latitude, longitude, radius_km, ...others } = facts;
  return others;
}
