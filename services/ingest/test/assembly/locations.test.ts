/** Observations by prefix, and which of them and of geofeeds count, against slow readings of the rules. */

import { describe, expect, test } from "@jest/globals";
import { containsAddress, firstAddress, formatPrefix, lastAddress, type Prefix, parsePrefix } from "@netfacts/address";
import { Generation, type LoadedSnapshot, loadSection, type Outliers, packSection } from "@netfacts/snapshot";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { consensusOf } from "../../src/assembly/consensus.ts";
import { aggregateObservations, type LocationBasis, type LocationRecord, withPrecedence } from "../../src/assembly/locations.ts";
import { type Observation, ObservationList } from "../../src/assembly/observation-list.ts";

const day = 86_400;
const now = 1_763_676_845;
const options = { halfLifeSeconds: 365 * day, keptSeconds: 100 * day };

function prefix(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return reading.prefix;
}

function observation(what: string, days: number, more: Partial<Observation> = {}): Observation {
  const nothing = { region: null, city: null, latitude: null, longitude: null, accuracyKm: null, method: null };
  return { prefix: prefix(what), country: "NL", ...nothing, observedAt: now - Math.round(days * day), ...more };
}

function listOf(observations: readonly Observation[]): ObservationList {
  const list = new ObservationList();
  for (const one of observations) list.add(one);
  return list;
}

const shown = ({ prefix: one, place, observed }: LocationRecord) => [
  formatPrefix(one),
  place?.country,
  observed?.observations,
  observed?.lastObservedAt,
];

/** Votes for other countries than the one that was found: those are places, where nobody gives coordinates or other names. */
function slowOutliers(votes: readonly Observation[], found: string | null): Outliers {
  const others = votes.filter(({ country }) => country !== found);
  const places = [...new Set(others.map(({ country }) => country))].map((country) => {
    const own = others.filter((one) => one.country === country);
    const newest = own.map(({ observedAt }) => observedAt).sort((a, b) => b - a)[0] ?? 0;
    return { country, votes: own.length, newest };
  });
  places.sort((a, b) => (a.votes === b.votes ? b.newest - a.newest : b.votes - a.votes));
  return {
    observations: others.length,
    places: places.slice(0, 3).map(({ country, votes: observations, newest }) => ({
      place: { country, region: null, city: null },
      distanceKm: null,
      observations,
      lastDay: Date.parse(new Date(newest * 1000).toISOString().slice(0, 10)) / 86_400_000,
    })),
  };
}

test("an observation is kept as it was read, within a metre and a hundred of them", () => {
  const one = observation("2001:db8::1/128", 0.5, {
    latitude: -33.86882,
    longitude: 151.20929,
    accuracyKm: 12.5,
    method: "gps",
    city: "Sydney",
  });
  const list = listOf([observation("192.0.2.0/24", 1), one]);
  const { method: _, prefix: __, ...vote } = one;
  expect([list.size, list.newest, formatPrefix(list.prefixAt(1))]).toEqual([2, now - day / 2, "2001:db8::1/128"]);
  const { latitude, longitude, ...rest } = list.voteAt(1);
  expect([latitude?.toFixed(5), longitude?.toFixed(5)]).toEqual(["-33.86882", "151.20929"]);
  expect({ ...rest, latitude: one.latitude, longitude: one.longitude }).toEqual(vote);
});

test("a list counts each prefix, source, method and day as one vote, as a set of texts does", () => {
  const prefixes = ["192.0.2.1/32", "192.0.2.0/24", "192.0.2.0/25", "2001:db8::/48", "c000:200::/32"];
  const all = Array.from({ length: 3_000 }, (_, at) =>
    observation(prefixes[at % 5] as string, ((at * 7) % 211) / 3, {
      method: ["gps", "latency", null][at % 3] as string | null,
      source: `s${at % 2}`,
    }),
  );
  const votes = new Set(
    all.map(({ prefix, method, source, observedAt }) => [formatPrefix(prefix), method, source, Math.floor(observedAt / day)].join()),
  );
  const list = listOf([...all, ...all]);
  expect([list.size, list.voteCount()]).toEqual([6_000, votes.size]);
  expect(listOf([]).voteCount()).toBe(0);
});

describe("observations of a prefix", () => {
  test("are one record each, of a family after the other", () => {
    const lists = [listOf([observation("2001:db8::/48", 0), observation("192.0.2.1/32", 1)]), listOf([observation("192.0.2.1/32", 2)])];
    const { records, notes } = aggregateObservations(lists, options);
    expect(records.map(shown)).toEqual([
      ["192.0.2.1/32", "NL", 2, now - day],
      ["2001:db8::/48", "NL", 1, now],
    ]);
    expect(notes).toEqual(["observations: 3 read, 0 older than observations_kept, of 2 prefixes"]);
  });

  test("count once a day for each source and method: nobody outvotes the others by repeating", () => {
    const loud = Array.from({ length: 5_000 }, (_, at) => observation("192.0.2.1/32", at / 100_000, { country: "US" }));
    const others = Array.from({ length: 4 }, (_, at) => observation("192.0.2.1/32", at + 0.5, { country: "NL" }));
    const { records, notes } = aggregateObservations([listOf(loud), listOf(others)], options);
    expect(records.map(shown)).toEqual([["192.0.2.1/32", "NL", 4, now - day / 2]]);
    expect(notes[1]).toBe("observations that place a prefix elsewhere: 1, first of 192.0.2.1/32 (1 of 5)");
    // Of two methods they are two.
    const methods = [observation("192.0.2.1/32", 0, { method: "gps" }), observation("192.0.2.1/32", 0, { method: "latency" })];
    expect(aggregateObservations([listOf(methods)], options).records[0]?.observed?.observations).toBe(2);
  });

  test("that are too old are left out, counted from the newest of all", () => {
    const lists = [
      listOf([observation("192.0.2.1/32", 100.01), observation("192.0.2.2/32", 99.9)]),
      listOf([observation("192.0.2.3/32", 0)]),
    ];
    const { records, oldest, notes } = aggregateObservations(lists, options);
    expect(records.map(shown).map(([one]) => one)).toEqual(["192.0.2.2/32", "192.0.2.3/32"]);
    expect(oldest).toBe(now - 100 * day);
    expect(notes[0]).toContain("3 read, 1 older than observations_kept");
  });

  test("are the same whatever the order of their lines", () => {
    const lines = Array.from({ length: 60 }, (_, at) =>
      observation(`192.0.2.${at % 7}/32`, at * 1.7, { country: at % 3 === 0 ? "DE" : "NL" }),
    );
    const one = aggregateObservations([listOf(lines)], options).records;
    expect(aggregateObservations([listOf(lines.toReversed())], options).records).toEqual(one);
  });
});

test("each prefix has the consensus of its newest observation for each source, method and day", () => {
  const anObservation = fc
    .record({
      what: fc.constantFrom("192.0.2.0/24", "192.0.2.1/32", "2001:db8::/32"),
      at: fc.nat(200 * day),
      country: fc.constantFrom("NL", "DE", "FR", "US", "JP", "BR"),
      method: fc.constantFrom(null, "gps"),
    })
    .map(({ what, at, ...more }) => observation(what, at / day, more));
  const lists = fc.array(fc.uniqueArray(anObservation, { maxLength: 15, selector: ({ observedAt }) => observedAt }), { maxLength: 3 });
  fc.assert(
    fc.property(lists, (sources) => {
      const filled = sources.filter((source) => source.length > 0);
      const { records } = aggregateObservations(filled.map(listOf), options);
      const newest = Math.max(0, ...filled.flat().map(({ observedAt }) => observedAt));
      const votes = new Map<string, Map<string, Observation>>();
      for (const [index, source] of filled.entries())
        for (const one of [...source].sort((a, b) => a.observedAt - b.observedAt)) {
          if (one.observedAt < newest - options.keptSeconds) continue;
          const ofPrefix = votes.get(formatPrefix(one.prefix)) ?? new Map<string, Observation>();
          ofPrefix.set(`${index} ${one.method} ${new Date(one.observedAt * 1000).toISOString().slice(0, 10)}`, one);
          votes.set(formatPrefix(one.prefix), ofPrefix);
        }
      const expected = [...votes].map(([what, ofPrefix]) => {
        const { country, observations, lastObservedAt } = consensusOf([...ofPrefix.values()], {
          now: newest,
          halfLifeSeconds: options.halfLifeSeconds,
        });
        return [what, country, observations, lastObservedAt, slowOutliers([...ofPrefix.values()], country)];
      });
      const text = (rows: unknown[][]) => rows.map((row) => JSON.stringify(row)).sort();
      // Observations of the same second of two sources may tie.
      const times = filled.flat().map(({ observedAt }) => observedAt);
      if (new Set(times).size === times.length)
        expect(text(records.map((one) => [...shown(one), one.observed?.outliers]))).toEqual(text(expected));
    }),
    { seed: seed(15), numRuns: runs(200) },
  );
});

describe("precedence", () => {
  const aPrefix = fc.constantFrom(
    "10.0.0.0/8",
    "10.0.0.0/16",
    "10.0.0.0/24",
    "10.0.0.0/25",
    "10.0.0.128/25",
    "10.0.0.129/32",
    "2001:db8::/32",
    "2001:db8::/64",
  );
  const aFeed: fc.Arbitrary<LocationRecord> = fc
    .tuple(aPrefix, fc.constantFrom("NL", "DE", null))
    .map(([what, country]) => ({ prefix: prefix(what), place: country === null ? null : { country, region: null, city: null } }));
  const anObserved: fc.Arbitrary<LocationRecord> = aPrefix.map((what) => ({
    prefix: prefix(what),
    place: { country: "US", region: null, city: what },
    observed: { latitude: null, longitude: null, radiusKm: null, confidence: 0.5, observations: 1, lastObservedAt: now, outliers: null },
  }));

  /** The most specific record that contains the address, of equal ones the last; null: none. */
  function longest(records: readonly LocationRecord[], one: ReturnType<typeof firstAddress>): LocationRecord | null {
    let best: LocationRecord | null = null;
    for (const record of records)
      if (containsAddress(record.prefix, one) && (best === null || record.prefix.length >= best.prefix.length)) best = record;
    return best;
  }

  test.each<LocationBasis>(["observation", "geofeed"])(
    "where %s comes first, the other one counts only where it knows nothing",
    (first) => {
      fc.assert(
        fc.property(
          fc.array(aFeed, { maxLength: 6 }),
          fc.uniqueArray(anObserved, { maxLength: 6, selector: ({ prefix: one }) => formatPrefix(one) }),
          (feeds, observed) => {
            const { pieces } = packSection("locations", withPrecedence(feeds, observed, first));
            const bytes = Buffer.concat(pieces);
            const memory = new Uint8Array(new SharedArrayBuffer(bytes.length));
            memory.set(bytes);
            const { locations } = Generation.of({
              manifest: { sections: {} },
              sections: { locations: loadSection("locations", memory) },
            } as unknown as LoadedSnapshot);
            for (const one of [...feeds, ...observed].flatMap((record) => [firstAddress(record.prefix), lastAddress(record.prefix)])) {
              const [said, seen] = [longest(feeds, one), longest(observed, one)];
              const found = locations?.lookupLocation(one) ?? null;
              const leads = first === "observation" ? seen !== null : seen !== null && (said?.place ?? null) === null;
              expect([found?.country ?? null, found?.observed != null]).toEqual(
                leads ? ["US", true] : [said?.place?.country ?? null, false],
              );
            }
          },
        ),
        { seed: seed(16), numRuns: runs(500) },
      );
    },
  );
});
