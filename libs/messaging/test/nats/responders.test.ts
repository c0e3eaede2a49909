/** What the answering side does over NATS: order, turns, long bodies, frames that are none, and a stop that loses nothing. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { NatsConnection } from "nats";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { decodeReplyFrame } from "../../src/frames/frame-codec/index.ts";
import { FrameServer } from "../../src/frames/frame-server.ts";
import type { LinkSubscription, Receive } from "../../src/frames/link.ts";
import { ReplyWriter } from "../../src/frames/reply-writer.ts";
import { createResponder, type FrameHandler, type ItemHandler, type Lane, type Messaging } from "../../src/index.ts";
import { connect } from "../../src/nats/connect.ts";
import { NatsLink } from "../../src/nats/link.ts";
import { item, reply, textOf } from "../contract/items.ts";
import { requestBytes } from "../frames/frames.ts";
import { Ends, patientMs, pause, until } from "./support.ts";

let server: NatsServer;
const ends = new Ends(() => server.url);
beforeAll(async () => {
  server = await startNatsServer({ own: true });
});
afterEach(() => ends.close());
afterAll(() => server.stop());

const onError = () => {};

const echo: FrameHandler = ({ items }, answer) => {
  for (const [index, { query }] of items.entries()) answer(index, reply(query));
};

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const ask = (messaging: Messaging, service: string, count: number, lane: "single" | "batch" = "single", budgetMs = 5_000) =>
  Promise.all(Array.from({ length: count }, (_, i) => messaging.request(service, lane, item(`${lane} ${i}`, { budgetMs }))));

/** Hands on what the server sends when `count` messages have come, all at once: in how many reads they come depends on the machine. */
class GatheringLink extends NatsLink {
  readonly #count: number;
  readonly #gathered: (() => void)[] = [];

  constructor(connection: NatsConnection, count: number) {
    super(connection, { onError, events: {} });
    this.#count = count;
  }

  override subscribe(subject: string, receive: Receive, queue?: string): LinkSubscription {
    const gather: Receive = (...message) => {
      if (this.#gathered.push(() => receive(...message)) < this.#count) return;
      for (const handOn of this.#gathered) handOn();
    };
    return super.subscribe(subject, gather, queue);
  }
}

/** Sends these frames to one copy; returns the frames in the order in which it served them, each as its lane and its number of items. */
async function orderOf(frames: readonly (readonly [Lane, number])[]): Promise<string[]> {
  const pod = await ends.raw();
  const link = new GatheringLink(pod, frames.length);
  const served: string[] = [];
  const handler: FrameHandler = ({ items }, answer) => {
    served.push(`${items[0]?.query} ${items.length}`);
    for (const [index, { query }] of items.entries()) answer(index, reply(query));
  };
  new FrameServer({ link, replies: new ReplyWriter(link, onError), service: "busy", handler, events: {}, onError });
  await link.flush();
  const asker = await ends.raw();
  for (const [frameId, [lane, count]] of frames.entries()) {
    const items = Array.from({ length: count }, (_, id) => ({ id, item: item(lane), budgetMs: patientMs }));
    asker.publish(`nf.f1.busy.${lane}`, requestBytes({ version: 1, frameId, pinnedSnapshot: null, items }), { reply: "nobody" });
  }
  await until(() => served.length === frames.length);
  return served;
}

test("serves single frames before batch frames that came first", async () => {
  const order = await orderOf([
    ["batch", 1],
    ["batch", 1],
    ["single", 1],
    ["single", 1],
  ]);
  expect(order).toEqual(["single 1", "single 1", "batch 1", "batch 1"]);
});

test.each([
  ["a small batch frame before large ones that came first", [9, 9, 9, 2], [2, 9, 9, 9]],
  ["a large batch frame before small ones that come after it", [8, 9, 2, 2, 2, 2], [2, 8, 2, 9, 2, 2]],
])("serves %s", async (_name, sizes, expected) => {
  const order = await orderOf(sizes.map((size) => ["batch", size]));
  expect(order).toEqual(expected.map((size) => `batch ${size}`));
});

test("lets others have a turn after every 2 ms of work", async () => {
  const asker = await ends.messaging();
  const pod = await ends.messaging();
  let turns = 0;
  let turn: NodeJS.Immediate;
  const count = () => {
    turns += 1;
    turn = setImmediate(count);
  };
  turn = setImmediate(count);
  const turnOfFrame: number[] = [];
  await pod.serve("busy", (frame, answer) => {
    turnOfFrame.push(turns);
    work(3);
    return echo(frame, answer);
  });
  await ask(asker, "busy", 640);
  clearImmediate(turn);
  // More on a busy machine: what takes long is asked once more.
  expect(turnOfFrame.length).toBeGreaterThanOrEqual(10);
  expect(new Set(turnOfFrame).size).toBe(turnOfFrame.length);
});

test("long frames take turns with each other, one a turn of the event loop", async () => {
  const asker = await ends.messaging();
  const pod = await ends.messaging();
  const order: string[] = [];
  const pins: Record<string, string> = { a: "20140523T080000Z-00000001", b: "20140523T080000Z-00000002" };
  const handler = createResponder<null>({
    enter: () => ({ context: null }),
    ops: new Map<string, ItemHandler<null>>([
      [
        "ip",
        ({ query, requestId }) => {
          order.push(requestId);
          work(1);
          return reply(query, pins[requestId]);
        },
      ],
    ]),
    onFailure: () => {},
  });
  await pod.serve("busy", handler);
  const askAs = (requestId: string) =>
    Promise.all(Array.from({ length: 20 }, () => asker.request("busy", "batch", item("q", { requestId }), pins[requestId])));
  await Promise.all([askAs("a"), askAs("b")]);
  expect(order.length).toBeGreaterThanOrEqual(40);
  // Not one frame after the other.
  expect(order.lastIndexOf("a")).toBeGreaterThan(order.indexOf("b"));
  expect(order.lastIndexOf("b")).toBeGreaterThan(order.indexOf("a") + 20);
});

test("answers of one turn share a message, and a slow one comes by itself", async () => {
  const spy = await ends.raw();
  const messages: number[] = [];
  spy.subscribe("_INBOX.>", {
    callback: (_error, { data }) => {
      // Answers to calls are empty.
      if (data.length === 0) return;
      const frame = decodeReplyFrame(data);
      if ("parts" in frame) messages.push(frame.parts.length);
    },
  });
  await spy.flush();
  const messaging = await ends.messaging();
  await messaging.serve("mixed", ({ items }, answer) => {
    for (const [index, { query }] of items.entries()) {
      if (query === "single 5") setTimeout(() => answer(index, reply(query)), 60);
      else answer(index, reply(query));
    }
  });
  expect((await ask(messaging, "mixed", 20)).map(textOf)).toEqual(Array.from({ length: 20 }, (_, i) => `single ${i}`));
  await spy.flush();
  expect(messages).toEqual([19, 1]);
});

test("two pods share the load, and one that stops leaves it to the other", async () => {
  const asker = await ends.messaging();
  const served = [0, 0];
  const pods = await Promise.all(
    served.map(async (_, i) => {
      const pod = await ends.messaging();
      return pod.serve("shared", (frame, answer) => {
        served[i] = (served[i] ?? 0) + frame.items.length;
        return echo(frame, answer);
      });
    }),
  );
  expect((await ask(asker, "shared", 1_280)).length).toBe(1_280);
  expect(Math.min(...served)).toBeGreaterThan(0);
  await pods[0]?.stop();
  const before = served[0];
  expect((await ask(asker, "shared", 640)).length).toBe(640);
  expect(served[0]).toBe(before);
});

test("replies stay what they are while their memory is used again, even when they wait to leave", async () => {
  const pod = await ends.messaging();
  const long = (query: string) => Buffer.alloc(30_000, `${query}.`);
  await pod.serve("memory", ({ items }, answer) => {
    // Nothing is taken any more, and 7.7 MB are more than sockets hold.
    if (items[0]?.query === "batch 0") server.freeze();
    for (const [index, { query }] of items.entries()) answer(index, { ...reply(""), body: long(query) });
    setImmediate(() => setImmediate(() => server.thaw()));
  });
  const asker = await ends.messaging();
  const kept: [string, Uint8Array][] = [];
  for (const lane of ["batch", "single"] as const) {
    const replies = await ask(asker, "memory", 256, lane, 30_000);
    for (const [index, { body: got }] of replies.entries()) kept.push([`${lane} ${index}`, got]);
  }
  expect(kept.filter(([query, got]) => Buffer.compare(got, long(query)) !== 0).map(([query]) => query)).toEqual([]);
});

test("a frame that cannot be read gets one failed frame, and the next ones are served", async () => {
  const told: string[] = [];
  let refused = 0;
  const pod = await ends.messaging({
    onError: (what) => told.push(what),
    events: {
      frameRefused: () => {
        refused += 1;
      },
    },
  });
  await pod.serve("echo", echo);
  const raw = await ends.raw();
  const answered = await raw.request("nf.f1.echo.single", Buffer.from("no frame at all"), { timeout: 2_000 });
  expect(decodeReplyFrame(answered.data)).toEqual({ version: 1, frameId: 0, failed: true });
  // Nothing to answer to: nothing happens.
  raw.publish("nf.f1.echo.single", Buffer.from("no frame at all"));
  await raw.flush();
  expect(textOf(await (await ends.messaging()).request("echo", "single", item("next")))).toBe("next");
  // Each further one is refused and counted, and none of them is told.
  for (let sent = 0; sent < 100; sent++) raw.publish("nf.f1.echo.batch", Buffer.from("no frame"), { reply: "nobody" });
  await raw.request("nf.f1.echo.batch", Buffer.from("no frame"), { timeout: 2_000 });
  expect({ refused, told }).toEqual({ refused: 102, told: ["a frame to echo cannot be read; further ones are only counted for a minute"] });
});

test("a reply that cannot travel fails alone", async () => {
  const told: string[] = [];
  const pod = await ends.messaging({ onError: (what) => told.push(what) });
  await pod.serve("odd", ({ items }, answer) => {
    for (const [index, { query }] of items.entries()) answer(index, { ...reply(query), snapshotId: query === "odd" ? "no id" : "" });
  });
  const asker = await ends.messaging();
  const replies = await Promise.all(["fine", "odd"].map((query) => asker.request("odd", "single", item(query))));
  expect(replies.map(({ status }) => status)).toEqual([200, 500]);
  expect(told).toEqual(["a reply cannot be sent"]);
});

test.each([
  ["what the server takes is small", "max_payload: 16384", 16_384 - 4_096],
  ["the server takes a megabyte", "max_payload: 1048576", 32_768],
])("long bodies arrive whole in messages as short as others, when %s", async (_when, config, messageMax) => {
  const small = await startNatsServer({ config });
  const own = new Ends(() => small.url);
  try {
    const spy = await own.raw();
    const sizes: number[] = [];
    spy.subscribe("_INBOX.>", { callback: (_error, { data }) => sizes.push(data.length) });
    await spy.flush();
    const pod = await own.messaging();
    const body = (length: number) => Buffer.from(Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 0xff));
    await pod.serve("long", ({ items }, answer) => {
      for (const [index, { query }] of items.entries()) answer(index, { ...reply(""), body: body(Number(query)) });
    });
    const asker = await own.messaging();
    const lengths = [10, 1_000_000, 0, messageMax, messageMax - 59, messageMax - 60, messageMax - 61, 20, 300_000];
    const replies = await Promise.all(lengths.map((length) => asker.request("long", "single", item(`${length}`))));
    for (const [index, { body: got, maxAgeSeconds }] of replies.entries()) {
      expect(Buffer.compare(got, body(lengths[index] as number))).toBe(0);
      expect(maxAgeSeconds).toBe(60);
    }
    await spy.flush();
    expect(Math.max(...sizes)).toBeLessThanOrEqual(messageMax);
    expect(Math.max(...sizes)).toBeGreaterThan(messageMax - 100);
  } finally {
    await own.close();
    await small.stop();
  }
});

/** Frames of which each is answered after 20 to 220 ms. */
const slowly: FrameHandler = ({ items }, answer) => {
  for (const [index, { query }] of items.entries()) setTimeout(() => answer(index, reply(query)), 20 + 10 * (index % 20));
};

test("a pod that stops under load loses no reply", async () => {
  const asker = await ends.messaging();
  const pod = await ends.messaging();
  let arrived = 0;
  const subscription = await pod.serve("slow", (frame, answer) => {
    arrived += frame.items.length;
    return slowly(frame, answer);
  });
  const asked = ask(asker, "slow", 600, "single", patientMs);
  await until(() => arrived >= 600);
  const stopped = subscription.stop().then(() => pod.close());
  expect((await asked).map(textOf)).toEqual(Array.from({ length: 600 }, (_, i) => `single ${i}`));
  await stopped;
});

test("with nc.drain() in its place, late replies are lost", async () => {
  const connection = await connect({ servers: server.url, name: "planted" });
  const link = new NatsLink(connection, { onError, events: {} });
  const replies = new ReplyWriter(link, onError);
  new FrameServer({ link, replies, service: "slow", handler: slowly, events: {}, onError });
  await link.flush();
  const asker = await ends.messaging();
  const asked = Array.from({ length: 600 }, (_, i) => asker.request("slow", "single", item(`${i}`, { budgetMs: 1_000 })));
  await pause(30);
  await connection.drain();
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
});

test("a stop waits about 10 s for answers that never come, not longer", async () => {
  const pod = await ends.messaging();
  let arrived = false;
  const subscription = await pod.serve("stuck", () => {
    arrived = true;
  });
  const asker = await ends.messaging();
  const asked = asker.request("stuck", "single", item("q", { budgetMs: 11_000 })).catch(({ code }) => code);
  await until(() => arrived);
  const start = performance.now();
  const ran = startRunningTime();
  await subscription.stop();
  expect(performance.now() - start).toBeGreaterThan(9_000);
  expect(ran()).toBeLessThan(12_000);
  expect(["timeout", "no_responders"]).toContain(await asked);
});
