/** The consensus of observations: made cases, an oracle that tries every history, and how often an answer is right. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { type Random, seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import {
  type Consensus,
  type ConsensusOptions,
  consensusOf,
  distanceKm,
  placeCount,
  reliabilityOf,
  type Vote,
} from "../../src/assembly/consensus.ts";

const day = 86_400;
const now = 1_763_676_845;
const options: ConsensusOptions = { now, halfLifeSeconds: 365 * day };

function vote(days: number, more: Partial<Vote> = {}): Vote {
  return {
    country: null,
    region: null,
    city: null,
    latitude: null,
    longitude: null,
    accuracyKm: null,
    observedAt: now - days * day,
    ...more,
  };
}

const amsterdam = { country: "NL", region: "NL-NH", city: "Amsterdam", latitude: 52.37, longitude: 4.9, accuracyKm: 10 };
const berlin = { country: "DE", region: "DE-BE", city: "Berlin", latitude: 52.52, longitude: 13.4, accuracyKm: 10 };

describe("made cases", () => {
  test("one observation is shown as it is, with the confidence of one", () => {
    const found = consensusOf([vote(0, amsterdam)], options);
    expect(found).toMatchObject({
      country: "NL",
      region: "NL-NH",
      city: "Amsterdam",
      radiusKm: 10,
      observations: 1,
      outliers: { observations: 0 },
    });
    expect([found.latitude, found.longitude].map((degrees) => degrees?.toFixed(6))).toEqual(["52.370000", "4.900000"]);
    expect(found.lastObservedAt).toBe(now);
    expect(found.confidence).toBeCloseTo(reliabilityOf(10) + (1 - reliabilityOf(10)) / placeCount, 2);
  });

  test("agreement, recency and accuracy raise the confidence; contradiction, age and coarseness lower it", () => {
    const of = (...votes: Vote[]) => consensusOf(votes, options).confidence;
    const one = of(vote(1, amsterdam));
    expect(of(vote(1, amsterdam), vote(2, amsterdam))).toBeGreaterThan(one);
    expect(of(vote(1, amsterdam), vote(2, berlin))).toBeLessThan(one);
    expect(of(vote(200, amsterdam))).toBeLessThan(one);
    expect(of(vote(1, { ...amsterdam, accuracyKm: 400 }))).toBeLessThan(one);
    expect(of(...Array.from({ length: 50 }, (_, at) => vote(at, amsterdam)))).toBe(0.99);
    // However many agree, all of them may be older than a move.
    expect(of(...Array.from({ length: 50 }, (_, at) => vote(365 + at, amsterdam)))).toBeLessThan(0.55);
  });

  test("the newest observations of a prefix that moved win over older ones, which are outliers", () => {
    const old = Array.from({ length: 20 }, (_, at) => vote(100 + at, amsterdam));
    const found = consensusOf([...old, vote(2, berlin), vote(1, berlin), vote(0, berlin)], options);
    expect(found).toMatchObject({ city: "Berlin", observations: 3, outliers: { observations: 20 }, lastObservedAt: now });
    expect(found.confidence).toBeGreaterThan(0.9);
  });

  test("one observation against many of the same days is an outlier", () => {
    const found = consensusOf([...Array.from({ length: 9 }, (_, at) => vote(at + 1, amsterdam)), vote(0, berlin)], options);
    expect(found).toMatchObject({ city: "Amsterdam", observations: 9, outliers: { observations: 1 }, lastObservedAt: now - day });
  });

  test("the radius contains the observations of the place and is not smaller than their accuracy", () => {
    const votes = [vote(0, amsterdam), vote(1, { ...amsterdam, latitude: 52.6 }), vote(2, { ...amsterdam, longitude: 5.3 })];
    const found = consensusOf(votes, options);
    for (const one of votes) expect(distanceKm(found, one)).toBeLessThanOrEqual(found.radiusKm ?? 0);
    expect(found.radiusKm).toBeLessThan(40);
    expect(consensusOf([vote(0, { ...amsterdam, accuracyKm: 130.2 })], options).radiusKm).toBe(131);
    expect(consensusOf([vote(0, { ...amsterdam, accuracyKm: 0 })], options).radiusKm).toBe(1);
  });

  test("an accuracy below 10 km has the weight of 10 km", () => {
    const votes = [vote(0, { ...amsterdam, latitude: 52.3, accuracyKm: 0.1 }), vote(0, { ...amsterdam, latitude: 52.4, accuracyKm: 10 })];
    expect(consensusOf(votes, options).latitude).toBeCloseTo(52.35, 6);
  });

  test("the middle of places on both sides of 180 degrees and around a pole is between them", () => {
    const across = consensusOf([vote(0, { latitude: 0, longitude: 179.9 }), vote(0, { latitude: 0, longitude: -179.9 })], options);
    expect(across.observations).toBe(2);
    expect(Math.abs(across.longitude ?? 0)).toBeCloseTo(180, 6);
    const pole = consensusOf([vote(0, { latitude: 89.9, longitude: 0 }), vote(0, { latitude: 89.9, longitude: 180 })], options);
    expect(pole.latitude).toBeCloseTo(90, 6);
    expect(pole.radiusKm).toBe(50);
  });

  test("names are those with most weight, within each other", () => {
    const found = consensusOf(
      [
        vote(0, { country: "NL", region: "NL-ZH", city: "Leiden", latitude: 52.16, longitude: 4.5 }),
        vote(1, { country: "NL", region: "NL-NH", city: "amsterdam", latitude: 52.3, longitude: 4.8 }),
        vote(2, { country: "NL", region: "NL-NH", city: "Amsterdam", latitude: 52.3, longitude: 4.8 }),
        vote(3, { latitude: 52.3, longitude: 4.8 }),
      ],
      options,
    );
    expect(found).toMatchObject({ country: "NL", region: "NL-NH", city: "amsterdam", observations: 4, outliers: { observations: 0 } });
  });

  test("without coordinates there is a place and no radius; without names there are coordinates", () => {
    expect(consensusOf([vote(0, { country: "NL" })], options)).toMatchObject({
      country: "NL",
      latitude: null,
      longitude: null,
      radiusKm: null,
    });
    expect(consensusOf([vote(0, { latitude: 1, longitude: 1 })], options)).toMatchObject({ country: null, city: null, radiusKm: 50 });
  });

  test("a vote without coordinates does not join places that are apart", () => {
    const newYork = { country: "US", city: "New York", latitude: 40.71, longitude: -74.01, accuracyKm: 10 };
    const losAngeles = { country: "US", city: "Los Angeles", latitude: 34.05, longitude: -118.24, accuracyKm: 10 };
    const votes = [1, 2, 3].flatMap((days) => [vote(2 * days - 1, newYork), vote(2 * days, losAngeles)]);
    for (const days of [0, 2.5, 9]) {
      const found = consensusOf([...votes, vote(days, { country: "US" })], options);
      expect([found.latitude?.toFixed(2), found.longitude?.toFixed(2)]).toEqual(["40.71", "-74.01"]);
      expect(found).toMatchObject({ city: "New York", radiusKm: 10, observations: 4, outliers: { observations: 3 } });
      expect(found.confidence).toBeLessThan(0.99);
    }
    // Nothing is known of where these are: they are of the places that agree in names.
    const named = consensusOf([vote(0, { country: "US", city: "los angeles" }), ...votes], options);
    expect(named).toMatchObject({ observations: 4, outliers: { observations: 3 }, radiusKm: 10, latitude: expect.closeTo(34.05, 6) });
  });

  test.each([
    ["all votes are old", []],
    ["the newest vote has no coordinates", [vote(0, { country: "NL" })]],
  ])("thousands of half-lives leave the coordinates and names as they are, where %s", (_what, newer) => {
    const found = consensusOf([...newer, vote(500, { ...amsterdam, latitude: 52.3 }), vote(500, { ...amsterdam, latitude: 52.4 })], {
      now,
      halfLifeSeconds: day / 10,
    });
    expect(found).toMatchObject({ latitude: expect.closeTo(52.35, 6), longitude: expect.closeTo(4.9, 6), radiusKm: 10, city: "Amsterdam" });
    expect(found.confidence).toBeGreaterThan(0);
  });

  test("a hundred places are no failure", () => {
    const found = consensusOf(
      Array.from({ length: 100 }, (_, at) => vote(at, { latitude: (at % 10) * 9, longitude: at * 3 })),
      options,
    );
    expect(found.confidence).toBeGreaterThan(0);
    expect(found.confidence).toBeLessThan(0.9);
    expect(found.observations + found.outliers.observations).toBe(100);
  });
});

describe("outliers", () => {
  const hamburg = { country: "DE", region: "DE-HH", city: "Hamburg", latitude: 53.55, longitude: 10, accuracyKm: 10 };

  test("are the other places, those with the most votes first, with their names, newest day and distance", () => {
    const votes = [1, 2, 3, 4, 5].map((days) => vote(days, amsterdam));
    const found = consensusOf([...votes, vote(3, hamburg), vote(9, berlin), vote(4.5, { ...berlin, city: null })], options);
    expect(found).toMatchObject({ city: "Amsterdam", observations: 5 });
    expect(found.outliers).toEqual({
      observations: 3,
      places: [
        {
          place: { country: "DE", region: "DE-BE", city: "Berlin" },
          distanceKm: Math.round(distanceKm(amsterdam, berlin) ?? 0),
          observations: 2,
          lastDay: Math.floor(now / day - 4.5),
        },
        expect.objectContaining({ place: { country: "DE", region: "DE-HH", city: "Hamburg" }, observations: 1 }),
      ],
    });
  });

  test("have no distance where one side has no coordinates", () => {
    const votes = [1, 2, 3].map((days) => vote(days, amsterdam));
    const places = (...more: Vote[]) => consensusOf([...votes, ...more], options).outliers.places;
    expect(places(vote(4, { country: "FR" }))).toMatchObject([{ place: { country: "FR", city: null }, distanceKm: null }]);
    expect(consensusOf([vote(0, { country: "FR" }), vote(1, { country: "FR" }), vote(9, berlin)], options).outliers).toMatchObject({
      observations: 1,
      places: [{ distanceKm: null }],
    });
  });

  test("are three places at most, and all of their votes are counted, also those of more places than are told apart", () => {
    const apart = Array.from({ length: 60 }, (_, at) => vote(100 + at, { latitude: (at % 10) * 8, longitude: at * 3 - 90 }));
    const { observations, outliers } = consensusOf([...Array.from({ length: 20 }, (_, at) => vote(at, amsterdam)), ...apart], options);
    expect([observations, outliers.observations]).toEqual([20, 60]);
    expect(outliers.places.map((one) => [one.observations, Math.floor(now / day) - one.lastDay])).toEqual([
      [1, 100],
      [1, 101],
      [1, 102],
    ]);
  });
});

const countries = ["NL", "DE", "FR"];

/** The probability of each country now, over every history of the places that a prefix may have had. */
function everyHistory(votes: readonly Vote[], { halfLifeSeconds }: ConsensusOptions): Map<string, number> {
  const oldestFirst = [...votes].sort((a, b) => a.observedAt - b.observedAt);
  const moves = (seconds: number) => 1 - Math.exp((-Math.LN2 * seconds) / halfLifeSeconds);
  const ends = new Array<number>(placeCount).fill(0);
  const walk = (step: number, place: number, chance: number): void => {
    const own = oldestFirst[step];
    const right = reliabilityOf(own?.accuracyKm ?? null);
    const seen = own === undefined ? null : countries.indexOf(own.country ?? "");
    const here = seen === null ? chance : chance * ((1 - right) / placeCount + (seen === place ? right : 0));
    if (own === undefined) {
      ends[place] = (ends[place] as number) + here;
      return;
    }
    const gap = (oldestFirst[step + 1]?.observedAt ?? now) - own.observedAt;
    for (let next = 0; next < placeCount; next++)
      walk(step + 1, next, here * (moves(gap) / placeCount + (next === place ? 1 - moves(gap) : 0)));
  };
  for (let place = 0; place < placeCount; place++) walk(0, place, 1 / placeCount);
  const sum = ends.reduce((all, each) => all + each, 0);
  return new Map(countries.map((country, place) => [country, (ends[place] as number) / sum]));
}

test("the confidence is the probability over every history of a prefix", () => {
  const aVote = fc
    .record({ country: fc.constantFrom(...countries), days: fc.nat(700), accuracyKm: fc.constantFrom(null, 0, 10, 300) })
    .map(({ days, ...more }) => vote(days, more));
  fc.assert(
    fc.property(fc.array(aVote, { minLength: 1, maxLength: 3 }), (votes) => {
      const expected = everyHistory(votes, options);
      const found = consensusOf(votes, options);
      const best = Math.max(...expected.values());
      expect(Math.abs(found.confidence - Math.min(0.99, best))).toBeLessThan(0.006);
      expect(best - (expected.get(found.country ?? "") ?? 0)).toBeLessThan(1e-9);
    }),
    { seed: seed(14), numRuns: runs(60) },
  );
});

/** Prefixes that move among 20 cities, and observations of them: 90 % right if exact. */
function madeTruth(random: Random, { halfLifeSeconds }: ConsensusOptions): { votes: Vote[]; place: number } {
  const unit = () => random(1_000_000) / 1_000_000;
  const cityOf = (place: number) => ({ latitude: 60 - 6 * place, longitude: -170 + 17 * place });
  const times = Array.from({ length: 1 + random(12) }, () => Math.floor(unit() ** 2 * 700 * day)).sort((a, b) => b - a);
  let place = random(placeCount);
  const votes: Vote[] = [];
  const move = (seconds: number) => {
    if (unit() > 2 ** (-seconds / halfLifeSeconds)) place = random(placeCount);
  };
  for (const [at, ago] of times.entries()) {
    if (at > 0) move((times[at - 1] as number) - ago);
    const accuracyKm = [5, 25, 100][random(3)] as number;
    const seen = unit() < reliabilityOf(accuracyKm) ? place : random(placeCount);
    const { latitude, longitude } = cityOf(seen);
    // As exact as it says: within a tenth of a degree at most.
    votes.push(vote(ago / day, { latitude: latitude + (unit() - 0.5) / 10, longitude: longitude + (unit() - 0.5) / 10, accuracyKm }));
  }
  move(times.at(-1) as number);
  return { votes, place };
}

interface Bin {
  readonly claimed: number;
  readonly right: number;
  readonly count: number;
}

/** Of answers by their confidence, in tenths: what they claim on average, and how many are right. */
function calibration(answer: (votes: readonly Vote[]) => Consensus): Bin[] {
  const random = seeded(seed(9));
  const bins = Array.from({ length: 10 }, () => ({ claimed: 0, right: 0, count: 0 }));
  for (let made = 0; made < 20_000; made++) {
    const { votes, place } = madeTruth(random, options);
    const found = answer(votes);
    const bin = bins[Math.min(9, Math.floor(found.confidence * 10))] as { claimed: number; right: number; count: number };
    bin.count++;
    bin.claimed += found.confidence;
    const truth = { latitude: 60 - 6 * place, longitude: -170 + 17 * place };
    if ((distanceKm(found, truth) ?? Number.POSITIVE_INFINITY) < 50) bin.right++;
  }
  return bins
    .filter(({ count }) => count >= 400)
    .map(({ claimed, right, count }) => ({ claimed: claimed / count, right: right / count, count }));
}

describe("calibration", () => {
  test("of answers with a confidence, that share is right", () => {
    const bins = calibration((votes) => consensusOf(votes, options));
    expect(bins.length).toBeGreaterThanOrEqual(5);
    expect(bins.at(-1)?.claimed).toBeGreaterThan(0.9);
    for (const { claimed, right, count } of bins)
      expect({ claimed, right, count, off: Math.abs(claimed - right) < 0.04 }).toEqual({ claimed, right, count, off: true });
  }, 60_000);

  test("a confidence that forgets the age of observations is found out", () => {
    const bins = calibration((votes) => consensusOf(votes, { now, halfLifeSeconds: 1e12 }));
    expect(bins.some(({ claimed, right }) => claimed - right > 0.1)).toBe(true);
  }, 60_000);
});
