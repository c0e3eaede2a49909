/** What keys were used for, as operators see it. */

import Type, { type Static } from "typebox";
import { CalendarDate, Count, member, NullableText, oneOf, record } from "../schema.ts";

/**
 * What a request is counted as: the kind of its question, `batch`, `me`, `admin` for the operators' routes, and `other` for what no route
 * answers.
 */
export const usageClasses = [
  "ip",
  "routing",
  "validity",
  "changes",
  "asn",
  "prefix",
  "reverse_dns",
  "batch",
  "me",
  "admin",
  "other",
] as const;
export type UsageClass = (typeof usageClasses)[number];

/** What rows are kept apart by; what is not named is summed over. `day` and `month` exclude each other. */
export const usageApart = ["key", "day", "month", "route_class"] as const;
export type UsageApart = (typeof usageApart)[number];

/**
 * `counted`: answers that cost a unit of the month each; of a batch its answered items. `uncounted`: admitted requests that cost none, as
 * they ended in 304, 4xx or 5xx or are free; a batch is one of these, besides its items. Refused requests (429, `limits_unavailable`) are in
 * neither.
 */
const counts = {
  counted: member(Count, "Answers that cost a unit of the month each; of batches their answered items."),
  uncounted: member(
    Count,
    "Admitted requests that cost none: 304, 4xx, 5xx, what is free, and a batch besides its items; refused ones are in neither.",
  ),
};

/** Members that the rows are not kept apart by are absent. `bucket` stands with the key: keys of one rotation share it, and their limits. */
export const UsageItem = record({
  key_id: Type.Optional(member(Type.String(), "Id of the key; absent where `by` sums over keys.")),
  bucket: Type.Optional(member(Type.String(), "What its limits are counted under, which keys of one rotation share; stands with the key.")),
  day: Type.Optional(member(CalendarDate, "The day (UTC); absent where `by` sums over days.")),
  month: Type.Optional(member(Type.String({ pattern: "^\\d{4}-\\d{2}$" }), "The month (UTC); only where `by` names it.")),
  route_class: Type.Optional(member(oneOf(usageClasses), "Kind of question; absent where `by` sums over kinds.")),
  ...counts,
});
export type UsageItem = Static<typeof UsageItem>;

/** `total` is of all items, of every page. `next_cursor`: null on the last page. */
export const UsageItems = record({
  from: member(CalendarDate, "The first day (UTC)."),
  to: member(CalendarDate, "The last day (UTC)."),
  total: member(record(counts), "Sums of all items, of every page."),
  items: member(Type.Array(UsageItem), "This page of the rows."),
  next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
});
export type UsageItems = Static<typeof UsageItems>;
