/** What requests cost of the rate limit: told in a header, charged once, and given back where nothing was had for it. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { problemReply } from "@netfacts/messaging";
import { exampleReply, type Harness, type HttpAnswer, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterEach(() => harness.answers.clear());
afterAll(() => harness.stop());

const costly = "/api/v1/prefix/0.0.0.0/0?limit=1000";

/** Limits that nothing else uses, in a window that does not end meanwhile. */
async function keyOf(rate: number, month = 1_000): Promise<{ authorization: string }> {
  const scopes = ["ip", "routing", "asn", "prefix", "batch"] as const;
  const secret = await harness.key({ rate: { limit: rate, windowSeconds: 86_400 }, month: { limit: month }, scopes: [...scopes] });
  return { authorization: `Bearer ${secret}` };
}

/** What it cost, and what is left of rate and month. */
function told({ headers }: HttpAnswer): unknown[] {
  return ["x-request-cost", "x-ratelimit-remaining", "x-quota-remaining"].map((name) => Number(headers[name]));
}

test("an answer says what it cost of the rate; of the month each costs one unit", async () => {
  const key = await keyOf(100);
  const ask = async (url: string) => told(await harness.request("GET", url, key));
  expect(await ask("/api/v1/ip/193.0.6.139")).toEqual([1, 99, 999]);
  expect(await ask("/api/v1/asn/AS3333?limit=250")).toEqual([3, 96, 998]);
  expect(await ask("/api/v1/routing/193.0.6.139?include=more_specifics&limit=1000")).toEqual([10, 86, 997]);
  expect(await ask("/api/v1/prefix/193.0.0.0/21?limit=1000")).toEqual([1, 85, 996]);
  expect(await ask(costly)).toEqual([30, 55, 995]);
  expect(await ask("/api/v1/me")).toEqual([1, 54, 995]);
  expect(told(await harness.request("HEAD", costly, key))).toEqual([30, 24, 994]);
});

test("a costly request is refused when less than its price is left, and a cheap one is answered", async () => {
  const key = await keyOf(50);
  expect((await harness.request("GET", costly, key)).status).toBe(200);
  const refused = await harness.request("GET", costly, key);
  expect(expectProblem(refused, "rate_limit_exceeded")).toMatchObject({ "violated-policies": ["rate"] });
  expect(told(refused)).toEqual([30, 20, 999]);
  expect(told(await harness.request("GET", "/api/v1/ip/193.0.6.139", key))).toEqual([1, 19, 998]);
});

test("what costs more than a whole window is a problem of its own, which no waiting mends, and costs nothing", async () => {
  const key = await keyOf(29);
  const refused = await harness.request("GET", costly, key);
  const problem = expectProblem(refused, "cost_exceeds_limit");
  expect(problem.detail).toBe("The request costs 30 units, and the rate limit of the key is 29 units per 86400 s.");
  expect(problem.retry_after_seconds).toBeUndefined();
  expect(refused.headers["retry-after"]).toBeUndefined();
  expect(told(await harness.request("GET", "/api/v1/ip/193.0.6.139", key))).toEqual([1, 28, 999]);
});

test("a question that cannot be read costs one unit", async () => {
  const key = await keyOf(100);
  const refused = await harness.request("GET", "/api/v1/prefix/0.0.0.0/0?limit=1000&limit=1000", key);
  expectProblem(refused, "invalid_parameter");
  expect(told(refused)).toEqual([1, 99, 1_000]);
});

test("a key without the scope pays one unit", async () => {
  const secret = await harness.key({ rate: { limit: 100, windowSeconds: 86_400 }, scopes: ["ip"] });
  const refused = await harness.request("GET", costly, { authorization: `Bearer ${secret}` });
  expectProblem(refused, "insufficient_scope");
  expect(told(refused).slice(0, 2)).toEqual([1, 99]);
});

test("a 304 to a tag costs the rate its price, as the service has worked, and no month", async () => {
  const key = await keyOf(100);
  const first = await harness.request("GET", costly, key);
  const again = await harness.request("GET", costly, { ...key, "if-none-match": first.headers.etag as string });
  expect(again.status).toBe(304);
  expect(told(again)).toEqual([30, 40, 999]);
});

test("a failure of ours costs one unit, and no month", async () => {
  const key = await keyOf(100);
  harness.answers.set("prefix", () => problemReply({ code: "upstream_error" }));
  const failed = await harness.request("GET", costly, key);
  expectProblem(failed, "upstream_error");
  expect(told(failed)).toEqual([1, 99, 1_000]);
  harness.answers.set("prefix", () => problemReply({ code: "cursor_expired" }));
  expect(told(await harness.request("GET", costly, key))).toEqual([30, 69, 1_000]);
});

test("a month that is used up gives the whole price back", async () => {
  const key = await keyOf(100, 1);
  await harness.request("GET", "/api/v1/ip/193.0.6.139", key);
  const refused = await harness.request("GET", costly, key);
  expectProblem(refused, "quota_exceeded");
  expect(told(refused)).toEqual([30, 99, 0]);
});

test("many costly requests at once are admitted as far as the limit goes, and no further", async () => {
  const key = await keyOf(100);
  harness.answers.set("prefix", async () => exampleReply("prefix"));
  const answers = await Promise.all(Array.from({ length: 20 }, () => harness.request("GET", costly, key)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(17);
});
