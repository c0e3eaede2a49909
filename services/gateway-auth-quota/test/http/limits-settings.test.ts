/** Settings of limits, as they reach requests. */

import { expect, test } from "@jest/globals";
import { type LimitRepository, StoreError } from "@netfacts/storage";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";

const path = "/api/v1/ip/193.0.6.139";

/** The store of limits goes away when told so. */
function leaving(limits: LimitRepository): { limits: LimitRepository; leave: () => void } {
  let isAway = false;
  const cause = new StoreError("unavailable", "fake", "is away");
  return {
    leave: () => {
      isAway = true;
    },
    limits: {
      take: async (...args) => (isAway ? { outcome: "unknown", cause } : limits.take(...args)),
      giveBack: async (...args) => (isAway ? { outcome: "unknown", cause } : limits.giveBack(...args)),
      recover: async (...args) => (isAway ? { outcome: "unknown", cause } : limits.recover(...args)),
      read: async (window) => (isAway ? Promise.reject(cause) : limits.read(window)),
      time: async () => (isAway ? Promise.reject(cause) : limits.time()),
    },
  };
}

async function statusesWhileAway(debtMax: number): Promise<{ statuses: number[]; harness: Harness }> {
  let leave = (): void => {};
  const harness = await startGateway({
    config: { LIMITS_DEBT_MAX: debtMax },
    storeSeen(store) {
      const line = leaving(store.limits);
      leave = line.leave;
      return { ...store, limits: line.limits };
    },
  });
  // One a day: a window of its own, and blocks of one unit.
  const authorization = `Bearer ${await harness.key({ rate: { limit: 86_400, windowSeconds: 86_400 }, month: { limit: 1_000 } })}`;
  const statuses = [(await harness.request("GET", path, { authorization })).status];
  leave();
  for (let i = 0; i < 8; i++) statuses.push((await harness.request("GET", path, { authorization })).status);
  expectProblem(await harness.request("GET", path, { authorization }), "limits_unavailable");
  return { statuses, harness };
}

test("without debt, requests are refused as soon as the leased units are used up", async () => {
  const { statuses, harness } = await statusesWhileAway(0);
  expect(statuses).toEqual([200, ...Array(8).fill(503)]);
  await harness.stop();
});

test("with debt, so many more are answered; the log and the metrics tell of it", async () => {
  const { statuses, harness } = await statusesWhileAway(5);
  expect(statuses).toEqual([200, ...Array(5).fill(200), ...Array(3).fill(503)]);
  expect(harness.log.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/up to 5 units beyond the leased ones are admitted per key, limit and window/),
  );
  const text = await harness.registry.text();
  expect(text).toMatch(/netfacts_limit_debt_units_total\{[^}]*event="admitted",policy="month"[^}]*\} 5/);
  expect(text).toMatch(/netfacts_usage_unwritten_requests\{[^}]*\} 6/);
  await harness.stop();
});

test("a default bound of requests at a time holds for keys without one of their own", async () => {
  const harness = await startGateway({ config: { DEFAULT_CONCURRENCY_LIMIT: 4 } });
  const { headers } = await harness.get(path);
  expect(headers.ratelimit).toMatch(/, "concurrency";r=3$/);
  const own = `Bearer ${await harness.key({ concurrency: { limit: 9 } })}`;
  expect((await harness.get(path, { authorization: own })).headers["ratelimit-policy"]).toContain('"concurrency";q=9;');
  await harness.stop();
});
