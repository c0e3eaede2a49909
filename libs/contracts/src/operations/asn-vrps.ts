/** Operation `asn_vrps`: the VRPs of one AS, and which of them its announcements use. */

import Type from "typebox";
import { asnVrpsExample } from "../examples/lookups.ts";
import { mediaTypes } from "../formats.ts";
import { AsnVrp, AsnVrpsRecord, asnVrpsFacts } from "../records/asn-vrps.ts";
import { lines } from "../routes/route.ts";
import { member, oneOf } from "../schema.ts";
import { asnMember, familyMember, limitMember } from "./batch-members.ts";
import { type Codec, none, readAsn, readFamily, readLimit, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation } from "./operation.ts";
import { asnParameter, cursorParameter, familyParameter, limitParameter, upstreamProblems } from "./parameters.ts";

/** `family`, `announced` and `loose`: null for all. */
export interface AsnVrpsQuestion {
  readonly asn: number;
  readonly family: 4 | 6 | null;
  readonly announced: boolean | null;
  readonly loose: boolean | null;
  readonly limit: number;
}

const question: Codec<AsnVrpsQuestion> = {
  encode: ({ asn, family, announced, loose, limit }) => [asn, family ?? none, announced ?? none, loose ?? none, limit].join(separator),
  decode: ([asnText, familyText, announcedText, looseText, limitText, ...rest]) => {
    const asn = readAsn(asnText);
    const family = readFamily(familyText);
    const announced = readChoice(announcedText);
    const loose = readChoice(looseText);
    const limit = readLimit(limitText);
    if (asn === null || family === undefined || announced === undefined || loose === undefined) return null;
    return limit === null || rest.length > 0 ? null : { asn, family, announced, loose, limit };
  },
};

/** Undefined if invalid; null for both. */
function readChoice(text: string | undefined): boolean | null | undefined {
  if (text === "true") return true;
  if (text === "false") return false;
  return text === none ? null : undefined;
}

export const asnVrps = operation({
  name: "asn_vrps",
  code: 11,
  service: "asn-prefix",
  scope: "asn",
  record: AsnVrpsRecord,
  example: asnVrpsExample,
  page: { title: "VRPs of an AS", intro: "The VRPs for one AS, and which of them its announcements use.", facts: asnVrpsFacts },
  question,
  units: ({ limit }) => listUnits(limit),
  lists: ["vrps"],
  listView: { list: "vrps", columns: ["asn", "prefix", "max_length", "ta", "expires_at", "announced_prefixes", "max_length_loose"] },
  lookup: {
    route: {
      path: "/api/v1/vrps/{asn}",
      id: "getAsnVrps",
      summary: "VRPs of an AS, and which of them its announcements use",
      description:
        "The VRPs that name an AS, whether it announces their prefixes or not. The ROA of a VRP without an announcement (`announced=false`) may be left over. A loose VRP (`loose=true`) has a `max_length` longer than its prefix, and the AS does not announce every prefix that it authorises, so that a forged origin could pass (RFC 9319). `vrps` is paginated with `next_cursor`. NDJSON, CSV and plain text (the prefix of each VRP) contain only `vrps`; the next page is in the `Link` header.",
      parameters: [
        asnParameter,
        familyParameter("`vrps`"),
        {
          name: "announced",
          in: "query",
          description: "If `true`, returns only `vrps` that authorise an announced prefix. If `false`, only those that authorise none.",
          schema: oneOf(["true", "false"]),
          examples: ["true", "false"],
        },
        {
          name: "loose",
          in: "query",
          description: "Returns only `vrps` whose `max_length_loose` has this value.",
          schema: oneOf(["true", "false"]),
          examples: ["true", "false"],
        },
        limitParameter("`vrps`"),
        cursorParameter,
      ],
      answer: "The record, or a page of its VRPs.",
      cost: "1 unit of the rate limit for each 100 of `limit`, rounded up.",
      lists: [
        lines(AsnVrp, asnVrpsExample.vrps.items[0]),
        {
          type: mediaTypes.csv,
          schema: null,
          example:
            "asn,prefix,max_length,ta,expires_at,announced_prefixes,max_length_loose\r\n3333,193.0.0.0/21,21,ripe,2026-11-22T04:11:09Z,1,false\r\n",
        },
        { type: mediaTypes.text, schema: null, example: "193.0.0.0/21\n" },
      ],
      problems: ["invalid_asn", "invalid_cursor", "cursor_expired", "cost_exceeds_limit", ...upstreamProblems],
    },
    batch: {
      members: {
        value: asnMember,
        family: familyMember("`vrps`"),
        announced: Type.Optional(
          member(
            Type.Boolean(),
            "If true, returns only `vrps` that authorise an announced prefix. If false, only those that authorise none.",
          ),
        ),
        loose: Type.Optional(member(Type.Boolean(), "Returns only `vrps` whose `max_length_loose` has this value.")),
        limit: limitMember,
      },
      value: "asn",
    },
  },
});
