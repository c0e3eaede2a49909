/** What every transport does for who answers, and when it ends. */

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ProblemError } from "@netfacts/contracts";
import { createResponder, type FrameHandler, type ItemHandler, type Messaging, type ReplyItem } from "../../src/index.ts";
import { type CreateMessaging, echo, item, older, pause, reply, textOf } from "./items.ts";

export function describeResponders(name: string, create: CreateMessaging): void {
  describe(`messaging ${name}: responders`, () => {
    let messaging: Messaging;
    beforeEach(async () => {
      messaging = await create();
    });
    afterEach(() => messaging.close());

    test("a responder of operations enters once per frame, and can refuse for all of it", async () => {
      const entered: (string | null)[] = [];
      const handler = createResponder<string>({
        enter: (pinned) => {
          entered.push(pinned);
          return pinned === older ? { refusal: "cursor_expired" } : { context: `generation ${entered.length}` };
        },
        ops: new Map<string, ItemHandler<string>>([["ip", (_item, context) => reply(context)]]),
        onFailure: () => {},
      });
      await messaging.serve("pod", handler);
      const ask = (pin: string | null) => Array.from({ length: 20 }, () => messaging.request("pod", "batch", item("q"), pin));
      const replies = await Promise.all(ask(null));
      expect(new Set(replies.map(textOf))).toEqual(new Set(["generation 1"]));
      const refused = await Promise.all(ask(older));
      expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([410]));
      expect(entered).toEqual([null, older]);
    });

    test("a responder answers together what it can, and the rest one by one", async () => {
      const alone: string[] = [];
      const handler = createResponder<null>({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([
          [
            "ip",
            ({ query }) => {
              alone.push(query);
              return reply(query);
            },
          ],
        ]),
        together: (items, _context, answer) => {
          const left: number[] = [];
          for (const [index, { query }] of items.entries()) {
            if (query === "throw") throw new Error("not together");
            if (query.startsWith("even")) answer(index, reply(query));
            else left.push(index);
          }
          return left;
        },
        onFailure: () => {},
      });
      await messaging.serve("pod", handler);
      const ask = (queries: string[]) => Promise.all(queries.map((query) => messaging.request("pod", "single", item(query))));
      expect((await ask(["even 0", "odd 1", "even 2"])).map(textOf)).toEqual(["even 0", "odd 1", "even 2"]);
      expect(alone.splice(0)).toEqual(["odd 1"]);
      expect((await ask(["even 0", "throw", "even 2"])).map(textOf)).toEqual(["even 0", "throw", "even 2"]);
      expect(alone).toEqual(["throw", "even 2"]);
    });

    test("an answer in steps lets others be answered between its steps, and is finished before the next is begun", async () => {
      const done: string[] = [];
      let begun = 0;
      function* steps(query: string) {
        begun += 1;
        for (let step = 0; step < 10; step++) {
          const end = performance.now() + 3;
          while (performance.now() < end);
          yield;
        }
        done.push(query);
        return reply(query);
      }
      const handler = createResponder<null>({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([
          ["prefix", ({ query }) => steps(query)],
          [
            "ip",
            ({ query }) => {
              done.push(query);
              return reply(query);
            },
          ],
        ]),
        onFailure: () => {},
      });
      await messaging.serve("pod", handler);
      const long = ["long 1", "long 2"].map((query) => messaging.request("pod", "batch", item(query, { op: "prefix", units: 30 })));
      while (begun === 0) await new Promise(setImmediate);
      expect(textOf(await messaging.request("pod", "single", item("short")))).toBe("short");
      expect((await Promise.all(long)).map(textOf)).toEqual(["long 1", "long 2"]);
      expect(done.indexOf("short")).toBe(0);
      expect(done.filter((query) => query.startsWith("long"))).toEqual(["long 1", "long 2"]);
    });

    test("an answer whose step fails is a failure of that item alone", async () => {
      const failures: string[] = [];
      const handler = createResponder<null>({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([
          ["ip", ({ query }) => reply(query)],
          [
            "prefix",
            function* () {
              yield;
              throw new Error("secret cause");
            },
          ],
        ]),
        onFailure: ({ op }) => failures.push(op),
      });
      await messaging.serve("pod", handler);
      const replies = await Promise.all(["ip", "prefix", "ip"].map((op) => messaging.request("pod", "single", item("q", { op }))));
      expect(replies.map(({ status }) => status)).toEqual([200, 500, 200]);
      expect(failures).toEqual(["prefix"]);
    });

    test("a costly request shares no frame with plain ones", async () => {
      const frames: string[][] = [];
      await messaging.serve("echo", (frame, answer) => {
        frames.push(frame.items.map(({ query }) => query));
        return echo(frame, answer);
      });
      const ask = (query: string, units: number) => messaging.request("echo", "batch", item(query, { units }));
      await Promise.all([ask("costly 1", 20), ask("plain 1", 1), ask("costly 2", 3), ask("plain 2", 1)]);
      expect(frames.map((queries) => queries.sort()).sort()).toEqual([
        ["costly 1", "costly 2"],
        ["plain 1", "plain 2"],
      ]);
    });

    test("gives each frame to one responder of a service, and all of them get some", async () => {
      const served = [0, 0];
      const counting =
        (i: 0 | 1): FrameHandler =>
        (frame, answer) => {
          served[i] = (served[i] ?? 0) + frame.items.length;
          return echo(frame, answer);
        };
      await messaging.serve("echo", counting(0));
      await messaging.serve("echo", counting(1));
      await Promise.all(Array.from({ length: 1_280 }, (_, i) => messaging.request("echo", "single", item(`${i}`))));
      expect((served[0] ?? 0) + (served[1] ?? 0)).toBe(1_280);
      expect(Math.min(...served)).toBeGreaterThan(0);
    });

    test("fails only what a failing handler had not answered", async () => {
      await messaging.serve("broken", async (_frame, answer) => {
        answer(0, reply("answered"));
        throw new Error("secret cause");
      });
      const [first, second] = await Promise.allSettled([
        messaging.request("broken", "single", item("1")),
        messaging.request("broken", "single", item("2")),
      ]);
      expect(first.status).toBe("fulfilled");
      expect(second).toMatchObject({ status: "rejected", reason: { code: "handler_failed" } });
    });

    test("a responder of operations fails one item alone and tells its log the cause", async () => {
      const failures: [string, unknown][] = [];
      const handler = createResponder({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([
          ["ip", ({ query }) => reply(query)],
          ["asn", async ({ query }) => reply(query)],
          [
            "routing",
            () => {
              throw new Error("secret cause");
            },
          ],
          ["prefix", () => Promise.reject(new Error("secret cause"))],
        ]),
        onFailure: ({ op }, cause) => failures.push([op, (cause as Error).message]),
      });
      await messaging.serve("ops", handler);
      const ops = ["ip", "routing", "asn", "prefix", "validity", "ip"];
      const replies = await Promise.all(ops.map((op) => messaging.request("ops", "single", item("q", { op }))));
      expect(replies.map(({ status }) => status)).toEqual([200, 500, 200, 500, 500, 200]);
      expect(textOf(replies[1] as ReplyItem)).toContain("internal_error");
      expect(textOf(replies[1] as ReplyItem)).not.toContain("secret");
      expect(failures.map(([op]) => op).sort()).toEqual(["prefix", "routing", "validity"]);
      expect(failures).toContainEqual(["routing", "secret cause"]);
    });

    test("a problem that a handler throws is the answer, and no failure", async () => {
      const failures: unknown[] = [];
      const refusal = () => new ProblemError("data_not_ready", { detail: "not yet" });
      const handler = createResponder({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([
          [
            "ip",
            () => {
              throw refusal();
            },
          ],
          ["asn", () => Promise.reject(refusal())],
        ]),
        onFailure: (_item, cause) => failures.push(cause),
      });
      await messaging.serve("refusing", handler);
      for (const op of ["ip", "asn"]) {
        const answer = await messaging.request("refusing", "single", item("q", { op }));
        expect([answer.status, JSON.parse(textOf(answer))]).toEqual([503, { code: "data_not_ready", detail: "not yet" }]);
      }
      expect(failures).toEqual([]);
    });

    test("a responder that stops answers what it holds and is asked no more", async () => {
      const held: (() => void)[] = [];
      const subscription = await messaging.serve("slow", (_frame, answer) => {
        held.push(() => answer(0, reply("held")));
      });
      const asked = messaging.request("slow", "single", item("q", { budgetMs: 30_000 }));
      while (held.length === 0) await pause(5);
      let stopped = false;
      const stopping = subscription.stop().then(() => {
        stopped = true;
      });
      await pause(50);
      expect(stopped).toBe(false);
      for (const answer of held) answer();
      expect(textOf(await asked)).toBe("held");
      await stopping;
      await expect(messaging.request("slow", "single", item("q"))).rejects.toMatchObject({ code: "no_responders" });
    });

    test("closing waits for what is in flight and refuses the rest", async () => {
      await messaging.serve("slow", (_frame, answer) => {
        setTimeout(() => answer(0, reply("in flight")), 100);
      });
      const asked = messaging.request("slow", "single", item("q"));
      const closing = messaging.close();
      await expect(messaging.request("slow", "single", item("q"))).rejects.toMatchObject({ code: "closed" });
      await closing;
      expect(textOf(await asked)).toBe("in flight");
    });
  });
}
