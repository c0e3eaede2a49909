/** Operation `reverse_dns`: the names of one address. */

import type { Address } from "@netfacts/address";
import { reverseDnsExample } from "../examples/reverse-dns.ts";
import { ReverseDnsRecord, reverseDnsFacts } from "../records/reverse-dns.ts";
import { addressMember } from "./batch-members.ts";
import { addressCodec, type Codec } from "./codec.ts";
import { operation } from "./operation.ts";
import { ipParameter } from "./parameters.ts";

export interface ReverseDnsQuestion {
  readonly ip: Address;
}

const question: Codec<ReverseDnsQuestion> = addressCodec;

export const reverseDns = operation({
  name: "reverse_dns",
  code: 7,
  service: "rdns-resolver",
  scope: "reverse_dns",
  record: ReverseDnsRecord,
  example: reverseDnsExample,
  page: { title: "Reverse DNS", intro: "The names of one address in DNS.", facts: reverseDnsFacts },
  question,
  units: () => 1,
  lists: [],
  listView: null,
  lookup: {
    route: {
      path: "/api/v1/reverse-dns/{ip}",
      id: "getReverseDns",
      summary: "Reverse DNS names of an address, with forward confirmation",
      description:
        "PTR records from the DNS resolver of this installation: each name with its TTL, whether it resolves back to the address, and the DNSSEC state. DNS errors are results, too (`status`).",
      parameters: [ipParameter],
      answer: "The record.",
      cost: "1 unit of the rate limit.",
      problems: ["invalid_ip", "precondition_failed", "resolver_unavailable", "upstream_error", "upstream_timeout"],
    },
    batch: { members: { value: addressMember }, value: "ip" },
  },
});
