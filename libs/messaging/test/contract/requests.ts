/** What every transport does for who asks. */

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Frame, Messaging, ReplyItem, RequestItem } from "../../src/index.ts";
import { type CreateMessaging, echo, item, newer, older, reply, textOf } from "./items.ts";

export function describeRequests(name: string, create: CreateMessaging): void {
  describe(`messaging ${name}: requests`, () => {
    let messaging: Messaging;
    beforeEach(async () => {
      messaging = await create();
    });
    afterEach(() => messaging.close());

    test("brings every question to its service and every answer to its asker", async () => {
      await messaging.serve("echo", echo);
      const queries = Array.from({ length: 500 }, (_, i) => `question ${i}`);
      const replies = await Promise.all(queries.map((query) => messaging.request("echo", "single", item(query))));
      expect(replies.map(textOf)).toEqual(queries);
      expect({ ...replies[0], body: null }).toEqual({ ...reply(""), body: null });
    });

    test("a body with an ending comes whole to a single question, and apart or whole to one of a batch", async () => {
      await messaging.serve("pod", ({ items }, answer) => {
        for (const [index, { query }] of items.entries()) answer(index, { ...reply(`${query}, `), ending: Buffer.from("the end") });
      });
      for (const lane of ["single", "batch"] as const) {
        const [one, two] = await Promise.all(["one", "two"].map((query) => messaging.request("pod", lane, item(query))));
        expect([one, two].map((each) => textOf(each as ReplyItem))).toEqual(["one, the end", "two, the end"]);
        if (lane === "single") expect({ ...one, body: null }).toEqual({ ...reply(""), body: null });
      }
    });

    test("puts the questions of one turn into as few frames as fit, single ones in order", async () => {
      const frames: Frame[] = [];
      await messaging.serve("echo", (frame, answer) => {
        frames.push(frame);
        return echo(frame, answer);
      });
      await Promise.all(Array.from({ length: 130 }, (_, i) => messaging.request("echo", "single", item(`${i}`))));
      await Promise.all(Array.from({ length: 300 }, (_, i) => messaging.request("echo", "batch", item(`${i}`))));
      const sizes = frames.map(({ items }) => items.length);
      expect(sizes.slice(0, 3)).toEqual([64, 64, 2]);
      // A responder may take a small batch frame first.
      expect(new Set(sizes.slice(3))).toEqual(new Set([256, 44]));
      expect(frames.slice(0, 3).flatMap(({ items }) => items.map(({ query }) => query))).toEqual(
        Array.from({ length: 130 }, (_, i) => `${i}`),
      );
      expect(frames[0]?.pinnedSnapshot).toBeNull();
    });

    test("carries the operation, the request id and the trace of an item", async () => {
      let seen: RequestItem | undefined;
      await messaging.serve("echo", (frame, answer) => {
        seen = frame.items[0];
        return echo(frame, answer);
      });
      const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
      await messaging.request("echo", "single", item("q", { op: "routing", requestId: "a.b_c-1", traceparent }));
      expect(seen).toMatchObject({ op: "routing", query: "q", requestId: "a.b_c-1", traceparent });
    });

    test("tells the responder the time that is left, less what passed while an item waited for its frame, also of a retry", async () => {
      const budgets: number[] = [];
      await messaging.serve("pod", ({ items }, answer) => {
        budgets.push(items[0]?.budgetMs ?? 0);
        holdEventLoop(50);
        answer(0, budgets.length === 1 ? "not_yet" : reply("", older));
      });
      const asked = messaging.request("pod", "batch", item("q", { budgetMs: 60_000 }), older);
      holdEventLoop(50);
      await asked;
      const [first = 0, second = 0] = budgets;
      expect(first).toBeLessThanOrEqual(59_950);
      expect(second).toBeLessThan(first);
    });

    test("brings the pinned snapshot to the responder, and keeps what is pinned apart in frames of its own", async () => {
      const frames: Frame[] = [];
      await messaging.serve("echo", (frame, answer) => {
        frames.push(frame);
        return echo(frame, answer);
      });
      const pins = [older, null, newer, older, null, newer];
      const replies = await Promise.all(pins.map((pin, i) => messaging.request("echo", "batch", item(`${i}`), pin)));
      expect(replies.map(textOf)).toEqual(["0", "1", "2", "3", "4", "5"]);
      const seen = frames.map(({ pinnedSnapshot, items }) => [pinnedSnapshot, items.map(({ query }) => query).join()]);
      expect(new Map(seen as [string | null, string][])).toEqual(
        new Map<string | null, string>([
          [older, "0,3"],
          [null, "1,4"],
          [newer, "2,5"],
        ]),
      );
      expect(frames.length).toBe(3);
    });

    test("asks again where a snapshot is not there yet, and takes the first answer that is one", async () => {
      let asked = 0;
      await messaging.serve("pod", ({ items }, answer) => {
        asked += 1;
        for (const [index, { query }] of items.entries()) answer(index, asked < 3 ? "not_yet" : reply(query, newer));
      });
      expect(textOf(await messaging.request("pod", "single", item("q"), newer))).toBe("q");
      expect(asked).toBe(3);
    });

    test("says data_not_ready when no responder has the snapshot", async () => {
      let asked = 0;
      await messaging.serve("pod", (_frame, answer) => {
        asked += 1;
        answer(0, "not_yet");
      });
      const answered = await messaging.request("pod", "single", item("q"), newer);
      expect(answered).toMatchObject({ status: 503, contentType: "problem", counted: false });
      expect(textOf(answered)).toContain("data_not_ready");
      expect(asked).toBe(4);
    });

    test("says at once that nobody serves", async () => {
      await expect(messaging.request("nobody", "single", item("q"))).rejects.toMatchObject({
        name: "MessagingError",
        code: "no_responders",
      });
    });

    test("lets a slow item keep no other waiting", async () => {
      await messaging.serve("slow", ({ items }, answer) => {
        for (const [index, { query }] of items.entries()) {
          if (query === "slow") setTimeout(() => answer(index, reply(query)), 200);
          else answer(index, reply(query));
        }
      });
      const order: string[] = [];
      const ask = async (query: string) => order.push(textOf(await messaging.request("slow", "single", item(query))));
      await Promise.all([ask("slow"), ask("quick")]);
      expect(order).toEqual(["quick", "slow"]);
    });

    test("gives up when the budget has run out, not before, and drops the late answer", async () => {
      const late: (() => void)[] = [];
      await messaging.serve("slow", ({ items }, answer) => {
        for (const index of items.keys()) late.push(() => answer(index, reply("late")));
      });
      const start = performance.now();
      await expect(messaging.request("slow", "single", item("q", { budgetMs: 100 }))).rejects.toMatchObject({ code: "timeout" });
      expect(performance.now() - start).toBeGreaterThanOrEqual(100);
      for (const answer of late) answer();
      await messaging.serve("echo", echo);
      expect(textOf(await messaging.request("echo", "single", item("next")))).toBe("next");
    });

    test("takes the first answer to an item and ignores the second, and indexes that it did not ask", async () => {
      await messaging.serve("twice", (_frame, answer) => {
        answer(7, reply("nobody's"));
        answer(0, reply("first"));
        answer(0, reply("second"));
      });
      expect(textOf(await messaging.request("twice", "single", item("q")))).toBe("first");

      // Counted once, too: closing still waits for another item.
      await messaging.serve("slow", (_frame, answer) => {
        setTimeout(() => answer(0, reply("slow")), 50);
      });
      const order: string[] = [];
      const asked = messaging.request("slow", "single", item("q")).then(() => order.push("answered"));
      await messaging.close().then(() => order.push("closed"));
      await asked;
      expect(order).toEqual(["answered", "closed"]);
    });

    test("refuses what exceeds the queue, and takes more when it has emptied", async () => {
      const held: (() => void)[] = [];
      await messaging.serve("slow", ({ items }, answer) => {
        for (const [index, { query }] of items.entries()) held.push(() => answer(index, reply(query)));
      });
      // Of one caller, then of others, for whom a quarter is kept.
      const ask = (count: number, caller: string) =>
        Array.from({ length: count }, (_, i) => messaging.request("slow", "single", item(`${i}`, { caller })));
      const fitting = ask(3_072, "greedy");
      await expect(messaging.request("slow", "single", item("too many", { caller: "greedy" }))).rejects.toMatchObject({
        code: "overloaded",
      });
      fitting.push(...ask(1_024, "another"));
      await expect(messaging.request("slow", "single", item("too many", { caller: "third" }))).rejects.toMatchObject({
        code: "overloaded",
      });
      const release = setInterval(() => {
        for (const answer of held.splice(0)) answer();
      }, 5);
      expect((await Promise.all(fitting)).length).toBe(4_096);
      expect(textOf(await messaging.request("slow", "single", item("again")))).toBe("again");
      clearInterval(release);
    });
  });
}

/** Keeps everything else from running, as a long turn of the event loop does. */
function holdEventLoop(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}
