/** Operation `validity`: RPKI origin validation of any pair of AS and prefix. */

import { formatPrefix, type Prefix } from "@netfacts/address";
import { validityExample } from "../examples/lookups.ts";
import { ValidityRecord, validityFacts } from "../records/validity.ts";
import { PrefixText } from "../schema.ts";
import { asnMember, prefixMember } from "./batch-members.ts";
import { type Codec, readAsn, readPrefix, separator } from "./codec.ts";
import { operation } from "./operation.ts";
import { asnParameter, upstreamProblems } from "./parameters.ts";

export interface ValidityQuestion {
  readonly asn: number;
  readonly prefix: Prefix;
}

const question: Codec<ValidityQuestion> = {
  encode: ({ asn, prefix }) => `${asn}${separator}${formatPrefix(prefix)}`,
  decode: ([asnText, prefixText, ...rest]) => {
    const asn = readAsn(asnText);
    const prefix = readPrefix(prefixText);
    return asn === null || prefix === null || rest.length > 0 ? null : { asn, prefix };
  },
};

export const validity = operation({
  name: "validity",
  code: 3,
  service: "ip-routing",
  scope: "routing",
  record: ValidityRecord,
  example: validityExample,
  page: { title: "Validity", intro: "RPKI origin validation of any pair of AS and prefix.", facts: validityFacts },
  question,
  units: () => 1,
  lists: [],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/validity",
      id: "getValidity",
      summary: "RPKI origin validation of an AS and a prefix",
      description: "Route origin validation (RFC 6811) of any AS and prefix, announced or not, with the VRPs that determine the state.",
      parameters: [
        { ...asnParameter, in: "query", required: true },
        {
          name: "prefix",
          in: "query",
          description: "A prefix in CIDR form.",
          schema: PrefixText,
          examples: ["193.0.0.0/21", "2001:67c:2e8::/48"],
          required: true,
        },
      ],
      answer: "The origin validation state.",
      cost: "1 unit of the rate limit.",
      problems: ["invalid_asn", "invalid_prefix", "prefix_has_host_bits", ...upstreamProblems],
    },
    batch: { members: { asn: asnMember, prefix: prefixMember }, value: null },
  },
});
