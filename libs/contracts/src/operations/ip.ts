/** Operation `ip`: everything known of one address. */

import type { Address } from "@netfacts/address";
import { ipExample } from "../examples/lookups.ts";
import { IpRecord, ipFacts } from "../records/ip.ts";
import { addressMember } from "./batch-members.ts";
import { addressCodec, type Codec } from "./codec.ts";
import { operation } from "./operation.ts";
import { ipParameter, upstreamProblems } from "./parameters.ts";

export interface IpQuestion {
  readonly ip: Address;
}

const question: Codec<IpQuestion> = addressCodec;

export const ip = operation({
  name: "ip",
  code: 1,
  service: "ip-routing",
  scope: "ip",
  record: IpRecord,
  example: ipExample,
  page: { title: "Address", intro: "A summary of what is known about one address.", facts: ipFacts },
  question,
  units: () => 1,
  lists: [],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/ip/{ip}",
      id: "getIp",
      summary: "Allocation, routing and RPKI state of an address",
      description:
        "Summary of what is known about an address: its registration and holder, the origin ASes and their visibility, the RPKI state, the network type, and the observed location of the address.",
      parameters: [ipParameter],
      answer: "The record.",
      cost: "1 unit of the rate limit.",
      problems: ["invalid_ip", ...upstreamProblems],
    },
    batch: { members: { value: addressMember }, value: "ip" },
  },
});
