/** What callers are told remains, at gateways that are asked in any order: it falls, and where it rises, by little. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

/** Five times the rate, within one window. @returns the largest rise between answers, and how many were admitted, in all and after the first refusal. */
async function rises(gateways: number, limit: number): Promise<{ rise: number; admissions: number; late: number }> {
  const gates = Array.from({ length: gateways }, () => bench.limiter());
  const key = limitedKey({ rate: limit, windowSeconds: 60, month: 1_000_000 });
  let rise = 0;
  let before = limit;
  let admissions = 0;
  let late = 0;
  let chosen = 6_585;
  for (let i = 0; i < limit * 1.2; i++) {
    // Any of them, the same each time: a step of a linear congruential generator.
    chosen = (chosen * 1_103_515_245 + 12_345) % 2_147_483_648;
    const gate = gates[Math.floor((chosen / 2_147_483_648) * gateways)] as (typeof gates)[0];
    const decision = await gate.admit(key, { month: 1 });
    if (decision.admitted) {
      gate.settle(decision, true);
      admissions += 1;
    }
    if (decision.admitted && admissions < i + 1) late += 1;
    const remaining = Number(gate.headers(key)["x-ratelimit-remaining"]);
    // A gateway knows the pace of the others once it has read the counter a few times.
    if (i >= gateways * 8) rise = Math.max(rise, remaining - before);
    before = remaining;
    bench.pass(12_000 / limit);
  }
  return { rise, admissions, late };
}

test.each([
  [1, 0, 0],
  [2, 14, 3],
  [4, 22, 9],
  [8, 40, 14],
])(
  "with %i gateways the remainder of a limit of 600 rises by at most %i between answers, and at most %i of 600 come after a refusal",
  async (gateways, most, lateMax) => {
    const { rise, admissions, late } = await rises(gateways, 600);
    console.log(`${gateways} gateways: it rose by up to ${rise}; ${admissions} were admitted, ${late} of them after the first refusal`);
    expect(admissions).toBeLessThanOrEqual(600);
    expect(rise).toBeLessThanOrEqual(most);
    expect(late).toBeLessThanOrEqual(lateMax);
  },
);

test("with 8 gateways no more than a larger limit is admitted, the remainder rises by little, and few come after a refusal", async () => {
  const limit = 2_400;
  const { rise, admissions, late } = await rises(8, limit);
  console.log(
    `8 gateways, a limit of ${limit}: it rose by up to ${rise}; ${admissions} were admitted, ${late} of them after the first refusal`,
  );
  expect(admissions).toBeLessThanOrEqual(limit);
  expect(rise).toBeLessThanOrEqual(limit / 30);
  expect(late).toBeLessThanOrEqual(8);
});
