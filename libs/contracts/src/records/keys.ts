/** The records of keys and plans, as operators see, create and change them. A secret is only in the response that creates it. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { requests, seconds } from "../facts/units.ts";
import { Count, member, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";
import { scopes } from "./me.ts";

/** The bounds of values in keys and plans, for schemas, checks and settings. */
export const keyBounds = {
  labelCharsMax: 100,
  allowedCidrsMax: 100,
  /** Largest limit of a rate and of a month. */
  limitMax: 1_000_000_000,
  windowSecondsMax: 86_400,
  concurrencyMax: 1_000_000,
  planName: "^[a-z0-9][a-z0-9_-]{0,39}$",
} as const;

/** At most `limit` units in each window of `window_seconds`. */
export const RateLimit = record({
  limit: member(
    Type.Integer({ minimum: 1, maximum: keyBounds.limitMax }),
    "Maximum number of units in a window. Most requests cost 1 unit.",
  ),
  window_seconds: member(Type.Integer({ minimum: 1, maximum: keyBounds.windowSecondsMax }), "Length of the window in seconds."),
});
export type RateLimit = Static<typeof RateLimit>;

/** At most `limit` answered questions in a calendar month (UTC). */
export const MonthLimit = record({
  limit: member(
    Type.Integer({ minimum: 1, maximum: keyBounds.limitMax }),
    "Maximum number of successful requests in a calendar month (UTC). Each batch item counts as one.",
  ),
});
export type MonthLimit = Static<typeof MonthLimit>;

/** At most `limit` requests in progress at a time. */
export const ConcurrencyLimit = record({
  limit: member(Type.Integer({ minimum: 1, maximum: keyBounds.concurrencyMax }), "Maximum number of concurrent requests at one gateway."),
});
export type ConcurrencyLimit = Static<typeof ConcurrencyLimit>;

const keyStates = ["active", "disabled", "expired", "revoked"] as const;
export type ShownKeyState = (typeof keyStates)[number];

const scopeList = member(Type.Array(oneOf(scopes), { minItems: 1, uniqueItems: true }), "Operations for which the key may be used.");
const label = member(Type.String({ minLength: 1, maxLength: keyBounds.labelCharsMax }), "Label that operators gave the key.");
const Cidrs = Type.Array(Type.String({ minLength: 2 }), { maxItems: keyBounds.allowedCidrsMax });
const PlanName = Type.String({ pattern: keyBounds.planName });

const keyMembers = {
  id: member(Type.String(), "The eight characters after `nf_live_`. They are not secret."),
  display: member(Type.String(), "Prefix, id and last four characters: `nf_live_7Q9M3W8K_…x4Pq`."),
  label: member(Type.String(), "Label that operators gave the key."),
  environment: member(
    oneOf(["live", "test"]),
    "Environment of the key. A `test` key sees the same data, has its own usage counts, and can never have the scope `admin`.",
  ),
  state: member(
    oneOf(keyStates),
    "State of the key. `expired`: past `expires_at`, or replaced and past `rotation.valid_until`. `revoked` is final.",
  ),
  scopes: member(Type.Array(oneOf(scopes)), "Operations for which the key may be used."),
  allowed_cidrs: member(Type.Array(Type.String()), "Networks that the key may be used from; an empty list means anywhere."),
  plan: member(Type.String(), "Name of the key's plan. Its limits apply where the key has none of its own."),
  rate: member(nullable(RateLimit), "Rate limit of the key; null if the plan's limit applies."),
  month: member(nullable(MonthLimit), "Monthly quota of the key; null if the plan's quota applies."),
  concurrency: member(nullable(ConcurrencyLimit), "Limit of concurrent requests of the key; null if the plan's limit applies."),
  bucket: member(Type.String(), "Bucket in which the usage is counted. A successor shares the bucket of the key that it replaced."),
  created_at: member(Timestamp, "Time at which the key was created."),
  expires_at: member(NullableTimestamp, "Time at which the key expires; null if it never does."),
  rotation: member(
    record({
      replaced_by: member(NullableText, "Id of the successor; null if there is none."),
      rotated_at: member(NullableTimestamp, "Time at which the key was replaced; null if it was not."),
      valid_until: member(NullableTimestamp, "Time until which the replaced key still works; null if it was not replaced."),
    }),
    "Replacement of the key by a successor.",
  ),
  pepper_id: member(NullableText, "Id of the pepper used to hash the secret; null if there is none."),
  version: member(Count, "Version of the key, incremented with each change."),
};

export const ManagedKey = record(keyMembers);
export type ManagedKey = Static<typeof ManagedKey>;

export const ManagedKeys = record({
  items: member(Type.Array(ManagedKey), "Keys of this page, oldest first."),
  next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
});
export type ManagedKeys = Static<typeof ManagedKeys>;

const secret = member(
  NullableText,
  "The whole key, shown only once; null if an earlier request with the same `Idempotency-Key` created it.",
);

export const CreatedKey = record({ ...keyMembers, secret });
export type CreatedKey = Static<typeof CreatedKey>;

/** The successor of a key, and how long the replaced key works. */
export const RotatedKey = record({
  ...keyMembers,
  secret,
  replaces: member(
    record({
      id: member(Type.String(), "Id of the replaced key."),
      valid_until: member(Timestamp, "Time until which the replaced key still works."),
    }),
    "The key that this one replaces.",
  ),
});
export type RotatedKey = Static<typeof RotatedKey>;

const changeable = {
  allowed_cidrs: Type.Optional(
    member(Cidrs, "Networks that the key may be used from, as CIDRs or single addresses; an empty list means anywhere."),
  ),
  plan: Type.Optional(member(PlanName, "Name of the plan. Default for a new key: `default`.")),
  rate: Type.Optional(member(nullable(RateLimit), "Rate limit of the key; null if the plan's limit applies.")),
  month: Type.Optional(member(nullable(MonthLimit), "Monthly quota of the key; null if the plan's quota applies.")),
  concurrency: Type.Optional(
    member(nullable(ConcurrencyLimit), "Limit of concurrent requests of the key; null if the plan's limit applies."),
  ),
  expires_at: Type.Optional(member(NullableTimestamp, "Time at which the key expires, in the future; null if it never does.")),
};

/** Properties of a new key. A `test` key sees the same data, counts separately, and never has the scope `admin`. */
export const NewKey = record({
  label,
  scopes: scopeList,
  environment: Type.Optional(member(oneOf(["live", "test"]), "Default: `live`.")),
  ...changeable,
});
export type NewKey = Static<typeof NewKey>;

/** The changes. Absent members stay as they are. With null, the limit of the plan applies. */
export const KeyPatch = record({ label: Type.Optional(label), scopes: Type.Optional(scopeList), ...changeable });
export type KeyPatch = Static<typeof KeyPatch>;

export const KeyRotation = record({
  overlap_seconds: Type.Optional(
    member(Type.Integer({ minimum: 0, maximum: 2_592_000 }), "Time for which the old key keeps working, in seconds. Default: one day."),
  ),
  expires_at: Type.Optional(
    member(NullableTimestamp, "Time at which the successor expires; null if it never does. Default: the expiry of the old key."),
  ),
});
export type KeyRotation = Static<typeof KeyRotation>;

const planMembers = {
  rate: member(RateLimit, "Rate limit."),
  month: member(MonthLimit, "Monthly quota."),
};

/** The limits of a plan. */
export const PlanLimits = record({
  ...planMembers,
  concurrency: Type.Optional(
    member(nullable(ConcurrencyLimit), "Maximum number of concurrent requests at each gateway; absent or null for no limit."),
  ),
});
export type PlanLimits = Static<typeof PlanLimits>;

export const Plan = record({
  name: member(Type.String(), "Name of the plan, which keys refer to."),
  ...planMembers,
  concurrency: member(nullable(ConcurrencyLimit), "Maximum number of concurrent requests at each gateway; null for no limit."),
  updated_at: member(
    NullableTimestamp,
    "Time of the last change; null for the built-in plan `default`, whose limits come from the gateway's settings.",
  ),
});
export type Plan = Static<typeof Plan>;

export const Plans = record({ items: member(Type.Array(Plan), "All plans, ordered by name.") });
export type Plans = Static<typeof Plans>;

const rateFacts: FactsOf<RateLimit> = { limit: { from: "keys", unit: "units" }, window_seconds: { from: "keys", unit: seconds } };
const monthFacts: FactsOf<MonthLimit> = { limit: { from: "keys", unit: "successful requests and batch items" } };
const concurrencyFacts: FactsOf<ConcurrencyLimit> = { limit: { from: "keys", unit: requests } };

export const managedKeyFacts: FactsOf<ManagedKey> = {
  id: "keys",
  display: "keys",
  label: "keys",
  environment: "keys",
  state: "keys",
  scopes: "keys",
  allowed_cidrs: "keys",
  plan: "keys",
  rate: rateFacts,
  month: monthFacts,
  concurrency: concurrencyFacts,
  bucket: "keys",
  created_at: "keys",
  expires_at: { from: "keys", example: "2027-12-31T00:00:00Z" },
  rotation: {
    replaced_by: { from: "keys", example: "2F8ZC5TN" },
    rotated_at: { from: "keys", example: "2026-11-21T09:00:02Z" },
    valid_until: { from: "keys", example: "2026-11-22T09:00:02Z" },
  },
  pepper_id: "keys",
  version: { from: "keys", unit: "changes" },
};

export const managedKeysFacts: FactsOf<ManagedKeys> = { items: { page: "key" }, next_cursor: "gateway" };
export const createdKeyFacts: FactsOf<CreatedKey> = { ...managedKeyFacts, secret: "gateway" };
export const rotatedKeyFacts: FactsOf<RotatedKey> = { ...createdKeyFacts, replaces: { id: "keys", valid_until: "keys" } };

export const planFacts: FactsOf<Plan> = {
  name: "keys",
  rate: rateFacts,
  month: monthFacts,
  concurrency: concurrencyFacts,
  updated_at: "keys",
};
export const plansFacts: FactsOf<Plans> = { items: { page: "plan" } };
