/** Frames byte for byte: the committed ones, all that can be sent, and 100,000 damaged ones. */

import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import {
  decodeReplyFrame,
  decodeRequestFrame,
  encodeFailedFrame,
  type FailedFrame,
  headerBytes,
  type ReplyFrame,
  ReplyFrameWriter,
  type RequestFrame,
  replyPartBytes,
  requestItemBytes,
} from "../../src/frames/frame-codec/index.ts";
import type { ReplyItem } from "../../src/types.ts";
import { withWholeBody } from "../../src/whole-body.ts";
import { anyReply, anyRequest, goldenReplies, goldenRequests, type OutgoingFrame, replyBytes, requestBytes } from "./frames.ts";

/** Hexadecimal, 16 bytes a line, so that a difference can be read. Rewritten by `npm run golden` only. */
function expectGoldenBytes(name: string, bytes: Buffer): void {
  const path = new URL(`golden/${name}.hex`, import.meta.url);
  const text = `${bytes
    .toString("hex")
    .match(/.{1,32}/g)
    ?.join("\n")}\n`;
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}

function readOf({ version, frameId, pinnedSnapshot, items }: OutgoingFrame): RequestFrame {
  const read = items.map(({ item, budgetMs }) => ({ ...item, budgetMs: Math.min(budgetMs, 0xffff) }));
  return { version, frameId, pinnedSnapshot, ids: items.map(({ id }) => id), items: read };
}

test.each(Object.entries(goldenRequests))("%s is written as committed, and read back", (name, frame) => {
  const bytes = requestBytes(frame);
  expectGoldenBytes(name, bytes);
  expect(decodeRequestFrame(bytes)).toEqual(readOf(frame));
});

test.each(Object.entries(goldenReplies))("%s is written as committed, and read back", (name, frame) => {
  const bytes = replyBytes(frame);
  expectGoldenBytes(name, bytes);
  expect(decodeReplyFrame(bytes)).toEqual(frame);
});

test.each([
  [1, "reply-failed"],
  [2, "reply-2-failed"],
] as const)("a failed frame of version %i is written as committed, and read back", (version, name) => {
  const bytes = encodeFailedFrame(version, 0x01020304);
  expectGoldenBytes(name, bytes);
  expect(decodeReplyFrame(bytes)).toEqual({ version, frameId: 0x01020304, failed: true });
});

test("reads every request frame that can be sent as it was sent", () => {
  fc.assert(
    fc.property(anyRequest, (frame) => {
      expect(decodeRequestFrame(requestBytes(frame))).toEqual(readOf(frame));
    }),
    { seed: seed(4), numRuns: runs(2_000) },
  );
});

test("reads every reply frame that can be sent as it was sent", () => {
  fc.assert(
    fc.property(anyReply, (frame) => {
      expect(decodeReplyFrame(replyBytes(frame))).toEqual(frame);
    }),
    { seed: seed(5), numRuns: runs(2_000) },
  );
});

test("a body and its ending are one body in version 1", () => {
  fc.assert(
    fc.property(anyReply, (frame) => {
      const read = decodeReplyFrame(replyBytes({ ...frame, version: 1 }));
      const parts = frame.parts.map((part) => (part.kind === "reply" ? { ...part, reply: withWholeBody(part.reply) } : part));
      expect(read).toEqual({ ...frame, version: 1, parts });
    }),
    { seed: seed(8), numRuns: runs(1_000) },
  );
});

test("a reply like the one before it takes 12 bytes and its body", () => {
  const memory = Buffer.alloc(1_000);
  const writer = new ReplyFrameWriter(memory, 2, 1, "");
  const reply = {
    status: 200,
    contentType: "json",
    counted: true,
    cacheable: true,
    maxAgeSeconds: 1,
    etag: "e".repeat(50),
    snapshotId: "",
  } as const;
  const part = (body: string) =>
    ({ kind: "reply", id: 1, reply: { ...reply, body: Buffer.from(body), ending: Buffer.from("end") }, more: false }) as const;
  for (const [body, bytes] of [
    ["first", 18 + 50 + 2 + 3 + 5],
    ["second", 12 + 6],
  ] as const) {
    const before = writer.length;
    expect(writer.bytesOf(part(body))).toBe(bytes);
    writer.add(part(body));
    expect(writer.length - before).toBe(bytes);
  }
});

const plain: ReplyItem = {
  status: 200,
  contentType: "json",
  body: Buffer.from("body"),
  ending: Buffer.from("end"),
  counted: true,
  cacheable: true,
  maxAgeSeconds: 1,
  etag: "routes",
  snapshotId: "",
};
const framed = (...replies: ReplyItem[]): ReplyFrame => ({
  version: 2,
  frameId: 1,
  snapshotId: "",
  parts: replies.map((reply, id) => ({ kind: "reply", id, reply, more: false })),
});
const { ending: _ending, ...endless } = plain;

test.each<[string, ReplyItem]>([
  ["status", { ...plain, status: 201 }],
  ["content type", { ...plain, contentType: "problem" }],
  ["cost", { ...plain, counted: false }],
  ["cacheability", { ...plain, cacheable: false }],
  ["max-age", { ...plain, maxAgeSeconds: 2 }],
  ["ETag input", { ...plain, etag: "vrps" }],
  ["ending", { ...plain, ending: Buffer.from("other") }],
  ["lack of an ending", endless],
  ["next place", { ...plain, next: 0 }],
])("a reply that differs from its neighbours in its %s alone keeps it", (_what, other) => {
  const frame = framed(plain, other, plain, plain, other);
  expect(decodeReplyFrame(replyBytes(frame))).toEqual(frame);
});

test("what can be said in one way is read in no other", () => {
  const first = headerBytes + replyPartBytes({ kind: "reply", id: 0, reply: plain, more: false }, 2);
  const inFull = replyBytes(framed(plain, { ...plain, maxAgeSeconds: 2 }));
  inFull.writeUInt32LE(1, first + 8);
  expect(() => decodeReplyFrame(inFull)).toThrow("a full item");
  const alike = replyBytes(framed(plain, plain));
  const alone = Buffer.concat([alike.subarray(0, headerBytes), alike.subarray(first)]);
  alone.writeUInt16LE(1, 4);
  expect(() => decodeReplyFrame(alone)).toThrow("a repeated item without an item that it repeats");
  const older = Buffer.from(alike);
  older.writeUInt8(1, 2);
  expect(() => decodeReplyFrame(older)).toThrow("unknown flags");
  const at = headerBytes + 14 + plain.etag.length;
  const one = replyBytes(framed(plain));
  const empty = Buffer.concat([one.subarray(0, at), Buffer.from([0, 0]), one.subarray(at + 2 + 3)]);
  expect(() => decodeReplyFrame(empty)).toThrow("an invalid ending");
});

test("reads a frame in the middle of other bytes", () => {
  const bytes = requestBytes(goldenRequests["request-pinned-traced"] as OutgoingFrame);
  const around = new Uint8Array(bytes.length + 20).fill(0xff);
  around.set(bytes, 7);
  expect(decodeRequestFrame(around.subarray(7, 7 + bytes.length))).toEqual(decodeRequestFrame(bytes));
});

test.each([
  ["an operation without a number", { op: "whois" }],
  ["an operation number that needs two bytes", { op: "op-256" }],
  ["a request id with a space", { requestId: "a b" }],
  ["an empty request id", { requestId: "" }],
  ["a request id of 65 characters", { requestId: "a".repeat(65) }],
  ["a trace context of another version", { traceparent: "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }],
  ["a query of 65,536 bytes", { query: "é".repeat(32_768) }],
])("refuses to send %s", (_what, change) => {
  const item = { op: "ip", query: "192.0.2.1", requestId: "r", traceparent: null, budgetMs: 1 };
  expect(requestItemBytes(item)).toBeGreaterThan(0);
  expect(() => requestItemBytes({ ...item, ...change })).toThrow(RangeError);
});

/** Reads a message of either kind and gives the bytes that its reading stands for. */
function rewritten(bytes: Uint8Array, kind: "request" | "reply"): Buffer {
  if (kind === "request") {
    const { version, frameId, pinnedSnapshot, ids, items } = decodeRequestFrame(bytes);
    return requestBytes({
      version,
      frameId,
      pinnedSnapshot,
      items: items.map((item, i) => ({ id: ids[i] as number, item, budgetMs: item.budgetMs })),
    });
  }
  const frame: ReplyFrame | FailedFrame = decodeReplyFrame(bytes);
  return "failed" in frame ? encodeFailedFrame(frame.version, frame.frameId) : replyBytes(frame);
}

/** Small, fast, and the same everywhere (mulberry32). */
function randomOf(first: number): (below: number) => number {
  let state = first;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const damagedFrames = runs(100_000);

function damaged(bytes: Buffer, random: (below: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  const at = random(copy.length);
  switch (random(6)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Buffer.concat([copy, copy.subarray(at)]);
    case 2:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + random(4))]);
    case 3:
      copy.subarray(at, at + 1 + random(4)).fill(random(2) === 0 ? 0xff : 0);
      return copy;
    case 4:
      for (let i = 0; i <= random(4); i++) copy[random(copy.length)] = random(256);
      return copy;
    default:
      copy[at] = (copy[at] as number) ^ (1 << random(8));
      return copy;
  }
}

test(`${damagedFrames} damaged frames are refused, or read as exactly what their bytes say`, () => {
  const requests = fc.sample(anyRequest, { seed: seed(6), numRuns: runs(300) }).map(requestBytes);
  const replies = fc.sample(anyReply, { seed: seed(7), numRuns: runs(300) }).map(replyBytes);
  requests.push(...Object.values(goldenRequests).map(requestBytes));
  replies.push(...Object.values(goldenReplies).map(replyBytes), encodeFailedFrame(1, 9), encodeFailedFrame(2, 9));
  const random = randomOf(seed(2026));
  const outcomes = { refused: 0, read: 0 };
  const wrong: string[] = [];
  for (let round = 0; round < damagedFrames; round++) {
    const kind = round % 2 === 0 ? "request" : "reply";
    const frames = kind === "request" ? requests : replies;
    const bytes = damaged(frames[random(frames.length)] as Buffer, random);
    try {
      if (rewritten(bytes, kind).equals(bytes)) outcomes.read += 1;
      else wrong.push(`${kind} ${bytes.toString("hex")}`);
    } catch (error) {
      if ((error as Error).name === "FrameSyntaxError") outcomes.refused += 1;
      else wrong.push(`${kind} ${bytes.toString("hex")}: ${String(error)}`);
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  // Both happen: the test would be idle if no damage could be read, or none noticed.
  expect(outcomes.read).toBeGreaterThan(damagedFrames / 10);
  expect(outcomes.refused).toBeGreaterThan(damagedFrames / 10);
});
