/** A member of a queue group that is broken or taken over: what it says is counted, its items go to another copy, and it is asked rarely. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { Msg } from "nats";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { decodeRequestFrame, encodeReplyFrame, headerBytes, replyPartBytes } from "../../src/frames/frame-codec/index.ts";
import { callSubject, copySubject, requestSubject } from "../../src/frames/subjects.ts";
import type { ReplyItem } from "../../src/index.ts";
import { item, newer, older, reply, textOf } from "../contract/items.ts";
import { Ends, pause, whole } from "./support.ts";

let server: NatsServer;
const ends = new Ends(() => server.url);
beforeAll(async () => {
  server = await startNatsServer();
});
afterEach(() => ends.close());
afterAll(() => server?.stop());

const snapshotId = older;

/** It answers calls as a copy does, and frames as it likes. */
async function rogue(service: string, answer: (message: Msg) => void): Promise<{ frames: number }> {
  const raw = await ends.raw();
  const seen = { frames: 0 };
  const callback = (_: unknown, message: Msg) => {
    seen.frames += 1;
    answer(message);
  };
  for (const version of [1, 2] as const) {
    raw.subscribe(requestSubject(service, "batch", version), { queue: service, callback });
    raw.subscribe(requestSubject(service, "batch", version, "rogue"), { callback });
  }
  raw.subscribe(callSubject(service), {
    callback: (_, message) => void raw.publish(message.reply ?? "", undefined, { reply: copySubject(service, "rogue") }),
  });
  await raw.flush();
  return seen;
}

/** What a copy would send, perhaps with another id of the frame. */
function framed({ data }: Msg, of: ReplyItem, idPlus = 0): Uint8Array {
  const { version, frameId, ids } = decodeRequestFrame(data);
  const parts = ids.map((id) => whole(id, of));
  const bytes = parts.reduce((sum, part) => sum + replyPartBytes(part, version), headerBytes);
  return encodeReplyFrame({ version, frameId: frameId + idPlus, snapshotId: of.snapshotId, parts }, bytes);
}

test.each<[string, boolean, (message: Msg) => void]>([
  ["answers garbage", true, (message) => void message.respond(Buffer.from("garbage".repeat(100)))],
  ["answers with ids of other frames", true, (message) => void message.respond(framed(message, reply("rogue", snapshotId), 1))],
  ["answers of another snapshot", true, (message) => void message.respond(framed(message, reply("rogue", newer)))],
  ["answers nothing", false, () => undefined],
])("a copy that %s", async (_, isCounted, answer) => {
  const service = `pod-${Math.random().toString(36).slice(2)}`;
  const dropped: string[] = [];
  const good = await ends.messaging();
  await good.serve(service, ({ items }, answered) => {
    for (const index of items.keys()) answered(index, reply("good", snapshotId));
  });
  const asker = await ends.messaging({ events: { repliesDropped: (reason) => void dropped.push(reason) } });
  const ask = async (count: number): Promise<string[]> => {
    const answers: Promise<string>[] = [];
    for (let asked = 0; asked < count; asked++) {
      const one = asker.request(service, "batch", item("q", { budgetMs: 10_000 }), snapshotId);
      answers.push(one.then(textOf, (error: { code: string }) => error.code));
      await pause(5);
    }
    return [...new Set(await Promise.all(answers))];
  };
  // The good copy is known by its name: where none is, a retry may meet the same one again.
  expect(await ask(20)).toEqual(["good"]);
  const seen = await rogue(service, answer);
  // Until it has been found out.
  expect(await ask(400)).toEqual(["good"]);
  expect(seen.frames).toBeGreaterThan(0);
  expect(dropped.includes("undecodable")).toBe(isCounted);
  const before = { frames: seen.frames, at: performance.now() };
  expect(await ask(200)).toEqual(["good"]);
  // One question each 500 ms to a copy that is left out, one each 5 s to any copy, and some that a busy machine sends to another copy too. As many as
  // the good copy were 100.
  const spans = (performance.now() - before.at) / 500;
  expect(seen.frames - before.frames).toBeLessThanOrEqual(2 * spans + 30);
});

test("a copy that makes up names of copies costs a request two frames at most before it goes to any copy", async () => {
  const service = `pod-${Math.random().toString(36).slice(2)}`;
  let frames = 0;
  const good = await ends.messaging();
  await good.serve(service, ({ items }, answer) => {
    for (const index of items.keys()) answer(index, reply("good"));
  });
  const frameSent = () => {
    frames += 1;
  };
  const asker = await ends.messaging({ events: { frameSent } });
  const raw = await ends.raw();
  let made = 0;
  raw.subscribe(callSubject(service), {
    callback: (_, message) => {
      for (let name = 0; name < 200; name++) raw.publish(message.reply ?? "", undefined, { reply: copySubject(service, `made-${made++}`) });
    },
  });
  await raw.flush();
  const answers = new Set<string>();
  const requests = 200;
  for (let asked = 0; asked < requests; asked++) {
    answers.add(textOf(await asker.request(service, "single", item("q", { budgetMs: 60_000 }))));
    await pause(2);
  }
  expect([...answers]).toEqual(["good"]);
  expect(made).toBeGreaterThan(1_000);
  expect(frames).toBeGreaterThan(requests);
  // A busy machine may send some to another copy for their age.
  expect(frames).toBeLessThanOrEqual(3.2 * requests);
});

test("the credentials of one service do not show where answers of another service go", async () => {
  const name = Math.random().toString(36).slice(2);
  const good = await ends.messaging();
  const garbageIsSent = Promise.withResolvers<void>();
  await good.serve(`good-${name}`, async ({ items }, answer) => {
    await garbageIsSent.promise;
    for (const index of items.keys()) answer(index, reply("good"));
  });
  const dropped: string[] = [];
  const asker = await ends.messaging({ events: { repliesDropped: (reason) => void dropped.push(reason) } });
  const raw = await ends.raw();
  // It learns where its own answers go, and counts on from there: ids of frames are numbers in a row.
  let learned = "";
  raw.subscribe(requestSubject(`rogue-${name}`, "single", 1), {
    callback: (_, message) => {
      learned = message.reply ?? "";
      message.respond(framed(message, reply("rogue", snapshotId)));
    },
  });
  await raw.flush();
  expect(textOf(await asker.request(`rogue-${name}`, "single", item("q", { budgetMs: 60_000 }), null))).toBe("rogue");
  const at = learned.lastIndexOf(".");
  const asked = Promise.all(
    Array.from({ length: 20 }, () => asker.request(`good-${name}`, "single", item("q", { budgetMs: 60_000 })).then(textOf)),
  );
  // Also at frames that are sent again.
  for (let round = 0; round < 5; round++) {
    await pause(40);
    for (let id = 0; id < 100; id++) raw.publish(`${learned.slice(0, at)}.${Number(learned.slice(at + 1)) + id}`, Buffer.from("garbage"));
  }
  await raw.flush();
  garbageIsSent.resolve();
  expect([...new Set(await asked)]).toEqual(["good"]);
  expect(dropped.filter((reason) => reason === "undecodable").length).toBe(500);
});

test("a broadcast that is garbage is counted, told once, and harms no listener", async () => {
  const told: string[] = [];
  const refused: string[] = [];
  const listening = await ends.messaging({
    events: { broadcastRefused: (subject) => void refused.push(subject) },
    onError: (what) => told.push(what),
  });
  const heard: unknown[] = [];
  listening.subscribe("keys.changed", (payload) => heard.push(payload));
  await listening.probe(5_000);
  const raw = await ends.raw();
  for (let sent = 0; sent < 1_000; sent++) raw.publish("keys.changed", sent % 2 === 0 ? "{" : Buffer.from([0xff, 0x00]));
  raw.publish("keys.changed", JSON.stringify("x".repeat(100_000)));
  raw.publish("keys.changed", JSON.stringify({ key_id: "k", version: 1 }));
  await raw.flush();
  for (const end = performance.now() + 10_000; heard.length === 0 && performance.now() < end; ) await pause(10);
  expect(heard).toEqual([{ key_id: "k", version: 1 }]);
  expect(refused).toEqual(Array.from({ length: 1_001 }, () => "keys.changed"));
  expect(told).toEqual(["a broadcast on keys.changed is not JSON, or too long; further ones are only counted for a minute"]);
});
