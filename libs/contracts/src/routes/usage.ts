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
    summary: "Usage of keys",
    description:
      "Requests by key, day (UTC) and kind, in this order. `by` selects the members that group the rows; the others are summed. With `by=key,month`, " +
      "the `counted` of a bucket's month is what was charged to its quota. Gateways write usage counts every few " +
      "seconds (`USAGE_FLUSH_MS`), so the newest requests may be missing. CSV contains all rows, with a header line and the columns of `by`. " +
      "JSON is paginated.",
    scope: "admin",
    parameters: [
      {
        name: "month",
        in: "query",
        description: "Calendar month. Default without `from` and `to`: the current month.",
        schema: Type.String({ pattern: "^\\d{4}-(0[1-9]|1[0-2])$" }),
        examples: ["2026-11"],
      },
      {
        name: "from",
        in: "query",
        description: "First day, YYYY-MM-DD; with `to`, instead of `month`.",
        schema: CalendarDate,
        examples: [],
      },
      { name: "to", in: "query", description: "Last day, YYYY-MM-DD.", schema: CalendarDate, examples: [] },
      { name: "key_id", in: "query", description: "Id of one key.", schema: id, examples: ["7Q9M3W8K"] },
      { name: "bucket", in: "query", description: "Bucket shared by the keys of one rotation.", schema: id, examples: ["7Q9M3W8K"] },
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
        description: `Members that group the rows: ${usageApart.join(", ")}, separated by commas; day and month cannot be combined.`,
        schema: Type.String({ pattern: `^${apart}(,${apart})*$`, maxLength: 100, default: "key,day,route_class" }),
        examples: ["key,month"],
      },
      {
        name: "limit",
        in: "query",
        description: "Maximum number of rows of JSON, 1 to 1,000.",
        schema: Type.Integer({ minimum: 1, maximum: 1_000, default: 100 }),
        examples: ["100"],
      },
      {
        name: "cursor",
        in: "query",
        description: "`next_cursor` of the previous page, with the same `by`.",
        schema: Type.String({ minLength: 1, maxLength: 400 }),
        examples: [],
      },
      {
        name: "format",
        in: "query",
        description: "`json` or `csv`, regardless of `Accept`.",
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
