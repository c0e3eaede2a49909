/** Guesses what an unreadable file is: another format, a web page, an archive. Looks at its beginning, and for a database at its end. */

import { STATUS_CODES } from "node:http";
import { type FormatMark, formatMarks } from "../sources/sections.ts";
import { isUtf16 } from "./lines.ts";
import { SourceError } from "./reader-report.ts";

/** Bytes at the beginning of the decompressed content that are looked at. */
export const headBytes = 4096;

/** Files that begin with these bytes are none of the formats that are read. */
const containers: readonly (readonly [what: string, magic: readonly number[]])[] = [
  ["another gzip file: it was compressed twice", [0x1f, 0x8b, 0x08]],
  ["a zip file", [0x50, 0x4b, 0x03, 0x04]],
  ["an xz file", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["another bzip2 file: it was compressed twice", [0x42, 0x5a, 0x68]],
  ["another zstd file: it was compressed twice", [0x28, 0xb5, 0x2f, 0xfd]],
  ["a 7z file", [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]],
  ["a PDF document", [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

/** The metadata of a MaxMind DB follow this mark, in its last 128 KiB. */
const maxMindMark = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
export const tailBytes = 128 << 10;

export const webError = "an error message of a web server";
/** In lowercase. Single words are left out, since they may be names. */
const errorPhrases: readonly string[] = [
  ...Object.entries(STATUS_CODES).flatMap(([code, phrase = ""]) =>
    Number(code) >= 400 && phrase.includes(" ") ? [phrase.toLowerCase()] : [],
  ),
  "page not found",
  "file not found",
  "access denied",
  "rate limit",
];

/** Whether a line is an error that servers write as plain text, often with status 200: `404 page not found`, `error code: 1015`. */
export function isWebError(line: string): boolean {
  const text = line.trim().toLowerCase();
  // Every part is optional: if one had to follow, it would be tried after each number of blanks.
  const [start = "", code] = /^(?:error:? +)?(?:http\/[\d.]+ +)?(?:([45]\d\d)[ :-]+)?/.exec(text) ?? [];
  const phrase = text.slice(start.length);
  if (code !== undefined && /^(?:forbidden|unauthorized)\b/.test(phrase)) return true;
  return /^code: \d/.test(phrase) || errorPhrases.some((known) => phrase.startsWith(known));
}

/**
 * What the content looks like; `format` if it is one of `sources.yaml`. Null: nothing is recognised.
 *
 * @param head  its first `headBytes`, or all of it.
 * @param tail  its last `tailBytes`, if they are known.
 */
export function likenessOf(head: Uint8Array, tail = head): { readonly what: string; readonly format: string | null } | null {
  const container = containers.find(([, magic]) => magic.every((byte, index) => head[index] === byte));
  // A magic number such as "PK" may also be the time of an MRT record, which has its type after it.
  if (container !== undefined && !isMrt(head)) return { what: container[0], format: null };
  if (isMrt(head)) return { what: "format mrt", format: "mrt" };
  if (isUtf16(head)) return { what: "UTF-16 text; save it as UTF-8", format: null };
  if (Buffer.from(tail.buffer, tail.byteOffset, tail.length).includes(maxMindMark))
    return { what: "a MaxMind database (MMDB)", format: null };
  if (isTar(head)) return { what: "a tar archive", format: null };
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes))
    .toString("latin1")
    .replace(/^\u00ef\u00bb\u00bf/, "");
  const start = text.trimStart();
  if (/^<(?:!doctype|html|head|body)/i.test(start)) return { what: "a web page", format: null };
  if (/^<\?xml/i.test(start)) return { what: "an XML document", format: null };
  if (/^<[a-z!]/i.test(start)) return { what: "HTML or XML", format: null };
  if (start.startsWith("version https://git-lfs.")) return { what: "a pointer of Git LFS, not the file; use git lfs pull", format: null };
  if (endsLinesWithCr(start)) return { what: "text whose lines end with CR alone; use LF", format: null };
  if (start.startsWith("{") || start.startsWith("[")) {
    const format = recognised((mark) => "members" in mark && mark.members.some((name) => start.includes(`"${name}"`)));
    return format === undefined ? { what: "a JSON document", format: null } : { what: `format ${format}`, format };
  }
  const line = text.split("\n").find((one) => one.trim() !== "" && !one.startsWith("#")) ?? "";
  if (isWebError(line)) return { what: webError, format: null };
  const format = recognised((mark) => "line" in mark && mark.line.test(line.trimStart()));
  return format === undefined ? null : { what: `format ${format}`, format };
}

/**
 * Whether CR ends the lines of a text: it has no LF, or a single one behind all of them. In a JSON document CR ends nothing, unless each line is a
 * document.
 */
function endsLinesWithCr(start: string): boolean {
  const text = start.trimEnd();
  if (text.includes("\n") || text.includes("\0")) return false;
  const isJson = text.startsWith("{") || text.startsWith("[");
  const ends = text.split(isJson ? /\}\r+\{/ : "\r").length - 1;
  return ends > (start.includes("\n") ? 1 : 0);
}

function recognised(matches: (mark: FormatMark) => boolean): string | undefined {
  return formatMarks.find(([, mark]) => matches(mark))?.[0];
}

/** Types of MRT records that collectors write (RFC 6396 §4): OSPF, tables, BGP4MP, and these with microseconds. */
const mrtTypes: readonly number[] = [11, 12, 13, 16, 17, 32, 33, 48, 49];

function isMrt(head: Uint8Array): boolean {
  if (head.length < 12) return false;
  const view = new DataView(head.buffer, head.byteOffset, 12);
  return mrtTypes.includes(view.getUint16(4)) && view.getUint16(6) < 16 && view.getUint32(8) < 1 << 24;
}

/** Whether it is a tar archive in the POSIX form. */
function isTar(head: Uint8Array): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1", 257, 262) === "ustar";
}

/** The beginning of a file, and its end if that is known. */
export interface FileEnds {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
}

/** Adds to the error of a reader what the file looks like, if that is not the format it was read as. */
export function withLikeness(error: SourceError, { head, tail }: FileEnds, format: string): SourceError {
  const found = error.reason.includes("looks like") ? null : likenessOf(head, tail);
  const likeness = found === null || error.reason.includes(found.what) ? null : found;
  // A name list is also an autnums file, and every JSON format is also a JSON document.
  if (
    likeness === null ||
    likeness.format === format ||
    (likeness.format === null && likeness.what === "a JSON document" && format.includes("json"))
  )
    return error;
  const { file, line, offset, reason } = error;
  const place = line !== null ? { line } : offset !== null ? { offset } : null;
  return new SourceError(file, place, `${reason}; it looks like ${likeness.what}`, { cause: error.cause });
}
