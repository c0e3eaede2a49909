/** Content negotiation (RFC 9110 §12.5): which of the offered types and codings a caller prefers. */

import { mediaTypes, ProblemError } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

interface Preference {
  readonly name: string;
  readonly weight: number;
}

/** The `Accept` of nearly every caller that wants JSON. */
const plainAccepts: ReadonlySet<string> = new Set(["*/*", "application/json"]);

/** Elements of a list may be empty (RFC 9110 §5.6.1). */
const isEmptyList = /^[\s,]*$/;

/**
 * The media type that an `Accept` header prefers; no header prefers the first.
 *
 * @param offers media types in our order, `application/json` first; the first of those with equal weight is chosen.
 * @returns null if the header excludes all.
 */
export function preferredType<T extends string>(header: string | undefined, offers: readonly [T, ...T[]]): T | null {
  if (header === undefined || plainAccepts.has(header) || isEmptyList.test(header)) return offers[0];
  const ranges = preferences(header);
  return best(offers, (offer) => {
    const [type] = offer.split("/");
    return weightOf(ranges, [offer, `${type}/*`, "*/*"]) ?? 0;
  });
}

/** The problem of a caller who accepts none of these media types. */
export function notAcceptable(offers: readonly string[]): ProblemError {
  return new ProblemError("not_acceptable", { detail: `This route returns ${offers.join(", ")}.` });
}

/** @throws ProblemError unless the caller accepts JSON. */
export function requireJson(request: FastifyRequest): void {
  if (preferredType(request.headers.accept, [mediaTypes.json]) === null) throw notAcceptable([mediaTypes.json]);
}

/**
 * The content coding that an `Accept-Encoding` header prefers; null: send the body uncompressed.
 *
 * @param offers codings in our order; the first of those with equal weight is chosen.
 */
export function preferredCoding<T extends string>(header: string, offers: readonly T[]): T | null {
  const codings = preferences(header);
  const plain = weightOf(codings, ["identity"]) ?? 0;
  return best(offers, (offer) => {
    const weight = weightOf(codings, [offer, ...(offer === "gzip" ? ["x-gzip"] : []), "*"]) ?? 0;
    return weight < plain ? 0 : weight;
  });
}

function best<T>(offers: readonly T[], weigh: (offer: T) => number): T | null {
  let chosen: T | null = null;
  let most = 0;
  for (const offer of offers) {
    const weight = weigh(offer);
    if (weight > most) {
      chosen = offer;
      most = weight;
    }
  }
  return chosen;
}

/** The weight of the first of these names, most specific first, that is listed. Its place in the header does not matter. */
function weightOf(listed: readonly Preference[], names: readonly string[]): number | undefined {
  for (const name of names) {
    const weights = listed.filter((preference) => preference.name === name).map(({ weight }) => weight);
    if (weights.length > 0) return Math.max(...weights);
  }
  return undefined;
}

/** Ignores parameters other than the weight: no offer has several forms of one type. */
function preferences(header: string): Preference[] {
  return header.split(",").map((part) => {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    return { name, weight: weight >= 0 && weight <= 1 ? weight : 1 };
  });
}
