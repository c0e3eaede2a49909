/**
 * The common layout of both kinds of frame. All numbers are little-endian.
 *
 *   0 u16 magic · 2 u8 version · 3 u8 flags · 4 u16 count of items · 6 u32 frame id · 10 u64 snapshot (0: none) · 18 items
 */

import { type SnapshotNumber, snapshotIdOf, snapshotNumberOf } from "@netfacts/contracts";

export const requestMagic = 0x514e;
export const replyMagic = 0x524e;
/** Version 2 is for batches: what consecutive replies share is sent once. Requests are the same in both. */
export type FrameVersion = 1 | 2;
export const headerBytes = 18;

/** A message that is not a frame of a known version; the text says what is wrong, and at which byte. */
export class FrameSyntaxError extends Error {
  override readonly name = "FrameSyntaxError";
  readonly offset: number;

  constructor(what: string, offset: number) {
    super(`${what} at byte ${offset}`);
    this.offset = offset;
  }
}

export interface FrameHeader {
  readonly version: FrameVersion;
  readonly flags: number;
  readonly count: number;
  readonly frameId: number;
  /** null: none. */
  readonly snapshotId: string | null;
}

const noSnapshot: SnapshotNumber = { seconds: 0, digest: 0 };

/** Cached number of the last snapshot: nearly every frame has the same one, and both conversions are slow. */
let last = { id: "", number: noSnapshot };

/** @throws RangeError */
function numberOf(id: string): SnapshotNumber {
  if (last.id !== id) last = { id, number: snapshotNumberOf(id) };
  return last.number;
}

function idOf(seconds: number, digest: number): string {
  if (last.number.seconds !== seconds || last.number.digest !== digest) {
    const number = { seconds, digest };
    last = { id: snapshotIdOf(number), number };
  }
  return last.id;
}

export function writeHeader(bytes: Buffer, magic: number, { version, flags, count, frameId, snapshotId }: FrameHeader): number {
  const number = snapshotId === null ? noSnapshot : numberOf(snapshotId);
  bytes.writeUInt16LE(magic, 0);
  bytes.writeUInt8(version, 2);
  bytes.writeUInt8(flags, 3);
  bytes.writeUInt16LE(count, 4);
  bytes.writeUInt32LE(frameId, 6);
  bytes.writeUInt32LE(number.digest, 10);
  bytes.writeUInt32LE(number.seconds, 14);
  return headerBytes;
}

/** Writes the count of items when it is known. */
export function writeCount(bytes: Buffer, count: number): void {
  bytes.writeUInt16LE(count, 4);
}

/** Reads forwards and never past the end. Every method throws `FrameSyntaxError` if the data end too early. */
export class FrameReader {
  readonly bytes: Buffer;
  offset = 0;
  /** The last result of `repeatedText`. */
  #repeated = { text: "", start: 0, end: 0 };

  constructor(message: Uint8Array) {
    this.bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  }

  /** @param flagsKnown all other flags are an error. */
  header(magic: number, flagsKnown: number): FrameHeader {
    if (this.u16("magic") !== magic) throw new FrameSyntaxError("the magic is not that of this kind of frame", 0);
    const version = this.u8("version");
    if (version !== 1 && version !== 2) throw new FrameSyntaxError("a frame of an unsupported version", 2);
    const flags = this.flags(flagsKnown);
    const count = this.u16("count");
    const frameId = this.u32("frame id");
    const digest = this.u32("snapshot");
    const seconds = this.u32("snapshot");
    return { version, flags, count, frameId, snapshotId: seconds === 0 && digest === 0 ? null : idOf(seconds, digest) };
  }

  flags(known: number): number {
    const flags = this.u8("flags");
    if ((flags & ~known) !== 0) throw new FrameSyntaxError("unknown flags", this.offset - 1);
    return flags;
  }

  u8(what: string): number {
    return this.bytes.readUInt8(this.#skip(1, what));
  }

  u16(what: string): number {
    return this.bytes.readUInt16LE(this.#skip(2, what));
  }

  u32(what: string): number {
    return this.bytes.readUInt32LE(this.#skip(4, what));
  }

  /** Shares the memory of the message. */
  slice(length: number, what: string): Buffer {
    const start = this.#skip(length, what);
    return this.bytes.subarray(start, start + length);
  }

  /** Text of valid UTF-8, so that encoding it again gives the same bytes. */
  text(length: number, what: string): string {
    const start = this.#skip(length, what);
    const end = start + length;
    for (let at = start; at < end; at++) {
      if ((this.bytes[at] as number) >= 0x80) return this.#unicode(start, end, what);
    }
    return this.bytes.toString("latin1", start, end);
  }

  /** As `text`, for a text that most items share: it is decoded once. */
  repeatedText(length: number, what: string): string {
    const { start, end, text } = this.#repeated;
    const isThere = this.offset + length <= this.bytes.length;
    if (isThere && end - start === length && this.bytes.compare(this.bytes, start, end, this.offset, this.offset + length) === 0) {
      this.offset += length;
      return text;
    }
    const at = this.offset;
    this.#repeated = { text: this.text(length, what), start: at, end: at + length };
    return this.#repeated.text;
  }

  hex(length: number, what: string): string {
    const start = this.#skip(length, what);
    return this.bytes.toString("hex", start, start + length);
  }

  /** Throws when more bytes follow. */
  end(): void {
    if (this.offset !== this.bytes.length) throw new FrameSyntaxError("bytes after the last item", this.offset);
  }

  #unicode(start: number, end: number, what: string): string {
    const text = this.bytes.toString("utf8", start, end);
    // The decoder replaces invalid bytes by U+FFFD.
    if (text.includes("\ufffd") && !Buffer.from(text).equals(this.bytes.subarray(start, end)))
      throw new FrameSyntaxError(`${what} is not UTF-8`, start);
    return text;
  }

  #skip(length: number, what: string): number {
    const start = this.offset;
    if (start + length > this.bytes.length) throw new FrameSyntaxError(`the message ends within ${what}`, start);
    this.offset = start + length;
    return start;
  }
}
