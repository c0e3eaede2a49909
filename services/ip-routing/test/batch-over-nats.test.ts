/** A batch over NATS, by both versions of the frames: its bytes are those of the same questions one by one. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Messaging, ReplyItem } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { madeGeneration } from "../../../libs/snapshot/test/support/made-snapshot.ts";
import { world } from "../../../libs/snapshot/test/support/made-world.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { buildApp } from "../src/app.ts";

let server: NatsServer;
const ends: Messaging[] = [];
beforeAll(async () => {
  server = await startNatsServer({ own: true });
  const generation = madeGeneration(world);
  const messaging = await open();
  const app = buildApp({
    messaging,
    dataset: { current: () => generation, at: () => generation },
    clock: { now: () => Date.parse("2026-11-21T09:00:02Z") },
    // Of the one that is no address.
    onFailure: () => {},
  });
  await app.start();
});
afterAll(async () => {
  await Promise.all(ends.map((end) => end.close()));
  await server.stop();
});

async function open(): Promise<Messaging> {
  const end = await createNatsMessaging({ servers: server.url, name: "test" });
  ends.push(end);
  return end;
}

/** Routes, places without one, addresses that embed others, and one whose answer has a warning of its own. */
const kinds = ["193.0.6", "11.1.2", "9.9.9", "10.0.0", "15.0.0", "16.0.0", "20.0.2", "17.0.0"];
const queries = [
  ...Array.from({ length: 600 }, (_, index) => `${kinds[index % kinds.length]}.${index % 251}`),
  "2a00:1::1",
  "::ffff:8.8.8.8",
  "2002:c100:68b::1",
  "no address",
];

const ask = (messaging: Messaging, lane: "single" | "batch", query: string): Promise<ReplyItem> =>
  messaging.request("ip-routing", lane, { op: "ip", query, requestId: "req-1", traceparent: null, budgetMs: 30_000 });
const wholeOf = ({ ending = Buffer.alloc(0), ...reply }: ReplyItem) => ({ ...reply, body: Buffer.concat([reply.body, ending]).toString() });

test("the bytes, and all that goes with them, are the same", async () => {
  const messaging = await open();
  const oneByOne: ReplyItem[] = [];
  // Each alone in its frame, where nothing is shared.
  for (const query of queries) oneByOne.push(await ask(messaging, "single", query));
  const together = await Promise.all(queries.map((query) => ask(messaging, "batch", query)));
  const inSingleFrames = await Promise.all(queries.map((query) => ask(messaging, "single", query)));
  expect(together.map(wholeOf)).toEqual(oneByOne.map(wholeOf));
  expect(inSingleFrames.map(wholeOf)).toEqual(oneByOne.map(wholeOf));
  expect(together.filter(({ ending }) => ending !== undefined).length).toBeGreaterThan(50);
  expect([...oneByOne, ...inSingleFrames].filter(({ ending }) => ending !== undefined)).toEqual([]);
});
