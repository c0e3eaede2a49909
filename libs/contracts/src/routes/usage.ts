/** The operators' route of usage. */

import Type from "typebox";
import { usageCsvExample, usageExample } from "../examples/usage.ts";
import { UsageItems, usageApart, usageClasses } from "../records/usage.ts";
import { CalendarDate, oneOf } from "../schema.ts";
import type { RouteDescription } from "./route.ts";

const usagePath = "/admin/v1/usage";

const id = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const apart = `(${usageApart.join("|")})`;

export const usageRoutes: readonly RouteDescription[] = [
  {
    method: "get",
    path: usagePath,
    id: "listUsage",
    tag: "Usage",
    summary: "What keys were used for",
    description:
      "Requests and answers by key, day (UTC) and kind of question, in this order; `by` sums over what it does not name, so `by=key,month` is " +
      "what a key's month came to: the `counted` of a bucket's month is what its quota was charged. Gateways write what they count every few " +
      "seconds (`USAGE_FLUSH_MS`); the newest requests may not be in it yet. CSV has every row at once, with a header line and the columns that " +
      "`by` names; pages are JSON's.",
    scope: "admin",
    parameters: [
      {
        name: "month",
        in: "query",
        description: "A calendar month; without it and without days, the current one.",
        schema: Type.String({ pattern: "^\\d{4}-(0[1-9]|1[0-2])$" }),
        examples: ["2026-11"],
      },
      {
        name: "from",
        in: "query",
        description: "The first day, YYYY-MM-DD; with `to`, in place of `month`.",
        schema: CalendarDate,
        examples: [],
      },
      { name: "to", in: "query", description: "The last day, YYYY-MM-DD.", schema: CalendarDate, examples: [] },
      { name: "key_id", in: "query", description: "Id of one key.", schema: id, examples: ["7Q9M3W8K"] },
      { name: "bucket", in: "query", description: "Keys that share limits by rotation.", schema: id, examples: ["7Q9M3W8K"] },
      {
        name: "route_class",
        in: "query",
        description: `One of ${usageClasses.join(", ")}.`,
        schema: oneOf(usageClasses),
        examples: ["ip"],
      },
      {
        name: "by",
        in: "query",
        description: `What rows are kept apart by: ${usageApart.join(", ")}, separated by commas; day or month, not both.`,
        schema: Type.String({ pattern: `^${apart}(,${apart})*$`, maxLength: 100, default: "key,day,route_class" }),
        examples: ["key,month"],
      },
      {
        name: "limit",
        in: "query",
        description: "How many rows of JSON, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      {
        name: "cursor",
        in: "query",
        description: "`next_cursor` of the page before, of the same `by`.",
        schema: Type.String({ minLength: 1, maxLength: 400 }),
        examples: [],
      },
      {
        name: "format",
        in: "query",
        description: "`json` or `csv`, before what `Accept` says.",
        schema: oneOf(["json", "csv"]),
        examples: ["json"],
      },
    ],
    answers: [
      {
        status: 200,
        description: "The usage.",
        content: [
          { type: "application/json", schema: UsageItems, example: usageExample },
          { type: "text/csv", schema: null, example: usageCsvExample },
        ],
      },
    ],
    problems: ["invalid_cursor"],
  },
];
