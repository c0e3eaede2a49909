/** The limiter against a store in memory: what it asks for, when, and what it tells. */

import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { holdMax } from "../../src/domain/limit-windows.ts";
import { createLimiter, type Decision, defaultLimiterSettings, type Limiter, type LimiterSettings } from "../../src/limits/index.ts";
import { FakeLimits } from "../support/limit-stores.ts";
import { admission } from "../support/limited-keys.ts";

let store: FakeLimits;
let monotonicMs: number;
const limiters: Limiter[] = [];

beforeEach(() => {
  store = new FakeLimits();
  monotonicMs = 5_000;
});
afterEach(async () => {
  store.release();
  await Promise.all(limiters.splice(0).map((limiter) => limiter.stop()));
});

/** Time stands still unless a test moves it with `pass`. */
function limiter(settings: Partial<LimiterSettings> = {}): Limiter {
  const made = createLimiter({ store: { limits: store }, clock: { monotonic: () => monotonicMs }, settings });
  limiters.push(made);
  return made;
}

function pass(ms: number): void {
  monotonicMs += ms;
  store.now += ms;
}

function key(rateLimit: number, monthLimit: number, windowSeconds = 60, bucket = "7Q9M3W8K") {
  return { id: bucket, bucket, limits: { rate: { limit: rateLimit, windowSeconds }, month: { limit: monthLimit }, concurrency: null } };
}

async function admitMany(gate: Limiter, of: ReturnType<typeof key>, count: number, month = 1): Promise<Decision[]> {
  const decisions: Decision[] = [];
  for (let i = 0; i < count; i++) decisions.push(await gate.admit(of, { month }));
  return decisions;
}

const admitted = (decisions: Decision[]): number => decisions.filter((decision) => decision.admitted).length;
const takes = (policy: string): string[] => store.calls.filter((call) => call.startsWith(`take ${policy}`));

describe("leases", () => {
  test("no store call is made by a request that a block has units for", async () => {
    const gate = limiter();
    const k = key(24_000, 1_000_000);
    await gate.admit(k, { month: 1 });
    // 400 a second: blocks of 100; the next is fetched when 25 are left.
    const before = [...store.calls];
    expect(before).toEqual(["time", "take rate 100", "take month 100"]);
    await admitMany(gate, k, 73);
    expect(store.calls).toEqual(before);
    await gate.admit(k, { month: 1 });
    expect(store.calls).not.toEqual(before);
  });

  test("the next block is fetched ahead, so that steady requests never wait", async () => {
    const gate = limiter();
    const k = key(24_000, 1_000_000);
    await gate.admit(k, { month: 1 });
    store.hang();
    expect(admitted(await admitMany(gate, k, 99))).toBe(99);
    expect(takes("rate")).toEqual(["take rate 100", "take rate 75"]);
  });

  test("what is held unspent never exceeds the bound of the protocol", async () => {
    const gate = limiter();
    const k = key(60_000, 3_000);
    const perSecond = 1_000;
    for (let spent = 1; spent <= 3_000; spent++) {
      const leasedBefore = store.leased(k.bucket, "month");
      await gate.admit(k, { month: 1 });
      const leased = store.leased(k.bucket, "month");
      const bound = Math.max(1, Math.min(1_024, Math.ceil(perSecond * 0.25), Math.floor((3_000 - Math.min(leasedBefore, leased)) / 16)));
      if (leased > leasedBefore) expect(leased - spent).toBeLessThanOrEqual(bound);
    }
    expect(store.leased(k.bucket, "month")).toBe(3_000);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: false, code: "quota_exceeded" });
  });

  test("requests that wait for one lease share one take", async () => {
    const gate = limiter();
    const k = key(600, 1_000_000);
    const decisions = await Promise.all(Array.from({ length: 50 }, () => gate.admit(k, { month: 1 })));
    expect(admitted(decisions)).toBe(50);
    expect(takes("rate")).toEqual(["take rate 3", "take rate 47"]);
    expect(store.leased(k.bucket, "rate")).toBe(50);
  });

  test("at most one take or return is in flight per bucket and policy", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    store.hang();
    const waiting = Array.from({ length: 40 }, () => gate.admit(k, { month: 1 }));
    await sleep(20);
    expect(takes("rate")).toHaveLength(2);
    store.release();
    expect(admitted(await Promise.all(waiting))).toBe(40);
  });

  test("unspent units go back after a second without a request, once", async () => {
    const gate = limiter({ idleReturnMs: 1_000 });
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    expect([store.leased(k.bucket, "rate"), store.leased(k.bucket, "month")]).toEqual([3, 3]);
    pass(1_001);
    await sleep(600);
    expect([store.leased(k.bucket, "rate"), store.leased(k.bucket, "month")]).toEqual([1, 1]);
    expect(store.calls.filter((call) => call.startsWith("giveBack"))).toEqual(["giveBack rate 2", "giveBack month 2"]);
  });

  test("a return that fails is looked up, and made again as it was not done", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    store.mode = "fails";
    await gate.stop();
    store.mode = "works";
    await gate.stop();
    const once = ["giveBack rate 2", "giveBack month 2"];
    expect(store.calls.filter((call) => call.startsWith("giveBack"))).toEqual([...once, ...once]);
    expect(store.leased(k.bucket, "month")).toBe(1);
  });

  test("a graceful stop leaves exactly what was spent, and admits nothing more", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    await admitMany(gate, k, 10);
    await gate.stop();
    expect([store.leased(k.bucket, "rate"), store.leased(k.bucket, "month")]).toEqual([10, 10]);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: false, code: "limits_unavailable" });
  });
});

describe("decisions", () => {
  test("admits exactly the rate, then names it, with the time to the next window", async () => {
    const gate = limiter();
    const k = key(20, 1_000);
    expect(admitted(await admitMany(gate, k, 20))).toBe(20);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({
      admitted: false,
      code: "rate_limit_exceeded",
      retryAfterSeconds: 37,
      violatedPolicies: ["rate"],
    });
    expect(store.leased(k.bucket, "month")).toBe(20);
  });

  test("an exhausted window is asked again at most every 250 ms", async () => {
    const gate = limiter();
    const k = key(1, 1_000);
    await admitMany(gate, k, 50);
    expect(takes("rate")).toHaveLength(2);
    pass(251);
    await admitMany(gate, k, 50);
    expect(takes("rate")).toHaveLength(3);
  });

  test("gives the rate unit back when the month refuses", async () => {
    const gate = limiter();
    const k = key(600, 5);
    expect(admitted(await admitMany(gate, k, 9))).toBe(5);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ code: "quota_exceeded", violatedPolicies: ["month"] });
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("595");
  });

  test("charges a price whole or not at all, and gives it back whole when the month refuses", async () => {
    const gate = limiter();
    const k = key(600, 3);
    const costly = { month: 1, rate: 30 };
    expect(await gate.admit(k, costly)).toMatchObject({ admitted: true, charge: { rate: 30 } });
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("570");
    for (let i = 0; i < 2; i++) await gate.admit(k, costly);
    expect(await gate.admit(k, costly)).toMatchObject({ admitted: false, code: "quota_exceeded" });
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("510");
    const free = { month: 0, rate: 60 };
    expect(admitted(await Promise.all(Array.from({ length: 20 }, () => gate.admit(k, free))))).toBe(8);
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("30");
    expect(await gate.admit(k, { month: 0, rate: 30 })).toMatchObject({ admitted: true });
    expect(await gate.admit(k, { month: 0, rate: 1 })).toMatchObject({ admitted: false, code: "rate_limit_exceeded" });
  });

  test("units of a price that were given back can be spent again, of an ended window they cannot", async () => {
    const gate = limiter();
    const k = key(50, 1_000);
    const decision = await gate.admit(k, { month: 1, rate: 50 });
    if (!decision.admitted) throw new Error("refused");
    gate.returnRate(decision, 49);
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("49");
    expect(await gate.admit(k, { month: 1, rate: 49 })).toMatchObject({ admitted: true });
    const last = await gate.admit(k, { month: 1, rate: 1 });
    expect(last).toMatchObject({ admitted: false });
    gate.returnRate(decision, 1);
    pass(60_000);
    expect(await gate.admit(k, { month: 1, rate: 50 })).toMatchObject({ admitted: true });
    gate.withdraw(decision);
    expect(gate.headers(k)["x-ratelimit-remaining"]).toBe("0");
  });

  test("a store that has less left than the price is asked at most every 250 ms, and cheap requests go on", async () => {
    const gate = limiter();
    const k = key(40, 1_000);
    await gate.admit(k, { month: 1, rate: 30 });
    for (let i = 0; i < 50; i++) expect(await gate.admit(k, { month: 1, rate: 30 })).toMatchObject({ code: "rate_limit_exceeded" });
    const asked = takes("rate").length;
    expect(asked).toBeLessThanOrEqual(3);
    pass(251);
    for (let i = 0; i < 50; i++) await gate.admit(k, { month: 1, rate: 30 });
    expect(takes("rate").length).toBeLessThanOrEqual(asked + 1);
    expect(admitted(await admitMany(gate, k, 20))).toBe(10);
  });

  test("reserves a batch whole or not at all", async () => {
    const gate = limiter();
    const k = key(600, 100);
    expect(await gate.admit(k, { month: 101 })).toMatchObject({ admitted: false, code: "quota_exceeded" });
    expect(await gate.admit(k, { month: 60 })).toMatchObject({ admitted: true, charge: { month: 60 } });
    expect(await gate.admit(k, { month: 60 })).toMatchObject({ admitted: false, code: "quota_exceeded" });
    expect(await gate.admit(k, { month: 40 })).toMatchObject({ admitted: true });
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: false });
  });

  test("a question that was not answered costs no month", async () => {
    const gate = limiter();
    const k = key(600, 10);
    for (let i = 0; i < 30; i++) {
      gate.settle(admission(await gate.admit(k, { month: 1 })), false);
    }
    expect(gate.headers(k)).toMatchObject({ "x-quota-remaining": "10", "x-ratelimit-remaining": "570" });
  });

  test("refunds what a batch did not use, and returns what it then holds too much", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    const decision = admission(await gate.admit(k, { month: 500 }));
    gate.settle(decision, 100);
    expect(gate.headers(k)["x-quota-remaining"]).toBe("900");
    await sleep(5);
    // A sixteenth of what is left.
    expect(store.leased(k.bucket, "month")).toBeLessThanOrEqual(100 + 900 / 16);
  });

  test("a refund belongs to the window of its admission", async () => {
    const gate = limiter();
    const k = key(600, 10);
    const decision = admission(await gate.admit(k, { month: 5 }));
    pass(31 * 86_400_000);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: true });
    gate.settle(decision, false);
    expect(gate.headers(k)["x-quota-remaining"]).toBe("9");
  });

  test("a request that costs no month takes none, and still knows what is left", async () => {
    const other = limiter();
    const k = key(600, 100);
    await admitMany(other, k, 7);
    await other.stop();
    const gate = limiter();
    expect(await gate.admit(k, { month: 0 })).toMatchObject({ admitted: true, charge: { month: 0 } });
    // A sixty-fourth of such a month is one unit.
    expect(takes("month").length).toBe(7);
    expect(gate.headers(k)["x-quota-remaining"]).toBe("93");
    expect(await gate.peek(k)).toEqual([
      { name: "rate", limit: 600, windowSeconds: 60, used: 8, remaining: 592, resetsInSeconds: 37, resetsAt: Date.UTC(2026, 10, 21, 9, 1) },
      {
        name: "month",
        limit: 100,
        windowSeconds: null,
        used: 7,
        remaining: 93,
        resetsInSeconds: 831_577,
        resetsAt: Date.UTC(2026, 11, 1),
      },
    ]);
  });

  test("tells rate and month in headers", async () => {
    const gate = limiter();
    const k = key(600, 100_000);
    await gate.admit(k, { month: 1 });
    expect(gate.headers(k)).toEqual({
      "ratelimit-policy": '"rate";q=600;w=60, "month";q=100000',
      ratelimit: '"rate";r=599;t=37, "month";r=99999;t=831577',
      "x-ratelimit-limit": "600",
      "x-ratelimit-remaining": "599",
      "x-ratelimit-reset": "37",
      "x-quota-limit": "100000",
      "x-quota-remaining": "99999",
      "x-quota-reset": "831577",
    });
  });

  test("follows a changed limit of the key", async () => {
    const gate = limiter();
    await admitMany(gate, key(600, 5), 6);
    expect(await gate.admit(key(600, 8), { month: 1 })).toMatchObject({ admitted: true });
    expect(gate.headers(key(600, 8))["x-quota-remaining"]).toBe("2");
    expect(await gate.admit(key(600, 3), { month: 2 })).toMatchObject({ code: "quota_exceeded" });
    expect(gate.headers(key(600, 3))["x-quota-remaining"]).toBe("0");
  });

  test.each([
    ["rate", 5, key(15, 1_000_000)],
    ["month", 5, key(240_000, 15)],
    ["month that is spent", 0, key(240_000, 9)],
  ])("units of a block beyond a lowered %s are not spent", async (_, left, lowered) => {
    const gate = limiter();
    await admitMany(gate, key(240_000, 1_000_000), 10);
    expect(admitted(await admitMany(gate, lowered, 30))).toBe(left);
  });

  test("what is told of a key counts what other gateways admitted since", async () => {
    const gates = [limiter(), limiter()] as const;
    const k = key(24_000, 1_000_000);
    await admitMany(gates[0], k, 1);
    await admitMany(gates[1], k, 100);
    await gates[1].stop();
    pass(1_000);
    const used = async () => (await gates[0].peek(k))?.map((standing) => "used" in standing && standing.used);
    expect(await used()).toEqual([101, 101]);
    const calls = [...store.calls];
    expect(await used()).toEqual([101, 101]);
    expect(store.calls).toEqual(calls);
  });

  test("what is told of a key is what its headers say: units that other gateways hold are not used", async () => {
    const gates = [limiter(), limiter()] as const;
    const k = key(24_000, 1_000_000);
    await admitMany(gates[1], k, 1);
    await admitMany(gates[0], k, 1);
    const standings = await gates[0].peek(k);
    expect(standings?.[0]).toMatchObject({ used: 2, remaining: 23_998 });
    const { "x-ratelimit-remaining": rate, "x-quota-remaining": month } = gates[0].headers(k);
    expect(standings?.map(({ remaining }) => `${remaining}`)).toEqual([rate, month]);
  });

  test("a request that began before a change of limits does not undo it", async () => {
    const gate = limiter();
    const before = admission(await gate.admit(key(600, 1_000), { month: 1 }));
    const changed = key(600, 1_000, 30);
    await gate.admit(changed, { month: 1 });
    const calls = [...store.calls];
    gate.keep(before, 1);
    gate.settle(before, true);
    gate.headers(before.key);
    await gate.admit(changed, { month: 1 });
    expect(store.calls).toEqual(calls);
  });

  test("a key and its successor with other limits do not change them by turns", async () => {
    const gate = limiter();
    const old = { ...key(24_000, 1_000_000), rotation: { replacedBy: "AAAAAAAA" } };
    const successor = { ...key(240_000, 100_000, 600), id: "AAAAAAAA" };
    await gate.admit(old, { month: 1 });
    await gate.admit(successor, { month: 1 });
    const calls = [...store.calls];
    for (let i = 0; i < 10; i++) for (const either of [old, successor]) await gate.admit(either, { month: 1 });
    expect(store.calls).toEqual(calls);
    expect(gate.headers(old)["ratelimit-policy"]).toBe('"rate";q=240000;w=600, "month";q=100000');
  });

  test("keeps buckets apart", async () => {
    const gate = limiter();
    expect(admitted(await admitMany(gate, key(2, 100, 60, "AAAAAAAA"), 5))).toBe(2);
    expect(admitted(await admitMany(gate, key(2, 100, 60, "BBBBBBBB"), 5))).toBe(2);
  });
});

describe("the store away", () => {
  test("leased units are used up, then limits are unavailable, then all is well again", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    store.mode = "fails";
    const decisions = await admitMany(gate, k, 4);
    expect(decisions.map((decision) => decision.admitted)).toEqual([true, true, false, false]);
    expect(decisions[2]).toMatchObject({ code: "limits_unavailable", retryAfterSeconds: 1, violatedPolicies: [] });
    store.mode = "works";
    pass(251);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: true });
  });

  test("an unknown take is looked up no sooner than 250 ms later, and nothing is taken before that tells", async () => {
    const gate = limiter();
    const k = key(24_000, 1_000_000);
    await admitMany(gate, k, 1);
    store.mode = "fails";
    await admitMany(gate, k, 200);
    const failed = takes("rate").length;
    await admitMany(gate, k, 50);
    expect(takes("rate")).toHaveLength(failed);
    pass(251);
    await gate.admit(k, { month: 1 });
    expect(takes("rate")).toHaveLength(failed);
    expect(store.calls.at(-1)).toBe("recover rate");
    store.mode = "works";
    pass(251);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: true });
    expect(takes("rate").at(-1)).toBe("take rate 1");
  });

  test("a request waits 250 ms and no longer for a store that hangs", async () => {
    const gate = limiter();
    store.hang();
    const started = performance.now();
    const ran = startRunningTime();
    expect(await gate.admit(key(600, 1_000), { month: 1 })).toMatchObject({ code: "limits_unavailable" });
    expect(performance.now() - started).toBeGreaterThan(200);
    expect(ran()).toBeLessThan(2_500);
  });

  test("the first request of a key waits for rate and month at the same time", async () => {
    const gate = limiter();
    await gate.admit(key(600, 1_000, 60, "0OTHER00"), { month: 1 });
    store.calls.length = 0;
    store.hang();
    const first = gate.admit(key(600, 1_000), { month: 1 });
    await sleep(5);
    expect(store.calls).toEqual(["take rate 3", "take month 3"]);
    store.release();
    expect(await first).toMatchObject({ admitted: true });
    expect(store.calls).toHaveLength(2);
  });

  test("a gateway that has learnt the time asks for units only", async () => {
    const gate = limiter();
    await gate.learnTime();
    store.calls.length = 0;
    expect(await gate.admit(key(600, 1_000), { month: 1 })).toMatchObject({ admitted: true });
    expect(store.calls).toEqual(["take rate 3", "take month 3"]);
  });

  test("the time is not waited for longer than units are, where the store is silent", async () => {
    const gate = limiter({ waitMs: 20 });
    store.hang();
    await gate.learnTime();
    store.release();
    expect(await gate.admit(key(600, 1_000), { month: 1 })).toMatchObject({ admitted: true });
  });

  test("a reply that is there is taken, however late the event loop gets to it", async () => {
    // So long that no pause of a busy machine reaches it before the reply is sent.
    const gate = limiter({ waitMs: 300 });
    // The first one learns the time too.
    for (const bucket of ["01FIRST0", "0SECOND0"]) {
      const { port1, port2 } = new MessageChannel();
      store.hang();
      port2.once("message", () => {
        store.release();
        port2.close();
      });
      const calls = store.calls.length;
      const waiting = gate.admit(key(600, 1_000, 60, bucket), { month: 1 });
      // To where requests are handled: timers come next, before what arrived is read.
      do await setImmediate();
      while (store.calls.length === calls);
      port1.postMessage("reply");
      for (const since = performance.now(); performance.now() - since < 350; );
      expect(await waiting).toMatchObject({ admitted: true });
    }
  });

  test("no more requests wait than may", async () => {
    const gate = limiter({ waitersMax: 3 });
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    await admitMany(gate, k, 2);
    store.hang();
    const waiting = Array.from({ length: 10 }, () => gate.admit(k, { month: 1 }));
    await sleep(10);
    store.release();
    expect(admitted(await Promise.all(waiting))).toBe(3);
  });

  test("units of a take that came too late for its request serve the next", async () => {
    const gate = limiter({ waitMs: 20 });
    const k = key(600, 1_000);
    await gate.admit(k, { month: 1 });
    await admitMany(gate, k, 2);
    store.hang();
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ code: "limits_unavailable" });
    store.release();
    await sleep(5);
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ admitted: true });
    expect(store.leased(k.bucket, "rate")).toBe(6);
  });

  test("leaves out of the headers what it never saw, and tells nothing for /me", async () => {
    const gate = limiter();
    const k = key(600, 1_000);
    store.mode = "fails";
    expect(await gate.admit(k, { month: 1 })).toMatchObject({ code: "limits_unavailable" });
    expect(gate.headers(k)).toEqual({
      "ratelimit-policy": '"rate";q=600;w=60, "month";q=1000',
      "x-ratelimit-limit": "600",
      "x-quota-limit": "1000",
    });
    expect(await gate.peek(k)).toBeNull();
  });
});

describe("time", () => {
  test("a new rate window brings the whole rate again; the month goes on", async () => {
    const gate = limiter();
    const k = key(5, 100);
    expect(admitted(await admitMany(gate, k, 9))).toBe(5);
    pass(37_000);
    expect(admitted(await admitMany(gate, k, 9))).toBe(5);
    expect(gate.headers(k)).toMatchObject({ "x-quota-remaining": "90", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "60" });
  });

  test("the month ends at midnight UTC of the first, by the store's clock", async () => {
    store.now = Date.UTC(2026, 11, 31, 23, 59, 59, 500);
    const gate = limiter();
    const k = key(600, 3);
    expect(admitted(await admitMany(gate, k, 5))).toBe(3);
    expect(gate.headers(k)["x-quota-reset"]).toBe("1");
    pass(500);
    expect(admitted(await admitMany(gate, k, 5))).toBe(3);
    expect(gate.headers(k)["x-quota-reset"]).toBe(`${31 * 86_400}`);
    expect([...store.counters.keys()].filter((id) => id.includes("month"))).toEqual([
      `7Q9M3W8K:month:${Date.UTC(2026, 11, 1) / 1_000}`,
      `7Q9M3W8K:month:${Date.UTC(2027, 0, 1) / 1_000}`,
    ]);
  });

  test("this machine's wall clock does not matter", async () => {
    const wall = Date.now;
    try {
      const gate = limiter();
      const k = key(5, 100);
      expect(admitted(await admitMany(gate, k, 3))).toBe(3);
      Date.now = () => wall() + 86_400_000;
      expect(admitted(await admitMany(gate, k, 9))).toBe(2);
      Date.now = () => 0;
      expect(admitted(await admitMany(gate, k, 9))).toBe(0);
    } finally {
      Date.now = wall;
    }
  });

  test("a store whose clock is set is followed from its next reply on", async () => {
    const gate = limiter();
    const k = key(600, 100);
    await admitMany(gate, k, 3);
    store.now += 3 * 3_600_000;
    await admitMany(gate, k, 9);
    expect(store.counters.get(`7Q9M3W8K:rate:${Date.UTC(2026, 10, 21, 12) / 1_000}`)).toBeGreaterThan(0);
    expect(gate.headers(k)["x-ratelimit-reset"]).toBe("37");
  });
});

test("a block of a gateway without a pace is a quarter of a second, at most 4,096, at most a sixteenth of what is left, at least one", () => {
  const policy = (perSecond: number) => ({ limit: 100_000, windowSeconds: 60, perSecond });
  const hold = (perSecond: number, leased: number): number => holdMax(policy(perSecond), leased, defaultLimiterSettings, 0);
  expect([hold(10, 0), hold(0.01, 0), hold(100_000, 0), hold(10, 99_990), hold(400, 99_000), hold(10, 100_000)]).toEqual([
    3, 1, 4_096, 1, 62, 1,
  ]);
});

test("a block of a gateway with a pace lasts for 15 seconds of the gateway's own pace, within the same bounds", () => {
  const policy = { limit: 100_000, windowSeconds: 60, perSecond: 1_000 };
  const hold = (pace: number, leased: number): number => holdMax(policy, leased, defaultLimiterSettings, pace);
  expect([hold(0, 0), hold(10, 0), hold(100, 0), hold(10_000, 0), hold(100, 90_000), hold(100, 100_000)]).toEqual([
    250, 250, 1_500, 4_096, 625, 1,
  ]);
});

test("a block of a month is at most a sixty-fourth of what is left, as nothing of a killed gateway comes back for weeks", () => {
  const policy = { limit: 100_000, windowSeconds: null, perSecond: 1_000 };
  const hold = (leased: number): number => holdMax(policy, leased, defaultLimiterSettings, 1_000);
  expect([hold(0), hold(90_000), hold(99_950)]).toEqual([1_562, 156, 1]);
});
