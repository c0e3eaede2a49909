/** Requests as nobody means them: valid as HTTP/1.1 messages, hostile in all that they say. The same seed gives the same requests. */

import { pick, type Random } from "../../../../test/support/random.ts";

export interface HostileRequest {
  readonly method: string;
  /** The request line and all headers, in Latin-1. */
  readonly text: string;
}

/** What has opened other servers, and what only looks like what a route takes. */
const pieces = [
  "..",
  ".",
  "//",
  "/",
  "\\",
  "%2f",
  "%2F",
  "%5c",
  "%00",
  "%0a",
  "%0d%0aSet-Cookie:a=b",
  "%2e%2e",
  "%252f",
  "%252e%252e",
  "%zz",
  "%",
  "%c0%af",
  "%u002f",
  ";a=b",
  "~",
  "*",
  "%ff",
  "%E2%82%AC",
  "%F0%9F%87%B3",
  "\xe9\x80",
  "fe80::1%25eth0",
  "fe80::1%eth0",
  "[::1]",
  "::ffff:192.0.2.1",
  "::",
  ":::",
  "1.2.3",
  "01.2.3.4",
  "0x7f.1",
  "2130706433",
  "1.2.3.4.5",
  "193.0.6.139",
  "2001:db8::1",
  "AS3333",
  "as0",
  "AS-1",
  "AS4294967296",
  "1.10",
  "65536.0",
  "+1",
  "1e2",
  "0",
  "-0",
  "NaN",
  "null",
  "undefined",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "#{7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "'%20or%201=1--",
  "$where",
  "|cat%20/etc/passwd",
  "etc/passwd",
  "nf_live_7Q9M3W8K_short",
  "a".repeat(300),
  "%41".repeat(150),
];
const roots = [
  "/api/v1/",
  "/api/v1/ip/",
  "/api/v1/routing/",
  "/api/v1/asn/",
  "/api/v1/prefix/",
  "/api/v1/reverse-dns/",
  "/api/v1/validity",
  "/api/v1/me",
  "/api/v1/status",
  "/flags/",
  "/docs/",
  "/docs/errors/",
  "/",
  "//",
  "/api//v1/ip/",
  "/API/v1/ip/",
  "/admin/v1/keys",
  "/metrics",
  "/healthz",
];
const parameters = [
  "limit",
  "cursor",
  "fields",
  "format",
  "include",
  "family",
  "rpki",
  "aggregate",
  "asn",
  "prefix",
  "key",
  "Limit",
  "limit[]",
  "__proto__",
  "constructor",
  "",
  "%6cimit",
];
const methods = [
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "PATCH",
  "PROPFIND",
  "QUERY",
];
const headerNames = [
  "accept",
  "accept-encoding",
  "accept-language",
  "access-control-request-method",
  "authorization",
  "cache-control",
  "content-type",
  "cookie",
  "forwarded",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "origin",
  "range",
  "referer",
  "te",
  "traceparent",
  "tracestate",
  "user-agent",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-http-method-override",
  "x-netfacts-key-id",
  "x-netfacts-proxy-token",
  "x-original-url",
  "x-real-ip",
  "x-request-id",
  "__proto__",
  "constructor",
  "!#$%&'*+-.^_`|~",
];
const headerValues = [
  "",
  "*",
  "*/*",
  "text/html",
  "application/json;q=0",
  "application/json;q=2",
  ";;;",
  ",,,",
  "gzip, br;q=0, *;q=0",
  '"',
  'W/"x", "y',
  "W/",
  "Bearer",
  "Bearer ",
  "Bearer nf_live_",
  "Basic YTpi",
  "Bearer \xff\xfe",
  "null",
  "http://evil.example",
  "1.2.3.4, 5.6.7.8",
  'for="[::1]:80";proto=https',
  "bytes=0-0,-1",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "Thu, 99 Foo 1970",
  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  "00-zz",
  "a=b; c=d",
  "\x7f".replace("\x7f", "~"),
  "\xe9".repeat(40),
  "a".repeat(2_000),
  "%0d%0aX-Injected: 1",
  "trailers",
  "100-continue",
  "../../etc/passwd",
];

export function hostileRequest(random: Random, index: number, key: string): HostileRequest {
  const method = pick(random, methods);
  const lines = [`${method} ${target(random)} HTTP/1.1`, "host: x", `x-request-id: h${index}`];
  if (random(3) > 0) lines.push(`authorization: Bearer ${key}`);
  for (let count = random(4); count > 0; count--) {
    const name = pick(random, headerNames);
    if (name !== "x-request-id" && (name !== "authorization" || random(3) === 0)) lines.push(`${name}: ${pick(random, headerValues)}`);
  }
  return { method, text: `${lines.join("\r\n")}\r\n\r\n` };
}

function target(random: Random): string {
  let path = pick(random, roots);
  for (let count = random(4); count > 0; count--) path += pick(random, pieces) + pick(random, ["", "", "/"]);
  if (random(40) === 0) path = `http://evil.example${path}`;
  const pairs: string[] = [];
  for (let count = random(3); count > 0; count--)
    pairs.push(`${pick(random, parameters)}${pick(random, ["=", "=", "==", ""])}${pick(random, pieces)}`);
  // White space would end the target.
  return (pairs.length === 0 ? path : `${path}?${pairs.join(pick(random, ["&", "&", ";", "&&"]))}`).replaceAll(/[ \t\r\n]/g, "+");
}
