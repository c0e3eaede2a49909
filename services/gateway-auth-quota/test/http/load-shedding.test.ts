/** Load shedding: what is taken is answered in time, what cannot be is refused at once; one slow service takes nothing from the others. */

import { afterEach, describe, expect, test } from "@jest/globals";
import type { ReplyItem } from "@netfacts/messaging";
import { exampleReply, type GatewayOptions, type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

const url = "/api/v1/ip/193.0.6.139";

let harness: Harness;
afterEach(() => harness.stop());

async function start(config: NonNullable<GatewayOptions["config"]>): Promise<Harness> {
  harness = await startGateway({ config });
  return harness;
}

describe("more than is answered in time", () => {
  const inFlightMax = 8;
  const callers = 200;
  const each = 10;

  test("an admitted request waits no longer than the bound, and the others are told at once when to come again", async () => {
    await start({ SHED_IN_FLIGHT_MAX: inFlightMax, DEFAULT_RATE_LIMIT: 1_000_000, LOOKUP_BUDGET_MS: 60_000 });
    // A service that answers one question at a time, each in a turn of the event loop: time is counted in answers.
    const waiting: { askedAt: number; answer: (reply: ReplyItem) => void }[] = [];
    let answered = 0;
    let most = 0;
    const turns: number[] = [];
    let working = false;
    const work = () => {
      const next = waiting.shift();
      if (next === undefined) {
        working = false;
        return;
      }
      answered += 1;
      turns.push(answered - next.askedAt);
      next.answer(exampleReply("ip"));
      setTimeout(work, 1);
    };
    harness.answers.set("ip", () => {
      most = Math.max(most, waiting.length + 1);
      return new Promise((answer) => {
        waiting.push({ askedAt: answered, answer });
        if (working) return;
        working = true;
        setTimeout(work, 1);
      });
    });

    await harness.get("/api/v1/me");
    const answers = (await Promise.all(Array.from({ length: callers }, async () => await series(each, () => harness.get(url))))).flat();
    const refused = answers.filter(({ status }) => status === 503);
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length + refused.length).toBe(callers * each);
    expect(taken.length).toBe(turns.length);
    expect(taken.length).toBeGreaterThan(inFlightMax);
    expect(refused.length).toBeGreaterThan(callers / 2);
    for (const answer of refused.slice(0, 5)) {
      const problem = expectProblem(answer, "temporarily_overloaded");
      expect(problem.retry_after_seconds).toBeGreaterThan(0);
    }
    // Without the bound the last of 200 would have waited for 199 others.
    expect(most).toBeLessThanOrEqual(inFlightMax);
    expect(Math.max(...turns)).toBeLessThanOrEqual(inFlightMax);
  });

  provokes("temporarily_overloaded", "before key and limits are looked at, which costs nothing", async () => {
    // No window of the rate ends in between.
    await start({ SHED_IN_FLIGHT_MAX: 1, DEFAULT_RATE_WINDOW_SECONDS: 86_400 });
    const held = hold(harness, "ip");
    const first = harness.get(url);
    await held.asked;
    const refused = await harness.get(url);
    expect(refused.headers.ratelimit).toBeUndefined();
    held.release();
    expect((await first).status).toBe(200);
    expect((await harness.get(url)).headers["x-ratelimit-remaining"]).toBe("598");
    return refused;
  });
});

test("a service that does not answer takes no room from the others, nor from /me and /status", async () => {
  await start({ SHED_IN_FLIGHT_MAX: 2 });
  const held = hold(harness, "reverse_dns");
  const slow = [harness.get("/api/v1/reverse-dns/193.0.6.139"), harness.get("/api/v1/reverse-dns/193.0.6.140")];
  await held.asked;
  expect((await harness.get("/api/v1/reverse-dns/193.0.6.141")).status).toBe(503);
  for (const path of [url, "/api/v1/asn/3333", "/api/v1/me", "/api/v1/status"])
    expect([path, (await harness.get(path)).status]).toEqual([path, 200]);
  held.release();
  expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await harness.get("/api/v1/reverse-dns/193.0.6.141")).status).toBe(200);
});

test("a key leaves the last quarter of the places to other keys", async () => {
  await start({ SHED_IN_FLIGHT_MAX: 8 });
  const held = hold(harness, "ip");
  const greedy = Array.from({ length: 8 }, () => harness.get(url));
  await held.asked;
  // Two of the eight are refused.
  await Promise.race(greedy.map(async (each) => (await each).status === 503 || new Promise(() => {})));
  const other = { authorization: `Bearer ${await harness.key()}` };
  const polite = [harness.get(url, other), harness.get(url, other)];
  await new Promise((resolve) => setTimeout(resolve, 50));
  held.release();
  expect((await Promise.all(greedy)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 503, 503]);
  expect((await Promise.all(polite)).map(({ status }) => status)).toEqual([200, 200]);
});

test("a request that fails, or is refused otherwise, makes room again", async () => {
  await start({ SHED_IN_FLIGHT_MAX: 1 });
  harness.answers.set("ip", () => {
    throw new Error("on purpose");
  });
  for (const path of [url, "/api/v1/ip/nonsense", url]) await harness.get(path);
  await harness.request("GET", url);
  harness.answers.delete("ip");
  expect((await harness.get(url)).status).toBe(200);
});

test("a process that is late for long refuses questions, and takes them again when it is not", async () => {
  const loopDelayMs = 40;
  await start({ SHED_LOOP_DELAY_MS: loopDelayMs });
  await harness.gateway.listen();
  const taken = () =>
    until(
      () => harness.get(url),
      ({ status }) => status === 200,
    );
  // A busy machine may make it late before that.
  expect((await taken()).status).toBe(200);
  let busy = true;
  const burn = () => {
    const until = performance.now() + 3 * loopDelayMs + 100;
    while (performance.now() < until);
    if (busy) setTimeout(burn, 0);
  };
  burn();
  const refused = await until(
    () => harness.get(url),
    ({ status }) => status === 503,
  );
  busy = false;
  expectProblem(refused, "temporarily_overloaded");
  expect((await taken()).status).toBe(200);
});

/** Keeps the questions of an operation unanswered; `asked` when the first has come. */
function hold(to: Harness, op: "ip" | "reverse_dns") {
  const answers: (() => void)[] = [];
  let first = () => {};
  const asked = new Promise<void>((resolve) => {
    first = resolve;
  });
  let open = false;
  to.answers.set(op, () => {
    if (open) return exampleReply(op);
    first();
    return new Promise((done) => answers.push(() => done(exampleReply(op))));
  });
  const release = () => {
    open = true;
    for (const answer of answers) answer();
  };
  return { asked, release };
}

async function series<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let index = 0; index < count; index++) results.push(await act());
  return results;
}

async function until<T>(act: () => Promise<T>, is: (result: T) => boolean): Promise<T> {
  const end = performance.now() + 20_000;
  for (;;) {
    const result = await act();
    if (is(result) || performance.now() > end) return result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
