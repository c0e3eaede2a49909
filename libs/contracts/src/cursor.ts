/**
 * A cursor states where a list continues, in which snapshot, and for which question. It has 22 or 26 bytes, as base64url:
 *
 *   0 u8 version · 1 u8 list · 2 u32 start · 6 u64 snapshot as in frames · 14 u32 Unix seconds, in version 2 only · 8 bytes of SHA-256 over all that and
 *   the question
 *
 * Version 2 is for lists of changes. Its snapshot is the newer of the two compared ones, and its time is the publication of the older one.
 *
 * The hash detects a cursor that was cut, changed, or taken from another question. It is no secret, because a cursor permits nothing: key,
 * scope and limits are those of the request with the cursor.
 */

import { hash } from "node:crypto";
import { type ListName, listNames } from "./formats.ts";
import { isChanges, type OperationName, operations, type Questions } from "./operations/index.ts";
import { encodeQuestion } from "./questions.ts";
import { snapshotIdOf, snapshotNumberOf } from "./snapshot-number.ts";
import type { Page } from "./view.ts";

/** The content of a cursor. */
export interface CursorPlace {
  readonly snapshotId: string;
  readonly page: Page;
  /** When the older of two snapshots was published. Only for lists of changes. */
  readonly at?: number;
}

const placeBytes = 14;
const atBytes = 4;
const hashBytes = 8;

/**
 * @param question  its `limit` does not count: pages may differ in size.
 * @throws RangeError if the snapshot's id cannot be encoded.
 */
export function encodeCursor<O extends OperationName>(op: O, question: Questions[O], { snapshotId, page, at }: CursorPlace): string {
  const bytes = Buffer.alloc(placeBytes + (at === undefined ? 0 : atBytes));
  const { seconds, digest } = snapshotNumberOf(snapshotId);
  bytes.writeUInt8(at === undefined ? 1 : 2, 0);
  bytes.writeUInt8(listNames.indexOf(page.list), 1);
  bytes.writeUInt32LE(page.start, 2);
  bytes.writeUInt32LE(digest, 6);
  bytes.writeUInt32LE(seconds, 10);
  if (at !== undefined) bytes.writeUInt32LE(at, placeBytes);
  return Buffer.concat([bytes, binding(op, question, bytes)]).toString("base64url");
}

/** The place in a cursor of this question; null for any other text. */
export function decodeCursor<O extends OperationName>(op: O, question: Questions[O], text: string): CursorPlace | null {
  const bytes = Buffer.from(text, "base64url");
  // Decoding is lenient, so the text must equal the re-encoded one.
  const hasAt = isChanges(op);
  const placeLength = placeBytes + (hasAt ? atBytes : 0);
  if (bytes.length !== placeLength + hashBytes || bytes.toString("base64url") !== text) return null;
  const place = bytes.subarray(0, placeLength);
  if (!binding(op, question, place).equals(bytes.subarray(placeLength))) return null;
  const list = listNames[place.readUInt8(1)];
  const seconds = place.readUInt32LE(10);
  const digest = place.readUInt32LE(6);
  const lists: readonly ListName[] = operations[op].lists;
  if (place.readUInt8(0) !== (hasAt ? 2 : 1) || list === undefined || !lists.includes(list)) return null;
  if (seconds === 0 && digest === 0) return null;
  const start = place.readUInt32LE(2);
  if (start === 0) return null;
  return { snapshotId: snapshotIdOf({ seconds, digest }), page: { list, start }, ...(hasAt && { at: place.readUInt32LE(placeBytes) }) };
}

function binding<O extends OperationName>(op: O, question: Questions[O], place: Uint8Array): Buffer {
  const text = encodeQuestion(op, "limit" in question ? { ...question, limit: 1 } : question);
  const whole = hash("sha256", Buffer.concat([place, Buffer.from(`${op}\n${text}`)]), "buffer");
  return whole.subarray(0, hashBytes);
}
