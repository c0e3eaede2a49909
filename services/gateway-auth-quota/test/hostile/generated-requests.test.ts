/**
 * Generated requests with hostile paths, queries and headers: refused as our problems, never a failure of ours, and nothing internal shown. HOSTILE_REQUESTS=1000000 asks more.
 *
 * @large It sends thousands of requests.
 */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { problemCodes } from "@netfacts/contracts";
import { seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { type Harness, startGateway } from "../support/gateway.ts";
import { type RawAnswer, RawConnection } from "./connection.ts";
import { type HostileRequest, hostileRequest } from "./requests.ts";

const requests = Number(process.env.HOSTILE_REQUESTS ?? runs(50_000));
const connections = 8;
const bodyCharsMax = 4_096;

/** Every header that an answer may have: one that a caller smuggled in would be another. */
const headersKnown = new Set([
  "access-control-allow-methods",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "access-control-max-age",
  "allow",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-security-policy",
  "content-type",
  "cross-origin-resource-policy",
  "date",
  "deprecation",
  "etag",
  "keep-alive",
  "last-modified",
  "link",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "referrer-policy",
  "retry-after",
  "server-timing",
  "strict-transport-security",
  "sunset",
  "transfer-encoding",
  "vary",
  "www-authenticate",
  "x-content-type-options",
  "x-frame-options",
  "x-quota-limit",
  "x-quota-remaining",
  "x-quota-reset",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-cost",
  "x-request-id",
]);
/** Places in code, words of the run time, text of keys. */
const internal = /node_modules|\/src\/|\.ts\b|\bat \w+ \(|TypeError|RangeError|ECONN|SQLITE|Mongo|\[object|nf_live_\w{9}/;

let harness: Harness;
let url: string;
let key: string;
beforeAll(async () => {
  harness = await startGateway({ config: { FAILED_KEYS_MAX: 100_000_000, KEY_TRIES_MAX: 100_000_000 } });
  url = await harness.gateway.listen();
  key = await harness.key({ rate: { limit: 100_000_000, windowSeconds: 60 }, month: { limit: 100_000_000 } });
});
afterAll(() => harness.stop());

/** What is wrong with an answer; null: nothing. */
function faultOf({ method }: HostileRequest, index: number, { status, headers, body }: RawAnswer): string | null {
  const isKnown = [200, 204, 302, 304].includes(status) || (status >= 400 && status < 500);
  if (!isKnown) return `status ${status}`;
  // Nobody is sent elsewhere.
  if (status === 302 && headers.get("location") !== "/docs") return `leads to ${headers.get("location")}`;
  for (const [name, value] of headers) {
    if (!headersKnown.has(name)) return `header ${name}: ${value}`;
    if (/[^ -~]/.test(value)) return `header ${name} holds ${JSON.stringify(value)}`;
  }
  // One that the parser refused has no request whose id could be told.
  const told = headers.get("x-request-id");
  if (told !== `h${index}` && !(status === 400 && headers.get("connection") === "close")) return `answers request ${told}`;
  if (status < 400 || method === "HEAD") return null;
  if (!headers.get("content-type")?.startsWith("application/problem+json")) return `a refusal as ${headers.get("content-type")}`;
  if (body.length > bodyCharsMax) return `a refusal of ${body.length} characters`;
  if (internal.test(body)) return "something internal";
  const problem = JSON.parse(body) as { code: string; status: number };
  if (problem.status !== status || !(problemCodes as readonly string[]).includes(problem.code)) return "a problem that is none of ours";
  return null;
}

test(
  `${requests} requests are answered or refused, each with its own answer`,
  async () => {
    const random = seeded(seed(9112));
    const byStatus = new Map<number, number>();
    let sent = 0;
    const ask = async () => {
      const connection = new RawConnection(url);
      while (sent < requests) {
        const index = sent++;
        const request = hostileRequest(random, index, key);
        const answer = await connection.ask(request.method, request.text);
        const fault = faultOf(request, index, answer);
        if (fault !== null) throw new Error(`request ${index}: ${fault}\n${JSON.stringify(request.text)}\n${answer.body.slice(0, 2_000)}`);
        byStatus.set(answer.status, (byStatus.get(answer.status) ?? 0) + 1);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, ask));
    // They come as far as to be answered, and to each kind of refusal (406 is one in thousands).
    expect([200, 400, 401, 404, 405].filter((status) => !byStatus.has(status))).toEqual([]);
    expect(byStatus.get(200)).toBeGreaterThan(requests / 100);
    expect([...byStatus.values()].reduce((sum, count) => sum + count, 0)).toBe(requests);
    expect(harness.log.filter(({ level }) => level === "error")).toEqual([]);
  },
  Math.max(60_000, requests),
);
