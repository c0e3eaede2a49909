/** Conditional requests (RFC 9110 §13) with weak entity tags and dates. */

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { snapshotNumberOf } from "@netfacts/contracts";

/** What an answer can be compared by; null: it has none. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: LastModified | null;
}

export interface LastModified {
  readonly ms: number;
  /** As the header has it. */
  readonly text: string;
}

/**
 * - `unmodified`: 304 to a caller that named the tag, so it has had this answer
 * - `assumed`: 304 to `*` or to a date, which a caller can send without ever having had the answer
 * - `failed`: 412
 */
export type Condition = "proceed" | "unmodified" | "assumed" | "failed";

/** Of the basis that was met last: nearly every answer has the same. */
let lastBasis = { basis: "", digest: "" };

/**
 * The weak tag of an answer: the same question over the same sections has the same tag, whatever its request id and ages say.
 *
 * @param query with how the answer is shown.
 * @param basis what the answer depends on besides the question.
 *
 * Cost: a pass over the query, whose part of the tag only tells apart what one URL can show and what a caller mistakes for another; data
 * are told apart by SHA-256.
 */
export function weakEtag(op: string, query: string, basis: string): string {
  if (lastBasis.basis !== basis) lastBasis = { basis, digest: hash("sha256", basis, "base64url").slice(0, 12) };
  return `W/"${lastBasis.digest}${shortDigest(`${op} ${query}`)}"`;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const pairs = Array.from({ length: 4_096 }, (_, number) => `${alphabet[number >>> 6]}${alphabet[number & 63]}`);

/** Ten characters of base64url: two 30-bit FNV-1a hashes, from either end of the text. */
function shortDigest(text: string): string {
  let forward = 0x811c_9dc5;
  let backward = 0x811c_9dc5;
  for (let at = 0, end = text.length - 1; at <= end; at++) {
    forward = Math.imul(forward ^ text.charCodeAt(at), 0x0100_0193);
    backward = Math.imul(backward ^ text.charCodeAt(end - at), 0x0100_0193);
  }
  // The upper bits of the product are the mixed ones.
  forward ^= forward >>> 15;
  backward ^= backward >>> 15;
  return (
    pairText(forward) +
    pairText(forward >>> 12) +
    pairText(backward) +
    pairText(backward >>> 12) +
    pairText((forward >>> 24) * 16 + (backward >>> 28))
  );
}

function pairText(bits: number): string {
  return pairs[bits & 4_095] as string;
}

/** Whether `If-None-Match` holds for the tag: names it by weak comparison, or is `*`. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  return header !== undefined && (isAnyTag(header) || namesEtag(header, etag));
}

function namesEtag(header: string, etag: string): boolean {
  const opaque = etag.replace(/^W\//, "");
  return tagsOf(header).some((tag) => tag.replace(/^W\//, "") === opaque);
}

function isAnyTag(header: string): boolean {
  return header.trim() === "*";
}

/** What a GET or HEAD that would be answered comes to, in the order of RFC 9110 §13.2.2. */
export function conditionOf(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): Condition {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, etag)) return "failed";
  } else if (lastModified !== null && headers["if-unmodified-since"] !== undefined) {
    const since = parseHttpDate(headers["if-unmodified-since"]);
    if (since !== null && lastModified.ms > since) return "failed";
  }
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    if (etag === null) return "proceed";
    if (namesEtag(ifNoneMatch, etag)) return "unmodified";
    return isAnyTag(ifNoneMatch) ? "assumed" : "proceed";
  }
  if (lastModified !== null && headers["if-modified-since"] !== undefined) {
    const since = parseHttpDate(headers["if-modified-since"]);
    if (since !== null && lastModified.ms <= since) return "assumed";
  }
  return "proceed";
}

/** By strong comparison a weak tag matches nothing, not even itself. */
function matchesStrongly(header: string, etag: string | null): boolean {
  if (isAnyTag(header)) return true;
  return etag !== null && !etag.startsWith("W/") && tagsOf(header).includes(etag);
}

function tagsOf(header: string): readonly string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** Of the snapshot that was met last: nearly every answer has the same. */
let lastMet: { readonly snapshotId: string; readonly modified: LastModified | null } = { snapshotId: "", modified: null };

/** When the newest data of a snapshot are of, which its id tells; null without a snapshot. */
export function lastModifiedOf(snapshotId: string): LastModified | null {
  if (lastMet.snapshotId !== snapshotId) lastMet = { snapshotId, modified: readTime(snapshotId) };
  return lastMet.modified;
}

function readTime(snapshotId: string): LastModified | null {
  try {
    const ms = snapshotNumberOf(snapshotId).seconds * 1_000;
    return { ms, text: new Date(ms).toUTCString() };
  } catch {
    return null;
  }
}

/** Milliseconds since the epoch of a date in any of the three forms of RFC 9110 §5.6.7; null: not a date. */
function parseHttpDate(text: string): number | null {
  const isGmt =
    /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$|^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
  const ms = isGmt.test(text) ? Date.parse(text) : isAsctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
