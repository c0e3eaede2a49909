/** Answers `/ip` as text: what is the same for every address of a route is serialised once. */

import { type Address, embeddedIpv4 } from "@netfacts/address";
import type { Warning } from "@netfacts/contracts";
import {
  AnswerNotes,
  clockWarnings,
  etagInput,
  type Generation,
  ipRecord,
  type RecordAnswer,
  recordAnswer,
  type SectionName,
  specialPurposeEntry,
  specialPurposeInside,
} from "@netfacts/dataset";

/** Prefixes whose text is kept: about 3 kB each. Beyond it all are forgotten, and made again when asked. */
const textsMaxDefault = 1 << 15;

/** Texts are made anew after this time, as the note that a VRP has expired depends on the clock. */
const textsLifetimeMs = 60_000;

/** The sections that `ipRecord` reads, in the order in which it notes them. */
const used: readonly SectionName[] = ["allocations", "routes", "vrps", "as_names"];

/** What is the same for every address of one place: the same route, allocation and special-purpose block. */
interface Line {
  /** Behind the first address: from `"version"` to the path of `routing`. */
  readonly middle: string;
  /** Behind the second address: the rest of `links`, to the path of `reverse_dns`. */
  readonly links: string;
  /** Warnings that the clock does not give, and the same as JSON objects joined by commas. */
  readonly warnings: readonly Warning[];
  readonly warningsText: string;
}

/** The parts that change by the second. */
interface Second {
  readonly second: number;
  /** From `generated_at` to the first warning. */
  readonly head: string;
  /** Warnings that the clock gives, joined by commas, and the end of the record; and the same behind another warning. */
  readonly end: string;
  readonly endAfterWarning: string;
  /** Of a record without warnings of its own. */
  readonly etag: string;
  readonly maxAgeSeconds: number;
}

/** An address, its text as `formatAddress` writes it, and the id of the request. */
export interface IpQuestionText {
  readonly ip: Address;
  readonly text: string;
  readonly requestId: string;
}

/**
 * Answers by generation. Lines are kept by route entry where all addresses of the route share one place, else by place.
 * Not to be shared between threads.
 */
export class IpAnswers {
  #generation: Generation | null = null;
  #freshUntilMs = 0;
  #kept = 0;
  /** By route entry; null = its addresses lie in several places. */
  #byRoute: (Line | null | undefined)[] = [];
  readonly #byPlace = new Map<number, Line>();
  #second: Second | null = null;
  /** Route entries of the questions at hand. */
  #routes = new Int32Array(0);
  readonly #textsMax: number;

  constructor({ textsMax = textsMaxDefault }: { readonly textsMax?: number } = {}) {
    this.#textsMax = textsMax;
  }

  /** The body of an answer: the same text as serialising `ipRecord` with its `meta`. */
  text(generation: Generation, { ip, text, requestId }: IpQuestionText, nowMs: number): string {
    const line = this.#line(generation, ip, nowMs);
    return line === null ? wholeText(generation, ip, nowMs, requestId) : compose(line, text, requestId, this.#now(generation, nowMs));
  }

  /**
   * The bodies of many answers at once, in order: each as `text` gives it.
   *
   * Cost: a third of asking one by one where lines lie all over the memory, as the reads of all overlap.
   */
  texts(generation: Generation, questions: readonly IpQuestionText[], nowMs: number): string[] {
    const lines = this.#lines(generation, questions, nowMs);
    const now = this.#now(generation, nowMs);
    const texts = new Array<string>(lines.length);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] as Line | null;
      const { ip, text, requestId } = questions[index] as IpQuestionText;
      texts[index] = line === null ? wholeText(generation, ip, nowMs, requestId) : compose(line, text, requestId, now);
    }
    return texts;
  }

  /** The answers of many addresses at once, in order. */
  answers(generation: Generation, questions: readonly IpQuestionText[], nowMs: number): RecordAnswer[] {
    return this.#lines(generation, questions, nowMs).map((line, index) =>
      this.#answer(generation, line, questions[index] as IpQuestionText, nowMs),
    );
  }

  /** The answer of one address. */
  answer(generation: Generation, question: IpQuestionText, nowMs: number): RecordAnswer {
    return this.#answer(generation, this.#line(generation, question.ip, nowMs), question, nowMs);
  }

  /**
   * Lines of all questions, found step by step for all of them: the reads of one step do not wait for each other, as those of
   * one question after the other would, and what comes after finds the lines near.
   */
  #lines(generation: Generation, questions: readonly IpQuestionText[], nowMs: number): (Line | null)[] {
    if (this.#generation !== generation || nowMs >= this.#freshUntilMs) this.#startWith(generation, nowMs);
    const count = questions.length;
    const lines = new Array<Line | null>(count).fill(null);
    const prefixes = generation.routes?.prefixes;
    if (prefixes === undefined) return lines;
    if (this.#routes.length < count) this.#routes = new Int32Array(count);
    for (let index = 0; index < count; index++) this.#routes[index] = prefixes.longest((questions[index] as IpQuestionText).ip);
    for (let index = 0; index < count; index++) {
      const route = this.#routes[index] as number;
      if (route >= 0) lines[index] = this.#byRoute[route] ?? this.#line(generation, (questions[index] as IpQuestionText).ip, nowMs);
    }
    // The sum is only there so that the reads are not left out.
    let read = 0;
    for (let index = 0; index < count; index++) read += lines[index]?.middle.length ?? 0;
    for (let index = 0; index < count; index++) read += lines[index]?.links.length ?? 0;
    return read < 0 ? [] : lines;
  }

  #answer(generation: Generation, line: Line | null, { ip, text, requestId }: IpQuestionText, nowMs: number): RecordAnswer {
    if (line === null) {
      const notes = new AnswerNotes(generation, nowMs);
      return recordAnswer(notes, ipRecord(ip, notes), requestId);
    }
    const now = this.#now(generation, nowMs);
    return {
      status: 200,
      contentType: "json",
      body: Buffer.from(compose(line, text, requestId, now)),
      counted: true,
      cacheable: true,
      maxAgeSeconds: now.maxAgeSeconds,
      etag: line.warnings.length === 0 ? now.etag : etagInput(generation, used, line.warnings, nowMs),
      snapshotId: generation.id,
    };
  }

  /**
   * The line that answers; null where none can: the record of an address that embeds another names that one, and that of an
   * address without a route (a default route is none) counts the VRPs that cover this very address.
   */
  #line(generation: Generation, ip: Address, nowMs: number): Line | null {
    if (this.#generation !== generation || nowMs >= this.#freshUntilMs) this.#startWith(generation, nowMs);
    const route = generation.routes === null ? -1 : generation.routes.prefixes.longest(ip);
    if (route < 0) return null;
    const known = this.#byRoute[route];
    if (known !== null && known !== undefined) return known;
    if (embeddedIpv4(ip) !== null || generation.routes?.prefixes.lengthAt(route) === 0) return null;
    if (known === undefined && isUniform(generation, route)) {
      const line = this.#make(generation, ip, nowMs);
      this.#byRoute[route] = line;
      return line;
    }
    this.#byRoute[route] = null;
    const place = placeOf(generation, ip, route);
    let line = this.#byPlace.get(place);
    if (line === undefined) {
      line = this.#make(generation, ip, nowMs);
      this.#byPlace.set(place, line);
    }
    return line;
  }

  #make(generation: Generation, ip: Address, nowMs: number): Line {
    if (++this.#kept > this.#textsMax) {
      this.#startWith(generation, nowMs);
      this.#kept = 1;
    }
    const notes = new AnswerNotes(generation, nowMs);
    const { ip: _ip, links, ...middle } = ipRecord(ip, notes);
    const between = JSON.stringify({ prefix: links.prefix, asn: links.asn }).slice(1, -1);
    return {
      middle: flat(`",${JSON.stringify(middle).slice(1, -1)},"links":{"routing":"/api/v1/routing/`),
      links: flat(`",${between},"reverse_dns":"/api/v1/reverse-dns/`),
      warnings: notes.warnings,
      warningsText: warningsText(notes.warnings),
    };
  }

  #startWith(generation: Generation, nowMs: number): void {
    const prefixes = generation.routes?.prefixes;
    const size = prefixes === undefined ? 0 : prefixes.base.size + (prefixes.overlay?.size ?? 0);
    this.#generation = generation;
    this.#freshUntilMs = nowMs + textsLifetimeMs;
    // Filled, as V8 keeps a large array with holes as a map.
    this.#byRoute = new Array<Line | null | undefined>(size).fill(undefined);
    this.#byPlace.clear();
    this.#kept = 0;
    this.#second = null;
  }

  #now(generation: Generation, nowMs: number): Second {
    const second = Math.floor(nowMs / 1000);
    if (this.#second?.second === second) return this.#second;
    const notes = new AnswerNotes(generation, nowMs);
    notes.use(...used);
    const { generated_at, data } = notes.meta("");
    const end = `${warningsText(clockWarnings(generation, used, nowMs))}]}}`;
    this.#second = {
      second,
      head: flat(`",${JSON.stringify({ generated_at, data }).slice(1, -1)},"warnings":[`),
      end,
      endAfterWarning: end === "]}}" ? end : `,${end}`,
      etag: notes.etag(),
      maxAgeSeconds: notes.maxAgeSeconds(),
    };
    return this.#second;
  }
}

function compose({ middle, links, warningsText: own }: Line, text: string, requestId: string, now: Second): string {
  const record = `{"ip":"${text}${middle}${text}${links}${text}"},"meta":{"request_id":"${requestId}${now.head}`;
  return own === "" ? record + now.end : record + own + now.endAfterWarning;
}

/** The same text in one piece: V8 keeps a joined text as a tree of its parts and walks it at every use. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

/** Whether every address whose longest route this is lies in one place: no allocation or special-purpose block begins inside it. */
function isUniform({ routes, allocations }: Generation, route: number): boolean {
  if (routes === null) return false;
  const prefix = routes.prefixes.prefixAt(route);
  return (allocations === null || !allocations.hasInside(prefix)) && !specialPurposeInside(prefix);
}

/** Special-purpose blocks, their absence, and what an address without one is: below this number. */
const specialsMax = 256;
/** CIDRs of allocations and their absence: below this number; the registries' records need a tenth of it. */
const cidrsMax = 2 ** 22;

/** One exact number per (route, allocation CIDR, special-purpose block); where no block says it, version and 2000::/3 decide what is global. */
function placeOf({ allocations }: Generation, ip: Address, route: number): number {
  const cidr = allocations === null ? -1 : allocations.cidr(ip);
  const kind = ip.version === 4 ? 0 : ip.w0 >>> 29 === 1 ? 1 : 2;
  return ((route + 1) * cidrsMax + cidr + 1) * specialsMax + (specialPurposeEntry(ip) + 1) * 3 + kind;
}

function warningsText(warnings: readonly Warning[]): string {
  return warnings.map((warning) => JSON.stringify(warning)).join(",");
}

function wholeText(generation: Generation, ip: Address, nowMs: number, requestId: string): string {
  const notes = new AnswerNotes(generation, nowMs);
  return JSON.stringify({ ...ipRecord(ip, notes), meta: notes.meta(requestId) });
}
