/** The record of `/reverse-dns/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Count, NullableBoolean, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

export const reverseDnsStatuses = ["ok", "nxdomain", "nodata", "servfail", "refused", "timeout", "special_purpose"] as const;
export type ReverseDnsStatus = (typeof reverseDnsStatuses)[number];

/** Whether the name leads back to the address. */
export const ForwardConfirmation = record({
  status: oneOf(["ok", "nxdomain", "nodata", "servfail", "refused", "timeout"]),
  confirmed: NullableBoolean,
  addresses: Type.Array(Type.String()),
});
export type ForwardConfirmation = Static<typeof ForwardConfirmation>;

export const ReverseDnsName = record({ name: Type.String(), ttl_seconds: Count, forward: nullable(ForwardConfirmation) });
export type ReverseDnsName = Static<typeof ReverseDnsName>;

/** `resolver` and `cache` are null where the question was withheld (`special_purpose`). */
export const ReverseDnsRecord = record({
  ip: Type.String(),
  query_name: Type.String(),
  status: oneOf(reverseDnsStatuses),
  names: Type.Array(ReverseDnsName),
  forward_confirmed: NullableBoolean,
  dnssec: nullable(oneOf(["secure", "insecure", "bogus"])),
  resolver: nullable(record({ duration_ms: Type.Number({ minimum: 0 }), attempts: Count })),
  cache: nullable(record({ hit: Type.Boolean(), stored_at: NullableTimestamp, expires_at: NullableTimestamp, negative: Type.Boolean() })),
  meta: Meta,
});
export type ReverseDnsRecord = Static<typeof ReverseDnsRecord>;
