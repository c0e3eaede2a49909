/** What every transport does beside requests: broadcasts, whether it is connected, counts and spans. */

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createResponder, type ItemHandler, type Messaging, type RequestItem, type Tracing } from "../../src/index.ts";
import { type CreateMessaging, item, pause, reply, textOf } from "./items.ts";

export function describeSurroundings(name: string, create: CreateMessaging): void {
  describe(`messaging ${name}: surroundings`, () => {
    let messaging: Messaging;
    const all: Messaging[] = [];
    const createOwn: CreateMessaging = async (options) => {
      const own = await create(options);
      all.push(own);
      return own;
    };
    beforeEach(async () => {
      messaging = await createOwn();
    });
    afterEach(() => Promise.all(all.splice(0).map((own) => own.close())));

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
      const counted = await createOwn({
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
          if (query === "q") answer(index, asked === 1 ? "not_yet" : reply(query));
          else late.push(() => answer(index, reply(query)));
        }
      });
      await counted.request("pod", "single", item("q"));
      // A responder drops what nobody waits for; the patient item keeps the frame that both are in alive.
      const patient = counted.request("pod", "batch", item("patient", { budgetMs: 30_000 }));
      await Promise.allSettled([counted.request("pod", "batch", item("hasty", { budgetMs: 100 }))]);
      for (let waited = 0; late.length < 2 && waited < 20_000; waited += 10) await pause(10);
      for (const answer of late) answer();
      await patient;
      await Promise.allSettled([counted.request("nobody", "single", item("q"))]);
      await Promise.allSettled([counted.request("nobody", "single", item("q", { mayFail: true }))]);
      for (let waited = 0; counts["dropped late"] === undefined && waited < 5_000; waited += 10) await pause(10);
      expect(counts).toMatchObject({
        "sent pod single": 2,
        "served pod single": 2,
        "retried pod single not_yet": 1,
        "failed pod batch timeout": 1,
        "failed nobody single no_responders": 1,
      });
      expect(counts["dropped late"]).toBeGreaterThan(0);
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
      const spans = await createOwn({ tracing });
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
    });

    test("tells of a failed item within its span, so that the log line has its trace", async () => {
      const active: string[] = [];
      const tracing: Tracing = {
        startClient: () => ({ traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", end: () => {} }),
        startServer: (_service, { requestId }) => ({
          run: (work) => {
            active.push(requestId);
            try {
              return work();
            } finally {
              active.pop();
            }
          },
          end: () => {},
        }),
      };
      const spans = await createOwn({ tracing });
      const failures: string[] = [];
      const fail = () => {
        throw new Error("broken");
      };
      const ops = new Map<string, ItemHandler<null>>([
        ["routing", fail],
        ["prefix", async () => fail()],
      ]);
      const onFailure = ({ op, requestId }: RequestItem) => failures.push(`${op} ${requestId} within ${active.at(-1)}`);
      await spans.serve("pod", createResponder<null>({ enter: () => ({ context: null }), ops, onFailure }));
      await spans.serve("shut", createResponder<null>({ enter: fail, ops, onFailure }));
      const asked = [
        spans.request("pod", "single", item("q", { op: "routing", requestId: "a" })),
        spans.request("pod", "single", item("q", { op: "prefix", requestId: "b" })),
        spans.request("shut", "single", item("q", { requestId: "c" })),
      ];
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([500, 500, 500]);
      expect(failures.sort()).toEqual(["ip c within c", "prefix b within b", "routing a within a"]);
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
  });
}
