/** Month units for the items of batches: all or nothing, or as many as there are, and back what was not answered. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { admission, LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

test("a batch gets all of its units or none, and the rate is not asked again", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ rate: 1, month: 100 });
  expect(await gate.admit(key, { month: 0 })).toMatchObject({ admitted: true, charge: { month: 0 } });
  expect(await gate.reserveMonth(key, 101)).toMatchObject({ admitted: false, code: "quota_exceeded", violatedPolicies: ["month"] });
  expect(await gate.reserveMonth(key, 60)).toMatchObject({ admitted: true, charge: { month: 60, slot: false } });
  expect(await gate.reserveMonth(key, 41)).toMatchObject({ admitted: false, code: "limits_unavailable" });
  expect(await gate.reserveMonth(key, 101)).toMatchObject({ admitted: false, code: "quota_exceeded" });
  expect(await gate.reserveMonth(key, 40)).toMatchObject({ admitted: true });
  expect(bench.store.leased(key.bucket, "month")).toBe(100);
});

test("what was not answered goes back, and can be reserved again", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ month: 100 });
  const reserved = await gate.reserveMonth(key, 100);
  gate.settle(admission(reserved), 30);
  expect(gate.headers(key)["x-quota-remaining"]).toBe("70");
  expect(await gate.reserveMonth(key, 70)).toMatchObject({ admitted: true });
});

test("what is returned before the end can be reserved again, except for what was marked", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ month: 100 });
  const reserved = admission(await gate.reserveMonth(key, 100));
  gate.keep(reserved, 30);
  expect(gate.returnMonth(reserved, 50)).toBe(50);
  expect(await gate.reserveMonth(key, 50)).toMatchObject({ admitted: true });
  expect(gate.returnMonth(reserved, 50)).toBe(20);
  gate.settle(reserved, 30);
  expect(gate.headers(key)["x-quota-remaining"]).toBe("20");
});

test("a stream's block takes what the month has left when that is fewer, and waits for what may come back when nothing is", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ month: 600 });
  const blocks = [];
  for (let i = 0; i < 4; i++) blocks.push(await gate.reserveMonth(key, 256, 1));
  expect(blocks.map((block) => (block.admitted ? block.charge.month : block.code))).toEqual([256, 256, 88, "limits_unavailable"]);
});

test("blocks of several gateways together are exactly the month", async () => {
  const gates = [bench.limiter(), bench.limiter(), bench.limiter()];
  const key = limitedKey({ month: 5_000 });
  let units = 0;
  const stream = async (gate: (typeof gates)[number]): Promise<void> => {
    for (;;) {
      const block = await gate.reserveMonth(key, 256, 1);
      if (!block.admitted) return;
      const answered = Math.ceil(block.charge.month / 2);
      gate.settle(block, answered);
      units += answered;
    }
  };
  // Twice: what one refunded after another had found nothing is for the next.
  for (let round = 0; round < 2; round++) await Promise.all(gates.map(stream));
  await Promise.all(gates.map((gate) => gate.stop()));
  const last = bench.limiter();
  await stream(last);
  expect(units).toBe(5_000);
});

test("without the store what is here unspent is given, and no more", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ rate: 24_000, month: 100_000 });
  await gate.admit(key, { month: 1 });
  bench.store.mode = "fails";
  expect(await gate.reserveMonth(key, 99)).toMatchObject({ admitted: true, charge: { month: 99 } });
  const refused = await gate.reserveMonth(key, 1);
  expect(refused).toMatchObject({ admitted: false, code: "limits_unavailable", violatedPolicies: [] });
  expect(refused).not.toHaveProperty("isReserved");
});

test("while units of batches may come back the month is not over, and a caller is told to come again soon", async () => {
  const gate = bench.limiter();
  const key = limitedKey({ month: 500 });
  const [first, second] = [await gate.reserveMonth(key, 256, 1), await gate.reserveMonth(key, 256, 1)];
  if (!first.admitted || !second.admitted) throw new Error("refused");
  const soon = { admitted: false, code: "limits_unavailable", retryAfterSeconds: 1, isReserved: true };
  expect(await gate.reserveMonth(key, 256, 1)).toMatchObject(soon);
  expect(await gate.admit(key, { month: 1 })).toMatchObject(soon);
  // All but one item of the second are answered: one unit may come back.
  expect(gate.keep(first, 1_000)).toBe(256);
  expect(gate.keep(second, 243)).toBe(243);
  expect(await gate.admit(key, { month: 1 })).toMatchObject(soon);
  expect(gate.keep(second, 1)).toBe(1);
  bench.pass(250);
  expect(await gate.admit(key, { month: 1 })).toMatchObject({ admitted: false, code: "quota_exceeded" });
  gate.settle(first, 100);
  gate.settle(second, 244);
  expect(await gate.admit(key, { month: 1 })).toMatchObject({ admitted: true });
});

test("while units of batches at another gateway may come back the month is not over here either", async () => {
  const [one, other] = [bench.limiter(), bench.limiter()];
  const key = limitedKey({ month: 500 });
  const soon = { admitted: false, code: "limits_unavailable", retryAfterSeconds: 1, isReserved: true };
  const over = { admitted: false, code: "quota_exceeded" };
  const reserved = await one.reserveMonth(key, 500);
  expect(await other.reserveMonth(key, 100)).toMatchObject(soon);
  expect(await other.admit(key, { month: 1 })).toMatchObject(soon);
  // More than would ever fit.
  expect(await other.reserveMonth(key, 501)).toMatchObject(over);
  one.settle(admission(reserved), 200);
  bench.pass(251);
  await new Promise((resolve) => setImmediate(resolve));
  // A sixteenth of the rest may be held by the first.
  const rest = await other.reserveMonth(key, 280);
  expect(rest).toMatchObject({ admitted: true });
  expect(await one.reserveMonth(key, 50)).toMatchObject(soon);
  // All of them are answered: nothing is told of that, and after a while nothing is believed.
  other.settle(admission(rest), 280);
  bench.pass(10_251);
  expect(await one.reserveMonth(key, 50)).toMatchObject(over);
});
