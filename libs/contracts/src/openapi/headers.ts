/** The headers of responses, as OpenAPI components. */

import { limitHeaderNames, headers as names } from "../headers.ts";
import type { Json } from "./schemas.ts";

interface HeaderText {
  readonly description: string;
  readonly schema: { readonly [member: string]: Json };
  readonly example: Json;
}

const count = { type: "integer", minimum: 0 };
const text = { type: "string" };

const table: Readonly<Record<string, HeaderText>> = {
  [names.requestId]: {
    description: "Id of the request: the id that the client sent, if it was valid. Include it when you contact your operator.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
    example: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
  },
  [names.rateLimitPolicy]: {
    description:
      "Limits of the key: `q` units in each window of `w` seconds. `month` is a calendar month (UTC). `concurrency`, if limited, has a unit (`qu`) instead of a window.",
    schema: text,
    example: '"rate";q=600;w=60, "month";q=100000',
  },
  [names.rateLimit]: {
    description: "Units left of each limit (`r`), and the seconds until it resets (`t`; absent for `concurrency`).",
    schema: text,
    example: '"rate";r=599;t=37, "month";r=98231;t=831598',
  },
  [names.rateLimitLimit]: { description: "Maximum number of units in a rate window.", schema: count, example: 600 },
  [names.rateLimitRemaining]: { description: "Number of units left in the current rate window.", schema: count, example: 599 },
  [names.rateLimitReset]: { description: "Seconds until the next rate window.", schema: count, example: 37 },
  [names.quotaLimit]: {
    description: "Monthly quota: maximum number of successful requests in a calendar month (UTC).",
    schema: count,
    example: 100_000,
  },
  [names.quotaRemaining]: { description: "Number of requests left in the monthly quota.", schema: count, example: 98_231 },
  [names.quotaReset]: { description: "Seconds until the next month.", schema: count, example: 831_598 },
  [names.requestCost]: {
    description:
      "Units of the rate limit that this request costs: 1, or more if it may have long lists. Items of an NDJSON batch are not included.",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  [names.retryAfter]: { description: "Seconds after which the same request may succeed.", schema: count, example: 5 },
  [names.authenticate]: {
    description: "Authentication scheme that is required, and what was wrong with the key that was sent (RFC 6750).",
    schema: text,
    example: 'Bearer realm="netfacts"',
  },
  allow: { description: "Methods that this route supports.", schema: text, example: "GET, HEAD" },
  etag: {
    description:
      "Weak entity tag of the response. Send it in `If-None-Match`: if the response has not changed, the status is 304 and the request does not count towards the quota.",
    schema: { type: "string", pattern: '^(W/)?"' },
    example: 'W/"pF3bFJ0n3zLrQ0Yb"',
  },
  "cache-control": {
    description:
      "Time for which the response may be cached, in seconds. `no-store`: it must not be cached. Problems and the state of a key or of the service have this value.",
    schema: text,
    example: "private, max-age=300",
  },
  "accept-post": {
    description: "Media types that the route accepts, if another one was sent.",
    schema: text,
    example: "application/json, application/x-ndjson",
  },
  "accept-encoding": {
    description: "Content codings that the route accepts, if another one was sent (RFC 9110).",
    schema: text,
    example: "gzip",
  },
  "last-modified": {
    description:
      "Time at which this gateway first answered from the snapshot of the response. It is another one at each gateway: prefer `ETag`.",
    schema: text,
    example: "Sat, 21 Nov 2026 08:55:00 GMT",
  },
  "server-timing": {
    description: "Durations in milliseconds: `gateway` in the gateway, `upstream` in the service that answered.",
    schema: text,
    example: "gateway;dur=0.4, upstream;dur=1.2",
  },
  vary: {
    description: "Request headers that the response depends on.",
    schema: text,
    example: "Authorization, Accept, Accept-Encoding, Origin",
  },
  location: { description: "Path of the created resource.", schema: text, example: "/admin/v1/keys/7Q9M3W8K" },
  link: {
    description: "Next page of a list, in formats whose body cannot contain it (RFC 8288).",
    schema: text,
    example: '</api/v1/asn/AS3333?cursor=AQ>; rel="next"',
  },
  deprecation: { description: "Time at which the key was replaced (RFC 9745).", schema: text, example: "@1763715600" },
  sunset: { description: "Time until which the replaced key works (RFC 8594).", schema: text, example: "Sun, 22 Nov 2026 09:00:00 GMT" },
};

/** Headers of every response. `keyed`: include those that depend on the key. */
export function answerHeaders(keyed: boolean): readonly string[] {
  return [names.requestId, "cache-control", ...(keyed ? [...limitHeaderNames, "deprecation", "sunset"] : [])];
}

/** `components.headers`. */
export function headerComponents(): Record<string, Json> {
  return Object.fromEntries(Object.entries(table).map(([name, header]) => [name, { ...header }]));
}

/** The headers of one response, as references. Throws for a name that is not in the table. */
export function headerReferences(used: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    used.map((name) => {
      if (table[name] === undefined) throw new Error(`header ${name} has no description`);
      return [displayName(name), { $ref: `#/components/headers/${name}` }];
    }),
  );
}

/** `retry-after` as `Retry-After`. Headers with another spelling are listed by name. */
function displayName(name: string): string {
  const written: Record<string, string> = { etag: "ETag", ratelimit: "RateLimit", "ratelimit-policy": "RateLimit-Policy" };
  return (
    written[name] ??
    name
      .split("-")
      .map((word) => (word === "ratelimit" ? "RateLimit" : word.charAt(0).toUpperCase() + word.slice(1)))
      .join("-")
      .replace("Www-", "WWW-")
  );
}
