/** Frames for tests of the codec: some that show every field, and arbitrary ones. */

import { snapshotIdOf } from "@netfacts/contracts";
import fc from "../../../../test/support/properties.ts";
import {
  encodeReplyFrame,
  encodeRequestFrame,
  type FrameVersion,
  headerBytes,
  type OutgoingItem,
  type ReplyFrame,
  type ReplyPart,
  replyPartBytes,
  requestItemBytes,
} from "../../src/frames/frame-codec/index.ts";
import type { ReplyItem } from "../../src/index.ts";

export interface OutgoingFrame {
  readonly version: FrameVersion;
  readonly frameId: number;
  readonly pinnedSnapshot: string | null;
  readonly items: readonly OutgoingItem[];
}

export function requestBytes({ version, frameId, pinnedSnapshot, items }: OutgoingFrame): Buffer {
  const bytes = items.reduce((sum, { item }) => sum + requestItemBytes(item), headerBytes);
  return encodeRequestFrame(version, frameId, pinnedSnapshot, items, bytes);
}

export function replyBytes(frame: ReplyFrame): Buffer {
  return encodeReplyFrame(
    frame,
    frame.parts.reduce((sum, part) => sum + replyPartBytes(part, frame.version), headerBytes),
  );
}

const snapshotId = "20140523T080000Z-1a2b3c4d";

export const goldenRequests: Readonly<Record<string, OutgoingFrame>> = {
  "request-single": {
    version: 1,
    frameId: 1,
    pinnedSnapshot: null,
    items: [{ id: 7, item: { op: "ip", query: "193.0.6.139", requestId: "r-1", traceparent: null, budgetMs: 2_000 }, budgetMs: 1_500 }],
  },
  "request-pinned-traced": {
    version: 1,
    frameId: 0xfffffffe,
    pinnedSnapshot: snapshotId,
    items: [
      {
        id: 0xffffffff,
        item: {
          op: "reverse_dns",
          query: "2001:db8::1",
          requestId: "a.b_c-1",
          traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          budgetMs: 90_000,
        },
        budgetMs: 90_000,
      },
      { id: 0, item: { op: "status", query: "", requestId: "z".repeat(64), traceparent: null, budgetMs: 0 }, budgetMs: 0 },
    ],
  },
  "request-2": {
    version: 2,
    frameId: 4,
    pinnedSnapshot: snapshotId,
    items: [{ id: 12, item: { op: "ip", query: "193.0.6.139", requestId: "r-2", traceparent: null, budgetMs: 900 }, budgetMs: 800 }],
  },
};

const record: ReplyItem = {
  status: 200,
  contentType: "json",
  body: Buffer.from('{"ip":"193.0.6.139"}'),
  counted: true,
  cacheable: true,
  maxAgeSeconds: 120,
  etag: "routes:20261121.0855",
  snapshotId,
};
const ended = (text: string): ReplyItem => ({ ...record, body: Buffer.from(`{"ip":"${text}"`), ending: Buffer.from(',"meta":{}}') });
const problem: ReplyItem = {
  status: 503,
  contentType: "problem",
  body: Buffer.from('{"code":"data_not_ready"}'),
  counted: false,
  cacheable: false,
  maxAgeSeconds: 0,
  etag: "",
  snapshotId: "",
};

export const goldenReplies: Readonly<Record<string, ReplyFrame>> = {
  "reply-record": { version: 1, frameId: 1, snapshotId, parts: [{ kind: "reply", id: 7, reply: record, more: false }] },
  "reply-problem-and-not-yet": {
    version: 1,
    frameId: 2,
    snapshotId: "",
    parts: [
      { kind: "reply", id: 8, reply: problem, more: false },
      { kind: "not_yet", id: 9 },
    ],
  },
  "reply-begins": { version: 1, frameId: 3, snapshotId, parts: [{ kind: "reply", id: 10, reply: record, more: true }] },
  "reply-goes-on": {
    version: 1,
    frameId: 3,
    snapshotId: "",
    parts: [
      { kind: "continued", id: 10, offset: 20, body: Buffer.from("second"), more: true },
      { kind: "continued", id: 10, offset: 26, body: Buffer.from("last"), more: false },
    ],
  },
  "reply-2-alike": {
    version: 2,
    frameId: 4,
    snapshotId,
    parts: [
      { kind: "reply", id: 12, reply: ended("one"), more: false },
      { kind: "reply", id: 13, reply: ended("two"), more: false },
      { kind: "not_yet", id: 14 },
      { kind: "reply", id: 15, reply: ended("three"), more: false },
      { kind: "reply", id: 16, reply: record, more: false },
      { kind: "reply", id: 17, reply: { ...record, next: 7 }, more: false },
      { kind: "reply", id: 18, reply: record, more: false },
    ],
  },
};

const u32 = fc.oneof(fc.constantFrom(0, 1, 0xffffffff), fc.nat(0xffffffff));
const someSnapshot = fc
  .record({ seconds: u32, digest: u32 })
  .filter((n) => n.seconds + n.digest > 0)
  .map(snapshotIdOf);
const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: "grapheme", maxLength: 20 }));
const hex = (length: number) => fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
const requestId = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
const traceparent = fc.tuple(hex(32), hex(16), hex(2)).map(([trace, parent, flags]) => `00-${trace}-${parent}-${flags}`);

export const anyRequest: fc.Arbitrary<OutgoingFrame> = fc.record({
  version: fc.constantFrom<FrameVersion>(1, 2),
  frameId: u32,
  pinnedSnapshot: fc.option(someSnapshot),
  items: fc.array(
    fc
      .record({
        op: fc.constantFrom("ip", "routing", "validity", "status", "asn", "prefix", "reverse_dns", "op-200"),
        query: text,
        requestId,
        traceparent: fc.option(traceparent),
        budgetMs: fc.nat(0xffff),
      })
      .chain((item) => u32.map((id) => ({ id, item, budgetMs: item.budgetMs }))),
    { minLength: 1, maxLength: 12 },
  ),
});

/** Frames as they are read: without endings in version 1, and of both kinds of likeness in version 2. */
export const anyReply: fc.Arbitrary<ReplyFrame> = fc
  .tuple(fc.oneof(someSnapshot, fc.constant("")), fc.constantFrom<FrameVersion>(1, 2))
  .chain(([id, version]) => {
    const bytes = (minLength: number) => fc.uint8Array({ minLength, maxLength: 200 }).map((array) => Buffer.from(array));
    const manner: fc.Arbitrary<Omit<ReplyItem, "body">> = fc.record(
      {
        status: fc.nat(0xffff),
        contentType: fc.constantFrom("json", "problem"),
        counted: fc.boolean(),
        cacheable: fc.boolean(),
        maxAgeSeconds: u32,
        etag: text,
        snapshotId: fc.constant(id),
        next: u32,
        ...(version === 1 ? {} : { ending: bytes(1) }),
      },
      { requiredKeys: ["status", "contentType", "counted", "cacheable", "maxAgeSeconds", "etag", "snapshotId"] },
    );
    return fc.array(manner, { minLength: 1, maxLength: 3 }).chain((manners) => {
      const reply = fc.tuple(fc.constantFrom(...manners), bytes(0)).map(([like, body]): ReplyItem => ({ ...like, body }));
      const part: fc.Arbitrary<ReplyPart> = fc.oneof(
        fc
          .record({ kind: fc.constant("reply" as const), id: u32, reply, more: fc.boolean() })
          .map((made) => (made.reply.ending === undefined ? made : { ...made, more: false })),
        fc.record({
          kind: fc.constant("continued"),
          id: u32,
          offset: fc.integer({ min: 1, max: 0xffffffff }),
          body: bytes(0),
          more: fc.boolean(),
        }),
        fc.record({ kind: fc.constant("not_yet"), id: u32 }),
      );
      const parts = fc.array(part, { minLength: 1, maxLength: 12 });
      return fc.record({ version: fc.constant(version), frameId: u32, snapshotId: fc.constant(id), parts });
    });
  });
