/** Compares section `locations` with samples of geofeeds and observations. */

import { firstAddress, formatPrefix, type Prefix } from "@netfacts/address";
import type { Generation, LocationTable, Observed, PlaceNames } from "@netfacts/snapshot";
import { distanceKm, type Vote } from "../assembly/consensus.ts";
import type { ObservationList } from "../assembly/observation-list.ts";
import type { SampledRecords } from "./sampled-records.ts";
import { Asking } from "./wrong-answer.ts";

/** A prefix with all its observations, from all sources. */
export interface ObservedSample {
  readonly prefix: Prefix;
  readonly votes: Vote[];
}

const prefixesMax = 200;
const votesMax = 10_000;
const daySeconds = 86_400;

/** Samples prefixes of observations at even distances; those with very many observations are left out. */
export function sampleObservations(lists: readonly ObservationList[]): ObservedSample[] {
  const samples = new Map<string, ObservedSample>();
  for (const list of lists) {
    const step = Math.max(1, Math.floor((list.size * lists.length) / prefixesMax));
    for (let at = 0; at < list.size; at += step) {
      const prefix = list.prefixAt(at);
      samples.set(formatPrefix(prefix), { prefix, votes: [] });
    }
  }
  const firstWords = new Set([...samples.values()].map(({ prefix }) => prefix.w0));
  for (const list of lists)
    for (let at = 0; at < list.size; at++) {
      if (!firstWords.has(list.firstWordAt(at))) continue;
      const sample = samples.get(formatPrefix(list.prefixAt(at)));
      if (sample !== undefined && sample.votes.length < votesMax) sample.votes.push(list.voteAt(at));
    }
  return [...samples.values()].filter(({ votes }) => votes.length < votesMax);
}

/** @returns the number of records that were compared @throws WrongAnswerError */
export function checkLocations(
  { locations }: Generation,
  geofeeds: SampledRecords<"locations">["sample"],
  observed: readonly ObservedSample[],
  oldest: number,
): number {
  const asking = new Asking("locations");
  if (locations === null) return 0;
  for (const [, said] of geofeeds.entries()) {
    const last = said.at(-1);
    if (last === undefined) continue;
    const { prefix, place } = last.value;
    const demand = asking.of(last.source, `the location of ${formatPrefix(prefix)}`);
    const found = locations.lookupRecord(prefix);
    // The first address may be in a more specific entry, so that it is looked up only if the prefix has no entry of its own.
    const isObserved = found === null ? locations.lookupLocation(firstAddress(prefix))?.observed != null : found.observed !== undefined;
    const holds = found !== null && !isObserved ? told(found.place) === told(place) : isObserved;
    demand(holds, told(place), () => (found === null ? "no entry" : told(found.place)));
  }
  for (const { prefix, votes } of observed) {
    const counted = votes.filter(({ observedAt }) => observedAt >= oldest);
    if (counted.length > 0) checkObserved(asking, locations, prefix, counted);
  }
  return asking.checked;
}

function checkObserved(asking: Asking, locations: LocationTable, prefix: Prefix, votes: readonly Vote[]): void {
  const demand = asking.of("observations", `the location of ${formatPrefix(prefix)}`);
  const record = locations.lookupRecord(prefix);
  const { observed } = record ?? {};
  if (observed === undefined) {
    const found = locations.lookupLocation(firstAddress(prefix));
    demand(found !== null, "a location", () => "none");
    return;
  }
  const country = record?.place?.country ?? null;
  demand(country === null || votes.some((vote) => vote.country === country), "a country that was observed", () => String(country));
  const { observations, lastObservedAt, outliers } = observed;
  demand(
    votes.some(({ observedAt }) => observedAt === lastObservedAt),
    "the time of an observation",
    () => String(lastObservedAt),
  );
  demand(observations >= 1 && observations <= votes.length, `1 to ${votes.length} observations`, () => String(observations));
  const others = outliers?.observations ?? 0;
  demand(observations + others <= votes.length, `up to ${votes.length - observations} outliers`, () => String(others));
  for (const { place, lastDay } of outliers?.places ?? [])
    demand(
      votes.some((vote) => vote.country === place.country && Math.floor(vote.observedAt / daySeconds) === lastDay),
      "outliers that were observed",
      () => `${told(place)} on day ${lastDay}`,
    );
  demand(isNear(observed, votes), "coordinates among those observed", () => `${observed.latitude}, ${observed.longitude}`);
}

function isNear(observed: Observed, votes: readonly Vote[]): boolean {
  if (observed.radiusKm === null) return true;
  const { radiusKm } = observed;
  return votes.some((vote) => (distanceKm(observed, vote) ?? Number.POSITIVE_INFINITY) <= radiusKm + 1);
}

function told(place: PlaceNames | null): string {
  return place === null ? "no place" : [place.country, place.region, place.city].map((part) => part ?? "–").join(", ");
}
