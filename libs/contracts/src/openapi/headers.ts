/** The headers of answers, as OpenAPI components. */

import { headers as names } from "../headers.ts";
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
    description: "Id of the request: that of the caller where it sent a valid one. Quote it to your operator.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,64}$" },
    example: "01JD5T7Q9M3W8K2V6B4N1XCZPE",
  },
  [names.rateLimitPolicy]: {
    description:
      "The limits of the key: `q` units in each window of `w` seconds; the month is that of the calendar (UTC); `concurrency`, where it is bounded, has a unit (`qu`) and no window.",
    schema: text,
    example: '"rate";q=600;w=60, "month";q=100000',
  },
  [names.rateLimit]: {
    description: "What is left of each limit (`r`) and the seconds until it starts anew (`t`; concurrency has none).",
    schema: text,
    example: '"rate";r=599;t=37, "month";r=98231;t=831598',
  },
  [names.rateLimitLimit]: { description: "Requests in a rate window.", schema: count, example: 600 },
  [names.rateLimitRemaining]: { description: "Requests left in this rate window.", schema: count, example: 599 },
  [names.rateLimitReset]: { description: "Seconds until the next rate window.", schema: count, example: 37 },
  [names.quotaLimit]: { description: "Questions in a calendar month (UTC).", schema: count, example: 100_000 },
  [names.quotaRemaining]: { description: "Questions left in this month.", schema: count, example: 98_231 },
  [names.quotaReset]: { description: "Seconds until the next month.", schema: count, example: 831_598 },
  [names.retryAfter]: { description: "Seconds after which the same request may succeed.", schema: count, example: 5 },
  [names.authenticate]: {
    description: "What kind of key is wanted, and what was wrong with the one sent (RFC 6750).",
    schema: text,
    example: 'Bearer realm="netfacts"',
  },
  allow: { description: "The methods of this route.", schema: text, example: "GET, HEAD" },
  etag: {
    description: "Weak entity tag of the answer: send it back in `If-None-Match`, and an unchanged answer is 304 and costs no month.",
    schema: { type: "string", pattern: '^(W/)?"' },
    example: 'W/"pF3bFJ0n3zLrQ0Yb"',
  },
  "cache-control": { description: "How long the answer may be kept.", schema: text, example: "private, max-age=300" },
  "last-modified": { description: "When the newest of the data used was of.", schema: text, example: "Sat, 21 Nov 2026 08:55:00 GMT" },
  "server-timing": {
    description: "Milliseconds: `gateway` here, `upstream` in the service that answered.",
    schema: text,
    example: "gateway;dur=0.4, upstream;dur=1.2",
  },
  vary: {
    description: "The request headers that the answer depends on.",
    schema: text,
    example: "Authorization, Accept, Accept-Encoding, Origin",
  },
  location: { description: "Where what was made can be asked for.", schema: text, example: "/admin/v1/keys/7Q9M3W8K" },
  link: {
    description: "The next page of a list in a format that has no place for it (RFC 8288).",
    schema: text,
    example: '</api/v1/asn/AS3333?cursor=AQ>; rel="next"',
  },
  deprecation: { description: "The key was replaced, and since when (RFC 9745).", schema: text, example: "@1763715600" },
  sunset: { description: "Until when the replaced key works (RFC 8594).", schema: text, example: "Sun, 22 Nov 2026 09:00:00 GMT" },
};

/** `components.headers`. */
export function headerComponents(): Record<string, Json> {
  return Object.fromEntries(Object.entries(table).map(([name, header]) => [name, { ...header }]));
}

/** The headers of one answer, as references. Throws for a name that the table does not have. */
export function headerReferences(used: readonly string[]): Record<string, Json> {
  return Object.fromEntries(
    used.map((name) => {
      if (table[name] === undefined) throw new Error(`header ${name} has no description`);
      return [displayName(name), { $ref: `#/components/headers/${name}` }];
    }),
  );
}

/** `retry-after` as `Retry-After`; those that are written otherwise by name. */
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
