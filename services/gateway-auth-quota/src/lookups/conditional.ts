/** Conditional requests (RFC 9110 §13) with weak entity tags and dates. */

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { snapshotNumberOf } from "@netfacts/contracts";

/** Values that a condition is compared with; null: there is none. */
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

/**
 * The weak tag of an answer: the same question over the same sections has the same tag, whatever its request id and ages say. The basis has
 * digests of the data, so that nobody who has not had an answer can compute its tag.
 *
 * @param query with how the answer is shown.
 * @param basis what the answer depends on besides the question.
 *
 * Cost: one SHA-256 of some 200 bytes, 0.6 µs.
 */
export function weakEtag(op: string, query: string, basis: string): string {
  return `W/"${hash("sha256", `${op} ${query}\n${basis}`, "base64url").slice(0, 22)}"`;
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

/** Evaluates the conditions of a GET or HEAD that would get 200, in the order of RFC 9110 §13.2.2. */
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
  // Exactly the date that was sent: another gateway may have answered from another snapshot, with a later date.
  if (lastModified !== null && headers["if-modified-since"] !== undefined) {
    if (parseHttpDate(headers["if-modified-since"]) === lastModified.ms) return "assumed";
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

/** Time of the newest data of a snapshot, read from its id; null without a snapshot. */
export function dataTimeOf(snapshotId: string): LastModified | null {
  try {
    return dateOf(snapshotNumberOf(snapshotId).seconds * 1_000);
  } catch {
    return null;
  }
}

/** Snapshots whose dates are remembered: while a new one is activated, replicas answer from the old and the new one in turn. */
const datesMax = 8;
/** Snapshots that follow each other within a second have dates that are ahead of the clock by less than this. */
const aheadMsMax = 60_000;

/**
 * The time at which this process first answered from each snapshot. The time of the data would not do: a corrected name, an upload or a late file
 * changes answers, but not that time.
 */
export class SnapshotChanges {
  readonly #clock: { now(): number };
  readonly #dates = new Map<string, LastModified>();
  #lastMs = 0;

  constructor(clock: { now(): number }) {
    this.#clock = clock;
  }

  /** Null without a snapshot. Two snapshots never get the same date. */
  since(snapshotId: string): LastModified | null {
    const now = this.#clock.now();
    if (this.#lastMs > now + aheadMsMax) this.#forgetAfter(now);
    const known = this.#dates.get(snapshotId);
    if (known !== undefined) return known;
    if (dataTimeOf(snapshotId) === null) return null;
    const date = dateOf(Math.max(now, this.#lastMs + 1_000));
    this.#lastMs = date.ms;
    this.#dates.set(snapshotId, date);
    if (this.#dates.size > datesMax) this.#dates.delete(this.#dates.keys().next().value as string);
    return date;
  }

  /** The clock was set back: no answer may have a date of the future (RFC 9110 §8.8.2.1). */
  #forgetAfter(now: number): void {
    for (const [id, { ms }] of this.#dates) if (ms > now) this.#dates.delete(id);
    this.#lastMs = Math.max(0, ...[...this.#dates.values()].map(({ ms }) => ms));
  }
}

/** In whole seconds. */
function dateOf(ms: number): LastModified {
  const whole = ms - (ms % 1_000);
  return { ms: whole, text: new Date(whole).toUTCString() };
}

/** Milliseconds since the epoch of a date in any of the three forms of RFC 9110 §5.6.7; null: not a date. */
function parseHttpDate(text: string): number | null {
  const isGmt =
    /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$|^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
  const isAsctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;
  const ms = isGmt.test(text) ? Date.parse(text) : isAsctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}
