/**
 * Request frames: the header of `layout.ts` (magic "NQ", no flags, the snapshot is the pinned one), then per item
 *
 *   u32 id · u8 operation · u8 flags (1: traced) · u16 budget in ms · if traced 25 bytes of W3C trace context (trace id, parent id, flags)
 *   · u8 length and request id · u16 length and canonical query
 */

import { operationByCode, operations, requestIdPattern } from "@netfacts/contracts";
import type { RequestItem } from "../../types.ts";
import { FrameReader, FrameSyntaxError, type FrameVersion, headerBytes, requestMagic, writeHeader } from "./layout.ts";

const traced = 1;
const traceparentPattern = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const budgetMsMax = 0xffff;
const itemBytesWithoutTexts = 4 + 1 + 1 + 2 + 1 + 2;
const traceBytes = 25;

/** An item to send: `budgetMs` is its remaining time now. */
export interface OutgoingItem {
  readonly id: number;
  readonly item: RequestItem;
  readonly budgetMs: number;
}

export interface RequestFrame {
  readonly version: FrameVersion;
  readonly frameId: number;
  readonly pinnedSnapshot: string | null;
  readonly ids: readonly number[];
  /** `items[i]` has the id `ids[i]`. An operation that this version does not know is named `op-` and its number. */
  readonly items: readonly RequestItem[];
}

const codes = new Map<string, number>(Object.values(operations).map(({ name, code }) => [name, code]));

/**
 * Size of an item in its frame.
 *
 * @throws RangeError for an item that cannot be encoded: unknown operation, invalid request id or trace context, query > 65,535 bytes.
 */
export function requestItemBytes({ op, requestId, traceparent, query }: RequestItem): number {
  codeOf(op);
  if (!isRequestId(requestId)) throw new RangeError("a request id has 1 to 64 characters of [A-Za-z0-9._-]");
  if (traceparent !== null && !traceparentPattern.test(traceparent)) throw new RangeError("not a W3C trace context of version 00");
  const queryBytes = Buffer.byteLength(query);
  if (queryBytes > 0xffff) throw new RangeError("a query has at most 65,535 bytes");
  return itemBytesWithoutTexts + (traceparent === null ? 0 : traceBytes) + requestId.length + queryBytes;
}

/** @param bytes the size of the header plus `requestItemBytes` of every item. */
export function encodeRequestFrame(
  version: FrameVersion,
  frameId: number,
  pinnedSnapshot: string | null,
  items: readonly OutgoingItem[],
  bytes: number,
): Buffer {
  const frame = Buffer.allocUnsafe(bytes);
  let at = writeHeader(frame, requestMagic, { version, flags: 0, count: items.length, frameId, snapshotId: pinnedSnapshot });
  for (const outgoing of items) at = writeItem(frame, at, outgoing);
  return frame;
}

/** @throws FrameSyntaxError */
export function decodeRequestFrame(message: Uint8Array): RequestFrame {
  const reader = new FrameReader(message);
  const { version, count, frameId, snapshotId } = reader.header(requestMagic, 0);
  if (count === 0) throw new FrameSyntaxError("a request frame without items", headerBytes);
  const ids: number[] = [];
  const items: RequestItem[] = [];
  for (let index = 0; index < count; index++) {
    ids.push(reader.u32("item id"));
    items.push(readItem(reader));
  }
  reader.end();
  return { version, frameId, pinnedSnapshot: snapshotId, ids, items };
}

function writeItem(frame: Buffer, start: number, { id, item, budgetMs }: OutgoingItem): number {
  const { op, requestId, traceparent, query } = item;
  let at = frame.writeUInt32LE(id, start);
  at = frame.writeUInt8(codeOf(op), at);
  at = frame.writeUInt8(traceparent === null ? 0 : traced, at);
  at = frame.writeUInt16LE(Math.min(Math.max(0, Math.floor(budgetMs)), budgetMsMax), at);
  if (traceparent !== null) {
    frame.write(traceparent.slice(3, 35) + traceparent.slice(36, 52) + traceparent.slice(53), at, "hex");
    at += traceBytes;
  }
  at = frame.writeUInt8(requestId.length, at);
  at += frame.write(requestId, at, "latin1");
  const written = frame.write(query, at + 2, "utf8");
  at = frame.writeUInt16LE(written, at);
  return at + written;
}

function readItem(reader: FrameReader): RequestItem {
  const code = reader.u8("operation");
  if (code === 0) throw new FrameSyntaxError("operation 0", reader.offset - 1);
  const flags = reader.flags(traced);
  const budgetMs = reader.u16("budget");
  const traceparent = flags === 0 ? null : `00-${reader.hex(16, "trace id")}-${reader.hex(8, "parent id")}-${reader.hex(1, "trace flags")}`;
  const requestId = reader.repeatedText(reader.u8("request id"), "request id");
  if (!isRequestId(requestId)) throw new FrameSyntaxError("not a request id", reader.offset - requestId.length);
  const query = reader.text(reader.u16("query"), "query");
  return { op: operationByCode(code) ?? `op-${code}`, query, requestId, traceparent, budgetMs };
}

/** Cached: the items of a batch share one id. */
let lastRequestId = "";

function isRequestId(text: string): boolean {
  if (text === lastRequestId && text !== "") return true;
  if (!requestIdPattern.test(text)) return false;
  lastRequestId = text;
  return true;
}

function codeOf(op: string): number {
  const code = codes.get(op) ?? Number(/^op-([1-9][0-9]{0,2})$/.exec(op)?.[1]);
  if (!(code <= 0xff)) throw new RangeError(`operation ${op} has no number`);
  return code;
}
