/** The VRPs of a cache: a set that changes by announcements and withdrawals, all of them at once at End of Data. */

import { hashWords, type Prefix } from "@netfacts/address";
import type { Vrp } from "../vrp.ts";

/** The effect of an announcement or a withdrawal. */
export type VrpChange = "applied" | "duplicate" | "unknown" | "full";

/** Number of VRPs that a transaction added and withdrew. */
export interface VrpDelta {
  readonly added: number;
  readonly withdrawn: number;
}

/** VRPs as plain arrays, one element per VRP in each (four in `words`), which can be passed to another thread. Unordered. */
export interface VrpRecords {
  /** An IPv4 address uses the first of its four words. */
  readonly words: Uint32Array;
  /** The length of an IPv4 prefix, or that of an IPv6 prefix plus 64. */
  readonly length: Uint8Array;
  readonly maxLength: Uint8Array;
  readonly asn: Uint32Array;
}

/** Marks of an entry: in the current set, and in the set that a transaction builds. An entry without either may be dropped. */
const isCurrent = 1;
const isNext = 2;
const ipv6Mark = 64;
const firstCapacity = 1024;
/** Hash input of a VRP. */
const hashed = new Uint32Array(6);

/**
 * A set of (prefix, max length, AS). Outside of a transaction both marks of every entry agree.
 *
 * Cost: 27 to 54 bytes per VRP with its hash slots; a change is a hash look-up, `commit` and `rollback` a pass over the table.
 */
export class VrpTable {
  /** Number of VRPs in the current set. */
  size = 0;
  #entries = 0;
  #words = new Uint32Array(firstCapacity * 4);
  #length = new Uint8Array(firstCapacity);
  #maxLength = new Uint8Array(firstCapacity);
  #asn = new Uint32Array(firstCapacity);
  #marks = new Uint8Array(firstCapacity);
  /** Open addressing: entry + 1, 0 = free. */
  #slots = new Uint32Array(firstCapacity * 2);
  #nextSize = 0;
  readonly #recordsMax: number;

  /** @param recordsMax  further VRPs are refused. */
  constructor(recordsMax: number) {
    this.#recordsMax = recordsMax;
  }

  /** Begins a transaction. @param all  true: it replaces the whole set, and VRPs that it does not announce are withdrawn. */
  begin(all: boolean): void {
    this.rollback();
    if (!all) return;
    for (let entry = 0; entry < this.#entries; entry++) this.#marks[entry] = (this.#marks[entry] as number) & ~isNext;
    this.#nextSize = 0;
  }

  /**
   * "duplicate": already announced; "unknown": the withdrawn VRP is not in the set; "full": the set has `recordsMax` VRPs. These three change
   * nothing.
   */
  change(announce: boolean, prefix: Prefix, maxLength: number, asn: number): VrpChange {
    if (this.#entries === this.#length.length) this.#makeRoom();
    const at = this.#entries;
    this.#words[at * 4] = prefix.w0;
    this.#words[at * 4 + 1] = prefix.w1;
    this.#words[at * 4 + 2] = prefix.w2;
    this.#words[at * 4 + 3] = prefix.w3;
    this.#length[at] = prefix.version === 6 ? prefix.length + ipv6Mark : prefix.length;
    this.#maxLength[at] = maxLength;
    this.#asn[at] = asn;
    const slot = this.#slotOf(at);
    const held = (this.#slots[slot] as number) - 1;
    const marks = held === -1 ? 0 : (this.#marks[held] as number);
    if (!announce) {
      if ((marks & isNext) === 0) return "unknown";
      this.#marks[held] = marks & ~isNext;
      this.#nextSize--;
      return "applied";
    }
    if ((marks & isNext) !== 0) return "duplicate";
    if (this.#nextSize === this.#recordsMax) return "full";
    if (held === -1) {
      this.#slots[slot] = at + 1;
      this.#entries++;
    }
    this.#marks[held === -1 ? at : held] = marks | isNext;
    this.#nextSize++;
    return "applied";
  }

  /** Size of the set after `commit`. */
  get sizeAfter(): number {
    return this.#nextSize;
  }

  /** Makes the set of the transaction the current one. */
  commit(): VrpDelta {
    let added = 0;
    let withdrawn = 0;
    for (let entry = 0; entry < this.#entries; entry++) {
      const marks = this.#marks[entry] as number;
      if (marks === isNext) added++;
      else if (marks === isCurrent) withdrawn++;
      this.#marks[entry] = (marks & isNext) === 0 ? 0 : isCurrent | isNext;
    }
    this.size = this.#nextSize;
    return { added, withdrawn };
  }

  /** Undoes the transaction. */
  rollback(): void {
    for (let entry = 0; entry < this.#entries; entry++)
      this.#marks[entry] = ((this.#marks[entry] as number) & isCurrent) === 0 ? 0 : isCurrent | isNext;
    this.#nextSize = this.size;
  }

  /** Empties the current set. An open transaction of the whole set goes on; one of changes must have been rolled back. */
  discard(): void {
    for (let entry = 0; entry < this.#entries; entry++) this.#marks[entry] = (this.#marks[entry] as number) & ~isCurrent;
    this.size = 0;
  }

  /** A copy of the current set. */
  records(): VrpRecords {
    const records = {
      words: new Uint32Array(this.size * 4),
      length: new Uint8Array(this.size),
      maxLength: new Uint8Array(this.size),
      asn: new Uint32Array(this.size),
    };
    let kept = 0;
    for (let entry = 0; entry < this.#entries; entry++) {
      if (((this.#marks[entry] as number) & isCurrent) === 0) continue;
      for (let word = 0; word < 4; word++) records.words[kept * 4 + word] = this.#words[entry * 4 + word] as number;
      records.length[kept] = this.#length[entry] as number;
      records.maxLength[kept] = this.#maxLength[entry] as number;
      records.asn[kept] = this.#asn[entry] as number;
      kept++;
    }
    return records;
  }

  /** Drops entries that are in neither set, and doubles the arrays when that does not free a quarter of them. */
  #makeRoom(): void {
    let kept = 0;
    for (let entry = 0; entry < this.#entries; entry++) {
      if (this.#marks[entry] === 0) continue;
      if (kept !== entry) {
        this.#words.copyWithin(kept * 4, entry * 4, entry * 4 + 4);
        for (const column of [this.#length, this.#maxLength, this.#asn, this.#marks]) column.copyWithin(kept, entry, entry + 1);
      }
      kept++;
    }
    this.#entries = kept;
    const capacity = this.#length.length;
    if (kept > capacity * 0.75) {
      this.#words = doubled(this.#words, new Uint32Array(capacity * 8));
      this.#length = doubled(this.#length, new Uint8Array(capacity * 2));
      this.#maxLength = doubled(this.#maxLength, new Uint8Array(capacity * 2));
      this.#asn = doubled(this.#asn, new Uint32Array(capacity * 2));
      this.#marks = doubled(this.#marks, new Uint8Array(capacity * 2));
    } else this.#marks.fill(0, kept);
    this.#slots = new Uint32Array(this.#length.length * 2);
    for (let entry = 0; entry < kept; entry++) this.#slots[this.#slotOf(entry)] = entry + 1;
  }

  /** The slot of the equal entry, or the free slot for it. */
  #slotOf(entry: number): number {
    for (let word = 0; word < 4; word++) hashed[word] = this.#words[entry * 4 + word] as number;
    hashed[4] = this.#asn[entry] as number;
    hashed[5] = ((this.#length[entry] as number) << 8) | (this.#maxLength[entry] as number);
    const mask = this.#slots.length - 1;
    for (let slot = hashWords(hashed) & mask; ; slot = (slot + 1) & mask) {
      const held = (this.#slots[slot] as number) - 1;
      if (held === -1 || this.#equal(held, entry)) return slot;
    }
  }

  #equal(a: number, b: number): boolean {
    const words = this.#words;
    return (
      words[a * 4] === words[b * 4] &&
      this.#asn[a] === this.#asn[b] &&
      this.#length[a] === this.#length[b] &&
      this.#maxLength[a] === this.#maxLength[b] &&
      words[a * 4 + 1] === words[b * 4 + 1] &&
      words[a * 4 + 2] === words[b * 4 + 2] &&
      words[a * 4 + 3] === words[b * 4 + 3]
    );
  }
}

/** The VRPs of records, one object at a time. RTR has neither trust anchor nor expiry. */
export function* vrpsOf({ words, length, maxLength, asn }: VrpRecords): Generator<Vrp> {
  for (let at = 0; at < asn.length; at++) {
    const marked = length[at] as number;
    const isIpv6 = marked >= ipv6Mark;
    const word = (index: number) => words[at * 4 + index] as number;
    yield {
      asn: asn[at] as number,
      prefix: {
        version: isIpv6 ? 6 : 4,
        w0: word(0),
        w1: word(1),
        w2: word(2),
        w3: word(3),
        length: isIpv6 ? marked - ipv6Mark : marked,
      },
      maxLength: maxLength[at] as number,
      ta: null,
      expiresAt: null,
      loose: false,
    };
  }
}

function doubled<T extends Uint8Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
