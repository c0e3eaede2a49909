/** Batches at services that have too little processor time, on a clock of the test. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { ProblemError } from "@netfacts/contracts";
import { AskGate } from "../../src/lookups/batch/ask-gate.ts";
import { AskWindow } from "../../src/lookups/batch/ask-window.ts";
import { BatchAsker, type BatchAskerOptions, type Outcome } from "../../src/lookups/batch/asker.ts";
import { exampleReply } from "../support/gateway.ts";

const budgetMs = 5_000;
let now: number;
beforeEach(() => {
  now = 1_000;
  jest.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Asked {
  readonly caller: string;
  readonly endsAt: number;
  readonly done: (outcome: Outcome) => void;
}

/** A service that answers one question after the other, callers in turns, and none whose time is over. */
class SlowService {
  readonly #msOf: (caller: string) => number;
  readonly #queue: Asked[] = [];
  #last = "";
  readonly #inHand = new Map<string, number>();
  readonly dispatcher: BatchAskerOptions["dispatcher"] = {
    budgetMs: () => budgetMs,
    askInBatch: ({ context: { caller }, budgetMs }, done) => {
      this.#queue.push({ caller, endsAt: now + budgetMs, done });
      const count = (this.#inHand.get(caller) ?? 0) + 1;
      this.#inHand.set(caller, count);
      this.most.set(caller, Math.max(count, this.most.get(caller) ?? 0));
    },
  };
  /** Most questions of a caller that were in its hands at a time. */
  readonly most = new Map<string, number>();

  constructor(msOf: (caller: string) => number) {
    this.#msOf = msOf;
  }

  /** Works until nothing is asked, or until this time. */
  work(until = Number.POSITIVE_INFINITY): void {
    while (this.#queue.length > 0 && now < until) {
      const next = this.#queue.find(({ caller }) => caller !== this.#last) ?? (this.#queue[0] as Asked);
      const answeredAt = now + this.#msOf(next.caller);
      // Deadlines pass while it works, those of questions behind the next one as well.
      const late = this.#queue.find(({ endsAt }) => endsAt < answeredAt);
      const ended = late ?? next;
      this.#queue.splice(this.#queue.indexOf(ended), 1);
      this.#inHand.set(ended.caller, (this.#inHand.get(ended.caller) as number) - 1);
      if (late === undefined) {
        now = answeredAt;
        this.#last = next.caller;
      } else now = Math.max(now, late.endsAt);
      ended.done(late === undefined ? exampleReply("ip") : new ProblemError("upstream_timeout"));
    }
  }
}

/** Asks so many questions at once. @returns how often each outcome came. */
function ask(service: SlowService, gate: AskGate, holder: string, count: number): Map<string, number> {
  const outcomes = new Map<string, number>();
  const asker = new BatchAsker({
    dispatcher: service.dispatcher,
    gate,
    holder,
    context: { caller: holder, requestId: "r", traceparent: null },
    mayChangeSnapshot: false,
    endsAt: Number.POSITIVE_INFINITY,
  });
  for (let index = 0; index < count; index++)
    asker.ask({
      question: { op: "ip", query: "192.0.2.1", units: 1, echo: "{}", weight: 1 },
      done: (outcome) => {
        const code = outcome instanceof ProblemError ? outcome.code : "ok";
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      },
      endsAt: 0,
      isRepeated: false,
    });
  return outcomes;
}

test.each([0.1, 2, 5, 20, 100])("a service that takes %d ms for each question answers all of a window of 2,048", (ms) => {
  const service = new SlowService(() => ms);
  const outcomes = ask(service, new AskGate(), "a", 2_048);
  service.work();
  expect([...outcomes]).toEqual([["ok", 2_048]]);
});

test("a fast service is soon asked as much as ever", () => {
  const service = new SlowService(() => 0.05);
  ask(service, new AskGate(), "a", 8_192);
  service.work();
  expect(service.most.get("a")).toBe(2_304);
});

test.each([3, 5, 10, 30, 100, 300])("when a service suddenly takes %d ms, what was asked too early is asked once more", (slowMs) => {
  let ms = 0.05;
  const service = new SlowService(() => ms);
  const gate = new AskGate();
  const outcomes = ask(service, gate, "a", 10_000);
  service.work(now + 200);
  ms = slowMs;
  service.work();
  expect([...outcomes]).toEqual([["ok", 10_000]]);
});

test("eight keys together ask no more than a service that suddenly takes 10 ms can answer", () => {
  let ms = 0.05;
  const service = new SlowService(() => ms);
  const gate = new AskGate();
  const outcomes = Array.from({ length: 8 }, (_, index) => ask(service, gate, `${index}`, 2_000));
  service.work(now + 100);
  ms = 10;
  service.work();
  expect(outcomes.map((of) => of.get("ok"))).toEqual(Array(8).fill(2_000));
});

test("slow answers to one key leave others as many questions as ever", () => {
  const service = new SlowService((caller) => (caller === "slow" ? 20 : 0.01));
  const gate = new AskGate();
  const slow = ask(service, gate, "slow", 2_000);
  service.work(now + 20_000);
  const quick = ask(service, gate, "quick", 4_000);
  service.work();
  expect([...slow, ...quick]).toEqual([
    ["ok", 2_000],
    ["ok", 4_000],
  ]);
  expect(service.most.get("slow")).toBeLessThan(512);
  expect(service.most.get("quick")).toBeGreaterThan(1_024);
});

test("what ends soon, because its document ends, says nothing about the service", () => {
  const window = new AskWindow();
  window.ended({ askedAt: now, budgetMs, hasReply: false }, now + 100, false, 256);
  expect(window.size).toBe(256);
  window.ended({ askedAt: now, budgetMs, hasReply: false }, now + budgetMs, false, 256);
  expect(window.size).toBe(2);
});

test("a service that answers nothing fails each question once, and all of them as soon as without a window", () => {
  const service = new SlowService(() => 60_000);
  const outcomes = ask(service, new AskGate(), "a", 2_048);
  service.work();
  expect([...outcomes]).toEqual([["upstream_timeout", 2_048]]);
  expect(now - 1_000).toBe(8 * budgetMs);
});
