/** The record of `/reverse-dns/{ip}`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { seconds } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { Count, member, NullableBoolean, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

const reverseDnsStatuses = ["ok", "nxdomain", "nodata", "servfail", "refused", "timeout", "special_purpose"] as const;
export type ReverseDnsStatus = (typeof reverseDnsStatuses)[number];

/** Whether the name leads back to the address. */
export const ForwardConfirmation = record({
  status: member(oneOf(["ok", "nxdomain", "nodata", "servfail", "refused", "timeout"]), "Result of the forward lookup (A or AAAA)."),
  confirmed: member(NullableBoolean, "Whether the name resolves back to the address; null if DNS gave no answer."),
  addresses: member(Type.Array(Type.String()), "Addresses of the name, at most 16, ascending."),
});
export type ForwardConfirmation = Static<typeof ForwardConfirmation>;

export const ReverseDnsName = record({
  name: member(Type.String(), "Name in the PTR record, without the trailing dot."),
  ttl_seconds: member(Count, "TTL of the PTR record in seconds, at the time of the lookup."),
  forward: member(nullable(ForwardConfirmation), "Forward confirmation of the name; null if no forward lookup was made."),
});
export type ReverseDnsName = Static<typeof ReverseDnsName>;

/** `resolver` and `cache` are null if DNS was not asked (`special_purpose`). */
export const ReverseDnsRecord = record({
  ip: member(Type.String(), "The requested address in RFC 5952 form."),
  query_name: member(Type.String(), "Name that was looked up in DNS."),
  status: member(
    oneOf(reverseDnsStatuses),
    "Result of the lookup. `special_purpose`: no lookup was made, because the address is not globally reachable.",
  ),
  names: member(Type.Array(ReverseDnsName), "Names of the address; empty unless `status` is `ok`."),
  forward_confirmed: member(
    NullableBoolean,
    "Whether any of the names resolves back to the address; null if no forward lookup was made or DNS gave no answer.",
  ),
  dnssec: member(
    nullable(oneOf(["secure", "insecure", "bogus", "indeterminate"])),
    "DNSSEC state of the PTR answer, from the resolver. `bogus`: validation failed, and `status` is `servfail`. `indeterminate`: the resolver is not known to validate. Null if DNS gave no answer.",
  ),
  resolver: member(
    nullable(
      record({
        duration_ms: member(Type.Number({ minimum: 0 }), "Time spent on DNS for this response, in milliseconds."),
        attempts: member(Count, "Number of DNS queries sent; 0 if the answer was cached."),
      }),
    ),
    "Cost of the lookup; null if no lookup was made.",
  ),
  cache: member(
    nullable(
      record({
        hit: member(Type.Boolean(), "Whether the answer came from the cache."),
        stored_at: member(NullableTimestamp, "Time at which the answer was cached; null if it was not."),
        expires_at: member(NullableTimestamp, "Time at which the cached answer expires; null if it is not cached."),
        negative: member(Type.Boolean(), "Whether the answer is that there is no name."),
        stale: member(Type.Boolean(), "Whether the answer has expired and DNS gives no newer one."),
      }),
    ),
    "Cache status of the answer; null if no lookup was made.",
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type ReverseDnsRecord = Static<typeof ReverseDnsRecord>;

export const reverseDnsFacts: FactsOf<ReverseDnsRecord> = {
  ip: "request",
  query_name: "request",
  status: "dns",
  names: {
    name: "dns",
    ttl_seconds: { from: "dns", unit: seconds },
    forward: { status: "dns", confirmed: "dns", addresses: "dns" },
  },
  forward_confirmed: "dns",
  dnssec: "dns",
  resolver: { duration_ms: { from: "service", unit: "milliseconds" }, attempts: { from: "service", unit: "DNS queries" } },
  cache: { hit: "service", stored_at: "service", expires_at: ["dns", "service"], negative: "dns", stale: "service" },
  meta: { page: "meta" },
};
