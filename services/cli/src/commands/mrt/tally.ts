/** Reports bad records of a file at once, and counts of skipped parts at its end. */

import type { BadRecord, MrtRecord, PathAttributes, RecordReading } from "@netfacts/mrt";
import { describeRecord } from "@netfacts/mrt";

/** Bytes of a bad record that are shown: enough to find the record. */
const shownBytesMax = 64;

export class Tally {
  readonly #name: string;
  readonly #tell: (line: string) => void;
  readonly #unread = new Map<string, number>();
  readonly #unknownAttributes = new Map<number, number>();
  /** Number of refused records, and of those that `tell` got. */
  bad = 0;

  constructor(name: string, tell: (line: string) => void) {
    this.#name = name;
    this.#tell = tell;
  }

  /** Counts a record, and reports it if it is bad. @returns whether it can be printed. */
  count(reading: RecordReading): reading is MrtRecord {
    if ("fault" in reading) {
      this.bad++;
      this.#tellBad(reading);
      return false;
    }
    const { header, body } = reading;
    if (body.kind === "unread") increment(this.#unread, body.what);
    if (body.kind === "update") this.#attributes(body.attributes, header.offset);
    if (body.kind === "rib") for (const { attributes } of body.routes) this.#attributes(attributes, header.offset);
    return true;
  }

  /** Counts and reports a record, or a route of it, that is bad although it can be read. */
  tell(offset: number, detail: string): void {
    this.bad++;
    this.#tell(`${this.#name}: record at byte ${offset}: ${detail}`);
  }

  /** Call at the end of the file: reports the skipped records and attributes. */
  tellUnread(): void {
    for (const [what, count] of this.#unread) this.#tell(`${this.#name}: ${count} records skipped: ${what}`);
    for (const [type, count] of this.#unknownAttributes) this.#tell(`${this.#name}: ${count} attributes skipped: type ${type}`);
  }

  #attributes({ unknown, discarded }: PathAttributes, offset: number): void {
    for (const { type } of unknown) increment(this.#unknownAttributes, type);
    for (const { type, reason } of discarded) {
      const what = type === null ? "a prefix of the message" : `attribute ${type}, or a part of it,`;
      this.#tell(`${this.#name}: record at byte ${offset}: ${what} was skipped: ${reason}`);
    }
  }

  #tellBad({ header, fault, bytes }: BadRecord): void {
    const kind = `${describeRecord(header.type, header.subtype)}, ${bytes.length} bytes`;
    const cause = `${fault.code} at byte ${fault.offset}: ${fault.detail}`;
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, shownBytesMax)).toString("hex");
    const more = bytes.length > shownBytesMax ? `… and ${bytes.length - shownBytesMax} more bytes` : "";
    this.#tell(`${this.#name}: bad record at byte ${header.offset} (${kind}): ${cause}: ${hex}${more}`);
  }
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
