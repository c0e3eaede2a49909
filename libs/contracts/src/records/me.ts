/** The record of `/me`: the calling key and what is left of its limits. Never the secret. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Count, member, NullableText, NullableTimestamp, oneOf, record, Timestamp } from "../schema.ts";

/** What a key may be allowed to do. */
export const scopes = ["ip", "routing", "asn", "prefix", "reverse_dns", "batch", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** One limit: `window_seconds` stands with the rate, `resets_at` with the month; concurrency has no window and never resets. */
export const MeLimit = record({
  name: member(
    oneOf(["rate", "month", "concurrency"]),
    "`rate` counts requests, `month` answered questions, `concurrency` requests at a time.",
  ),
  limit: member(Count, "Units in a window; of concurrency, at a time."),
  window_seconds: Type.Optional(member(Count, "Length of a window in seconds; only of the rate.")),
  used: member(Count, "Units used in this window."),
  remaining: member(Count, "Units left; exact with one gateway, with several what others hold is taken for used."),
  resets_at: Type.Optional(member(Timestamp, "When the next month begins (UTC); only of the month.")),
  resets_in_seconds: Type.Optional(member(Count, "Seconds until the next window; not of concurrency.")),
});
export type MeLimit = Static<typeof MeLimit>;

export const MeKey = record({
  id: member(Type.String(), "The eight characters after `nf_live_`; no secret."),
  label: member(Type.String(), "What the operator named the key."),
  display: member(Type.String(), "Prefix, id and last four characters, to tell keys apart."),
  scopes: member(Type.Array(oneOf(scopes)), "What the key may ask."),
  created_at: member(Timestamp, "When the key was made."),
  expires_at: member(NullableTimestamp, "When the key stops working; null: never."),
  rotation: member(
    record({
      replaced_by: member(NullableText, "Id of the successor; null where there is none."),
      valid_until: member(NullableTimestamp, "Until when this key still works; null where it was not replaced."),
    }),
    "Whether the key was replaced.",
  ),
  allowed_cidrs: member(Type.Array(Type.String()), "Where the key may be used from; empty: anywhere."),
});
export type MeKey = Static<typeof MeKey>;

export const MeRecord = record({
  key: member(MeKey, "The key that asks, without its secret."),
  plan: member(NullableText, "Name of its plan; null where it has none."),
  limits: member(Type.Array(MeLimit), "Each limit with what is left of it."),
  client: member(
    record({ ip: member(Type.String(), "The address that the question came from, behind trusted proxies.") }),
    "The caller as the gateway sees it.",
  ),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type MeRecord = Static<typeof MeRecord>;
