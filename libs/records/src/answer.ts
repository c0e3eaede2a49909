/** What every answer carries beside its record: the sections it used, warnings, and what caches may go by. */

import {
  encodeCursor,
  type ListName,
  type Meta,
  type MetaData,
  memberOfList,
  metaSections,
  type OperationName,
  type Questions,
  type SectionData,
  sectionContracts,
  timestamp,
  type View,
  type Warning,
  type WarningCode,
  wholeRecord,
} from "@netfacts/contracts";
import {
  ageSeconds,
  type Generation,
  isStale,
  type Publication,
  publicationTime,
  type SectionEntry,
  type SectionName,
} from "@netfacts/snapshot";

/** The longest time a cache may keep an answer, in seconds. */
export const maxAgeSecondsMax = 300;

/** As long may an answer about the past be kept that nothing changes any more, in seconds. */
const pastMaxAgeSeconds = 86_400;
/** A publisher's clock may differ from ours so much: until then another snapshot may turn out to have been the newest one. */
const settledMs = 3_600_000;

/** That an answer is about the past. */
export interface PastNote {
  readonly publication: Publication;
  /** The present, which the answer's `nowMs` is not. */
  readonly presentMs: number;
}

/** How fresh a section is, as `meta.data` shows it. */
export function sectionData(name: SectionName, section: SectionEntry, nowMs: number): SectionData {
  const data = { version: section.version, as_of: section.as_of, age_seconds: ageSeconds(section, nowMs), stale: isStale(section, nowMs) };
  if (name !== "routes") return data;
  return Object.assign(data, { peers_total: section.peers_total ?? { ipv4: 0, ipv6: 0 }, collectors: section.collectors ?? [] });
}

/** Collects what an answer used and what its reader should mind, while the record is made. One per answer. */
export class AnswerNotes {
  readonly generation: Generation;
  readonly nowMs: number;
  readonly #view: View;
  readonly #past: PastNote | null;
  readonly #used: SectionName[] = [];
  readonly #warnings: Warning[] = [];
  /** Where each list goes on that does. */
  readonly #next = new Map<ListName, number>();
  /** Changes (`changesAt`) that have happened, and the first that has not, in Unix seconds. */
  #changed = 0;
  #nextChange = Number.POSITIVE_INFINITY;

  /** @param nowMs  what ages and expiries are counted to: for an answer about the past, the time that was asked about. */
  constructor(generation: Generation, nowMs: number, view: View = wholeRecord, past: PastNote | null = null) {
    this.#past = past;
    this.generation = generation;
    this.nowMs = nowMs;
    this.#view = view;
  }

  /** Place of the first item of a list that is shown. */
  start(list: ListName): number {
    return this.#view.page?.list === list ? this.#view.page.start : 0;
  }

  /**
   * Notes that `shown` of `total` items of a list are in the answer.
   *
   * @returns the cursor of the next page; null at the end.
   */
  nextCursor<O extends OperationName>(op: O, question: Questions[O], list: ListName, shown: number, total: number): string | null {
    const next = this.start(list) + shown;
    return next >= total ? null : this.cursorAt(op, question, list, next, `${list} shows ${shown} of ${total}`);
  }

  /** Notes that a list goes on at this place, which is above 0; `detail` is that of the warning. Returns the cursor of that place. */
  cursorAt<O extends OperationName>(op: O, question: Questions[O], list: ListName, place: number, detail: string): string {
    this.warnTruncated(list, detail);
    this.#next.set(list, place);
    return encodeCursor(op, question, { snapshotId: this.generation.id, page: { list, start: place } });
  }

  /** Place at which a list goes on; undefined at its end. */
  nextStart(list: ListName): number | undefined {
    return this.#next.get(list);
  }

  /** Notes that the answer reads these sections; one that the snapshot lacks gives its warning. */
  use(...names: SectionName[]): void {
    for (const name of names) {
      if (this.#used.includes(name)) continue;
      this.#used.push(name);
      const { missing } = sectionContracts[name];
      if (missing !== null && this.generation.manifest.sections[name] === undefined) this.warn(`${name}_unavailable`, missing);
    }
  }

  /** Warns that a list has more items than the answer, unless the answer does not show the list. Each list has a warning of its own. */
  warnTruncated(list: string, detail: string): void {
    const { fields } = this.#view;
    if (fields === null || fields.includes(memberOfList(list))) this.#warnings.push({ code: "truncated", detail });
  }

  /** Notes the Unix seconds at which the answer changes by the clock alone, as when a VRP expires. */
  changesAt(seconds: number): void {
    if (seconds < this.nowMs / 1_000) this.#changed++;
    else this.#nextChange = Math.min(this.#nextChange, seconds);
  }

  /** Whether the record, and not its ages alone, depends on the clock. */
  get dependsOnClock(): boolean {
    return this.#changed > 0 || this.#nextChange !== Number.POSITIVE_INFINITY;
  }

  /** Adds a warning; a code stands once. */
  warn(code: WarningCode, detail: string): void {
    if (!this.#warnings.some((warning) => warning.code === code)) this.#warnings.push({ code, detail });
  }

  /** Warnings so far, without those that the clock gives. */
  get warnings(): readonly Warning[] {
    return this.#warnings;
  }

  /** `meta` of the answer. */
  meta(requestId: string): Meta {
    const data: Partial<Record<SectionName, SectionData>> = {};
    for (const name of metaSections) {
      const section = this.#used.includes(name) ? this.generation.manifest.sections[name] : undefined;
      if (section !== undefined) data[name] = sectionData(name, section, this.nowMs);
    }
    return {
      request_id: requestId,
      generated_at: timestamp(this.#past?.presentMs ?? this.nowMs),
      data: data as MetaData,
      ...this.#history(),
      warnings: [...this.#warnings, ...clockWarnings(this.generation, this.#used, this.nowMs)],
    };
  }

  #history(): Pick<Meta, "history"> {
    if (this.#past === null) return {};
    const { id, at } = this.#past.publication;
    return { history: { as_of: publicationTime(this.nowMs), snapshot: id, published_at: at } };
  }

  /** What makes two answers to the same question equal but for ids and ages. */
  etag(): string {
    const changed = this.#changed === 0 ? "" : `;changed ${this.#changed}`;
    const used = etagInput(this.generation, this.#used, this.#warnings, this.nowMs) + changed;
    const input = this.#past === null ? used : `${used};past ${this.#past.publication.id} ${this.#past.publication.at}`;
    // Cursors name the snapshot: who is told that nothing changed must be able to go on by those that he has.
    return this.#next.size === 0 ? input : `${input};${this.generation.id}`;
  }

  /** Seconds until one of the used sections is expected to be replaced, or the answer changes by the clock; at most `maxAgeSecondsMax`. */
  maxAgeSeconds(): number {
    if (this.#past !== null) return this.#past.presentMs - this.nowMs > settledMs ? pastMaxAgeSeconds : 0;
    const untilChange = Math.max(0, Math.ceil(this.#nextChange - this.nowMs / 1_000));
    return Math.min(maxAge(this.generation, this.#used, this.nowMs), untilChange);
  }
}

/** What answers that use the routes are told of missing updates: the first gap, and how many more there are; null where there are none. */
function gapDetail({ manifest }: Generation, used: readonly SectionName[]): string | null {
  const [first, ...more] = used.includes("routes") ? (manifest.sections.routes?.updates_gaps ?? []) : [];
  if (first === undefined) return null;
  const span = first.to === null ? `after ${first.from}` : `between ${first.from} and ${first.to}`;
  const others = more.length === 0 ? "" : `, and in ${more.length} more periods`;
  return `updates of ${first.collector} ${span} are missing${others}; changes in that time may not be included`;
}

/** Warnings that come from the dataset and the clock, not from the question. */
export function clockWarnings(generation: Generation, used: readonly SectionName[], nowMs: number): Warning[] {
  const warnings: Warning[] = [];
  for (const name of used) {
    const section = generation.manifest.sections[name];
    if (section !== undefined && isStale(section, nowMs))
      warnings.push({ code: `${name}_stale`, detail: `${name} are as of ${section.as_of}` });
  }
  const gap = gapDetail(generation, used);
  if (gap !== null) warnings.push({ code: "updates_gap", detail: gap });
  if (generation.manifest.sample_data) {
    const dates = used.flatMap((name) => {
      const section = generation.manifest.sections[name];
      return section === undefined ? [] : [`${name} of ${section.as_of.slice(0, 10)}`];
    });
    warnings.push({ code: "sample_data", detail: `this response uses the sample dataset: ${dates.join(", ")}` });
  }
  return warnings;
}

/** Names the versions of the sections used, whether they are stale, what of the manifest routes are read by, and the warnings. */
export function etagInput(generation: Generation, used: readonly SectionName[], warnings: readonly Warning[], nowMs: number): string {
  const sections = used.map((name) => {
    const section = generation.manifest.sections[name];
    return section === undefined
      ? `${name}:none`
      : `${name}:${section.version}:${section.object.slice(0, 16)}${isStale(section, nowMs) ? ":stale" : ""}${peersInput(section)}`;
  });
  const sample = generation.manifest.sample_data ? ";sample" : "";
  return `${sections.join(",")};${warnings.map((warning) => warning.code).join(",")}${sample};${gapDetail(generation, used) ?? ""}`;
}

/** What the number of visible peers depends on: the manifest has it, and the object does not. */
function peersInput({ peers_total, match_peers_min }: SectionEntry): string {
  if (peers_total === undefined) return "";
  return `:${peers_total.ipv4}:${peers_total.ipv6}:${match_peers_min ?? ""}`;
}

function maxAge(generation: Generation, used: readonly SectionName[], nowMs: number): number {
  let least = maxAgeSecondsMax;
  for (const name of used) {
    const section = generation.manifest.sections[name];
    if (section === undefined || section.interval_seconds === null) continue;
    least = Math.min(least, Math.max(0, section.interval_seconds - ageSeconds(section, nowMs)));
  }
  return least;
}

/** An answer as a responder sends it. */
export interface RecordAnswer {
  readonly status: 200;
  readonly contentType: "json";
  readonly body: Uint8Array;
  readonly counted: boolean;
  readonly cacheable: true;
  readonly maxAgeSeconds: number;
  readonly etag: string;
  readonly snapshotId: string;
  /** Place at which the list goes on that a format without room for a cursor shows. */
  readonly next?: number;
}

/** An answer with this body; caching as noted. */
export function noted(notes: AnswerNotes, body: Uint8Array): RecordAnswer {
  return {
    status: 200,
    contentType: "json",
    body,
    counted: true,
    cacheable: true,
    maxAgeSeconds: notes.maxAgeSeconds(),
    etag: notes.etag(),
    snapshotId: notes.generation.id,
  };
}
