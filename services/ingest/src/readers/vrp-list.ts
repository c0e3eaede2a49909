/** The VRPs that a reader collects, in columns that grow; each (prefix, max length, AS) once. */

import { formatPrefix, hashWords, type Prefix } from "@netfacts/address";
import { timestamp } from "@netfacts/contracts";
import type { Vrp } from "@netfacts/rpki";
import { printable } from "./reader-report.ts";

/** Code for VRPs without a trust anchor. */
const noAnchor = 255;
/** Prefix of the kinds that count VRPs by trust anchor; the name of the anchor follows. */
export const anchorKind = "VRPs of ";
const firstCapacity = 64;
/** The words of a VRP that are hashed. */
const hashed = new Uint32Array(6);

/**
 * Takes 34 bytes per VRP, and returns `Vrp` objects one at a time, in the order in which they were added. If two have the same (prefix, max length,
 * AS), the one that expires later stays; one without an expiry is replaced by one with an expiry.
 */
export class VrpList implements Iterable<Vrp> {
  size = 0;
  #version = new Uint8Array(firstCapacity);
  #words = new Uint32Array(firstCapacity * 4);
  #length = new Uint8Array(firstCapacity);
  #maxLength = new Uint8Array(firstCapacity);
  #asn = new Uint32Array(firstCapacity);
  #anchor = new Uint8Array(firstCapacity);
  #expiresAt = new Uint32Array(firstCapacity);
  #offset = new Float64Array(firstCapacity);
  /** Open addressing: entry + 1, 0 = free. */
  #slots = new Uint32Array(firstCapacity * 2);
  readonly #anchors: string[] = [];

  /**
   * @param expiresAt  Unix seconds; null: unknown.
   * @param offset  its place in the file.
   * @returns false for a duplicate.
   * @throws RangeError for the 256th trust anchor.
   */
  add(prefix: Prefix, maxLength: number, asn: number, anchor: string | null, expiresAt: number | null, offset: number): boolean {
    if (this.size === this.#length.length) this.#grow();
    const entry = this.size;
    const anchorCode = anchor === null ? noAnchor : this.#anchorCode(anchor);
    this.#version[entry] = prefix.version;
    this.#words.set([prefix.w0, prefix.w1, prefix.w2, prefix.w3], entry * 4);
    this.#length[entry] = prefix.length;
    this.#maxLength[entry] = maxLength;
    this.#asn[entry] = asn;
    const slot = this.#slotOf(entry);
    const held = (this.#slots[slot] as number) - 1;
    const target = held === -1 ? entry : held;
    if (held === -1) {
      this.#slots[slot] = entry + 1;
      this.size++;
    } else if ((expiresAt ?? 0) <= (this.#expiresAt[held] as number)) return false;
    this.#anchor[target] = anchorCode;
    this.#expiresAt[target] = expiresAt ?? 0;
    this.#offset[target] = offset;
    return held === -1;
  }

  /** The trust anchors that were added, in that order. */
  get anchors(): readonly string[] {
    return this.#anchors;
  }

  /** Drops VRPs that expired before `now` (Unix seconds), and calls `told` for each. Add no more afterwards. */
  dropExpired(now: number, told: (offset: number, text: string) => void): void {
    let kept = 0;
    for (let entry = 0; entry < this.size; entry++) {
      const expiresAt = this.#expiresAt[entry] as number;
      if (expiresAt !== 0 && expiresAt < now) {
        const vrp = this.#at(entry);
        const text = `${formatPrefix(vrp.prefix)}-${vrp.maxLength} AS${vrp.asn}, expired ${timestamp(expiresAt * 1_000)}, built ${timestamp(now * 1_000)}`;
        told(this.#offset[entry] as number, text);
        continue;
      }
      for (const column of [this.#version, this.#length, this.#maxLength, this.#asn, this.#anchor, this.#expiresAt, this.#offset])
        column.copyWithin(kept, entry, entry + 1);
      this.#words.copyWithin(kept * 4, entry * 4, entry * 4 + 4);
      kept++;
    }
    this.size = kept;
  }

  /** Number of VRPs by family and by trust anchor, for reports. Names of anchors are in lower case here, because validators differ in it. */
  kinds(): Readonly<Record<string, number>> {
    let ipv4 = 0;
    const byCode = new Uint32Array(noAnchor + 1);
    for (let entry = 0; entry < this.size; entry++) {
      if (this.#version[entry] === 4) ipv4++;
      const code = this.#anchor[entry] as number;
      byCode[code] = (byCode[code] as number) + 1;
    }
    const kinds: Record<string, number> = { "IPv4 VRPs": ipv4, "IPv6 VRPs": this.size - ipv4 };
    for (const [code, name] of this.#anchors.entries()) {
      const kind = `${anchorKind}${printable(name.toLowerCase())}`;
      kinds[kind] = (kinds[kind] ?? 0) + (byCode[code] as number);
    }
    return kinds;
  }

  *[Symbol.iterator](): Iterator<Vrp> {
    for (let entry = 0; entry < this.size; entry++) yield this.#at(entry);
  }

  #at(entry: number): Vrp {
    const [w0, w1, w2, w3] = this.#words.subarray(entry * 4, entry * 4 + 4) as unknown as [number, number, number, number];
    const version = this.#version[entry] === 4 ? 4 : 6;
    return {
      asn: this.#asn[entry] as number,
      prefix: { version, w0, w1, w2, w3, length: this.#length[entry] as number },
      maxLength: this.#maxLength[entry] as number,
      ta: this.#anchors[this.#anchor[entry] as number] ?? null,
      expiresAt: this.#expiresAt[entry] || null,
      loose: false,
    };
  }

  #anchorCode(name: string): number {
    const known = this.#anchors.indexOf(name);
    if (known !== -1) return known;
    if (this.#anchors.length === noAnchor) throw new RangeError(`more than ${noAnchor} trust anchors`);
    return this.#anchors.push(name) - 1;
  }

  /** The slot of the equal entry, or the free slot for this one. */
  #slotOf(entry: number): number {
    const mask = this.#slots.length - 1;
    for (let word = 0; word < 4; word++) hashed[word] = this.#words[entry * 4 + word] as number;
    hashed[4] = this.#asn[entry] as number;
    hashed[5] = ((this.#length[entry] as number) << 8) | (this.#maxLength[entry] as number);
    let slot = hashWords(hashed) & mask;
    while (true) {
      const held = (this.#slots[slot] as number) - 1;
      if (held === -1 || this.#equal(held, entry)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  #equal(a: number, b: number): boolean {
    const words = this.#words;
    return (
      words[a * 4] === words[b * 4] &&
      this.#asn[a] === this.#asn[b] &&
      this.#length[a] === this.#length[b] &&
      this.#maxLength[a] === this.#maxLength[b] &&
      this.#version[a] === this.#version[b] &&
      words[a * 4 + 1] === words[b * 4 + 1] &&
      words[a * 4 + 2] === words[b * 4 + 2] &&
      words[a * 4 + 3] === words[b * 4 + 3]
    );
  }

  #grow(): void {
    this.#version = doubled(this.#version, new Uint8Array(this.#version.length * 2));
    this.#words = doubled(this.#words, new Uint32Array(this.#words.length * 2));
    this.#length = doubled(this.#length, new Uint8Array(this.#length.length * 2));
    this.#maxLength = doubled(this.#maxLength, new Uint8Array(this.#maxLength.length * 2));
    this.#asn = doubled(this.#asn, new Uint32Array(this.#asn.length * 2));
    this.#anchor = doubled(this.#anchor, new Uint8Array(this.#anchor.length * 2));
    this.#expiresAt = doubled(this.#expiresAt, new Uint32Array(this.#expiresAt.length * 2));
    this.#offset = doubled(this.#offset, new Float64Array(this.#offset.length * 2));
    this.#slots = new Uint32Array(this.#length.length * 2);
    for (let entry = 0; entry < this.size; entry++) this.#slots[this.#slotOf(entry)] = entry + 1;
  }
}

function doubled<T extends Uint8Array | Uint32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
