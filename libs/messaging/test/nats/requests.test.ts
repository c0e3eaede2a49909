/** What the asking side does over NATS: retries, bounds, bodies in parts, and replies that are none. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import type { MessagingEvents, ReplyItem } from "../../src/index.ts";
import { item, reply, textOf } from "../contract/items.ts";
import { Ends, patientMs, pause, type SeenFrame, until, whole } from "./support.ts";

let server: NatsServer;
const ends = new Ends(() => server.url);
beforeAll(async () => {
  server = await startNatsServer({ own: true });
});
afterEach(() => ends.close());
afterAll(() => server.stop());

/** Counts by their name and words. */
function counting(): { counts: Record<string, number>; events: MessagingEvents } {
  const counts: Record<string, number> = {};
  const count = (name: string, by: number) => {
    counts[name] = (counts[name] ?? 0) + by;
  };
  return {
    counts,
    events: {
      itemsRetried: (_service, _lane, reason, items) => count(`retried ${reason}`, items),
      repliesDropped: (reason, items) => count(`dropped ${reason}`, items),
      requestFailed: (_service, _lane, code) => count(`failed ${code}`, 1),
    },
  };
}

test("asks once more at half the budget, and no third time", async () => {
  const arrivals: number[] = [];
  const { counts, events } = counting();
  await ends.responder("silent", () => arrivals.push(performance.now()));
  const messaging = await ends.messaging({ events });
  const start = performance.now();
  await expect(messaging.request("silent", "single", item("q", { budgetMs: 6_000 }))).rejects.toMatchObject({ code: "timeout" });
  expect(performance.now() - start).toBeGreaterThanOrEqual(6_000);
  await pause(300);
  expect(arrivals.length).toBe(2);
  expect((arrivals[1] as number) - start).toBeGreaterThanOrEqual(3_000);
  expect((arrivals[1] as number) - start).toBeLessThan(6_000);
  expect(counts).toEqual({ "retried no_answer": 1, "failed timeout": 1 });
});

test("closing does not wait for the budget of what nobody answers", async () => {
  let arrived = false;
  await ends.responder("silent", () => {
    arrived = true;
  });
  const messaging = await ends.messaging();
  const order: string[] = [];
  const asked = messaging.request("silent", "single", item("q", { budgetMs: 8_000 })).catch(({ code }) => order.push(code));
  await until(() => arrived);
  await messaging.close();
  order.push("closed");
  await asked;
  expect(order).toEqual(["closed", "not_connected"]);
});

test("a lost frame costs half the budget: the second one is answered", async () => {
  await ends.responder("forgetful", ({ number, ids, answer }) => {
    if (number === 2) answer(whole(ids[0], reply("second")));
  });
  const messaging = await ends.messaging();
  expect(textOf(await messaging.request("forgetful", "single", item("q", { budgetMs: 6_000 })))).toBe("second");
});

test("takes an answer to the first frame after the second was sent, and drops the other", async () => {
  const frames: SeenFrame[] = [];
  const { counts, events } = counting();
  await ends.responder("late", (frame) => {
    frames.push(frame);
    if (frame.number === 2) frames[0]?.answer(whole(frames[0].ids[0], reply("first")));
  });
  const messaging = await ends.messaging({ events });
  expect(textOf(await messaging.request("late", "single", item("q", { budgetMs: 6_000 })))).toBe("first");
  frames[1]?.answer(whole(frames[1].ids[0], reply("second")));
  await until(() => counts["dropped late"] !== undefined);
  expect(counts).toEqual({ "retried no_answer": 1, "dropped late": 1 });
});

test("only what is unanswered is asked again, with what is left of its time", async () => {
  const frames: SeenFrame[] = [];
  await ends.responder("half", (frame) => {
    frames.push(frame);
    if (frame.number === 1) frame.answer(whole(frame.ids[1], reply("one")));
    else frame.answer(...frame.ids.map((id) => whole(id, reply("again"))));
  });
  const messaging = await ends.messaging();
  const ask = (query: string) => messaging.request("half", "batch", item(query, { budgetMs: 6_000 }));
  expect((await Promise.all([ask("a"), ask("b"), ask("c")])).map(textOf)).toEqual(["again", "one", "again"]);
  const [first, ...others] = frames.map(({ queries }) => queries);
  expect(first).toEqual(["a", "b", "c"]);
  // In two frames, in either order, where the machine is so busy that the time of one was up before the other's.
  expect(others.flat().toSorted()).toEqual(["a", "c"]);
});

test("asks once more at once when nobody serves", async () => {
  const { counts, events } = counting();
  const messaging = await ends.messaging({ events });
  const start = performance.now();
  await expect(messaging.request("nobody", "single", item("q", { budgetMs: patientMs }))).rejects.toMatchObject({
    code: "no_responders",
  });
  expect(performance.now() - start).toBeLessThan(patientMs / 4);
  expect(counts).toEqual({ "retried no_responders": 1, "failed no_responders": 1 });
});

test("drops ids that were never asked, and counts them", async () => {
  const { counts, events } = counting();
  await ends.responder("confused", ({ ids, answer }) => answer(whole((ids[0] as number) + 1, reply("?")), whole(ids[0], reply("right"))));
  const messaging = await ends.messaging({ events });
  expect(textOf(await messaging.request("confused", "single", item("q")))).toBe("right");
  expect(counts).toEqual({ "dropped unknown": 1 });
});

const answerAll = ({ ids, queries, answer }: SeenFrame) => answer(...ids.map((id, i) => whole(id, reply(queries[i] as string))));

test.each([
  ["single", 1, 12, 64, 3_072],
  ["batch", 1, 3, 256, 3_072],
  ["single", 32, 16, 64, 4_096],
  ["batch", 32, 4, 256, 4_096],
] as const)("keeps %s requests of %i callers in %i frames of %i items at a time", async (lane, callers, framesMax, itemsMax, count) => {
  const frames: SeenFrame[] = [];
  const inFlight: number[] = [];
  await ends.responder("slow", (frame) => frames.push(frame));
  const messaging = await ends.messaging({ events: { framesInFlight: (_service, _lane, count) => inFlight.push(count) } });
  const asked = Array.from({ length: count }, (_, i) =>
    messaging.request("slow", lane, item(`${i}`, { caller: `${i % callers}`, budgetMs: patientMs })),
  );
  await until(() => frames.length >= framesMax);
  // Time for one too many.
  await pause(100);
  expect(frames.map(({ ids }) => ids.length)).toEqual(new Array(framesMax).fill(itemsMax));
  const release = setInterval(() => frames.splice(0).forEach(answerAll), 5);
  expect((await Promise.all(asked)).map(textOf)).toEqual(Array.from({ length: count }, (_, i) => `${i}`));
  clearInterval(release);
  expect(Math.max(...inFlight)).toBe(framesMax);
  expect(inFlight.at(-1)).toBe(0);
});

describe("a caller with much to ask", () => {
  test.each(["single", "batch"] as const)(
    "does not keep %s requests of others waiting: they share its next frame, in turn",
    async (lane) => {
      const frames: SeenFrame[] = [];
      await ends.responder("slow", (frame) => frames.push(frame));
      const messaging = await ends.messaging();
      const greedy = Array.from({ length: 3_000 }, (_, i) =>
        messaging.request("slow", lane, item(`greedy ${i}`, { caller: "greedy", budgetMs: patientMs })),
      );
      await until(() => frames.length >= { single: 12, batch: 3 }[lane]);
      await pause(100);
      const before = frames.length;
      const polite = ["a", "b"].map((caller) => messaging.request("slow", lane, item(caller, { caller, budgetMs: patientMs })));
      await until(() => frames.length > before);
      await pause(100);
      // Nothing was answered so far.
      expect(frames).toHaveLength(before + 1);
      expect(frames.at(-1)?.queries).toEqual(["a", "b"]);
      const release = setInterval(() => frames.splice(0).forEach(answerAll), 5);
      await Promise.all([...greedy, ...polite]);
      clearInterval(release);
    },
  );

  test.each([
    ["single", 12],
    ["batch", 3],
  ] as const)("does not keep %s requests of others waiting by naming another snapshot in each of its own", async (lane, framesMax) => {
    const frames: SeenFrame[] = [];
    await ends.responder("slow", (frame) => frames.push(frame));
    const messaging = await ends.messaging();
    // Snapshots that nobody has: no two of these requests may share a frame.
    const snapshot = (i: number) => `20990101T000000Z-${(0x1000_0000 + i).toString(16)}`;
    const greedy = Array.from({ length: 1_000 }, (_, i) =>
      messaging.request("slow", lane, item(`greedy ${i}`, { caller: "greedy", budgetMs: patientMs }), snapshot(i)),
    );
    await until(() => frames.length >= framesMax);
    await pause(100);
    expect(frames).toHaveLength(framesMax);
    const polite = messaging.request("slow", lane, item("polite", { caller: "polite", budgetMs: patientMs }));
    await until(() => frames.length > framesMax);
    expect(frames.at(-1)?.queries).toEqual(["polite"]);
    // The next ones take turns with those of the other caller.
    const more = Array.from({ length: 5 }, (_, i) =>
      messaging.request("slow", lane, item(`polite ${i}`, { caller: "polite", budgetMs: patientMs }), snapshot(2_000 + i)),
    );
    const before = frames.length;
    const held = frames.splice(0);
    const order: string[] = [];
    const release = setInterval(() => {
      for (const frame of [...held.splice(0), ...frames.splice(0)]) {
        order.push(frame.queries[0] as string);
        frame.answer(...frame.ids.map((id) => whole(id, { ...reply("any"), snapshotId: "" })));
      }
    }, 5);
    await Promise.all([polite, ...more, ...greedy]);
    clearInterval(release);
    expect(order.findLastIndex((query) => query.startsWith("polite"))).toBeLessThan(before + 30);
  });

  test.each([
    ["single", 16],
    ["batch", 4],
  ] as const)("does not keep %s requests of others waiting by slow ones that travel along with theirs", async (lane, slots) => {
    const held: SeenFrame[] = [];
    await ends.responder("slow", (frame) => {
      const { ids, queries, answer } = frame;
      for (const [i, id] of ids.entries()) if (queries[i] === "quick") answer(whole(id, reply("quick")));
      const isHeld = (_: unknown, i: number) => queries[i] === "slow";
      const rest = { ids: ids.filter(isHeld), queries: queries.filter(isHeld) };
      if (rest.ids.length > 0) held.push({ ...frame, ...rest });
    });
    const messaging = await ends.messaging();
    const slow: Promise<ReplyItem>[] = [];
    for (let turn = 0; turn < 2 * slots; turn++) {
      // The polite one begins the frame, and the other one joins. It gives up before anything is retried, which would free slots.
      const quick = messaging.request("slow", lane, item("quick", { caller: "polite", budgetMs: patientMs / 4 }));
      slow.push(messaging.request("slow", lane, item("slow", { caller: "greedy", budgetMs: patientMs })));
      expect(textOf(await quick)).toBe("quick");
    }
    const release = setInterval(() => held.splice(0).forEach(answerAll), 5);
    await Promise.all(slow);
    clearInterval(release);
  });

  test.each([
    { units: 10, queries: ["0", "1", "2"] },
    { units: 30, queries: ["0"] },
    { units: 1_000, queries: ["0"] },
  ])("has costly requests of 32 units under way, also when nobody else asks: of $units each, $queries", async ({ units, queries }) => {
    const frames: SeenFrame[] = [];
    await ends.responder("slow", (frame) => frames.push(frame));
    const messaging = await ends.messaging();
    const asked = Array.from({ length: 5 }, (_, i) =>
      messaging.request("slow", "single", item(`${i}`, { caller: "greedy", units, budgetMs: patientMs })),
    );
    await until(() => frames.length >= 1);
    await pause(100);
    const sent = frames.map((frame) => frame.queries);
    const release = setInterval(() => frames.splice(0).forEach(answerAll), 5);
    await Promise.all(asked);
    clearInterval(release);
    expect(sent).toEqual([queries]);
  });
});

test("costly requests of many callers travel one in a frame, and leave the last slot for a frame to others", async () => {
  const frames: SeenFrame[] = [];
  await ends.responder("slow", (frame) => frames.push(frame));
  const messaging = await ends.messaging();
  const costly = Array.from({ length: 20 }, (_, i) =>
    messaging.request("slow", "batch", item(`${i}`, { caller: `${i % 5}`, units: 30, budgetMs: patientMs })),
  );
  await until(() => frames.length >= 3);
  await pause(100);
  expect(frames.map(({ queries }) => queries.length)).toEqual([1, 1, 1]);
  const plain = messaging.request("slow", "batch", item("plain", { caller: "another", budgetMs: patientMs }));
  await until(() => frames.length >= 4);
  await pause(100);
  expect(frames.map(({ queries }) => queries.length)).toEqual([1, 1, 1, 1]);
  const release = setInterval(() => frames.splice(0).forEach(answerAll), 5);
  await Promise.all([...costly, plain]);
  clearInterval(release);
});

test("frames stay within 64 kB, and each question arrives", async () => {
  const frames: SeenFrame[] = [];
  await ends.responder("long", (frame) => {
    frames.push(frame);
    frame.answer(...frame.ids.map((id, i) => whole(id, reply(`${frame.queries[i]?.length}`))));
  });
  const messaging = await ends.messaging();
  const lengths = Array.from({ length: 64 }, (_, i) => 1_000 + 50 * i);
  const replies = await Promise.all(lengths.map((length) => messaging.request("long", "single", item("q".repeat(length)))));
  expect(replies.map(textOf)).toEqual(lengths.map(String));
  expect(Math.max(...frames.map(({ bytes }) => bytes))).toBeLessThanOrEqual(65_536);
  expect(frames.length).toBe(3);
});

test("refuses an item that cannot travel, and no other", async () => {
  const messaging = await ends.messaging();
  await messaging.serve("echo", ({ items }, answer) => {
    for (const [index, { query }] of items.entries()) answer(index, reply(query));
  });
  const outcomes = await Promise.allSettled([
    messaging.request("echo", "single", item("q".repeat(65_500))),
    messaging.request("echo", "single", item("q", { requestId: "a b" })),
    messaging.request("echo", "single", item("q", { op: "whois" })),
    messaging.request("echo", "single", item("q"), "not a snapshot"),
    messaging.request("echo", "single", item("fine")),
  ]);
  const codes = outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : textOf(outcome.value)));
  expect(codes).toEqual(["invalid_item", "invalid_item", "invalid_item", "invalid_item", "fine"]);
});

const begin = (id: number | undefined, text: string) => ({ kind: "reply", id: id ?? 0, reply: reply(text), more: true }) as const;
const goOn = (id: number | undefined, offset: number, text: string, more: boolean) =>
  ({ kind: "continued", id: id ?? 0, offset, body: Buffer.from(text), more }) as const;

test("joins a body that comes in parts", async () => {
  await ends.responder("parts", ({ ids: [id], answer }) => {
    answer(begin(id, "one "));
    answer(goOn(id, 4, "two ", true));
    answer(goOn(id, 8, "three", false));
  });
  const messaging = await ends.messaging();
  const joined: ReplyItem = await messaging.request("parts", "single", item("q"));
  expect({ ...joined, body: textOf(joined) }).toEqual({ ...reply(""), body: "one two three" });
});

test("asks again when a part was lost, and never mixes the two answers", async () => {
  await ends.responder("lossy", ({ number, ids: [id], answer }) => {
    answer(begin(id, "one "));
    if (number === 2) answer(goOn(id, 4, "two ", true));
    answer(goOn(id, 8, "three", false));
  });
  const messaging = await ends.messaging();
  expect(textOf(await messaging.request("lossy", "single", item("q")))).toBe("one two three");
});

test("a body that breaks each time is an error, not a shorter body", async () => {
  const { counts, events } = counting();
  await ends.responder("lossy", ({ ids: [id], answer }) => {
    answer(begin(id, "one "));
    answer(goOn(id, 8, "three", false));
  });
  const messaging = await ends.messaging({ events });
  await expect(messaging.request("lossy", "single", item("q"))).rejects.toMatchObject({ code: "handler_failed" });
  expect(counts).toEqual({ "retried broken": 1, "failed handler_failed": 1 });
});

test("a body whose end never comes is an error when the budget is over", async () => {
  await ends.responder("stops", ({ ids: [id], answer }) => answer(begin(id, "one ")));
  const messaging = await ends.messaging();
  await expect(messaging.request("stops", "single", item("q", { budgetMs: 200 }))).rejects.toMatchObject({ code: "timeout" });
});

test("a reply that cannot be read, twice, fails what its frame still owed, and nothing else", async () => {
  const { counts, events } = counting();
  await ends.responder("babbling", ({ queries, ids, answer, answerBytes }) => {
    if (queries[0] === "fine") answer(whole(ids[0], reply("fine")));
    else {
      // Of the second question in neither frame.
      if (queries[0] === "1") answer(whole(ids[0], reply("first")));
      answerBytes(Buffer.from("no frame at all"));
    }
  });
  const messaging = await ends.messaging({ events });
  const outcomes = await Promise.allSettled([
    messaging.request("babbling", "single", item("1")),
    messaging.request("babbling", "single", item("2")),
    messaging.request("babbling", "batch", item("fine")),
  ]);
  expect(outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : textOf(outcome.value)))).toEqual([
    "first",
    "handler_failed",
    "fine",
  ]);
  expect(counts).toEqual({ "dropped undecodable": 2, "retried broken": 1, "failed handler_failed": 1 });
});

test("where others listen to all subjects, batches reach responders of version 1 by their retry", async () => {
  const spy = await ends.raw();
  const subjects: string[] = [];
  spy.subscribe("nf.>", { callback: (_error, { subject }) => subject.startsWith("nf.f") && subjects.push(subject) });
  await ends.responder("echo", ({ ids, answer }) => answer(whole(ids[0], reply("q"))));
  await spy.flush();
  const messaging = await ends.messaging();
  await messaging.request("echo", "single", item("q"));
  await messaging.request("echo", "batch", item("q", { budgetMs: 3_000 }));
  await messaging.request("echo", "batch", item("q"));
  await spy.flush();
  expect(subjects).toEqual(["nf.f1.echo.single", "nf.f2.echo.batch", "nf.f1.echo.batch", "nf.f1.echo.batch"]);
});
