/**
 * Reply frames: the header of `layout.ts` (magic "NR", flag 1: the frame failed as a whole and has no items, the snapshot is the one that
 * answered), then per item
 *
 *   u32 id · u16 status · u8 content type · u8 flags (1: counted, 2: cacheable, 4: more of the body follows) · u32 max-age in seconds
 *   · u16 length and ETag input · u32 length and body
 *
 * Content type 1 is JSON, 2 a problem, 3 "not yet" (the responder lacks the pinned snapshot; the rest is 0 and empty), and 0 goes on with
 * the body of an item of an earlier message: its max-age is then the position of its first byte in the whole body, the rest 0 and empty.
 */

import type { ReplyItem } from "../../types.ts";
import { FrameReader, FrameSyntaxError, headerBytes, replyMagic, writeCount, writeHeader } from "./layout.ts";

const frameFailed = 1;
const flag = { counted: 1, cacheable: 2, more: 4 };
const type = { continued: 0, json: 1, problem: 2, notYet: 3 };
const partBytesWithoutTexts = 4 + 2 + 1 + 1 + 4 + 2 + 4;

/** What one message says of one item. */
export type ReplyPart =
  /** The reply, or its beginning. */
  | { readonly kind: "reply"; readonly id: number; readonly reply: ReplyItem; readonly more: boolean }
  /** Goes on with the body, `offset` bytes after its beginning. */
  | { readonly kind: "continued"; readonly id: number; readonly offset: number; readonly body: Uint8Array; readonly more: boolean }
  | { readonly kind: "not_yet"; readonly id: number };

export interface ReplyFrame {
  readonly frameId: number;
  /** The snapshot of every reply in `parts`; empty: none. */
  readonly snapshotId: string;
  readonly parts: readonly ReplyPart[];
}

/** The responder could not read the frame, or failed as a whole: nothing more comes. */
export interface FailedFrame {
  readonly frameId: number;
  readonly failed: true;
}

/** Bytes of a part in its frame. */
export function replyPartBytes(part: ReplyPart): number {
  if (part.kind === "not_yet") return partBytesWithoutTexts;
  if (part.kind === "continued") return partBytesWithoutTexts + part.body.length;
  return partBytesWithoutTexts + etagBytes(part.reply.etag).length + part.reply.body.length;
}

/** One message that parts are written into as they come, in memory that it is given. */
export class ReplyFrameWriter {
  readonly #memory: Buffer;
  #at: number;
  #count = 0;

  /** @throws RangeError when the snapshot's id cannot travel. */
  constructor(memory: Buffer, frameId: number, snapshotId: string) {
    this.#memory = memory;
    const header = { flags: 0, count: 0, frameId, snapshotId: snapshotId === "" ? null : snapshotId };
    this.#at = writeHeader(memory, replyMagic, header);
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#at;
  }

  /**
   * The memory must hold what `replyPartBytes` says of the part.
   *
   * @throws RangeError when a number cannot travel; the message is then as it was.
   */
  add(part: ReplyPart): void {
    this.#at = writePart(this.#memory, this.#at, part);
    this.#count += 1;
  }

  /** Ends the message, which must have parts; returns its length. */
  end(): number {
    writeCount(this.#memory, this.#count);
    return this.#at;
  }
}

/**
 * @param bytes the header's and `replyPartBytes` of every part.
 * @throws RangeError when the snapshot's id or a number cannot travel.
 */
export function encodeReplyFrame({ frameId, snapshotId, parts }: ReplyFrame, bytes: number): Buffer {
  const frame = Buffer.allocUnsafe(bytes);
  const writer = new ReplyFrameWriter(frame, frameId, snapshotId);
  for (const part of parts) writer.add(part);
  return frame.subarray(0, writer.end());
}

export function encodeFailedFrame(frameId: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes);
  writeHeader(frame, replyMagic, { flags: frameFailed, count: 0, frameId, snapshotId: null });
  return frame;
}

/**
 * Bodies share the memory of the message.
 *
 * @throws FrameSyntaxError
 */
export function decodeReplyFrame(message: Uint8Array): ReplyFrame | FailedFrame {
  const reader = new FrameReader(message);
  const { flags, count, frameId, snapshotId } = reader.header(replyMagic, frameFailed);
  if (flags === frameFailed) {
    if (count > 0 || snapshotId !== null) throw new FrameSyntaxError("a failed frame with items", headerBytes);
    reader.end();
    return { frameId, failed: true };
  }
  if (count === 0) throw new FrameSyntaxError("a reply frame without items", headerBytes);
  const parts: ReplyPart[] = [];
  for (let index = 0; index < count; index++) parts.push(readPart(reader, snapshotId ?? ""));
  reader.end();
  return { frameId, snapshotId: snapshotId ?? "", parts };
}

function writePart(frame: Buffer, start: number, part: ReplyPart): number {
  if (part.kind === "not_yet") return writeFields(frame, start, part.id, 0, type.notYet, 0, 0, nothing, nothing);
  const more = part.more ? flag.more : 0;
  if (part.kind === "continued") return writeFields(frame, start, part.id, 0, type.continued, more, part.offset, nothing, part.body);
  const { status, contentType, counted, cacheable, maxAgeSeconds, etag, body } = part.reply;
  const flags = more | (counted ? flag.counted : 0) | (cacheable ? flag.cacheable : 0);
  return writeFields(frame, start, part.id, status, type[contentType], flags, maxAgeSeconds, etagBytes(etag), body);
}

const nothing = new Uint8Array(0);

/** Most replies of a frame have the same one. */
let lastEtag = "";
let lastEtagBytes: Uint8Array = nothing;

function etagBytes(etag: string): Uint8Array {
  if (etag !== lastEtag) {
    lastEtagBytes = Buffer.from(etag);
    lastEtag = etag;
  }
  return lastEtagBytes;
}

function writeFields(
  frame: Buffer,
  start: number,
  id: number,
  status: number,
  contentType: number,
  flags: number,
  maxAgeSeconds: number,
  etag: Uint8Array,
  body: Uint8Array,
): number {
  let at = frame.writeUInt32LE(id, start);
  at = frame.writeUInt16LE(status, at);
  at = frame.writeUInt8(contentType, at);
  at = frame.writeUInt8(flags, at);
  at = frame.writeUInt32LE(maxAgeSeconds, at);
  at = frame.writeUInt16LE(etag.length, at);
  frame.set(etag, at);
  at += etag.length;
  at = frame.writeUInt32LE(body.length, at);
  frame.set(body, at);
  return at + body.length;
}

function readPart(reader: FrameReader, snapshotId: string): ReplyPart {
  const start = reader.offset;
  const id = reader.u32("item id");
  const status = reader.u16("status");
  const contentType = reader.u8("content type");
  const flags = reader.flags(flag.counted | flag.cacheable | flag.more);
  const maxAgeSeconds = reader.u32("max-age");
  const etag = reader.repeatedText(reader.u16("ETag input"), "ETag input");
  const body = reader.slice(reader.u32("body"), "body");
  const more = (flags & flag.more) !== 0;

  if (contentType === type.json || contentType === type.problem) {
    const counted = (flags & flag.counted) !== 0;
    const cacheable = (flags & flag.cacheable) !== 0;
    const named = contentType === type.json ? "json" : "problem";
    return { kind: "reply", id, reply: { status, contentType: named, body, counted, cacheable, maxAgeSeconds, etag, snapshotId }, more };
  }
  const bare = status === 0 && etag === "" && (flags & ~flag.more) === 0;
  if (contentType === type.continued && bare && maxAgeSeconds > 0) return { kind: "continued", id, offset: maxAgeSeconds, body, more };
  if (contentType === type.notYet && bare && !more && maxAgeSeconds === 0 && body.length === 0) return { kind: "not_yet", id };
  throw new FrameSyntaxError("an item of no known kind", start);
}
