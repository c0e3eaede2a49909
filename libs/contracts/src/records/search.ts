/** The record of `/search`: results for a typed text. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { items } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { Count, member, NullableText, oneOf, record } from "../schema.ts";

/** The kinds of results. */
export const searchTypes = ["address", "prefix", "asn", "reverse_dns", "country", "organisation"] as const;
export type SearchType = (typeof searchTypes)[number];

/** How a result matches, from the best match to the weakest. */
export const searchMatches = ["exact", "derived", "prefix", "edit"] as const;
export type SearchMatch = (typeof searchMatches)[number];

const place = "in UTF-16 code units from the beginning of `title`, as JavaScript counts them";

export const SearchHighlight = record({
  start: member(Count, `First unit, ${place}.`),
  end: member(Count, `Unit behind the last one, ${place}.`),
});
export type SearchHighlight = Static<typeof SearchHighlight>;

export const SearchResult = record({
  type: member(
    oneOf(searchTypes),
    "Type of the result. `reverse_dns`: the names of an address in DNS, which are not looked up before `link` is requested. `organisation`: the ASes with this organisation.",
  ),
  match: member(
    oneOf(searchMatches),
    "`exact`: `q` names it, or its name has all words of `q`. `derived`: it follows from `q`. `prefix`: words begin with those of `q`. `edit`: a word differs by one letter or a swap of two.",
  ),
  title: member(
    Type.String(),
    "What is found: an address, a prefix, an AS number with its name, a country or an organisation. Names are as their sources have them: show them as text.",
  ),
  subtitle: member(
    NullableText,
    "What else is known: the route of an address, the organisation of an AS, the ASes of an organisation; null if nothing is.",
  ),
  link: member(
    NullableText,
    "Path of the record in this API; of an organisation, that of its AS with the lowest number. null for a country, which has no record.",
  ),
  highlights: member(
    Type.Array(SearchHighlight),
    "Parts of `title` that match, ascending and apart. Empty if `title` does not contain them.",
  ),
});
export type SearchResult = Static<typeof SearchResult>;

export const SearchRecord = record({
  query: member(Type.String(), "`q`, without spaces around it."),
  results: member(
    record({
      items: member(Type.Array(SearchResult), "Results of this page, best first."),
      total: member(Count, "Number of results on all pages."),
      limit: member(Count, "Maximum number of items of a page, as requested."),
      next_cursor: member(NullableText, "Cursor of the next page; null at the end."),
    }),
    "What was found.",
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type SearchRecord = Static<typeof SearchRecord>;

const unit = "UTF-16 code units";

export const searchFacts: FactsOf<SearchRecord> = {
  query: "request",
  results: {
    items: {
      type: "service",
      match: "service",
      title: ["as_names", "profiles"],
      subtitle: ["profiles", "routes"],
      link: "service",
      highlights: { start: { from: "service", unit }, end: { from: "service", unit } },
    },
    total: { from: "service", unit: items },
    limit: { from: "request", unit: items },
    next_cursor: { from: ["snapshot", "request"], example: "AQcAAABkBmp0JxoAe4gWXNX_x_jO2A" },
  },
  meta: { page: "meta" },
};
