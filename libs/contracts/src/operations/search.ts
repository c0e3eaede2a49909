/** Operation `search`: results for a typed text. */

import Type from "typebox";
import { searchExample } from "../examples/search.ts";
import { mediaTypes } from "../formats.ts";
import { SearchRecord, SearchResult, searchFacts } from "../records/search.ts";
import { lines } from "../routes/route.ts";
import { member } from "../schema.ts";
import { limitMember } from "./batch-members.ts";
import { type Codec, readLimit, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation } from "./operation.ts";
import { cursorParameter, limitParameter, upstreamProblems } from "./parameters.ts";

/** `q` is well-formed, not blank, without spaces around it, and has at most `searchCharactersMax` characters. */
export interface SearchQuestion {
  readonly q: string;
  readonly limit: number;
}

/** The longest `q`, in characters (code points). */
export const searchCharactersMax = 100;

/** The text of the question; null if it is blank or too long. */
export function searchText(text: string): string | null {
  const q = text.toWellFormed().trim();
  return q === "" || Array.from(q).length > searchCharactersMax ? null : q;
}

const question: Codec<SearchQuestion> = {
  encode: ({ q, limit }) => `${encodeURIComponent(q)}${separator}${limit}`,
  decode: ([text, limitText, ...rest]) => {
    const q = readText(text);
    const limit = readLimit(limitText);
    return q === null || limit === null || rest.length > 0 ? null : { q, limit };
  },
};

function readText(text = ""): string | null {
  try {
    const q = decodeURIComponent(text);
    return searchText(q) === q ? q : null;
  } catch {
    return null;
  }
}

const text = { minLength: 1, maxLength: searchCharactersMax, pattern: "[^\\s\\ufeff]" };

export const search = operation({
  name: "search",
  code: 10,
  service: "asn-prefix",
  scope: "ip",
  record: SearchRecord,
  example: searchExample,
  page: { title: "Search", intro: "What fits a text that somebody typed, best first.", facts: searchFacts },
  question,
  units: ({ limit }) => listUnits(limit),
  lists: ["results"],
  listView: { list: "results", columns: ["type", "match", "title", "subtitle", "link"], line: "title" },
  lookup: {
    route: {
      path: "/api/v1/search",
      id: "search",
      summary: "Addresses, prefixes, ASes, organisations and countries that fit a text",
      description:
        "Finds addresses, prefixes, AS numbers, names of ASes, organisations and countries, for suggestions while somebody types. An address also gives its route, the origins and its reverse DNS; so does a host name that contains an IPv4 address (`host-193-0-6-139.example.net`) or ends in `in-addr.arpa` or `ip6.arpa`. Other host names find the names of their domain; nothing is looked up in DNS. Names match if each word of `q` is a word in them, begins one, or, from four letters, differs from one by one letter. Case and accents do not count (Unicode NFKD without marks). Only the first 8 words of `q` count, and the first 32 of a name. `results` is paginated with `next_cursor`. NDJSON, CSV and plain text (one title per line) contain only `results`; the next page is in the `Link` header.",
      parameters: [
        {
          name: "q",
          in: "query",
          description: `What to search for, up to ${searchCharactersMax} characters.`,
          schema: Type.String(text),
          examples: ["ripe ncc", "193.0.6.139", "AS3333"],
          required: true,
        },
        limitParameter("`results`"),
        cursorParameter,
      ],
      answer: "The results, or a page of them.",
      cost: "1 unit of the rate limit for each 100 of `limit`, rounded up.",
      lists: [
        lines(SearchResult, searchExample.results.items[0]),
        {
          type: mediaTypes.csv,
          schema: null,
          example: "type,match,title,subtitle,link\r\nasn,exact,AS3333 RIPE-NCC-AS,RIPE NCC,/api/v1/asn/AS3333\r\n",
        },
        { type: mediaTypes.text, schema: null, example: "AS3333 RIPE-NCC-AS\n" },
      ],
      problems: ["invalid_cursor", "cursor_expired", "cost_exceeds_limit", ...upstreamProblems],
    },
    batch: {
      members: { q: member(Type.String(text), `What to search for, up to ${searchCharactersMax} characters.`), limit: limitMember },
      value: null,
    },
  },
});
