/** What every transport of messages must do: run against each implementation. */

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  createResponder,
  type Frame,
  type FrameHandler,
  type ItemHandler,
  type Messaging,
  type MessagingOptions,
  type ReplyItem,
  type RequestItem,
  type Tracing,
} from "../src/index.ts";

let count = 0;

export function item(query: string, options: Partial<RequestItem> = {}): RequestItem {
  return { op: "ip", query, requestId: `request-${++count}`, traceparent: null, budgetMs: 5_000, ...options };
}

export function reply(text: string): ReplyItem {
  return {
    status: 200,
    contentType: "json",
    body: Buffer.from(text),
    counted: true,
    cacheable: true,
    maxAgeSeconds: 60,
    etag: "routes=1",
    snapshotId: "20140523T080000Z-1a2b3c4d",
  };
}

export function textOf({ body }: ReplyItem): string {
  return Buffer.from(body).toString();
}

const echo: FrameHandler = ({ items }, answer) => {
  for (const [index, { query }] of items.entries()) answer(index, reply(query));
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const older = "20140523T080000Z-00000001";
const newer = "20140524T080000Z-00000002";

/**
 * @param create a transport of its own, with nobody else on it. `queuedItemsMax` must be 4,096.
 */
export function describeMessaging(name: string, create: (options?: MessagingOptions) => Promise<Messaging>): void {
  describe(`messaging ${name}`, () => {
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

    test("puts the questions of one turn into as few frames as fit, in order", async () => {
      const frames: Frame[] = [];
      await messaging.serve("echo", (frame, answer) => {
        frames.push(frame);
        return echo(frame, answer);
      });
      await Promise.all(Array.from({ length: 130 }, (_, i) => messaging.request("echo", "single", item(`${i}`))));
      await Promise.all(Array.from({ length: 300 }, (_, i) => messaging.request("echo", "batch", item(`${i}`))));
      expect(frames.map(({ items }) => items.length)).toEqual([64, 64, 2, 256, 44]);
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
        for (const [index, { query }] of items.entries()) answer(index, asked < 3 ? "not_yet" : reply(query));
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

    test("tells at once that it is connected, to whoever watches", async () => {
      const told: boolean[] = [];
      const watching = messaging.watchConnection((up) => told.push(up));
      await watching.stop();
      expect(told).toEqual([true]);
    });

    test("counts what is sent, served, retried, dropped and failed", async () => {
      const counts: Record<string, number> = {};
      const count = (name: string, by: number) => {
        counts[name] = (counts[name] ?? 0) + by;
      };
      const counted = await create({
        events: {
          frameSent: (service, lane, items) => count(`sent ${service} ${lane}`, items),
          frameServed: (service, lane, items) => count(`served ${service} ${lane}`, items),
          itemsRetried: (service, lane, reason, items) => count(`retried ${service} ${lane} ${reason}`, items),
          repliesDropped: (reason, items) => count(`dropped ${reason}`, items),
          requestFailed: (service, lane, code) => count(`failed ${service} ${lane} ${code}`, 1),
        },
      });
      let asked = 0;
      const late: (() => void)[] = [];
      await counted.serve("pod", ({ items }, answer) => {
        asked += 1;
        for (const [index, { query }] of items.entries()) {
          if (query === "late") late.push(() => answer(index, reply(query)));
          else answer(index, asked === 1 ? "not_yet" : reply(query));
        }
      });
      await counted.request("pod", "single", item("q"));
      await Promise.allSettled([counted.request("pod", "batch", item("late", { budgetMs: 30 }))]);
      for (const answer of late) answer();
      await Promise.allSettled([counted.request("nobody", "single", item("q"))]);
      await pause(50);
      expect(counts).toMatchObject({
        "sent pod single": 2,
        "served pod single": 2,
        "retried pod single not_yet": 1,
        "failed pod batch timeout": 1,
        "failed nobody single no_responders": 1,
      });
      expect(counts["dropped late"]).toBeGreaterThan(0);
      await counted.close();
    });

    test("begins and ends a client and a server span per sampled item, and runs its answering within", async () => {
      const told: string[] = [];
      let within = "";
      const tracing: Tracing = {
        startClient: (service, lane, { op, requestId }) =>
          requestId === "unsampled"
            ? null
            : {
                traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                end: (end) => told.push(`client ${service} ${lane} ${op} ${requestId}: ${end}`),
              },
        startServer: (service, { op, requestId, traceparent }) => ({
          run: (work) => {
            within = requestId;
            const result = work();
            within = "";
            return result;
          },
          end: (end) => told.push(`server ${service} ${op} ${requestId} ${traceparent?.slice(36, 52)}: ${end}`),
        }),
      };
      const spans = await create({ tracing });
      const handler = createResponder<null>({
        enter: () => ({ context: null }),
        ops: new Map<string, ItemHandler<null>>([["ip", ({ query, requestId }) => reply(`${query} within ${within} of ${requestId}`)]]),
        onFailure: () => {},
      });
      await spans.serve("pod", handler);
      const ids = ["a", "unsampled", "b"];
      const replies = await Promise.all(ids.map((requestId) => spans.request("pod", "single", item("q", { requestId }))));
      expect(replies.map(textOf)).toEqual(["q within a of a", "q within  of unsampled", "q within b of b"]);
      await spans.serve("broken", () => Promise.reject(new Error("broken")));
      await Promise.allSettled([spans.request("broken", "batch", item("q", { requestId: "c" }))]);
      expect(told.sort()).toEqual([
        "client broken batch ip c: handler_failed",
        "client pod single ip a: 200",
        "client pod single ip b: 200",
        "server broken ip c 00f067aa0ba902b7: handler_failed",
        "server pod ip a 00f067aa0ba902b7: 200",
        "server pod ip b 00f067aa0ba902b7: 200",
      ]);
      await spans.close();
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
      const fitting = Array.from({ length: 4_096 }, (_, i) => messaging.request("slow", "single", item(`${i}`)));
      await expect(messaging.request("slow", "single", item("too many"))).rejects.toMatchObject({ code: "overloaded" });
      const release = setInterval(() => {
        for (const answer of held.splice(0)) answer();
      }, 5);
      expect((await Promise.all(fitting)).length).toBe(4_096);
      expect(textOf(await messaging.request("slow", "single", item("again")))).toBe("again");
      clearInterval(release);
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

    test("tells every subscriber what is published, in order, until it stops", async () => {
      const heard: Record<"a" | "b", unknown[]> = { a: [], b: [] };
      const a = messaging.subscribe("keys.changed", (payload) => heard.a.push(payload));
      messaging.subscribe("keys.changed", () => {
        throw new Error("this one is broken");
      });
      messaging.subscribe("keys.changed", (payload) => heard.b.push(payload));
      messaging.subscribe("other", (payload) => heard.b.push(payload));
      for (const version of [1, 2, 3]) messaging.publish("keys.changed", { id: "7Q9M3W8K", version });
      await pause(50);
      await a.stop();
      messaging.publish("keys.changed", { id: "7Q9M3W8K", version: 4 });
      await pause(50);
      expect(heard.a).toEqual([1, 2, 3].map((version) => ({ id: "7Q9M3W8K", version })));
      expect(heard.b).toEqual([1, 2, 3, 4].map((version) => ({ id: "7Q9M3W8K", version })));
    });

    test("a responder that stops answers what it holds and is asked no more", async () => {
      const held: (() => void)[] = [];
      const subscription = await messaging.serve("slow", (_frame, answer) => {
        held.push(() => answer(0, reply("held")));
      });
      const asked = messaging.request("slow", "single", item("q"));
      await pause(50);
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
