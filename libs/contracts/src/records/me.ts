/** The record of `/me`: the calling key and what is left of its limits. Never the secret. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Count, NullableText, NullableTimestamp, oneOf, record, Timestamp } from "../schema.ts";

/** What a key may be allowed to do. */
export const scopes = ["ip", "routing", "asn", "prefix", "reverse_dns", "batch", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** One limit: `window_seconds` stands with the rate, `resets_at` with the month. */
export const MeLimit = record({
  name: oneOf(["rate", "month"]),
  limit: Count,
  window_seconds: Type.Optional(Count),
  used: Count,
  remaining: Count,
  resets_at: Type.Optional(Timestamp),
  resets_in_seconds: Count,
});
export type MeLimit = Static<typeof MeLimit>;

export const MeKey = record({
  id: Type.String(),
  label: Type.String(),
  display: Type.String(),
  scopes: Type.Array(oneOf(scopes)),
  created_at: Timestamp,
  expires_at: NullableTimestamp,
  rotation: record({ replaced_by: NullableText, valid_until: NullableTimestamp }),
  allowed_cidrs: Type.Array(Type.String()),
});
export type MeKey = Static<typeof MeKey>;

export const MeRecord = record({
  key: MeKey,
  plan: NullableText,
  limits: Type.Array(MeLimit),
  client: record({ ip: Type.String() }),
  meta: Meta,
});
export type MeRecord = Static<typeof MeRecord>;
