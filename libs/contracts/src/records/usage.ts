/** The usage of keys, as operators see it. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { requests } from "../facts/units.ts";
import { type LookupName, lookupNames, operations } from "../operations/index.ts";
import { CalendarDate, Count, member, NullableText, oneOf, record } from "../schema.ts";

/**
 * The class that a request counts under: the kind of its question, `batch`, `me`, `admin` for the operators' routes, or `other` if it
 * matches no route.
 */
export type UsageClass = LookupName | "batch" | "me" | "admin" | "other";

/** In the order of the operations' numbers. */
export const usageClasses: readonly UsageClass[] = [
  ...lookupNames.toSorted((a, b) => operations[a].code - operations[b].code),
  "batch",
  "me",
  "admin",
  "other",
];

/** What rows can be grouped by. Counts are summed over everything else. `day` and `month` exclude each other. */
export const usageApart = ["key", "day", "month", "route_class"] as const;
export type UsageApart = (typeof usageApart)[number];

/**
 * `counted`: answers that each cost a unit of the month; for a batch, its answered items. `uncounted`: admitted requests that cost none,
 * because they ended in 304, 4xx or 5xx or are free; a batch counts as one of these, besides its items. Refused requests (429,
 * `limits_unavailable`) are in neither.
 */
const counts = {
  counted: member(Count, "Number of successful requests and batch items. Each counts towards the quota."),
  uncounted: member(
    Count,
    "Number of admitted requests that do not count towards the quota: status 304, 4xx or 5xx, free routes, and batch requests themselves. Rejected requests are not included in either count.",
  ),
};

/** Members that are not grouped by are absent. `bucket` comes with the key: the keys of one rotation share a bucket, and so their limits. */
export const UsageItem = record({
  key_id: Type.Optional(member(Type.String(), "Id of the key; absent if `by` sums over keys.")),
  bucket: Type.Optional(
    member(Type.String(), "Bucket of the key's limits, shared by the keys of one rotation; present together with `key_id`."),
  ),
  day: Type.Optional(member(CalendarDate, "Day (UTC); absent if `by` sums over days.")),
  month: Type.Optional(member(Type.String({ pattern: "^\\d{4}-\\d{2}$" }), "Month (UTC); only if `by` contains `month`.")),
  route_class: Type.Optional(member(oneOf(usageClasses), "Kind of request; absent if `by` sums over kinds.")),
  ...counts,
});
export type UsageItem = Static<typeof UsageItem>;

/** `total` counts the items of all pages. `next_cursor` is null on the last page. */
export const UsageItems = record({
  from: member(CalendarDate, "First day (UTC)."),
  to: member(CalendarDate, "Last day (UTC)."),
  total: member(record(counts), "Totals over all items of all pages."),
  items: member(Type.Array(UsageItem), "Items of this page."),
  next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
});
export type UsageItems = Static<typeof UsageItems>;

const countFacts = { counted: { from: "usage", unit: "requests and batch items" }, uncounted: { from: "usage", unit: requests } } as const;

export const usageFacts: FactsOf<UsageItems> = {
  from: "request",
  to: "request",
  total: countFacts,
  items: {
    key_id: "usage",
    bucket: "usage",
    day: "usage",
    month: { from: "usage", example: "2026-11" },
    route_class: "usage",
    ...countFacts,
  },
  next_cursor: { from: "gateway", example: "WyI3UTlNM1c4SyIsIjIwMjYtMTEtMjEiLCJpcCJd" },
};
