/**
 * Answers `/ip` from texts: the parts that are equal for all addresses of a route are serialised once. Each character of a cached text is a
 * byte of UTF-8. So a text with a flag needs half the memory, and texts are joined and sent without encoding.
 */

import { type Address, type AddressList, embeddedIpv4, type Prefix } from "@netfacts/address";
import { type View, type Warning, wholeRecord } from "@netfacts/contracts";
import { AnswerNotes, clockWarnings, etagInput, ipRecord, ipSections, type RecordAnswer, shownAnswer } from "@netfacts/records";
import { type Generation, specialPurposeEntry, specialPurposeInside } from "@netfacts/snapshot";
import { Kept, type Line, onePiece, type Place, type Second } from "./kept-lines.ts";

const withoutMeta: View = { ...wholeRecord, meta: false };

/** Most bytes of cached texts, about 1.3 kB for each route. Beyond it all are dropped, and made again on request. */
const textsBytesMaxDefault = 80 << 20;
/** Generations with a cache: the current one and the one before. */
const newestMax = 2;

/** An answer. `ending`, if present, continues its body; all answers of the same second share it. */
export interface IpAnswer extends RecordAnswer {
  readonly ending?: Uint8Array;
}

/** An address, its text as `formatAddress` writes it, and the id of the request for `meta`; null: the record has no `meta`. */
export interface IpQuestionText {
  readonly ip: Address;
  readonly text: string;
  readonly requestId: string | null;
}

/**
 * Answers by generation. A line is cached by route entry if all addresses of the route share one place and there are no warnings, as for
 * nearly all routes; else by place. Not to be shared between threads.
 */
export class IpAnswers {
  /** Cache of the generation in use. */
  #kept = new Kept();
  #generation: Generation | null = null;
  /** Caches of all generations, because questions may still name a replaced one. */
  readonly #all = new WeakMap<Generation, Kept>();
  /** Caches of the generations that were seen last. Any other is empty while it is not in use: publications may follow within seconds. */
  readonly #newest: Kept[] = [];
  /** Route entries of the current addresses, and both texts of their lines. */
  #routes = new Int32Array(0);
  readonly #middles: string[] = [];
  readonly #links: string[] = [];
  readonly #textsBytesMax: number;

  /** @param options  `textsBytesMax`: most bytes of texts of one generation, exceeded by at most one text. */
  constructor({ textsBytesMax = textsBytesMaxDefault }: { readonly textsBytesMax?: number } = {}) {
    this.#textsBytesMax = textsBytesMax;
  }

  /** The body of an answer, one character per byte: the same as the serialised `ipRecord`, with `meta` if it is wanted. */
  text(generation: Generation, { ip, text, requestId }: IpQuestionText, nowMs: number): string {
    this.#use(generation, nowMs);
    const line = this.#line(generation, ip, routeOf(generation, ip), nowMs);
    return line === null ? wholeText(generation, ip, nowMs, requestId) : compose(line, text, requestId, this.#now(generation, nowMs));
  }

  /** The answer of one address. */
  answer(generation: Generation, { ip, text, requestId }: IpQuestionText, nowMs: number): RecordAnswer {
    this.#use(generation, nowMs);
    return this.#answer(generation, ip, routeOf(generation, ip), text, requestId, nowMs);
  }

  /**
   * The bodies of many answers at once, in order; each as `text` returns it.
   *
   * @param requestIds one per address; null: no record has its `meta`.
   *
   * Cost: a third of single calls if lines are scattered in memory, because their reads overlap.
   */
  texts(generation: Generation, list: AddressList, requestIds: readonly string[] | null, nowMs: number): string[] {
    this.#find(generation, list, nowMs);
    const now = this.#now(generation, nowMs);
    const { texts } = list;
    const bodies: string[] = [];
    for (let index = 0; index < list.count; index++) {
      const middle = this.#middles[index] as string;
      const links = this.#links[index] as string;
      const text = texts[index] as string;
      const requestId = requestIds === null ? null : (requestIds[index] as string);
      bodies.push(
        middle === ""
          ? this.text(generation, { ip: list.at(index), text, requestId }, nowMs)
          : recordText(text, middle, links, requestId) + (requestId === null ? "" : now.tail),
      );
    }
    this.#release(list);
    return bodies;
  }

  /** The answers for many addresses at once, like `texts`. Most bodies share one piece of memory and one ending. */
  answers(
    generation: Generation,
    list: AddressList,
    requestIds: readonly string[] | null,
    nowMs: number,
    bodyMemory: (bytes: number) => Buffer = Buffer.allocUnsafeSlow,
  ): IpAnswer[] {
    this.#find(generation, list, nowMs);
    const now = this.#now(generation, nowMs);
    const idOf = (index: number) => (requestIds === null ? null : (requestIds[index] as string));
    const texts: (string | null)[] = [];
    let bytes = 0;
    for (let index = 0; index < list.count; index++) {
      const middle = this.#middles[index] as string;
      const links = this.#links[index] as string;
      const text = middle === "" ? null : recordText(list.texts[index] as string, middle, links, idOf(index));
      texts.push(text);
      bytes += text?.length ?? 0;
    }
    this.#release(list);
    const bodies = bodyMemory(bytes);
    let start = 0;
    return texts.map((text, index) => {
      if (text === null) {
        const route = this.#routes[index] as number;
        return this.#answer(generation, list.at(index), route, list.texts[index] as string, idOf(index), nowMs);
      }
      const body = bodies.subarray(start, start + bodies.write(text, start, "latin1"));
      start += text.length;
      return requestIds === null ? replyOf(generation, body, now.etag, now.maxAgeSeconds) : withEnding(generation, body, now);
    });
  }

  /**
   * Finds routes and lines, one step for all addresses at a time: the reads of one step do not wait for each other, as the reads of one
   * address do.
   */
  #find(generation: Generation, list: AddressList, nowMs: number): void {
    this.#use(generation, nowMs);
    const { count } = list;
    if (this.#routes.length < count) this.#routes = new Int32Array(count);
    const routes = this.#routes;
    if (generation.routes === null) routes.fill(-1);
    else generation.routes.prefixes.longestOfList(list, routes);
    this.#kept.read(routes, count, this.#middles, this.#links);
  }

  /** Drops the texts: each is a slice of a larger text, which would otherwise stay in memory. */
  #release({ count }: AddressList): void {
    this.#middles.fill("", 0, count);
    this.#links.fill("", 0, count);
  }

  #answer(generation: Generation, ip: Address, route: number, text: string, requestId: string | null, nowMs: number): RecordAnswer {
    const line = this.#line(generation, ip, route, nowMs);
    if (line === null) {
      const notes = new AnswerNotes(generation, nowMs);
      return shownAnswer(notes, ipRecord(ip, notes), requestId === null ? withoutMeta : wholeRecord, requestId ?? "");
    }
    const now = this.#now(generation, nowMs);
    const etag = line.warnings.length === 0 ? now.etag : etagInput(generation, ipSections, line.warnings, nowMs);
    return replyOf(generation, Buffer.from(compose(line, text, requestId, now), "latin1"), etag, now.maxAgeSeconds);
  }

  /**
   * The line for an address. Null if its record cannot be cached: the record names an embedded address; or, without a route other than a
   * default route, counts the VRPs that cover this single address; or depends on the expiry of VRPs of an AS_SET.
   */
  #line(generation: Generation, ip: Address, route: number, nowMs: number): Line | null {
    if (route < 0) return null;
    const plain = this.#kept.lineOf(route);
    if (plain !== null) return { ...plain, warnings: [] };
    if (embeddedIpv4(ip) !== null || generation.routes?.prefixes.lengthAt(route) === 0) return null;
    const place = placeOf(generation, ip, route);
    const known = this.#kept.lineAt(place);
    if (known !== null) return known;
    const line = this.#make(generation, ip, nowMs);
    if (line === null) return null;
    const kept = this.#kept;
    if (line.warnings.length === 0 && isUniform(generation, route)) {
      kept.keepByRoute(route, line);
    } else kept.keepByPlace(place, line);
    return line;
  }

  #make(generation: Generation, ip: Address, nowMs: number): Line | null {
    if (this.#kept.bytes >= this.#textsBytesMax) this.#forget(generation, nowMs);
    const notes = new AnswerNotes(generation, nowMs);
    const { ip: _ip, links, ...middle } = ipRecord(ip, notes);
    if (notes.dependsOnClock) return null;
    const between = JSON.stringify({ prefix: links.prefix, asn: links.asn }).slice(1, -1);
    return {
      middle: bytesOf(`",${JSON.stringify(middle).slice(1, -1)},"links":{"routing":"/api/v1/routing/`),
      links: bytesOf(`",${between},"reverse_dns":"/api/v1/reverse-dns/`),
      warnings: notes.warnings,
    };
  }

  #use(generation: Generation, nowMs: number): void {
    if (this.#generation !== generation) {
      if (!this.#newest.includes(this.#kept)) this.#kept.empty();
      this.#generation = generation;
      this.#kept = this.#all.get(generation) ?? this.#add(generation);
    }
    if (nowMs >= this.#kept.freshUntilMs) this.#forget(generation, nowMs);
  }

  #add(generation: Generation): Kept {
    const kept = new Kept();
    this.#all.set(generation, kept);
    this.#newest.push(kept);
    if (this.#newest.length > newestMax) this.#newest.shift()?.empty();
    return kept;
  }

  #forget(generation: Generation, nowMs: number): void {
    const prefixes = generation.routes?.prefixes;
    this.#kept.begin(prefixes === undefined ? 0 : prefixes.base.size + (prefixes.overlay?.size ?? 0), nowMs);
  }

  #now(generation: Generation, nowMs: number): Second {
    const second = Math.floor(nowMs / 1000);
    const known = this.#kept.second;
    if (known?.second === second) return known;
    const notes = new AnswerNotes(generation, nowMs);
    notes.use(...ipSections);
    const { generated_at, data } = notes.meta("");
    const head = bytesOf(`",${JSON.stringify({ generated_at, data }).slice(1, -1)},"warnings":[`);
    const end = `${warningsText(clockWarnings(generation, ipSections, nowMs))}]}}`;
    const tail = onePiece(head + end);
    const made: Second = {
      second,
      head,
      endAfterWarning: end === "]}}" ? end : `,${end}`,
      tail,
      ending: Buffer.from(tail, "latin1"),
      etag: notes.etag(),
      maxAgeSeconds: notes.maxAgeSeconds(),
    };
    this.#kept.second = made;
    return made;
  }
}

/** Text from the start of the record to the request id. If the id is null, the whole record, which has no `meta`. */
function recordText(text: string, middle: string, links: string, requestId: string | null): string {
  if (requestId === null) return `{"ip":"${text}${middle}${text}${links}${text}"}}`;
  return `{"ip":"${text}${middle}${text}${links}${text}"},"meta":{"request_id":"${requestId}`;
}

function compose({ middle, links, warnings }: Line, text: string, requestId: string | null, now: Second): string {
  const record = recordText(text, middle, links, requestId);
  if (requestId === null) return record;
  return warnings.length === 0 ? record + now.tail : record + now.head + warningsText(warnings) + now.endAfterWarning;
}

function replyOf(generation: Generation, body: Uint8Array, etag: string, maxAgeSeconds: number): RecordAnswer {
  return {
    status: 200,
    contentType: "json",
    body,
    counted: true,
    cacheable: true,
    maxAgeSeconds,
    etag,
    snapshotId: generation.id,
  };
}

function withEnding(generation: Generation, body: Uint8Array, { ending, etag, maxAgeSeconds }: Second): IpAnswer {
  return {
    status: 200,
    contentType: "json",
    body,
    ending,
    counted: true,
    cacheable: true,
    maxAgeSeconds,
    etag,
    snapshotId: generation.id,
  };
}

function routeOf({ routes }: Generation, ip: Address): number {
  return routes === null ? -1 : routes.prefixes.longest(ip);
}

/** The UTF-8 bytes of a text, one character per byte, in one piece. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Entries of a section that describe addresses independently of their route. */
interface OwnEntries {
  /** The most specific entry that contains the address, -1 if there is none. */
  entry(address: Address): number;
  /** Whether an entry is strictly inside the prefix. */
  hasInside(prefix: Prefix): boolean;
}

/** Own entries of each section that the record reads; null: the section depends only on the route of the address. */
const ownEntries: Readonly<Record<(typeof ipSections)[number], ((generation: Generation) => OwnEntries | null) | null>> = {
  // The CIDR of the allocation is in every key (`placeOf`).
  allocations: null,
  routes: null,
  vrps: null,
  as_names: null,
  profiles: null,
  network_types: ({ networkTypes }) => networkTypes,
  locations: ({ locations }) => locations,
};
const ownEntriesOf = Object.values(ownEntries).filter((of) => of !== null);

/** Whether all addresses with this longest route share one place: no allocation, special-purpose block or entry is inside the route. */
function isUniform(generation: Generation, route: number): boolean {
  const { routes, allocations } = generation;
  if (routes === null) return false;
  const prefix = routes.prefixes.prefixAt(route);
  if (allocations?.hasInside(prefix) || specialPurposeInside(prefix)) return false;
  return !ownEntriesOf.some((of) => of(generation)?.hasInside(prefix));
}

/** Upper bound of the numbers for special-purpose blocks, for their absence, and for the kind of address. */
const specialsMax = 256;
/** Upper bound of the numbers for CIDRs of allocations and for their absence; the registries' records need a tenth of it. */
const cidrsMax = 2 ** 22;

/**
 * The key of a place: route, allocation CIDR, special-purpose block and own entries. Without a block, version and 2000::/3 decide what is
 * global. It is an exact number for nearly all addresses: few have own entries.
 */
function placeOf(generation: Generation, ip: Address, route: number): Place {
  const { allocations } = generation;
  const cidr = allocations === null ? -1 : allocations.cidr(ip);
  const kind = ip.version === 4 ? 0 : ip.w0 >>> 29 === 1 ? 1 : 2;
  let place: Place = ((route + 1) * cidrsMax + cidr + 1) * specialsMax + (specialPurposeEntry(ip) + 1) * 3 + kind;
  for (const [index, of] of ownEntriesOf.entries()) {
    const entry = of(generation)?.entry(ip) ?? -1;
    if (entry >= 0) place = `${place} ${index}:${entry}`;
  }
  return place;
}

function warningsText(warnings: readonly Warning[]): string {
  return bytesOf(warnings.map((warning) => JSON.stringify(warning)).join(","));
}

function wholeText(generation: Generation, ip: Address, nowMs: number, requestId: string | null): string {
  const notes = new AnswerNotes(generation, nowMs);
  const record = ipRecord(ip, notes);
  return bytesOf(JSON.stringify(requestId === null ? record : { ...record, meta: notes.meta(requestId) }));
}
