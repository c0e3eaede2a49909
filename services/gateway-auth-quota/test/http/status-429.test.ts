/** 429: limits that are used up, and keys that fail too often. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway({ config: { FAILED_KEYS_MAX: 3, TRUSTED_PROXIES: ["127.0.0.1"] } });
});
afterAll(() => harness.stop());

const url = "/api/v1/ip/193.0.6.139";

/** Asks until the answer is not 200, at most `max` times. */
async function exhaust(authorization: string, max: number) {
  for (let i = 0; i < max; i++) expect((await harness.request("GET", url, { authorization })).status).toBe(200);
  return harness.request("GET", url, { authorization });
}

/** Two readings of one end, taken one after the other: a second may begin in between. */
function expectSameSecond(first: string | undefined, second: string | undefined): void {
  expect(Math.abs(Number(first) - Number(second))).toBeLessThanOrEqual(1);
}

provokes("rate_limit_exceeded", "when the window is used up", async () => {
  const authorization = `Bearer ${await harness.key({ rate: { limit: 3, windowSeconds: 3_600 } })}`;
  const answer = await exhaust(authorization, 3);
  expect(JSON.parse(answer.body)).toMatchObject({ "violated-policies": ["rate"] });
  expect(answer.headers["x-ratelimit-remaining"]).toBe("0");
  expectSameSecond(answer.headers["retry-after"], answer.headers["x-ratelimit-reset"]);
  return answer;
});

provokes("quota_exceeded", "when the month is used up, and the rate is given back", async () => {
  const authorization = `Bearer ${await harness.key({ rate: { limit: 100, windowSeconds: 3_600 }, month: { limit: 3 } })}`;
  const answer = await exhaust(authorization, 3);
  expect(JSON.parse(answer.body)).toMatchObject({ "violated-policies": ["month"] });
  expect(answer.headers).toMatchObject({ "x-quota-remaining": "0", "x-ratelimit-remaining": "97" });
  expectSameSecond(answer.headers["retry-after"], answer.headers["x-quota-reset"]);
  return answer;
});

test("what costs no month is still answered when the month is used up", async () => {
  const authorization = `Bearer ${await harness.key({ month: { limit: 1 } })}`;
  expectProblem(await exhaust(authorization, 1), "quota_exceeded");
  expect((await harness.request("GET", "/api/v1/me", { authorization })).status).toBe(200);
});

provokes("rate_limit_exceeded", "also by requests that are refused", async () => {
  const authorization = `Bearer ${await harness.key({ rate: { limit: 2, windowSeconds: 3_600 } })}`;
  await harness.request("GET", "/api/v1/nowhere", { authorization });
  await harness.request("GET", "/api/v1/ip/nonsense", { authorization });
  return harness.request("GET", url, { authorization });
});

provokes("too_many_failed_keys", "from one address, which shuts out no valid key", async () => {
  const from = { "x-forwarded-for": "203.0.113.9" };
  const guess = () => harness.request("GET", url, { ...from, authorization: `Bearer ${generateKeyText("live").text}` });
  for (let i = 0; i < 3; i++) expectProblem(await guess(), "invalid_api_key");
  const authorization = `Bearer ${await harness.key()}`;
  expect((await harness.request("GET", url, { ...from, authorization })).status).toBe(200);
  return guess();
});
