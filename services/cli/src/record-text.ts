/** Text of records for people, and output of long lists. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A record as an indented list of its members. Null is `-`; a list of plain values is one line. */
export function recordLines(record: object, indent = ""): string[] {
  return Object.entries(record).flatMap(([name, member]) => memberLines(name.replaceAll("_", " "), member, indent));
}

function memberLines(name: string, member: unknown, indent: string): string[] {
  if (member === null || typeof member !== "object") return [`${indent}${name}: ${plain(member)}`];
  if (!Array.isArray(member))
    return Object.keys(member).length === 0 ? [`${indent}${name}: -`] : [`${indent}${name}:`, ...recordLines(member, `${indent}  `)];
  if (member.every((item) => item === null || typeof item !== "object"))
    return [`${indent}${name}: ${member.length === 0 ? "-" : member.map(plain).join(", ")}`];
  return [`${indent}${name}:`, ...member.flatMap((item: object) => itemLines(item, `${indent}  `))];
}

function itemLines(item: object, indent: string): string[] {
  const [first, ...rest] = recordLines(item, `${indent}  `);
  return first === undefined ? [] : [`${indent}- ${first.trimStart()}`, ...rest];
}

function plain(value: unknown): string {
  return value === null || value === undefined ? "-" : String(value);
}

/** Characters that are collected for one write. */
const chunkChars = 1 << 16;

/** Writes many lines without storing them all: waits for a slow reader, and ends silently when the reader is gone. */
export async function writeMany(out: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
  await writePieces(out, chunked(lines));
}

/**
 * Writes pieces one by one: waits for a slow reader, and stops when the reader is gone.
 *
 * @returns whether the reader took all of them. A reader that ends early (`| head`) is no failure.
 */
export async function writePieces(
  out: NodeJS.WritableStream,
  pieces: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
): Promise<boolean> {
  try {
    await pipeline(Readable.from(pieces, { highWaterMark: 1 }), out, { end: false });
    return true;
  } catch (error) {
    if (!isReaderGone(error)) throw error;
    return false;
  }
}

/** Whether the error of a write means that the reader is gone. */
export function isReaderGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

function* chunked(lines: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < chunkChars) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}
