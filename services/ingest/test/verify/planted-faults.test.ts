/**
 * Faults planted in what a run has built, with checksums that are right: verification finds each, and nothing is published.
 *
 * @large It makes a whole run for each fault.
 */

import { expect, test } from "@jest/globals";
import { decodeColumns, encodeColumns, kindOf, type SectionColumns, type SectionName, type SnapshotStore } from "@netfacts/snapshot";
import { peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { IngestError, runIngest } from "../../src/app.ts";
import { WrongAnswerError } from "../../src/verify/wrong-answer.ts";
import { atWork, delegatedFile, namesFile, vrpFile, type Workplace } from "../support/made-files.ts";

const everything = `
full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: rib, section: routes, format: mrt, location: rib}
  - {name: ripe, section: allocations, format: delegated, location: ripe}
  - {name: arin, section: allocations, format: delegated, location: arin}
  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}
  - {name: slurm, section: vrps, format: slurm, location: slurm}
  - {name: names, section: as_names, format: name-list, location: names}
  - {name: net, section: profiles, format: peeringdb-net, location: net}
  - {name: types, section: network_types, format: network-types-csv, location: types}
  - {name: feed, section: locations, format: geofeed, location: feed}
  - {name: seen, section: locations, format: observations, location: seen}
`;

/** Blocks that overlap those of `ripe`, where allocated goes before reserved, and numbers of their own. */
const arinFile = [
  "2|arin|20251120|4|19830101|20251120|+0100",
  "arin|*|ipv4|*|2|summary",
  "arin|*|asn|*|2|summary",
  "arin||ipv4|11.0.0.0|65536||reserved|",
  "arin|US|ipv4|12.0.0.0|768|20100203|assigned|us-holder",
  "arin|US|asn|1|4|20100203|assigned|us-holder",
  "arin|CA|asn|9|1|20110304|allocated|ca-holder",
  "",
].join("\n");

async function writeAll({ write }: Workplace): Promise<void> {
  await write("arin", arinFile);
  const export_ = JSON.parse(vrpFile()) as Record<string, unknown>;
  const aspas = [1, 2, 3].map((customer) => ({
    customer_asid: customer,
    expires: 1_900_000_000 - customer,
    providers: [9, 10 + customer],
  }));
  await write("vrps", JSON.stringify({ ...export_, aspas }));
  const prefixFilters = [{ prefix: "11.0.4.0/24" }];
  const prefixAssertions = [{ asn: 64_500, prefix: "13.0.0.0/16", maxPrefixLength: 20 }];
  await write(
    "slurm",
    JSON.stringify({
      slurmVersion: 1,
      validationOutputFilters: { prefixFilters, bgpsecFilters: [] },
      locallyAddedAssertions: { prefixAssertions, bgpsecAssertions: [] },
    }),
  );
  const data = [1, 2, 3].map((asn) => ({
    id: asn,
    asn,
    name: `N${asn}`,
    website: `https://as${asn}.example/`,
    info_type: asn === 2 ? "Content" : "NSP",
    status: "ok",
  }));
  await write("net", JSON.stringify({ data, meta: {} }));
  await write("feed", "11.0.0.0/20,NL,NL-NH,Amsterdam,\n12.0.0.0/24,DE,DE-BE,Berlin,\n2001:db8::/32,,,,\n");
  const seen = (ip: string, country: string, lat: number, hour: number) =>
    `${JSON.stringify({ ip, country, lat, lon: 5, observed_at: `2025-11-20T${hour}:00:00Z` })}\n`;
  // Two of three place it in Italy.
  const elsewhere = ["16,IT,45", "18,IT,45", "20,US,30"]
    .map((one) => one.split(","))
    .map(
      ([day, country, lat]) =>
        `${JSON.stringify({ ip: "16.0.0.1", country, lat: Number(lat), lon: 5, observed_at: `2025-11-${day}T10:00:00Z` })}\n`,
    )
    .join("");
  await write("seen", seen("13.0.0.1", "FR", 48, 10) + seen("14.0.0.1", "GB", 52, 11) + seen("15.0.0.1", "ES", 40, 12) + elsewhere);
  await write("types", "resource,network_type,confidence\n11.0.0.0/20,eyeball,0.9\n12.0.0.0/24,hosting,0.5\nAS9,cdn,1\n");
}

/** The store, but for what it hands out of one section. */
function altered<S extends SectionName>(
  store: SnapshotStore,
  section: S,
  alter: (columns: SectionColumns<S>) => Partial<SectionColumns<S>>,
): SnapshotStore {
  return {
    ...store,
    async getObject(digest, bytes) {
      const whole = await store.getObject(digest, bytes);
      let columns: SectionColumns<S>;
      try {
        columns = decodeColumns(kindOf(section).format, whole) as SectionColumns<S>;
      } catch {
        return whole;
      }
      const object = encodeColumns(kindOf(section).format, { ...columns, ...alter(columns) } as never);
      const shared = new Uint8Array(new SharedArrayBuffer(object.length));
      shared.set(object);
      return shared;
    },
  };
}

/** Every value one place further on, the last at the front. */
function moved<A extends Uint8Array | Uint16Array | Uint32Array>(column: A): A {
  const copy = column.slice() as A;
  copy.set(column.subarray(0, -1), 1);
  copy[0] = column.at(-1) ?? 0;
  return copy;
}

function mapped<A extends Uint8Array | Uint16Array | Uint32Array>(column: A, change: (value: number) => number): A {
  return column.map((value: number) => change(value)) as A;
}

/** Two values in each other's place. */
function swapped<A extends Uint8Array | Uint16Array | Uint32Array>(column: A, one: number, other: number): A {
  const copy = column.slice() as A;
  [copy[one], copy[other]] = [column[other] as number, column[one] as number];
  return copy;
}

type Fault = [what: string, section: SectionName, plant: (store: SnapshotStore) => SnapshotStore, message: RegExp];

const fault = <S extends SectionName>(
  what: string,
  section: S,
  alter: (columns: SectionColumns<S>) => Partial<SectionColumns<S>>,
  message: RegExp,
): Fault => [what, section, (store) => altered(store, section, alter), message];

const faults: Fault[] = [
  fault(
    "origins of two prefixes swapped",
    "routes",
    // 11.0.0.0/24 has AS1 and AS9, 11.0.1.0/24 has AS2 and AS9; the index by AS follows.
    ({ origin_value, as_origin, as_entry }) => ({
      origin_value: swapped(origin_value, origin_value.indexOf(1), origin_value.indexOf(2)),
      as_origin: swapped(as_origin, 0, 1),
      as_entry: swapped(as_entry, 0, 1),
    }),
    /11\.0\.[01]\.0\/24 of rib: expected origin AS[12] seen by 1 peers, found AS/,
  ),
  fault(
    "an origin of another number",
    "routes",
    ({ origin_value, as_number }) => {
      const off = (asn: number) => (asn === 3 ? 4 : asn);
      return { origin_value: mapped(origin_value, off), as_number: mapped(as_number, off) };
    },
    /11\.0\.2\.0\/24 of rib: expected origin AS3 seen by 1 peers, found .*AS4/,
  ),
  fault(
    "origins counted once too often",
    "routes",
    ({ origin_full }) => ({ origin_full: mapped(origin_full, (n) => n + 1) }),
    /seen by 1 peers/,
  ),
  fault("origins seen by nobody", "routes", ({ origin_full }) => ({ origin_full: mapped(origin_full, () => 0) }), /expected origin AS/),
  fault("upstreams one place off", "routes", ({ upstream_as }) => ({ upstream_as: moved(upstream_as) }), /expected the upstreams 6450[01]/),
  fault(
    "every address one bit off",
    "routes",
    ({ v4_address }) => ({ v4_address: mapped(v4_address, (word) => word + 2 ** 8) }),
    /11\.0\.0\.0\/24 of rib: expected the prefix itself, found no prefix/,
  ),
  fault(
    "the last VRP lost",
    "vrps",
    (columns) => ({
      v4_address: columns.v4_address.slice(0, -1),
      v4_length: columns.v4_length.slice(0, -1),
      vrp_start: columns.vrp_start.slice(0, -1),
      asn: columns.asn.slice(0, -1),
      max_length: columns.max_length.slice(0, -1),
      ta: columns.ta.slice(0, -1),
      expires_at: columns.expires_at.slice(0, -1),
      loose: columns.loose.slice(0, -1),
    }),
    /13\.0\.0\.0\/16-20 AS64500 of slurm: expected one such VRP among those that cover the prefix, found none/,
  ),
  fault("VRPs of another AS", "vrps", ({ asn }) => ({ asn: mapped(asn, (n) => n + 1) }), /of vrps: expected one such VRP/),
  fault(
    "max lengths one place off",
    "vrps",
    ({ max_length }) => ({ max_length: mapped(max_length, (n) => n + 1) }),
    /expected one such VRP/,
  ),
  fault(
    "VRPs that have expired",
    "vrps",
    ({ expires_at }) => ({ expires_at: mapped(expires_at, () => 1) }),
    /to expire at 1900000000 or later/,
  ),
  fault(
    "VRPs that no AS is listed with",
    "vrps",
    ({ as_number }) => ({ as_number: mapped(as_number, (n) => n + 1) }),
    /AS9 among the ASes of VRPs/,
  ),
  fault(
    "a filter that was not applied",
    "vrps",
    ({ v4_address }) => ({ v4_address: mapped(v4_address, (word) => (word === ((11 << 24) | (5 << 8)) ? word - 256 : word)) }),
    /11\.0\.4\.0\/24-24 AS9 of vrps: expected no such VRP|one such VRP/,
  ),
  fault(
    "providers of another customer",
    "aspas",
    ({ provider }) => ({ provider: swapped(provider, 1, 3) }),
    /the ASPA of AS1 of vrps: expected the providers AS9 AS11/,
  ),
  fault("expiries of another customer", "aspas", ({ expires_at }) => ({ expires_at: moved(expires_at) }), /expected its expiry/),
  fault(
    "a wrong index of the registry",
    "allocations",
    ({ registry }) => ({ registry: mapped(registry, (n) => (n + 1) % 5) }),
    /expected that record among those of/,
  ),
  fault("countries one place off", "allocations", ({ country }) => ({ country: moved(country) }), /expected that record among those of/),
  fault("dates one place off", "allocations", ({ date }) => ({ date: moved(date) }), /expected that record among those of/),
  fault("holders one place off", "allocations", ({ holder }) => ({ holder: moved(holder) }), /expected that record among those of/),
  fault(
    "the order of precedence turned round",
    "allocations",
    ({ rank }) => ({ rank: mapped(rank, (n) => rank.length - 1 - n) }),
    /expected that record, or one that takes precedence, to be the registration/,
  ),
  fault(
    "numbers of another registry",
    "allocations",
    ({ as_registry }) => ({ as_registry: mapped(as_registry, (n) => (n + 1) % 5) }),
    /AS\d+–AS\d+ .* of arin: expected that record/,
  ),
  fault(
    "runs of numbers that end too soon",
    "allocations",
    ({ as_last }) => ({ as_last: mapped(as_last, (n) => (n === 4 ? 3 : n)) }),
    /expected a registration of AS4, found none/,
  ),
  fault(
    "names of the AS before",
    "as_names",
    ({ asn }) => ({ asn: mapped(asn, (n) => n + 1) }),
    /the name of AS\d+ of names: expected NAME-/,
  ),
  fault("websites of the AS before", "profiles", ({ website_bytes }) => ({ website_bytes: moved(website_bytes) }), /website of AS\d/),
  fault("types of the AS before", "profiles", ({ type }) => ({ type: moved(type) }), /networkType of AS/),
  fault("types of the prefix before", "network_types", ({ said }) => ({ said: moved(said) }), /the type of 11\.0\.0\.0\/20 of types/),
  fault(
    "types of no AS",
    "network_types",
    ({ as_number }) => ({ as_number: mapped(as_number, (n) => n + 1) }),
    /the type of AS9 of types: expected cdn \(1\), found none/,
  ),
  fault(
    "places of the prefix before",
    "locations",
    ({ place }) => ({ place: moved(place) }),
    /the location of \S+ of feed: expected .*, found /,
  ),
  fault(
    "coordinates of the observation before",
    "locations",
    ({ latitude }) => ({ latitude: moved(latitude) }),
    /the location of \S+ of observations: expected coordinates among those observed/,
  ),
  fault(
    "times of the observation before",
    "locations",
    ({ last_observed }) => ({ last_observed: moved(last_observed) }),
    /the location of \S+ of observations: expected the time of an observation/,
  ),
  fault(
    "observations of nobody",
    "locations",
    ({ observations }) => ({ observations: mapped(observations, () => 0) }),
    /of observations: expected 1 to 1 observations, found 0/,
  ),
  fault(
    "more outliers than were observed",
    "locations",
    ({ outlier_count }) => ({ outlier_count: mapped(outlier_count, () => 2) }),
    /the location of 16.0.0.1\/32 of observations: expected up to 1 outliers, found 2/,
  ),
  fault(
    "outliers in another country",
    "locations",
    ({ outlier_place }) => ({ outlier_place: mapped(outlier_place, () => 0) }),
    /of observations: expected outliers that were observed, found NL, NL-NH, Amsterdam on day 20412/,
  ),
  fault(
    "days of outliers a day late",
    "locations",
    ({ outlier_day }) => ({ outlier_day: mapped(outlier_day, (day) => day + 1) }),
    /of observations: expected outliers that were observed, found US, –, – on day 20413/,
  ),
  fault(
    "cities of other places",
    "locations",
    ({ city_start }) => ({ city_start: mapped(city_start, (at) => (at === 9 ? 3 : at)) }),
    /the location of \S+ of feed: expected (NL, NL-NH, Amsterdam|DE, DE-BE, Berlin), found /,
  ),
];

const geofeedFirst = `locations_first: geofeed${everything}`;
const cases = [
  ...faults.map((each) => [...each, everything] as const),
  ...faults
    .filter(([, section]) => section === "locations")
    .map(([what, ...more]) => [`${what}, geofeeds first`, ...more, geofeedFirst] as const),
];

test.each(cases)(
  "%s (%s): the run ends with section, source, record, what was expected and found",
  async (_what, section, plant, message, settings) => {
    await atWork(async (place) => {
      await writeAll(place);
      const config = await place.sources(settings);
      const { snapshot } = await runIngest({ config, store: place.store });
      const before = await place.current();
      await place.write("names", namesFile(11));
      await place.write("ripe", delegatedFile("ripencc", 11));
      const error = await runIngest({ config, store: plant(place.store) }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(IngestError);
      const { message: told, cause, report } = error as IngestError;
      expect(told).toMatch(message);
      expect(cause).toBeInstanceOf(WrongAnswerError);
      expect(cause).toMatchObject({ section, record: expect.any(String), expected: expect.any(String), found: expect.any(String) });
      expect(report).toMatchObject({ snapshot: null, error: told });
      expect(await place.store.currentId()).toBe(snapshot);
      expect(await place.current()).toBe(before);
    });
  },
);

test("what is right is found right, and the report tells how many records each section was asked for", async () => {
  await atWork(async (place) => {
    await writeAll(place);
    const config = await place.sources(everything);
    const report = await runIngest({ config, store: place.store });
    const checked = Object.fromEntries(report.sections.map(({ name, checked: count }) => [name, count]));
    for (const [name, least] of Object.entries({
      routes: 20,
      vrps: 11,
      aspas: 3,
      allocations: 14,
      as_names: 10,
      profiles: 9,
      network_types: 3,
      locations: 7,
    }))
      expect({ name, enough: (checked[name] ?? 0) >= least }).toEqual({ name, enough: true });
  });
});

test.each(["", "0", "(64500)"])("a router's own route, of no peer and with the path '%s', is found right", async (path) => {
  const records = [ribRecord("11.0.0.0/24", [{ peer: 0, path }]), ribRecord("11.0.1.0/24", [{ peer: 1, path: "64500 9" }])];
  await atWork(async (place) => {
    await writeAll(place);
    const peers = [
      { address: "0.0.0.0", asn: 0 },
      { address: "192.0.2.1", asn: 64_500 },
    ];
    await place.write("rib", Buffer.concat([peerIndexRecord(peers), ...records]));
    const { sections } = await runIngest({ config: await place.sources(everything), store: place.store });
    expect(sections.find(({ name }) => name === "routes")).toMatchObject({ counts: { ipv4: 2, origins: 2 } });
  });
});

test("a prefix with more origins than an answer shows is found right", async () => {
  const peers = Array.from({ length: 101 }, (_, at) => ({ address: `192.0.2.${at}`, asn: 64_501 + at }));
  const record = ribRecord(
    "11.0.0.0/24",
    peers.map(({ asn }, peer) => ({ peer, path: `${asn}` })),
  );
  await atWork(async (place) => {
    await writeAll(place);
    await place.write("rib", Buffer.concat([peerIndexRecord(peers), record]));
    const { sections } = await runIngest({ config: await place.sources(everything), store: place.store });
    expect(sections.find(({ name }) => name === "routes")).toMatchObject({ counts: { ipv4: 1, origins: 101 } });
  });
});

test.each([
  ["geofeeds", geofeedFirst],
  ["observations", everything],
])("a geofeed's prefix without a location that begins with a more specific one is found right, %s first", async (_first, settings) => {
  await atWork(async (place) => {
    await writeAll(place);
    await place.write("feed", "11.0.2.0/24,,,,\n11.0.2.0/25,NL,,,\n");
    await place.write("seen", '{"prefix":"11.0.0.0/16","country":"DE","observed_at":"2025-11-20T10:00:00Z"}\n');
    const { sections } = await runIngest({ config: await place.sources(settings), store: place.store });
    expect(sections.find(({ name }) => name === "locations")).toMatchObject({ checked: 3 });
  });
});

test("several ASPAs of one customer in one export are one record, whichever of them expires first", async () => {
  const aspa = (customer_asid: number, expires: number, providers: number[]) => ({ customer_asid, expires, providers });
  const [soon, late] = [1_900_000_000, 1_900_000_001];
  await atWork(async (place) => {
    await writeAll(place);
    const aspas = [aspa(1, soon, [9]), aspa(1, late, [9]), aspa(2, late, [9, 10]), aspa(2, soon, [9]), aspa(3, soon, [9])];
    await place.write("vrps", JSON.stringify({ ...(JSON.parse(vrpFile()) as object), aspas }));
    const { sections } = await runIngest({ config: await place.sources(everything), store: place.store });
    expect(sections.find(({ name }) => name === "aspas")).toMatchObject({ checked: 5, counts: { customers: 3 } });
  });
});

test("a section that is taken over is compared with its digest alone", async () => {
  await atWork(async (place) => {
    const config = await place.sources(everything.replace(/.*name: (ripe|arin|vrps|slurm|net|types|feed|seen).*\n/g, ""));
    await runIngest({ config, store: place.store });
    const onlyNames = { ...config, sources: config.sources.filter(({ name }) => name === "names") };
    const off = altered(place.store, "routes", ({ origin_value }) => ({ origin_value: moved(origin_value) }));
    const report = await runIngest({ config: onlyNames, store: off });
    expect(report.sections.map(({ name, kept, checked }) => [name, kept, checked > 0])).toEqual([
      ["routes", true, false],
      ["as_names", false, true],
    ]);
  });
});
