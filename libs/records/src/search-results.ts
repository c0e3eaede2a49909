/** Results of a search that come from more than one kind of match. */

import type { SearchMatch, SearchResult } from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import { highlightsOf } from "./search-highlights.ts";

export function asnText(asn: number): string {
  return `AS${asn}`;
}

/** @param words the folded words of the question, which the title highlights. */
export function asnResult({ names, profiles }: Generation, asn: number, match: SearchMatch, words: readonly string[]): SearchResult {
  const name = names?.lookupName(asn) ?? null;
  const title = name === null ? asnText(asn) : `${asnText(asn)} ${name}`;
  return {
    type: "asn",
    match,
    title,
    subtitle: profiles?.lookupProfile(asn)?.organisation ?? null,
    link: `/api/v1/asn/${asnText(asn)}`,
    highlights: highlightsOf(title, words),
  };
}
