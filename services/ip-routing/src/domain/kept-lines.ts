/** What is kept of the answers to `/ip` of one generation: texts by route, lines by place, the parts of this second. */

import type { Warning } from "@netfacts/contracts";

/** Texts are made anew after this time, as the note that a VRP has expired depends on the clock. */
const textsLifetimeMs = 60_000;

/** Lines whose texts are put into one: a text of that size lies apart, and leaves what is read at every answer close together. */
const packedLines = 64;

/** Bytes of a line beside its characters: objects and their places. By route it takes half of it; by place most, without warnings. */
const lineBytes = 200;

/** What is the same for every address of one place: the same route, allocation, network type and special-purpose block. */
export interface Line {
  /** Behind the first address: from `"version"` to the path of `routing`. */
  readonly middle: string;
  /** Behind the second address: the rest of `links`, to the path of `reverse_dns`. */
  readonly links: string;
  /** Warnings that the clock does not give. */
  readonly warnings: readonly Warning[];
}

/** The parts that change by the second. */
export interface Second {
  readonly second: number;
  /** From `generated_at` to the first warning. */
  readonly head: string;
  /** What follows a record's own warnings: those that the clock gives, and the end of the record. */
  readonly endAfterWarning: string;
  /** From `generated_at` to the end of a record without warnings of its own. */
  readonly tail: string;
  /** The same as bytes. */
  readonly ending: Uint8Array;
  /** Of a record without warnings of its own. */
  readonly etag: string;
  readonly maxAgeSeconds: number;
}

/** Names a place: an exact number, or a text where a number could not hold all that differs. */
export type Place = number | string;

/** What is kept of one generation. */
export class Kept {
  /** When all is forgotten. */
  readonly freshUntilMs: number;
  /** Of the heap, what all lines take. */
  bytes = 0;
  /** By route entry, where in `texts` its line is; 0 = not made, or kept by place. */
  readonly #byRoute: Int32Array;
  /** Two texts per line, `middle` and `links`; those at 0 stand for none. */
  readonly #texts: string[] = ["", ""];
  readonly #byPlace = new Map<Place, Line>();
  /** Lines from this one on are not packed yet. */
  #loose = 2;

  second: Second | null = null;

  constructor(routes: number, nowMs: number) {
    this.#byRoute = new Int32Array(routes);
    this.freshUntilMs = nowMs + textsLifetimeMs;
  }

  /** The texts of each route's line, both empty where there is none by route. Entries below 0 are no routes. */
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

  /** Makes the loose texts parts of one, which V8 keeps as small objects side by side. */
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

/** The same characters in one piece: V8 keeps a joined text as a tree of its parts and walks it at every use. */
export function onePiece(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("latin1");
}
