/** The record of `/reverse-dns/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Count, member, NullableBoolean, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

export const reverseDnsStatuses = ["ok", "nxdomain", "nodata", "servfail", "refused", "timeout", "special_purpose"] as const;
export type ReverseDnsStatus = (typeof reverseDnsStatuses)[number];

/** Whether the name leads back to the address. */
export const ForwardConfirmation = record({
  status: member(oneOf(["ok", "nxdomain", "nodata", "servfail", "refused", "timeout"]), "How the forward question (A or AAAA) ended."),
  confirmed: member(NullableBoolean, "Whether the name leads back to the address; null where DNS did not say."),
  addresses: member(Type.Array(Type.String()), "Addresses that the name has."),
});
export type ForwardConfirmation = Static<typeof ForwardConfirmation>;

export const ReverseDnsName = record({
  name: member(Type.String(), "The name that the PTR record gives, without the last dot."),
  ttl_seconds: member(Count, "Seconds that the record may be kept, when it was asked for."),
  forward: member(nullable(ForwardConfirmation), "Whether the name leads back to the address; null where that was not asked."),
});
export type ReverseDnsName = Static<typeof ReverseDnsName>;

/** `resolver` and `cache` are null where the question was withheld (`special_purpose`). */
export const ReverseDnsRecord = record({
  ip: member(Type.String(), "The address asked, in RFC 5952 form."),
  query_name: member(Type.String(), "The name that DNS was asked for."),
  status: member(
    oneOf(reverseDnsStatuses),
    "How the question ended; `special_purpose`: it was withheld, as the address is not globally reachable.",
  ),
  names: member(Type.Array(ReverseDnsName), "Every name of the address; empty unless the status is `ok`."),
  forward_confirmed: member(
    NullableBoolean,
    "Whether any of the names leads back to the address; null where that was not asked, or DNS did not say.",
  ),
  dnssec: member(nullable(oneOf(["secure", "insecure", "bogus"])), "What the resolver validated; null where it does not tell."),
  resolver: member(
    nullable(
      record({
        duration_ms: member(Type.Number({ minimum: 0 }), "Milliseconds that asking took for this answer."),
        attempts: member(Count, "Questions sent for it; 0 where the answer was kept."),
      }),
    ),
    "What it took to ask; null where the question was withheld.",
  ),
  cache: member(
    nullable(
      record({
        hit: member(Type.Boolean(), "Whether the answer was stored before."),
        stored_at: member(NullableTimestamp, "When it was stored; null where it was not."),
        expires_at: member(NullableTimestamp, "Until when it is kept; null where it is not."),
        negative: member(Type.Boolean(), "Whether it is stored that there is no name."),
      }),
    ),
    "How the answer was kept; null where the question was withheld.",
  ),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type ReverseDnsRecord = Static<typeof ReverseDnsRecord>;
