/** How many requests of a key are under way at a time. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { admission, LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

test("admits as many as may be under way; the next costs nothing and may come when one has ended", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ concurrency: 2 });
  const first = admission(await gate.admit(key, { month: 1 }));
  await gate.admit(key, { month: 1 });
  const leased = bench.store.leased(key.bucket, "rate");
  expect(await gate.admit(key, { month: 1 })).toEqual({
    admitted: false,
    key,
    code: "concurrency_limit_exceeded",
    retryAfterSeconds: 1,
    violatedPolicies: ["concurrency"],
  });
  expect(bench.store.leased(key.bucket, "rate")).toBe(leased);
  expect(gate.headers(key)).toMatchObject({
    "ratelimit-policy": '"rate";q=600;w=60, "month";q=1000, "concurrency";q=2;qu="concurrent-requests"',
    ratelimit: expect.stringMatching(/^"rate";r=598;t=37, "month";r=998;t=\d+, "concurrency";r=0$/),
  });
  gate.settle(first, true);
  gate.release(first);
  expect(gate.headers(key).ratelimit).toMatch(/"concurrency";r=1$/);
  expect(await gate.admit(key, { month: 1 })).toMatchObject({ admitted: true });
});

test.each([
  { rate: 3, month: 1, refusal: "quota_exceeded" },
  { rate: 1, month: 3, refusal: "rate_limit_exceeded" },
])("a request that rate or month refuses is not under way: $refusal", async ({ refusal, ...limits }) => {
  const gate = bench.limiter();
  const key = limitedKey({ concurrency: 2, ...limits });
  const codes = [];
  for (let i = 0; i < 4; i++) {
    const decision = await gate.admit(key, { month: 1 });
    codes.push(decision.admitted ? "admitted" : decision.code);
  }
  expect(codes).toEqual(["admitted", refusal, refusal, refusal]);
  expect((await gate.peek(key))?.at(-1)).toEqual({ name: "concurrency", limit: 2, used: 1, remaining: 1 });
});

test("requests that wait for a lease are under way", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ concurrency: 3 });
  bench.store.hang();
  const waiting = Array.from({ length: 5 }, () => gate.admit(key, { month: 1 }));
  bench.store.release();
  const codes = (await Promise.all(waiting)).map((decision) => (decision.admitted ? "admitted" : decision.code));
  expect(codes).toEqual(["admitted", "admitted", "admitted", "concurrency_limit_exceeded", "concurrency_limit_exceeded"]);
});

test("a bound that is set, changed or lifted while requests are under way counts those that it admitted", async () => {
  const gate = bench.limiter();
  const free = admission(await gate.admit(limitedKey({}), { month: 1 }));
  const bound = limitedKey({ concurrency: 1 });
  const one = admission(await gate.admit(bound, { month: 1 }));
  expect([free.charge.slot, one.charge.slot]).toEqual([false, true]);
  expect(await gate.admit(bound, { month: 1 })).toMatchObject({ code: "concurrency_limit_exceeded" });
  const two = admission(await gate.admit(limitedKey({ concurrency: 2 }), { month: 1 }));
  gate.release(free);
  gate.release(one);
  gate.release(two);
  expect((await gate.peek(limitedKey({ concurrency: 1 })))?.at(-1)).toMatchObject({ used: 0, remaining: 1 });
});

test("every policy that refuses is named, and the wait is for the last of them", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ rate: 2, month: 2 });
  for (let i = 0; i < 2; i++) await gate.admit(key, { month: 1 });
  expect(await gate.admit(key, { month: 1 })).toMatchObject({
    code: "rate_limit_exceeded",
    violatedPolicies: ["rate", "month"],
    retryAfterSeconds: 831_577,
  });
  expect(await gate.admit(key, { month: 0 })).toMatchObject({ violatedPolicies: ["rate"], retryAfterSeconds: 37 });
});
