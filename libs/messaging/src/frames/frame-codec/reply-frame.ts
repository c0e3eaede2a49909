/**
 * Reply frames: the header of `layout.ts` (magic "NR", flag 1: the frame failed as a whole and has no items, the snapshot is the one that
 * answered), then per item
 *
 *   u32 id · u16 status · u8 content type · u8 flags (1: counted, 2: cacheable, 4: more of the body follows, 8: with a next place) ·
 *   u32 max-age in seconds · if flagged u32 next place of the list · u16 length and ETag input · u32 length and body
 *
 * Content type 1 is JSON, 2 a problem, 3 "not yet" (the responder lacks the pinned snapshot; the rest is 0 and empty), and 0 goes on with
 * the body of an item of an earlier message: its max-age is then the position of its first byte in the whole body, the rest 0 and empty.
 *
 * Version 2 has two things more. Flag 16: between ETag input and body stand u16 length and ending, which follows the body. Content type 4:
 * all but id and body is as in the last reply before it that is whole and without a next place; the item is then u32 id · u16 0 · u8 4 ·
 * u8 0 · u32 length and body. What can be said that way is said in no other.
 */

import type { ReplyItem } from "../../types.ts";
import { FrameReader, FrameSyntaxError, type FrameVersion, headerBytes, replyMagic, writeCount, writeHeader } from "./layout.ts";

const frameFailed = 1;
const flag = { counted: 1, cacheable: 2, more: 4, next: 8, ending: 16 };
const type = { continued: 0, json: 1, problem: 2, notYet: 3, alike: 4 };
const partBytesWithoutTexts = 4 + 2 + 1 + 1 + 4 + 2 + 4;
const partBytesAlike = 4 + 2 + 1 + 1 + 4;
const nextBytes = 4;

/** The part of one message about one item. */
export type ReplyPart =
  /** The reply, or its beginning. */
  | { readonly kind: "reply"; readonly id: number; readonly reply: ReplyItem; readonly more: boolean }
  /** Continues the body, `offset` bytes after its beginning. */
  | { readonly kind: "continued"; readonly id: number; readonly offset: number; readonly body: Uint8Array; readonly more: boolean }
  | { readonly kind: "not_yet"; readonly id: number };

export interface ReplyFrame {
  readonly version: FrameVersion;
  readonly frameId: number;
  /** The snapshot of every reply in `parts`; empty: none. */
  readonly snapshotId: string;
  readonly parts: readonly ReplyPart[];
}

/** The responder could not read the frame, or failed as a whole: nothing more comes. */
export interface FailedFrame {
  readonly version: FrameVersion;
  readonly frameId: number;
  readonly failed: true;
}

/** Size of a part in its frame if it shares nothing with earlier parts. */
export function replyPartBytes(part: ReplyPart, version: FrameVersion): number {
  if (part.kind === "not_yet") return partBytesWithoutTexts;
  if (part.kind === "continued") return partBytesWithoutTexts + part.body.length;
  const { next, etag, body, ending = nothing } = part.reply;
  const lengthOfEnding = version === 2 && ending.length > 0 ? 2 : 0;
  return (
    partBytesWithoutTexts + (next === undefined ? 0 : nextBytes) + etagBytes(etag).length + lengthOfEnding + ending.length + body.length
  );
}

/** One message to which parts are added, in memory from its caller. */
export class ReplyFrameWriter {
  readonly #memory: Buffer;
  readonly #version: FrameVersion;
  /** The reply that later ones may be like. */
  #model: ReplyItem | null = null;
  #at: number;
  #count = 0;

  /** @throws RangeError when the snapshot's id cannot be encoded. */
  constructor(memory: Buffer, version: FrameVersion, frameId: number, snapshotId: string) {
    this.#memory = memory;
    this.#version = version;
    const header = { version, flags: 0, count: 0, frameId, snapshotId: snapshotId === "" ? null : snapshotId };
    this.#at = writeHeader(memory, replyMagic, header);
  }

  get count(): number {
    return this.#count;
  }

  /** Number of bytes so far. */
  get length(): number {
    return this.#at;
  }

  /** Number of bytes that a part would add. */
  bytesOf(part: ReplyPart): number {
    const isAlike = part.kind === "reply" && this.#isAlike(part.reply, part.more);
    return isAlike ? partBytesAlike + part.reply.body.length : replyPartBytes(part, this.#version);
  }

  /**
   * Adds a part. The memory must have space for `bytesOf(part)`.
   *
   * @throws RangeError when a number cannot be encoded; the message is then unchanged.
   */
  add(part: ReplyPart): void {
    if (part.kind === "reply" && this.#isAlike(part.reply, part.more))
      this.#at = writeAlike(this.#memory, this.#at, part.id, part.reply.body);
    else {
      this.#at = writePart(this.#memory, this.#at, part, this.#version);
      if (part.kind === "reply" && isModel(part.reply, part.more)) this.#model = part.reply;
    }
    this.#count += 1;
  }

  #isAlike(reply: ReplyItem, more: boolean): boolean {
    return this.#version === 2 && this.#model !== null && isModel(reply, more) && areAlike(reply, this.#model);
  }

  /** Ends the message, which must have parts; returns its length. */
  end(): number {
    writeCount(this.#memory, this.#count);
    return this.#at;
  }
}

/**
 * @param bytes at least the size of the header and of the parts.
 * @throws RangeError when the snapshot's id or a number cannot be encoded.
 */
export function encodeReplyFrame({ version, frameId, snapshotId, parts }: ReplyFrame, bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(bytes);
  const writer = new ReplyFrameWriter(frame, version, frameId, snapshotId);
  for (const part of parts) writer.add(part);
  return frame.subarray(0, writer.end());
}

export function encodeFailedFrame(version: FrameVersion, frameId: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes);
  writeHeader(frame, replyMagic, { version, flags: frameFailed, count: 0, frameId, snapshotId: null });
  return frame;
}

/**
 * Bodies share the memory of the message.
 *
 * @throws FrameSyntaxError
 */
export function decodeReplyFrame(message: Uint8Array): ReplyFrame | FailedFrame {
  const reader = new FrameReader(message);
  const { version, flags, count, frameId, snapshotId } = reader.header(replyMagic, frameFailed);
  if (flags === frameFailed) {
    if (count > 0 || snapshotId !== null) throw new FrameSyntaxError("a failed frame with items", headerBytes);
    reader.end();
    return { version, frameId, failed: true };
  }
  if (count === 0) throw new FrameSyntaxError("a reply frame without items", headerBytes);
  const parts: ReplyPart[] = [];
  let model: ReplyItem | null = null;
  for (let index = 0; index < count; index++) {
    const part = readPart(reader, version, snapshotId ?? "", model);
    if (part.kind === "reply" && isModel(part.reply, part.more)) model = part.reply;
    parts.push(part);
  }
  reader.end();
  return { version, frameId, snapshotId: snapshotId ?? "", parts };
}

/** Whether later replies may refer to this one. */
function isModel({ next }: ReplyItem, more: boolean): boolean {
  return !more && next === undefined;
}

/** Whether all fields except the body are equal. */
function areAlike(one: ReplyItem, other: ReplyItem): boolean {
  return (
    one.etag === other.etag &&
    one.maxAgeSeconds === other.maxAgeSeconds &&
    one.status === other.status &&
    one.contentType === other.contentType &&
    one.counted === other.counted &&
    one.cacheable === other.cacheable &&
    (one.ending === other.ending || Buffer.compare(one.ending ?? nothing, other.ending ?? nothing) === 0)
  );
}

function writeAlike(frame: Buffer, start: number, id: number, body: Uint8Array): number {
  let at = frame.writeUInt32LE(id, start);
  at = frame.writeUInt32LE(type.alike << 16, at);
  at = frame.writeUInt32LE(body.length, at);
  frame.set(body, at);
  return at + body.length;
}

function writePart(frame: Buffer, start: number, part: ReplyPart, version: FrameVersion): number {
  if (part.kind === "not_yet") return writeFields(frame, start, { ...bare, id: part.id, contentType: type.notYet });
  const more = part.more ? flag.more : 0;
  if (part.kind === "continued") {
    // The field of max-age holds the offset: only the first piece of a body has caching data.
    const { id, offset, body } = part;
    return writeFields(frame, start, { ...bare, id, contentType: type.continued, flags: more, maxAgeSeconds: offset, body });
  }
  const { status, contentType, counted, cacheable, maxAgeSeconds, next, etag, body, ending = nothing } = part.reply;
  const flags =
    more |
    (counted ? flag.counted : 0) |
    (cacheable ? flag.cacheable : 0) |
    (next === undefined ? 0 : flag.next) |
    (version === 1 || part.more || ending.length === 0 ? 0 : flag.ending);
  const fields = {
    id: part.id,
    status,
    contentType: type[contentType],
    flags,
    maxAgeSeconds,
    next: next ?? 0,
    etag: etagBytes(etag),
    ending,
    body,
  };
  return writeFields(frame, start, fields);
}

const nothing = new Uint8Array(0);

/** One part in the form of the frame. */
interface Fields {
  readonly id: number;
  readonly status: number;
  readonly contentType: number;
  readonly flags: number;
  readonly maxAgeSeconds: number;
  readonly next: number;
  readonly etag: Uint8Array;
  readonly ending: Uint8Array;
  readonly body: Uint8Array;
}

const bare = { status: 0, flags: 0, maxAgeSeconds: 0, next: 0, etag: nothing, ending: nothing, body: nothing };

/** Cached: most replies of a frame have the same ETag input. */
let lastEtag = "";
let lastEtagBytes: Uint8Array = nothing;

function etagBytes(etag: string): Uint8Array {
  if (etag !== lastEtag) {
    lastEtagBytes = Buffer.from(etag);
    lastEtag = etag;
  }
  return lastEtagBytes;
}

function writeFields(frame: Buffer, start: number, fields: Fields): number {
  const { id, status, contentType, flags, maxAgeSeconds, next, etag, ending, body } = fields;
  let at = frame.writeUInt32LE(id, start);
  at = frame.writeUInt16LE(status, at);
  at = frame.writeUInt8(contentType, at);
  at = frame.writeUInt8(flags, at);
  at = frame.writeUInt32LE(maxAgeSeconds, at);
  if ((flags & flag.next) !== 0) at = frame.writeUInt32LE(next, at);
  at = frame.writeUInt16LE(etag.length, at);
  frame.set(etag, at);
  at += etag.length;
  const isApart = (flags & flag.ending) !== 0;
  if (isApart) {
    at = frame.writeUInt16LE(ending.length, at);
    frame.set(ending, at);
    at += ending.length;
  }
  at = frame.writeUInt32LE(body.length + (isApart ? 0 : ending.length), at);
  frame.set(body, at);
  at += body.length;
  if (isApart) return at;
  frame.set(ending, at);
  return at + ending.length;
}

function readPart(reader: FrameReader, version: FrameVersion, snapshotId: string, model: ReplyItem | null): ReplyPart {
  const start = reader.offset;
  const id = reader.u32("item id");
  const status = reader.u16("status");
  const contentType = reader.u8("content type");
  const flags = reader.flags(flag.counted | flag.cacheable | flag.more | flag.next | (version === 2 ? flag.ending : 0));
  if (version === 2 && contentType === type.alike) {
    if (model === null || status !== 0 || flags !== 0) throw new FrameSyntaxError("a repeated item without an item that it repeats", start);
    return { kind: "reply", id, reply: likeModel(model, reader.slice(reader.u32("body"), "body")), more: false };
  }
  const maxAgeSeconds = reader.u32("max-age");
  const next = (flags & flag.next) === 0 ? null : reader.u32("next place");
  const etag = reader.repeatedText(reader.u16("ETag input"), "ETag input");
  const ending = (flags & flag.ending) === 0 ? null : reader.slice(reader.u16("ending"), "ending");
  const body = reader.slice(reader.u32("body"), "body");
  const more = (flags & flag.more) !== 0;

  if (contentType === type.json || contentType === type.problem) {
    const counted = (flags & flag.counted) !== 0;
    const cacheable = (flags & flag.cacheable) !== 0;
    const named = contentType === type.json ? "json" : "problem";
    const plain = { status, contentType: named, body, counted, cacheable, maxAgeSeconds, etag, snapshotId } as const;
    const ended = ending === null ? plain : { ...plain, ending };
    const reply = next === null ? ended : { ...ended, next };
    if (ending !== null && (ending.length === 0 || more)) throw new FrameSyntaxError("an invalid ending", start);
    if (version === 2 && model !== null && isModel(reply, more) && areAlike(reply, model))
      throw new FrameSyntaxError("a full item that must be a repeated one", start);
    return { kind: "reply", id, reply, more };
  }
  const bare = status === 0 && etag === "" && (flags & ~flag.more) === 0;
  if (contentType === type.continued && bare && maxAgeSeconds > 0) return { kind: "continued", id, offset: maxAgeSeconds, body, more };
  if (contentType === type.notYet && bare && !more && maxAgeSeconds === 0 && body.length === 0) return { kind: "not_yet", id };
  throw new FrameSyntaxError("an item of unknown kind", start);
}

function likeModel(model: ReplyItem, body: Uint8Array): ReplyItem {
  const { status, contentType, counted, cacheable, maxAgeSeconds, etag, snapshotId, ending } = model;
  if (ending === undefined) return { status, contentType, body, counted, cacheable, maxAgeSeconds, etag, snapshotId };
  return { status, contentType, body, ending, counted, cacheable, maxAgeSeconds, etag, snapshotId };
}
