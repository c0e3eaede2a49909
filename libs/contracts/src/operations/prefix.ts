/** Operation `prefix`: a prefix, the prefixes that cover it, and those inside it. */

import { formatPrefix, type Prefix } from "@netfacts/address";
import { prefixExample, routingExample } from "../examples/lookups.ts";
import { mediaTypes } from "../formats.ts";
import { RelatedPrefix } from "../parts/routing.ts";
import { PrefixRecord, prefixFacts } from "../records/prefix.ts";
import { lines } from "../routes/route.ts";
import { limitMember, prefixMember } from "./batch-members.ts";
import { type Codec, readLimit, readPrefix, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation } from "./operation.ts";
import { cursorParameter, limitParameter, prefixParameters, upstreamProblems } from "./parameters.ts";

export interface PrefixQuestion {
  readonly prefix: Prefix;
  readonly limit: number;
}

const question: Codec<PrefixQuestion> = {
  encode: ({ prefix, limit }) => `${formatPrefix(prefix)}${separator}${limit}`,
  decode: ([prefixText, limitText, ...rest]) => {
    const prefix = readPrefix(prefixText);
    const limit = readLimit(limitText);
    return prefix === null || limit === null || rest.length > 0 ? null : { prefix, limit };
  },
};

/** Below these lengths all three lists can have `limit` items. */
const shortBelow = { 4: 12, 6: 24 } as const;
/** From these lengths on, at most 31 prefixes of usual lengths (up to /24 and /48) fit inside, so no list is long. */
const longFrom = { 4: 20, 6: 44 } as const;
const shortFactor = 3;

function prefixUnits({ prefix: { version, length }, limit }: PrefixQuestion): number {
  if (length >= longFrom[version]) return 1;
  return listUnits(limit) * (length < shortBelow[version] ? shortFactor : 1);
}

export const prefix = operation({
  name: "prefix",
  code: 6,
  service: "asn-prefix",
  scope: "prefix",
  record: PrefixRecord,
  example: prefixExample,
  page: { title: "Prefix", intro: "The announcements, authorisations and registration of one prefix.", facts: prefixFacts },
  question,
  units: prefixUnits,
  lists: ["more_specifics", "vrps.unannounced", "allocation.blocks"],
  listView: { list: "more_specifics", columns: ["prefix", "origins", "as_set_origins", "rpki_state", "visibility_ratio"] },
  lookup: {
    route: {
      path: "/api/v1/prefix/{network}/{length}",
      // Takes a prefix whose slash is percent-encoded.
      otherPaths: ["/api/v1/prefix/{network}"],
      id: "getPrefix",
      summary: "Origins, RPKI state, related prefixes and registration of a prefix",
      description:
        "The announced prefix that equals the requested one, or else the longest that covers it (`match.type`): its origins, the VRPs that cover it, related prefixes, and the registered blocks that it overlaps. `more_specifics`, `vrps.unannounced` and `allocation.blocks` are paginated with `next_cursor`. NDJSON, CSV and plain text (one prefix per line) contain only `more_specifics`; the next page is in the `Link` header.",
      parameters: [...prefixParameters, limitParameter("`more_specifics`, `vrps.unannounced` and `allocation.blocks`"), cursorParameter],
      answer: "The record, or a page of the more specific prefixes.",
      cost: "1 unit of the rate limit for each 100 of `limit`, rounded up. Three times as much for IPv4 prefixes shorter than /12 and IPv6 prefixes shorter than /24. 1 unit for IPv4 prefixes from /20 and IPv6 prefixes from /44, whatever the limit.",
      lists: [
        lines(RelatedPrefix, routingExample.less_specifics[0]),
        {
          type: mediaTypes.csv,
          schema: null,
          example: "prefix,origins,as_set_origins,rpki_state,visibility_ratio\r\n193.0.0.0/22,3333,,valid,0.98\r\n",
        },
        { type: mediaTypes.text, schema: null, example: "193.0.0.0/22\n" },
      ],
      problems: ["invalid_prefix", "prefix_has_host_bits", "invalid_cursor", "cursor_expired", "cost_exceeds_limit", ...upstreamProblems],
    },
    batch: { members: { value: prefixMember, limit: limitMember }, value: "network" },
  },
});
