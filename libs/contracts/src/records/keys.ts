/** The records of keys and plans, as operators see, make and change them. A secret is in the answer that makes it, and nowhere else. */

import Type, { type Static } from "typebox";
import { Count, member, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";
import { scopes } from "./me.ts";

/** At most `limit` requests in each window of `window_seconds`. */
export const RateLimit = record({
  limit: member(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), "Requests in a window."),
  window_seconds: member(Type.Integer({ minimum: 1, maximum: 86_400 }), "Length of a window in seconds."),
});
export type RateLimit = Static<typeof RateLimit>;

/** At most `limit` answered questions in a calendar month (UTC). */
export const MonthLimit = record({
  limit: member(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), "Answered questions in a calendar month (UTC)."),
});
export type MonthLimit = Static<typeof MonthLimit>;

/** At most `limit` requests that are being answered at a time. */
export const ConcurrencyLimit = record({
  limit: member(Type.Integer({ minimum: 1, maximum: 1_000_000 }), "Requests that one gateway answers at a time."),
});
export type ConcurrencyLimit = Static<typeof ConcurrencyLimit>;

export const keyStates = ["active", "disabled", "expired", "revoked"] as const;
export type ShownKeyState = (typeof keyStates)[number];

const scopeList = member(Type.Array(oneOf(scopes), { minItems: 1, uniqueItems: true }), "What it may ask.");
const label = member(Type.String({ minLength: 1, maxLength: 100 }), "What operators call it.");
const Cidrs = Type.Array(Type.String({ minLength: 2 }), { maxItems: 100 });
const PlanName = Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,39}$" });

const keyMembers = {
  id: member(Type.String(), "The eight characters after `nf_live_`; no secret."),
  display: member(Type.String(), "Prefix, id and last four characters: `nf_live_7Q9M3W8K_…x4Pq`."),
  label: member(Type.String(), "What operators call it."),
  environment: member(oneOf(["live", "test"]), "A `test` key sees the same data, counts on its own, and never has the scope `admin`."),
  state: member(
    oneOf(keyStates),
    "Whether it works; `expired`: past its expiry, or replaced and past `rotation.valid_until`; `revoked` is final.",
  ),
  scopes: member(Type.Array(oneOf(scopes)), "What it may ask."),
  allowed_cidrs: member(Type.Array(Type.String()), "Where it may be used from; empty: anywhere."),
  plan: member(Type.String(), "Name of its plan, whose limits hold where it has none of its own."),
  rate: member(nullable(RateLimit), "Its own limit of requests; null: that of the plan."),
  month: member(nullable(MonthLimit), "Its own limit of the month; null: that of the plan."),
  concurrency: member(nullable(ConcurrencyLimit), "Its own bound of requests at a time; null: that of the plan."),
  bucket: member(Type.String(), "What its usage is counted under: a successor has that of the key which it replaced."),
  created_at: member(Timestamp, "When it was made."),
  expires_at: member(NullableTimestamp, "When it stops working; null: never."),
  rotation: member(
    record({
      replaced_by: member(NullableText, "Id of the successor; null where there is none."),
      rotated_at: member(NullableTimestamp, "When it was replaced; null where it was not."),
      valid_until: member(NullableTimestamp, "Until when it still works; null where it was not replaced."),
    }),
    "Whether the key was replaced.",
  ),
  pepper_id: member(NullableText, "The pepper that its hash was made with; null: none."),
  version: member(Count, "Rises with each change."),
};

export const ManagedKey = record(keyMembers);
export type ManagedKey = Static<typeof ManagedKey>;

export const ManagedKeys = record({
  items: member(Type.Array(ManagedKey), "This page, the oldest first."),
  next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
});
export type ManagedKeys = Static<typeof ManagedKeys>;

const secret = member(NullableText, "The whole key, this once; null where the same `Idempotency-Key` made it before.");

export const CreatedKey = record({ ...keyMembers, secret });
export type CreatedKey = Static<typeof CreatedKey>;

/** The successor, and until when the key that it replaces works. */
export const RotatedKey = record({
  ...keyMembers,
  secret,
  replaces: member(
    record({
      id: member(Type.String(), "Id of the key that was replaced."),
      valid_until: member(Timestamp, "Until when that key still works."),
    }),
    "The key that this one succeeds.",
  ),
});
export type RotatedKey = Static<typeof RotatedKey>;

const changeable = {
  allowed_cidrs: Type.Optional(member(Cidrs, "Where it may be used from, CIDRs or single addresses; empty: anywhere.")),
  plan: Type.Optional(member(PlanName, "Name of the plan; a new key's default: `default`.")),
  rate: Type.Optional(member(nullable(RateLimit), "Its own limit of requests; null: that of the plan.")),
  month: Type.Optional(member(nullable(MonthLimit), "Its own limit of the month; null: that of the plan.")),
  concurrency: Type.Optional(member(nullable(ConcurrencyLimit), "Its own bound of requests at a time; null: that of the plan.")),
  expires_at: Type.Optional(member(NullableTimestamp, "When it stops working, in the future; null: never.")),
};

/** What a new key is to be. A `test` key sees the same data, counts on its own, and never has the scope `admin`. */
export const NewKey = record({
  label,
  scopes: scopeList,
  environment: Type.Optional(member(oneOf(["live", "test"]), "Default: `live`.")),
  ...changeable,
});
export type NewKey = Static<typeof NewKey>;

/** What is to change; whatever is absent stays. A limit of null becomes that of the plan. */
export const KeyPatch = record({ label: Type.Optional(label), scopes: Type.Optional(scopeList), ...changeable });
export type KeyPatch = Static<typeof KeyPatch>;

export const KeyRotation = record({
  overlap_seconds: Type.Optional(
    member(Type.Integer({ minimum: 0, maximum: 2_592_000 }), "How many seconds the old key works on; default: a day."),
  ),
  expires_at: Type.Optional(member(NullableTimestamp, "When the successor expires; null: never; absent: when the old key would have.")),
});
export type KeyRotation = Static<typeof KeyRotation>;

const planMembers = {
  rate: member(RateLimit, "Requests in each window."),
  month: member(MonthLimit, "Answered questions in a calendar month."),
};

/** The limits of a plan. */
export const PlanLimits = record({
  ...planMembers,
  concurrency: Type.Optional(member(nullable(ConcurrencyLimit), "Requests at a time, at each gateway; absent or null: no bound.")),
});
export type PlanLimits = Static<typeof PlanLimits>;

export const Plan = record({
  name: member(Type.String(), "What keys refer to."),
  ...planMembers,
  concurrency: member(nullable(ConcurrencyLimit), "Requests at a time, at each gateway; null: no bound."),
  updated_at: member(
    NullableTimestamp,
    "When it was last written; null: it is the plan `default`, which nobody wrote, with the limits of the gateway's settings.",
  ),
});
export type Plan = Static<typeof Plan>;

export const Plans = record({ items: member(Type.Array(Plan), "Every plan, by name.") });
export type Plans = Static<typeof Plans>;
