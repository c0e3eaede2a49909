/** Operation `asn`: the profile of one AS, and what it announces. */

import Type from "typebox";
import { asnExample } from "../examples/lookups.ts";
import { mediaTypes } from "../formats.ts";
import { type RpkiState, rpkiStates } from "../parts/rpki.ts";
import { AsnPrefix, AsnRecord, asnFacts } from "../records/asn.ts";
import { lines } from "../routes/route.ts";
import { member, oneOf } from "../schema.ts";
import { asnMember, familyMember, limitMember } from "./batch-members.ts";
import { type Codec, none, readAsn, readFamily, readFlag, readLimit, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation } from "./operation.ts";
import { asnParameter, cursorParameter, familyParameter, limitParameter, upstreamProblems } from "./parameters.ts";

/** `family` and `rpki`: null for all. */
export interface AsnQuestion {
  readonly asn: number;
  readonly family: 4 | 6 | null;
  readonly rpki: RpkiState | null;
  readonly aggregate: boolean;
  readonly limit: number;
}

const question: Codec<AsnQuestion> = {
  encode: ({ asn, family, rpki, aggregate, limit }) =>
    [asn, family ?? none, rpki ?? none, aggregate ? "aggregate" : none, limit].join(separator),
  decode: ([asnText, familyText, rpkiText, aggregateText, limitText, ...rest]) => {
    const asn = readAsn(asnText);
    const family = readFamily(familyText);
    const rpki = readRpkiState(rpkiText);
    const aggregate = readFlag(aggregateText, "aggregate");
    const limit = readLimit(limitText);
    if (asn === null || family === undefined || rpki === undefined || aggregate === null || limit === null || rest.length > 0) return null;
    return { asn, family, rpki, aggregate, limit };
  },
};

/** Undefined if invalid; null for all. */
function readRpkiState(text: string | undefined): RpkiState | null | undefined {
  return text === none ? null : rpkiStates.find((state) => state === text);
}

export const asn = operation({
  name: "asn",
  code: 5,
  service: "asn-prefix",
  scope: "asn",
  record: AsnRecord,
  example: asnExample,
  page: { title: "AS", intro: "The registration, announcements and neighbours of one AS.", facts: asnFacts },
  question,
  units: ({ limit }) => listUnits(limit),
  lists: ["prefixes", "allocations", "neighbours"],
  listView: { list: "prefixes", columns: ["prefix", "visibility_ratio", "rpki_state", "is_moas"] },
  lookup: {
    route: {
      path: "/api/v1/asn/{asn}",
      id: "getAsn",
      summary: "Registration, prefixes, RPKI coverage and neighbours of an AS",
      description:
        "The registration of an AS, the prefixes that it originates, their RPKI coverage, its ASPA, and its neighbours in observed paths. `prefixes`, `allocations` and `neighbours` are paginated with `next_cursor`. NDJSON, CSV and plain text (one prefix per line) contain only `prefixes`; the next page is in the `Link` header.",
      parameters: [
        asnParameter,
        familyParameter("`prefixes`"),
        {
          name: "rpki",
          in: "query",
          description: "Returns only `prefixes` in this RPKI state.",
          schema: oneOf(rpkiStates),
          examples: ["valid", "invalid", "not-found"],
        },
        {
          name: "aggregate",
          in: "query",
          description: "If `true`, aggregates `prefixes`, without adding unannounced space.",
          schema: oneOf(["true", "false"]),
          examples: ["true", "false"],
        },
        limitParameter("`prefixes`, `allocations` and `neighbours`"),
        cursorParameter,
      ],
      answer: "The record, or a page of its prefixes.",
      cost: "1 unit of the rate limit for each 100 of `limit`, rounded up.",
      lists: [
        lines(AsnPrefix, asnExample.prefixes.items[0]),
        {
          type: mediaTypes.csv,
          schema: null,
          example: "prefix,visibility_ratio,rpki_state,is_moas\r\n193.0.0.0/21,0.992,valid,false\r\n",
        },
        { type: mediaTypes.text, schema: null, example: "193.0.0.0/21\n" },
      ],
      problems: ["invalid_asn", "invalid_cursor", "cursor_expired", "cost_exceeds_limit", ...upstreamProblems],
    },
    batch: {
      members: {
        value: asnMember,
        family: familyMember("`prefixes`"),
        rpki: Type.Optional(member(oneOf(rpkiStates), "Returns only `prefixes` in this RPKI state.")),
        aggregate: Type.Optional(member(Type.Boolean(), "Aggregates `prefixes`, without adding unannounced space.")),
        limit: limitMember,
      },
      value: "asn",
    },
  },
});
