/** The record of `/me`: the calling key and what is left of its limits. Never the secret. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { seconds } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { Count, member, NullableText, NullableTimestamp, oneOf, record, Timestamp } from "../schema.ts";

/** What a key may be allowed to do. */
export const scopes = ["ip", "routing", "asn", "prefix", "reverse_dns", "batch", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** One limit. The rate has `window_seconds`, and the month `resets_at`. Concurrency has no window and never resets. */
export const MeLimit = record({
  name: member(
    oneOf(["rate", "month", "concurrency"]),
    "Name of the limit. `rate`: units of requests; most requests cost 1 unit. `month`: successful requests and batch items. `concurrency`: concurrent requests.",
  ),
  limit: member(Count, "Maximum number of units per window; for `concurrency`, at the same time."),
  window_seconds: Type.Optional(member(Count, "Length of the window in seconds; only for `rate`.")),
  used: member(Count, "Number of units used in this window."),
  remaining: member(Count, "Number of units left. With several gateways, units reserved by the other gateways count as used."),
  resets_at: Type.Optional(member(Timestamp, "Time at which the next month starts (UTC); only for `month`.")),
  resets_in_seconds: Type.Optional(member(Count, "Seconds until the next window; absent for `concurrency`.")),
});
export type MeLimit = Static<typeof MeLimit>;

export const MeKey = record({
  id: member(Type.String(), "The eight characters after `nf_live_`. They are not secret."),
  label: member(Type.String(), "Label that the operator gave the key."),
  display: member(Type.String(), "Prefix, id and last four characters, to identify the key."),
  scopes: member(Type.Array(oneOf(scopes)), "Operations for which the key may be used."),
  created_at: member(Timestamp, "Time at which the key was created."),
  expires_at: member(NullableTimestamp, "Time at which the key expires; null if it never does."),
  rotation: member(
    record({
      replaced_by: member(NullableText, "Id of the successor; null if there is none."),
      valid_until: member(NullableTimestamp, "Time until which the replaced key still works; null if it was not replaced."),
    }),
    "Replacement of the key by a successor.",
  ),
  allowed_cidrs: member(Type.Array(Type.String()), "Networks that the key may be used from; an empty list means anywhere."),
});
export type MeKey = Static<typeof MeKey>;

export const MeRecord = record({
  key: member(MeKey, "The key of this request, without its secret."),
  plan: member(NullableText, "Name of the key's plan; null if it has none."),
  limits: member(Type.Array(MeLimit), "Limits of the key and what is left of them."),
  client: member(
    record({ ip: member(Type.String(), "Client address of this request, as seen behind trusted proxies.") }),
    "The client as the gateway sees it.",
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type MeRecord = Static<typeof MeRecord>;

const limitUnits = "units, answers or requests, by limit";

export const meFacts: FactsOf<MeRecord> = {
  key: {
    id: "keys",
    label: "keys",
    display: "keys",
    scopes: "keys",
    created_at: "keys",
    expires_at: { from: "keys", example: "2027-12-31T00:00:00Z" },
    rotation: {
      replaced_by: { from: "keys", example: "2F8ZC5TN" },
      valid_until: { from: "keys", example: "2026-11-22T09:00:02Z" },
    },
    allowed_cidrs: "keys",
  },
  plan: "keys",
  limits: {
    name: "keys",
    limit: { from: "keys", unit: limitUnits },
    window_seconds: { from: "keys", unit: seconds },
    used: { from: "counters", unit: limitUnits },
    remaining: { from: "counters", unit: limitUnits },
    resets_at: "gateway",
    resets_in_seconds: { from: "gateway", unit: seconds },
  },
  client: { ip: "request" },
  meta: { page: "meta" },
};
