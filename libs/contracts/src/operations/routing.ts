/** Operation `routing`: the route of one address, with every origin. */

import { type Address, formatAddress } from "@netfacts/address";
import Type from "typebox";
import { routingExample } from "../examples/lookups.ts";
import { RoutingRecord, routingFacts } from "../records/routing.ts";
import { member, oneOf, wordsOf } from "../schema.ts";
import { addressMember, limitMember } from "./batch-members.ts";
import { type Codec, none, readAddress, readFlag, readLimit, separator } from "./codec.ts";
import { listUnits } from "./list-limits.ts";
import { operation } from "./operation.ts";
import { ipParameter, limitParameter, upstreamProblems } from "./parameters.ts";

export interface RoutingQuestion {
  readonly ip: Address;
  readonly moreSpecifics: boolean;
  readonly upstreams: boolean;
  readonly limit: number;
}

const question: Codec<RoutingQuestion> = {
  encode: ({ ip, moreSpecifics, upstreams, limit }) =>
    [formatAddress(ip), moreSpecifics ? "more_specifics" : none, upstreams ? "upstreams" : none, limit].join(separator),
  decode: ([ipText, moreText, upstreamsText, limitText, ...rest]) => {
    const ip = readAddress(ipText);
    const moreSpecifics = readFlag(moreText, "more_specifics");
    const upstreams = readFlag(upstreamsText, "upstreams");
    const limit = readLimit(limitText);
    if (ip === null || moreSpecifics === null || upstreams === null || limit === null || rest.length > 0) return null;
    return { ip, moreSpecifics, upstreams, limit };
  },
};

export const routing = operation({
  name: "routing",
  code: 2,
  service: "ip-routing",
  scope: "routing",
  record: RoutingRecord,
  example: routingExample,
  page: { title: "Routing", intro: "The announced prefix that holds an address, and each of its origins.", facts: routingFacts },
  question,
  units: ({ moreSpecifics, limit }) => (moreSpecifics ? listUnits(limit) : 1),
  lists: [],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/routing/{ip}",
      id: "getRouting",
      summary: "Longest matching route of an address, with origin validation",
      description:
        "The longest announced prefix that covers the address, with all origins: how many peers see each of them, since when, and its RPKI origin validation with the VRPs that determine it.",
      parameters: [
        ipParameter,
        {
          name: "include",
          in: "query",
          description: "Optional parts, separated by commas or as repeated parameters, each at most once: `more_specifics`, `upstreams`.",
          schema: wordsOf(["more_specifics", "upstreams"]),
          examples: ["more_specifics,upstreams", "upstreams"],
        },
        limitParameter("`more_specifics`"),
      ],
      answer: "The record.",
      cost: "1 unit of the rate limit. With `include=more_specifics`, 1 unit for each 100 of `limit`, rounded up.",
      problems: ["invalid_ip", "cost_exceeds_limit", ...upstreamProblems],
    },
    batch: {
      members: {
        value: addressMember,
        include: Type.Optional(member(Type.Array(oneOf(["more_specifics", "upstreams"])), "Optional parts of the record.")),
        limit: limitMember,
      },
      value: "ip",
    },
  },
});
