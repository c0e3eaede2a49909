/** The place that several observations give a prefix, and how certain it is (docs/design/semantics.md#location). */

import { locationOutliersMax } from "@netfacts/contracts";
import type { OutlierPlace, Outliers } from "@netfacts/snapshot";

/** One observation of a prefix. Each has a country or coordinates. */
export interface Vote {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  /** Degrees; both or neither is null. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly accuracyKm: number | null;
  /** Unix seconds. */
  readonly observedAt: number;
}

export interface Consensus extends Omit<Vote, "accuracyKm" | "observedAt"> {
  /** Whole kilometres; null without coordinates. */
  readonly radiusKm: number | null;
  /** From 0 to 0.99. */
  readonly confidence: number;
  /** Votes for this place, and the time of the newest of them. */
  readonly observations: number;
  readonly lastObservedAt: number;
  /** Votes for other places, and the places with the most of them. */
  readonly outliers: Outliers;
}

export interface ConsensusOptions {
  /** Unix seconds that ages are counted from; no vote is newer. */
  readonly now: number;
  /** Time in which half of all prefixes move to another place. */
  readonly halfLifeSeconds: number;
}

/** Number of places that a wrong observation, or a prefix that moved, may have; all are equally likely. */
export const placeCount = 20;
/** Share of correct observations, if they are exact; half of it at `coarseKm`. */
const reliability = 0.9;
const coarseKm = 250;
/** Assumed accuracy of an observation that gives none. */
const accuracyDefaultKm = 50;
/** Two observations are of one place if they are nearer than this, or than the accuracy of one of them, up to `nearMaxKm`. */
const nearKm = 50;
const nearMaxKm = 500;
/** Most places that are told apart; all further ones count as elsewhere. */
const placesMax = 32;
const elsewhere = -1;
const confidenceMax = 0.99;
/** Claims to be more exact than this do not add weight. */
const exactKm = 10;
/** Older votes have the weight of this age: with a weight of 0 there would be no coordinates. */
const halfLivesMax = 500;
const daySeconds = 86_400;

/** Probability that an observation is correct. */
export function reliabilityOf(accuracyKm: number | null): number {
  return reliability / (1 + (accuracyKm ?? accuracyDefaultKm) / coarseKm);
}

/**
 * The most likely place, with the probability that it is correct now. The model: a prefix is in one of `placeCount` places at any time, and moves to
 * a random one with the half-life. An observation is correct with `reliabilityOf`, and otherwise of a random place. The probability follows exactly
 * (the forward algorithm of a hidden Markov model).
 *
 * @param votes  at least one, in any order.
 *
 * Cost: one step per vote and place; there are at most 32 places.
 */
export function consensusOf(votes: readonly Vote[], options: ConsensusOptions): Consensus {
  return judged(votes, options).consensus;
}

/** Returns a function that tells whether a vote is for another place than the most likely one; also for votes that were not counted. */
export function outlierJudge(votes: readonly Vote[], options: ConsensusOptions): (vote: Vote) => boolean {
  if (votes.length === 0) return () => false;
  const { members } = judged(votes, options);
  const [counted, ofPlace] = [new Set(votes), new Set(members)];
  const [newest] = members;
  return (vote) => (counted.has(vote) ? !ofPlace.has(vote) : newest !== undefined && !isSamePlace(newest, vote));
}

function judged(votes: readonly Vote[], { now, halfLifeSeconds }: ConsensusOptions): { consensus: Consensus; members: readonly Vote[] } {
  const newestFirst = votes.toSorted((a, b) => b.observedAt - a.observedAt);
  const { places, placeOf } = groupedByPlace(newestFirst);
  const stays = (seconds: number) => 2 ** (-seconds / halfLifeSeconds);
  const total = Math.max(placeCount, places.length + 1);
  const unseen = total - places.length;
  // The last share is for all places without a vote.
  let share: number[] = [...places.map(() => 1 / total), unseen / total];
  let time = newestFirst.at(-1)?.observedAt ?? now;
  const moveOn = (until: number) => {
    const stay = stays(until - time);
    share = share.map((each, place) => each * stay + ((1 - stay) * (place === places.length ? unseen : 1)) / total);
    time = until;
  };
  for (const [at, vote] of [...newestFirst.entries()].reverse()) {
    moveOn(vote.observedAt);
    const right = reliabilityOf(vote.accuracyKm);
    const wrong = (1 - right) / total;
    const seen = placeOf[at] as number;
    const likelihood = (place: number) => {
      if (place === places.length) return wrong + (seen === elsewhere ? right / unseen : 0);
      return wrong + (place === seen ? right : 0);
    };
    const weighted = share.map((each, place) => each * likelihood(place));
    const sum = weighted.reduce((all, each) => all + each, 0);
    share = weighted.map((each) => each / sum);
  }
  moveOn(now);
  let best = 0;
  for (let place = 1; place < places.length; place++) if ((share[place] as number) > (share[best] as number)) best = place;
  const members = places[best] as Vote[];
  const weight = weightOf(members, halfLifeSeconds);
  const consensus = {
    ...namesOf(members, weight),
    ...centreOf(members, weight),
    confidence: Math.min(confidenceMax, Math.round((share[best] as number) * 100) / 100),
    observations: members.length,
    lastObservedAt: (members[0] as Vote).observedAt,
  };
  const others = places.filter((_, place) => place !== best);
  const outliers = { observations: votes.length - members.length, places: outlierPlaces(others, consensus, halfLifeSeconds) };
  return { consensus: { ...consensus, outliers }, members };
}

/** The places with the most votes; if these are equal, the places that were seen last. */
function outlierPlaces(others: readonly Vote[][], location: Coordinates, halfLifeSeconds: number): OutlierPlace[] {
  const newest = (members: readonly Vote[]) => (members[0] as Vote).observedAt;
  return others
    .toSorted((a, b) => b.length - a.length || newest(b) - newest(a))
    .slice(0, locationOutliersMax)
    .map((members) => {
      const weight = weightOf(members, halfLifeSeconds);
      const distance = distanceKm(location, centreOf(members, weight));
      return {
        place: namesOf(members, weight),
        distanceKm: distance === null ? null : Math.round(distance),
        observations: members.length,
        lastDay: Math.floor(newest(members) / daySeconds),
      };
    });
}

/**
 * Groups votes by place, newest first; `placeOf` has each vote's place by its index. Votes with coordinates form places first, so that a vote without
 * them cannot join places that are apart. A place is compared by its newest vote with coordinates, if it has one.
 */
function groupedByPlace(newestFirst: readonly Vote[]): { places: Vote[][]; placeOf: number[] } {
  const compared: Vote[] = [];
  const placeOf = new Array<number>(newestFirst.length).fill(elsewhere);
  for (const hasCoordinates of [true, false])
    for (const [at, vote] of newestFirst.entries()) {
      if ((vote.latitude !== null) !== hasCoordinates) continue;
      const known = compared.findIndex((other) => isSamePlace(other, vote));
      if (known >= 0) placeOf[at] = known;
      else if (compared.length < placesMax) placeOf[at] = compared.push(vote) - 1;
    }
  const places = compared.map((): Vote[] => []);
  for (const [at, vote] of newestFirst.entries()) places[placeOf[at] as number]?.push(vote);
  return { places, placeOf };
}

/** Whether two observations may be of the same place. */
function isSamePlace(a: Vote, b: Vote): boolean {
  if (a.country !== null && b.country !== null && a.country !== b.country) return false;
  const apart = distanceKm(a, b);
  if (apart !== null)
    return apart <= Math.min(nearMaxKm, Math.max(nearKm, a.accuracyKm ?? accuracyDefaultKm, b.accuracyKm ?? accuracyDefaultKm));
  return a.country === b.country && agree(a.region, b.region) && agree(a.city?.toLowerCase() ?? null, b.city?.toLowerCase() ?? null);
}

function agree(a: string | null, b: string | null): boolean {
  return a === null || b === null || a === b;
}

const earthRadiusKm = 6371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

type Coordinates = Pick<Vote, "latitude" | "longitude">;

/** Distance on the surface of a sphere; null if one has no coordinates. */
export function distanceKm(a: Coordinates, b: Coordinates): number | null {
  if (a.latitude === null || a.longitude === null || b.latitude === null || b.longitude === null) return null;
  const [north, east] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)];
  const chord = Math.sin(north / 2) ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east / 2) ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(chord)));
}

type Weight = (vote: Vote) => number;

/** The weight of votes for one place, newest first. Ages count from the newest of them, which gives the same shares as counting from now. */
function weightOf(members: readonly Vote[], halfLifeSeconds: number): Weight {
  const { observedAt: newest } = members[0] as Vote;
  return ({ observedAt, accuracyKm }) => {
    const age = Math.min(newest - observedAt, halfLivesMax * halfLifeSeconds);
    return 2 ** (-age / halfLifeSeconds) / Math.max(accuracyKm ?? accuracyDefaultKm, exactKm) ** 2;
  };
}

/** The names with the most weight: the country, then a region in it, then a city in that. */
function namesOf(members: readonly Vote[], weight: Weight): Pick<Vote, "country" | "region" | "city"> {
  const country = heaviest(members, ({ country: name }) => name, weight);
  const inCountry = members.filter((one) => one.country === country);
  const region = heaviest(inCountry, ({ region: name }) => name, weight);
  const inRegion = inCountry.filter((one) => agree(one.region, region));
  return { country, region, city: heaviest(inRegion, ({ city: name }) => name, weight) };
}

/** If names differ only in case, the first is shown; at a tie, the first counts. Null: there is no name. */
function heaviest(members: readonly Vote[], nameOf: (vote: Vote) => string | null, weight: Weight): string | null {
  const sums = new Map<string, { readonly name: string; sum: number }>();
  for (const vote of members) {
    const name = nameOf(vote);
    if (name === null) continue;
    const key = name.toLowerCase();
    const known = sums.get(key) ?? { name, sum: 0 };
    known.sum += weight(vote);
    sums.set(key, known);
  }
  let best: { readonly name: string; readonly sum: number } | null = null;
  for (const one of sums.values()) if (best === null || one.sum > best.sum) best = one;
  return best?.name ?? null;
}

/** The weighted middle of the coordinates, and a radius that contains all of them and is not smaller than their accuracy. */
function centreOf(members: readonly Vote[], weight: Weight): Pick<Consensus, "latitude" | "longitude" | "radiusKm"> {
  let [x, y, z, accuracy, sum] = [0, 0, 0, 0, 0];
  for (const vote of members) {
    if (vote.latitude === null || vote.longitude === null) continue;
    const [north, east, own] = [radians(vote.latitude), radians(vote.longitude), weight(vote)];
    x += own * Math.cos(north) * Math.cos(east);
    y += own * Math.cos(north) * Math.sin(east);
    z += own * Math.sin(north);
    accuracy += own * (vote.accuracyKm ?? accuracyDefaultKm);
    sum += own;
  }
  if (sum === 0) return { latitude: null, longitude: null, radiusKm: null };
  const degrees = (angle: number) => (angle * 180) / Math.PI;
  const centre = { latitude: degrees(Math.atan2(z, Math.hypot(x, y))), longitude: degrees(Math.atan2(y, x)) };
  const furthest = members.reduce((most, vote) => Math.max(most, distanceKm(centre, vote) ?? 0), 0);
  return { ...centre, radiusKm: Math.max(1, Math.ceil(Math.max(furthest, accuracy / sum))) };
}
