/** Frames of two versions side by side, as during an upgrade: whoever is new or old, every question is answered, and the bytes are the same. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { Copies } from "../../src/frames/copies.ts";
import { decodeReplyFrame } from "../../src/frames/frame-codec/index.ts";
import { RequestQueue } from "../../src/frames/request-queue.ts";
import type { FrameHandler, Messaging } from "../../src/index.ts";
import { createNatsMessaging } from "../../src/nats/index.ts";
import { item, reply, textOf } from "../contract/items.ts";
import { requestBytes } from "../frames/frames.ts";
import { Ends, patientMs, pause, type SeenFrame, whole } from "./support.ts";

let server: NatsServer;
const ends = new Ends(() => server.url);
beforeAll(async () => {
  server = await startNatsServer({ own: true });
});
afterEach(() => ends.close());
afterAll(() => server.stop());

const ending = Buffer.from(',"meta":{"warnings":[]}}');
/** Answers as `ip-routing` does: all with one ending. */
const withEnding: FrameHandler = ({ items }, answer) => {
  for (const [index, { query }] of items.entries()) answer(index, { ...reply(`{"ip":"${query}"`), ending });
};
const wholeOf = (query: string) => `{"ip":"${query}"${ending}`;
const old = ({ ids, queries, answer }: SeenFrame) => answer(...ids.map((id, i) => whole(id, reply(wholeOf(queries[i] as string)))));
const names = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);
const askBatch = (messaging: Messaging, service: string, count: number, budgetMs = patientMs) =>
  Promise.all(names(count).map((query) => messaging.request(service, "batch", item(query, { budgetMs }))));

/** How many bytes all replies took so far. */
async function repliedBytes(): Promise<() => number> {
  const spy = await ends.raw();
  let bytes = 0;
  spy.subscribe("_INBOX.>", {
    callback: (_error, { data }) => {
      bytes += data.length;
    },
  });
  await spy.flush();
  return () => bytes;
}

test("a batch gets bodies and endings apart, and what they share travels once", async () => {
  const bytes = await repliedBytes();
  const pod = await ends.messaging();
  await pod.serve("pod", withEnding);
  const messaging = await ends.messaging();
  const replies = await askBatch(messaging, "pod", 300);
  expect(replies.map(textOf)).toEqual(names(300).map(wholeOf));
  expect(Buffer.from(replies[299]?.ending ?? "")).toEqual(ending);
  // 12 bytes and the body each; every message has its own header, and one item in full.
  expect(bytes()).toBeLessThan(300 * (12 + '{"ip":"299"'.length) + 500);
});

test("a pod that serves version 2 answers version 1 with whole bodies", async () => {
  const pod = await ends.messaging();
  await pod.serve("pod", withEnding);
  const raw = await ends.raw();
  for (const lane of ["single", "batch"]) {
    const asked = requestBytes({
      version: 1,
      frameId: 5,
      pinnedSnapshot: null,
      items: names(3).map((query, id) => ({ id, item: item(query), budgetMs: patientMs })),
    });
    const answered = decodeReplyFrame((await raw.request(`nf.f1.pod.${lane}`, asked, { timeout: patientMs })).data);
    expect(answered).toMatchObject({
      version: 1,
      frameId: 5,
      parts: names(3).map((query, id) => ({ kind: "reply", id, reply: { body: Buffer.from(wholeOf(query)) } })),
    });
  }
});

test("pods of version 1 are asked in version 1 without a failure, a retry or a lost question", async () => {
  const told: string[] = [];
  const frames: SeenFrame[] = [];
  await ends.responder("pod", (frame) => {
    frames.push(frame);
    old(frame);
  });
  const messaging = await ends.messaging({
    events: {
      itemsRetried: (_service, _lane, reason) => told.push(`retried ${reason}`),
      repliesDropped: (reason) => told.push(`dropped ${reason}`),
      requestFailed: (_service, _lane, code) => told.push(`failed ${code}`),
    },
  });
  expect((await askBatch(messaging, "pod", 2_000)).map(textOf)).toEqual(names(2_000).map(wholeOf));
  expect(told).toEqual([]);
  expect(frames.flatMap(({ queries }) => queries).length).toBe(2_000);
});

test("old and new pods come and go under batches, and every question is answered", async () => {
  const messaging = await ends.messaging();
  const first = await ends.messaging();
  await first.serve("pod", withEnding);
  const wrong: string[] = [];
  let goesOn = true;
  const asking = (async () => {
    while (goesOn) {
      // What is lost is asked again at half of it.
      const replies = await askBatch(messaging, "pod", 300, 10_000);
      for (const [index, one] of replies.entries()) if (textOf(one) !== wholeOf(`${index}`)) wrong.push(textOf(one));
    }
  })();
  asking.catch(() => {});
  await pause(100);
  const older = await ends.responder("pod", old);
  await pause(100);
  // The new one goes, as when an upgrade is taken back.
  await first.close();
  await pause(100);
  const second = await ends.messaging();
  await second.serve("pod", withEnding);
  await older.drain();
  await pause(100);
  goesOn = false;
  await asking;
  expect(wrong).toEqual([]);
});

test("nobody at all is told as before", async () => {
  const messaging = await ends.messaging();
  await expect(messaging.request("nobody", "batch", item("q"))).rejects.toMatchObject({ code: "no_responders" });
});

test("version 2 is tried for batches only, and again after a while", () => {
  const batch = new RequestQueue(new Copies("pod"), "batch", 4_096);
  expect(batch.version(0)).toBe(2);
  batch.useOlder(10_000);
  expect([batch.version(9_999), batch.version(10_000)]).toEqual([1, 2]);
  const single = new RequestQueue(new Copies("pod"), "single", 4_096);
  single.useOlder(0);
  expect(single.version(20_000)).toBe(1);
});

test.each([
  ["publish", 'publish: { deny: ["nf.f2.>"] }'],
  ["subscribe", 'subscribe: { deny: ["nf.f2.>"] }'],
])("where the server's permissions to %s are of version 1, that is spoken", async (_what, permission) => {
  const users = `{ user: "u", password: "p", permissions: { ${permission} } }`;
  const strict = await startNatsServer({ own: true, config: `authorization { users: [${users}] }` });
  const open = (user: string) =>
    createNatsMessaging({ servers: strict.url, name: "test", access: { NATS_USER: user, NATS_PASSWORD: "p" } });
  const messaging = await open("u");
  try {
    await messaging.serve("pod", withEnding);
    const begun = performance.now();
    const replies = await askBatch(messaging, "pod", 300);
    expect(replies.map(textOf)).toEqual(names(300).map(wholeOf));
    expect(replies[0]?.ending).toBeUndefined();
    // Not by the retry at half the budget.
    expect(performance.now() - begun).toBeLessThan(patientMs / 4);
  } finally {
    await messaging.close();
    await strict.stop();
  }
});
