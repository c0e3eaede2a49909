/** Pairs of ASes that are adjacent on paths, with the number of paths. */

import { hashPair } from "@netfacts/address";
import { GrowableUint8, GrowableUint32, linkSeen, release } from "@netfacts/snapshot";
import { HopReader } from "./path-facts.ts";
import type { PathTable } from "./path-table.ts";

/** In ascending order of (left, right), each pair once; left is closer to the collector. `seen` has bits of `linkSeen`. */
export interface AsLinks {
  readonly left: Uint32Array<ArrayBuffer>;
  readonly right: Uint32Array<ArrayBuffer>;
  readonly paths: Uint32Array<ArrayBuffer>;
  readonly seen: Uint8Array<ArrayBuffer>;
}

/** Number of routes that have each path, by family and path number. */
export interface PathUses {
  readonly ipv4: Uint32Array;
  readonly ipv6: Uint32Array;
}

const initialSlots = 1 << 12;

/** Counts the pairs on every path of a table; a path counts once per route that has it. */
export function countLinks({ size, start, bytes }: PathTable, uses: PathUses): AsLinks {
  const counter = new LinkCounter();
  const reader = new HopReader();
  for (let path = 0; path < size; path++) {
    const ipv4 = uses.ipv4[path] as number;
    const ipv6 = uses.ipv6[path] as number;
    if (ipv4 + ipv6 === 0) continue;
    const count = reader.read(bytes, start[path] as number, start[path + 1] as number);
    const seen = (ipv4 > 0 ? linkSeen.ipv4 : 0) | (ipv6 > 0 ? linkSeen.ipv6 : 0);
    const { hops } = reader;
    for (let hop = 1; hop < count; hop++)
      counter.add(hops[hop - 1] as number, hops[hop] as number, ipv4 + ipv6, hop > 1 ? seen | linkSeen.within : seen);
  }
  return counter.links();
}

/** Words of a slot: left, right, paths, seen. A slot with 0 paths is empty. */
const slotWords = 4;
/** Largest share of slots in use. */
const fullShare = 2 / 3;

/** Open addressing. The pairs are in the slots themselves, so that a look-up waits for memory once. */
class LinkCounter {
  #slots = new Uint32Array(initialSlots * slotWords);
  #size = 0;

  add(left: number, right: number, paths: number, seen: number): void {
    const at = slotOf(this.#slots, left, right);
    const before = this.#slots[at + 2] as number;
    if (before === 0) {
      if (++this.#size * slotWords > this.#slots.length * fullShare) {
        this.#size--;
        this.#spread();
        this.add(left, right, paths, seen);
        return;
      }
      this.#slots[at] = left;
      this.#slots[at + 1] = right;
    }
    this.#slots[at + 2] = before + paths;
    this.#slots[at + 3] = (this.#slots[at + 3] as number) | seen;
  }

  /** Call it once, after the last `add`. */
  links(): AsLinks {
    const size = this.#size;
    const slots = this.#slots;
    // 64-bit numbers with the right AS in the lower half, so that the native sort orders them.
    const keys = new BigUint64Array(size);
    const halves = new Uint32Array(keys.buffer);
    for (let at = 0, link = 0; link < size; at += slotWords) {
      if (slots[at + 2] === 0) continue;
      halves[link * 2] = slots[at + 1] as number;
      halves[link++ * 2 + 1] = slots[at] as number;
    }
    keys.sort();
    const links = { left: new Uint32Array(size), right: new Uint32Array(size), paths: new Uint32Array(size), seen: new Uint8Array(size) };
    for (let link = 0; link < size; link++) {
      const left = halves[link * 2 + 1] as number;
      const right = halves[link * 2] as number;
      const at = slotOf(slots, left, right);
      links.left[link] = left;
      links.right[link] = right;
      links.paths[link] = slots[at + 2] as number;
      links.seen[link] = slots[at + 3] as number;
    }
    release(keys, slots);
    return links;
  }

  /** Doubles the number of slots. */
  #spread(): void {
    const before = this.#slots;
    const slots = new Uint32Array(before.length * 2);
    for (let from = 0; from < before.length; from += slotWords) {
      if (before[from + 2] === 0) continue;
      const at = slotOf(slots, before[from] as number, before[from + 1] as number);
      for (let word = 0; word < slotWords; word++) slots[at + word] = before[from + word] as number;
    }
    release(before);
    this.#slots = slots;
  }
}

/** Index of the pair's slot, or of the empty slot for it. */
function slotOf(slots: Uint32Array, left: number, right: number): number {
  const mask = slots.length - 1;
  for (let at = (hashPair(left, right) * slotWords) & mask; ; at = (at + slotWords) & mask)
    if (slots[at + 2] === 0 || (slots[at] === left && slots[at + 1] === right)) return at;
}

/** Joins the pairs of several RIBs: the paths of equal pairs are added up. */
export function mergeLinks(lists: readonly AsLinks[]): AsLinks {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const left = new GrowableUint32();
  const right = new GrowableUint32();
  const paths = new GrowableUint32();
  const seen = new GrowableUint8();
  const next = lists.map(() => 0);
  for (;;) {
    let leastLeft = Number.POSITIVE_INFINITY;
    let leastRight = Number.POSITIVE_INFINITY;
    lists.forEach((list, index) => {
      const at = next[index] as number;
      if (at >= list.left.length) return;
      const [l, r] = [list.left[at] as number, list.right[at] as number];
      if (l > leastLeft || (l === leastLeft && r >= leastRight)) return;
      leastLeft = l;
      leastRight = r;
    });
    if (leastLeft === Number.POSITIVE_INFINITY) break;
    let sum = 0;
    let bits = 0;
    lists.forEach((list, index) => {
      const at = next[index] as number;
      if (list.left[at] !== leastLeft || list.right[at] !== leastRight) return;
      sum += list.paths[at] as number;
      bits |= list.seen[at] as number;
      next[index] = at + 1;
    });
    left.push(leastLeft);
    right.push(leastRight);
    paths.push(sum);
    seen.push(bits);
  }
  return { left: left.view(), right: right.view(), paths: paths.view(), seen: seen.view() };
}

/** Positions of the pairs in ascending order of (right, left). */
export function linksByRight({ right }: AsLinks): Uint32Array {
  const keys = new BigUint64Array(right.length);
  const halves = new Uint32Array(keys.buffer);
  for (let link = 0; link < right.length; link++) {
    // Positions are already in ascending order of the left AS.
    halves[link * 2] = link;
    halves[link * 2 + 1] = right[link] as number;
  }
  keys.sort();
  const positions = new Uint32Array(right.length);
  for (let at = 0; at < positions.length; at++) positions[at] = halves[at * 2] as number;
  release(keys);
  return positions;
}
