/** Parameters, and problems, that several data routes share. */

import Type from "typebox";
import type { ProblemCode } from "../errors.ts";
import type { RouteParameter } from "../routes/route.ts";
import { AddressText, AsnNotation, oneOf } from "../schema.ts";
import { listLimitDefault, listLimitMax } from "./list-limits.ts";

/** Problems that any question to a service can have. */
export const upstreamProblems: readonly ProblemCode[] = ["precondition_failed", "data_not_ready", "upstream_error", "upstream_timeout"];

/** Further problems of a question about the past. */
export const pastProblems: readonly ProblemCode[] = [
  "as_of_out_of_range",
  "history_loading",
  "history_unavailable",
  "snapshot_unreadable",
  "cost_exceeds_limit",
];

/** What a question about what changed can come to, besides its own values. */
export const changesProblems: readonly ProblemCode[] = [
  "invalid_cursor",
  "cursor_expired",
  "cost_exceeds_limit",
  "history_loading",
  "history_unavailable",
  "snapshot_unreadable",
  ...upstreamProblems,
];

export const asOfParameter: RouteParameter = {
  name: "as_of",
  in: "query",
  description:
    "Answers from the snapshot that was the newest one at this time: RFC 3339 with seconds, or a date for the end of that day (UTC). `meta.history` names the snapshot. Ages, `stale` and expired VRPs are those of this time. `location` is null. If no snapshot of that time is kept, the status is 410 (`as_of_out_of_range`), with the earliest and the latest publication. Use it with the same value for all pages of a list.",
  schema: Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt][0-9:.]+([Zz]|[+-][0-9]{2}:[0-9]{2}))?$" }),
  examples: ["2026-11-20", "2026-11-20T12:00:00Z"],
};

export const ipParameter: RouteParameter = {
  name: "ip",
  in: "path",
  description: "An IPv4 or IPv6 address, without a port, zone id or brackets.",
  schema: AddressText,
  examples: ["193.0.6.139", "2001:67c:2e8::1"],
};

export const asnParameter: RouteParameter = {
  name: "asn",
  in: "path",
  description: "An AS number as `AS3333`, `as3333`, `3333` or asdot (`1.10`).",
  schema: AsnNotation,
  examples: ["AS3333", "1.10"],
};

/** `lists`: those that it applies to; no other list is cut. */
export function limitParameter(lists: string): RouteParameter {
  return {
    name: "limit",
    in: "query",
    description: `Maximum number of items of ${lists}.`,
    schema: Type.Integer({ minimum: 1, maximum: listLimitMax, default: listLimitDefault }),
    examples: ["100", "1000"],
  };
}

/** `list`: the one that it filters. */
export function familyParameter(list: string): RouteParameter {
  return {
    name: "family",
    in: "query",
    description: `Returns only ${list} of this IP version.`,
    schema: oneOf(["4", "6"]),
    examples: ["4", "6"],
  };
}

/** A prefix in the path: `{network}/{length}`. */
export const prefixParameters: readonly RouteParameter[] = [
  {
    name: "network",
    in: "path",
    description: "First address of the prefix, with all host bits zero.",
    schema: AddressText,
    examples: ["193.0.0.0", "2001:67c:2e8::"],
  },
  {
    name: "length",
    in: "path",
    description: "Prefix length: 0 to 32 for IPv4, 0 to 128 for IPv6.",
    schema: Type.Integer({ minimum: 0, maximum: 128 }),
    examples: ["21", "48"],
  },
];

export const cursorParameter: RouteParameter = {
  name: "cursor",
  in: "query",
  description:
    "Cursor of the page, from `next_cursor` of the previous page, with otherwise the same parameters. All pages come from the same version of the data; if that version is no longer available, the status is 410 (`cursor_expired`). `limit` and `format` may differ between pages. Empty for the first page.",
  schema: Type.String({ pattern: "^[A-Za-z0-9_-]{0,64}$" }),
  examples: [""],
};
