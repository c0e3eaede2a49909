/** Cached parts of answers to `/ip` for one generation: texts by route, lines by place, and the parts of the current second. */

import type { Warning } from "@netfacts/contracts";

/** Lifetime of texts: they depend on the clock, because a note says that a VRP has expired. */
const textsLifetimeMs = 60_000;

/** Lines whose texts are joined: V8 stores a text of that size separately, so the objects that each answer reads stay close together. */
const packedLines = 64;

/** Bytes of a line's objects, without its characters. A line by route needs half of this; one by place most of it, without warnings. */
const lineBytes = 200;

/** The parts of a record that are equal for all addresses of one place: the same route, allocation, network type and special-purpose block. */
export interface Line {
  /** Text after the first address: from `"version"` to the path of `routing`. */
  readonly middle: string;
  /** Text after the second address: the rest of `links`, to the path of `reverse_dns`. */
  readonly links: string;
  /** Warnings that do not depend on the clock. */
  readonly warnings: readonly Warning[];
}

/** The parts that change each second. */
export interface Second {
  readonly second: number;
  /** From `generated_at` to the first warning. */
  readonly head: string;
  /** Text after a record's own warnings: those of the clock, and the end of the record. */
  readonly endAfterWarning: string;
  /** From `generated_at` to the end of a record without warnings of its own. */
  readonly tail: string;
  /** `tail` as bytes. */
  readonly ending: Uint8Array;
  /** Input of the entity tag of a record without warnings of its own. */
  readonly etag: string;
  readonly maxAgeSeconds: number;
}

const noRoutes = new Int32Array(0);

/** Key of a place: an exact number, or a text if a number cannot hold all parts. */
export type Place = number | string;

/** The cache of one generation. Call `begin` before its first use. */
export class Kept {
  /** Time from which the cache must begin again, Unix ms. */
  freshUntilMs = Number.NEGATIVE_INFINITY;
  /** Heap memory of all lines. */
  bytes = 0;
  /** Index in `#texts` of the line of each route entry; 0: it is not made, or is cached by place. */
  #byRoute = noRoutes;
  /** Two texts per line, `middle` and `links`; those at 0 mean no line. */
  #texts: string[] = ["", ""];
  readonly #byPlace = new Map<Place, Line>();
  /** Index in `#texts` from which texts are not joined yet. */
  #loose = 2;

  second: Second | null = null;

  /** Empties the cache, and begins its lifetime. @param routes  number of route entries. */
  begin(routes: number, nowMs: number): void {
    this.empty();
    this.#byRoute = new Int32Array(routes);
    this.freshUntilMs = nowMs + textsLifetimeMs;
  }

  /** Frees the memory. The cache must begin again before its next use. */
  empty(): void {
    this.freshUntilMs = Number.NEGATIVE_INFINITY;
    this.bytes = 0;
    this.#byRoute = noRoutes;
    this.#texts = ["", ""];
    this.#byPlace.clear();
    this.#loose = 2;
    this.second = null;
  }

  /** Reads the texts of each route's line; both are empty if there is no line by route. Entries below 0 mean no route. */
  read(routes: Int32Array, count: number, middles: string[], links: string[]): void {
    const texts = this.#texts;
    for (let index = 0; index < count; index++) {
      const route = routes[index] as number;
      const at = route < 0 ? 0 : (this.#byRoute[route] as number);
      middles[index] = texts[at] as string;
      links[index] = texts[at + 1] as string;
    }
  }

  lineOf(route: number): Pick<Line, "middle" | "links"> | null {
    const at = this.#byRoute[route] as number;
    return at === 0 ? null : { middle: this.#texts[at] as string, links: this.#texts[at + 1] as string };
  }

  keepByRoute(route: number, { middle, links }: Line): void {
    this.#byRoute[route] = this.#texts.length;
    this.#texts.push(middle, links);
    this.bytes += lineBytes + middle.length + links.length;
    if (this.#texts.length - this.#loose === 2 * packedLines) this.#pack();
  }

  lineAt(place: Place): Line | null {
    return this.#byPlace.get(place) ?? null;
  }

  keepByPlace(place: Place, line: Line): void {
    this.#byPlace.set(place, line);
    const { middle, links, warnings } = line;
    this.bytes += lineBytes + middle.length + links.length + 2 * JSON.stringify(warnings).length;
  }

  /** Replaces the loose texts by slices of one text, which V8 stores as small objects side by side. */
  #pack(): void {
    const loose = this.#texts.slice(this.#loose);
    const whole = onePiece(loose.join(""));
    let start = 0;
    for (const [index, { length }] of loose.entries()) {
      this.#texts[this.#loose + index] = whole.slice(start, start + length);
      start += length;
    }
    this.#loose = this.#texts.length;
  }
}

/** The same characters in one piece: V8 stores a joined text as a tree of its parts, and walks it at every use. */
export function onePiece(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("latin1");
}
