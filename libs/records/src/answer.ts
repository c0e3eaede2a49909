/** The parts of every answer besides its record: the sections used, warnings, and caching. */

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
import { ageSeconds, type Generation, isStale, type Publication, type SectionEntry, type SectionName } from "@netfacts/snapshot";

/** The longest time a cache may keep an answer, in seconds. */
export const maxAgeSecondsMax = 300;

/** The time that a cache may keep an answer about the past that cannot change any more, in seconds. */
const pastMaxAgeSeconds = 86_400;
/** Longest difference between a publisher's clock and ours: until then another snapshot may turn out to have been the newest one. */
const settledMs = 3_600_000;

/** Marks an answer as being about the past. */
export interface PastNote {
  readonly publication: Publication;
  /** The present time, which the answer's `nowMs` is not. */
  readonly presentMs: number;
}

/** The freshness of a section, in the form of `meta.data`. */
export function sectionData(name: SectionName, section: SectionEntry, nowMs: number): SectionData {
  const data = { version: section.version, as_of: section.as_of, age_seconds: ageSeconds(section, nowMs), stale: isStale(section, nowMs) };
  if (name !== "routes") return data;
  return Object.assign(data, { peers_total: section.peers_total ?? { ipv4: 0, ipv6: 0 }, collectors: section.collectors ?? [] });
}

/** Collects the sections and warnings of an answer while the record is built. One per answer. */
export class AnswerNotes {
  readonly generation: Generation;
  readonly nowMs: number;
  readonly #view: View;
  readonly #past: PastNote | null;
  readonly #used: SectionName[] = [];
  readonly #warnings: Warning[] = [];
  /** For each list that continues, the place at which it does. */
  readonly #next = new Map<ListName, number>();
  /** Number of changes (`changesAt`) that have happened, and the time of the next one, in Unix seconds. */
  #changed = 0;
  #nextChange = Number.POSITIVE_INFINITY;

  /** @param nowMs  time for ages and expiries: for an answer about the past, the time that was asked about. */
  constructor(generation: Generation, nowMs: number, view: View = wholeRecord, past: PastNote | null = null) {
    this.#past = past;
    this.generation = generation;
    this.nowMs = nowMs;
    this.#view = view;
  }

  /** Index of the first item of a list that is shown. */
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

  /** Notes that a list continues at this place, which must be above 0; `detail` is the text of the warning. Returns the cursor of that place. */
  cursorAt<O extends OperationName>(op: O, question: Questions[O], list: ListName, place: number, detail: string): string {
    this.warnTruncated(list, detail);
    this.#next.set(list, place);
    return encodeCursor(op, question, { snapshotId: this.generation.id, page: { list, start: place } });
  }

  /** Place at which a list continues; undefined if it is complete. */
  nextStart(list: ListName): number | undefined {
    return this.#next.get(list);
  }

  /** Notes that the answer reads these sections, and warns of sections that the snapshot lacks. */
  use(...names: SectionName[]): void {
    for (const name of names) {
      if (this.#used.includes(name)) continue;
      this.#used.push(name);
      const { missing } = sectionContracts[name];
      if (missing !== null && this.generation.manifest.sections[name] === undefined) this.warn(`${name}_unavailable`, missing);
    }
  }

  /** Warns that a list has more items than are shown, unless the answer does not show the list. Each list has its own warning. */
  warnTruncated(list: string, detail: string): void {
    const { fields } = this.#view;
    if (fields === null || fields.includes(memberOfList(list))) this.#warnings.push({ code: "truncated", detail });
  }

  /** Notes a time (Unix seconds) at which the answer changes by the clock alone, as when a VRP expires. */
  changesAt(seconds: number): void {
    if (seconds < this.nowMs / 1_000) this.#changed++;
    else this.#nextChange = Math.min(this.#nextChange, seconds);
  }

  /** Whether the record depends on the clock, and not only its ages. */
  get dependsOnClock(): boolean {
    return this.#changed > 0 || this.#nextChange !== Number.POSITIVE_INFINITY;
  }

  /** Adds a warning, unless there is one with this code. */
  warn(code: WarningCode, detail: string): void {
    if (!this.#warnings.some((warning) => warning.code === code)) this.#warnings.push({ code, detail });
  }

  /** Warnings so far, without those that depend on the clock. */
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
    return { history: { as_of: timestamp(this.nowMs), snapshot: id, published_at: at } };
  }

  /** The input of the ETag: equal for two answers to the same question that differ only in ids and ages. */
  etag(): string {
    const changed = this.#changed === 0 ? "" : `;changed ${this.#changed}`;
    const used = etagInput(this.generation, this.#used, this.#warnings, this.nowMs) + changed;
    const input = this.#past === null ? used : `${used};past ${this.#past.publication.id} ${this.#past.publication.at}`;
    // Cursors name the snapshot: a client that gets 304 must be able to continue with the cursors that it has.
    return this.#next.size === 0 ? input : `${input};${this.generation.id}`;
  }

  /** Seconds until one of the used sections is expected to be replaced, or the answer changes by the clock; at most `maxAgeSecondsMax`. */
  maxAgeSeconds(): number {
    if (this.#past !== null) return this.#past.presentMs - this.nowMs > settledMs ? pastMaxAgeSeconds : 0;
    const untilChange = Math.max(0, Math.ceil(this.#nextChange - this.nowMs / 1_000));
    return Math.min(maxAge(this.generation, this.#used, this.nowMs), untilChange);
  }
}

/** The warning about missing updates for answers that use routes: the first gap, and the number of others; null: there are none. */
function gapDetail({ manifest }: Generation, used: readonly SectionName[]): string | null {
  const [first, ...more] = used.includes("routes") ? (manifest.sections.routes?.updates_gaps ?? []) : [];
  if (first === undefined) return null;
  const span = first.to === null ? `after ${first.from}` : `between ${first.from} and ${first.to}`;
  const others = more.length === 0 ? "" : `, and in ${more.length} more periods`;
  return `updates of ${first.collector} ${span} are missing${others}; changes in that time may not be included`;
}

/** Warnings that depend on the dataset and the clock, not on the question. */
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

/** The versions of the sections used, whether they are stale, the numbers in the manifest that affect routes, and the warnings. */
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

/** The inputs of the number of visible peers: they are in the manifest, and not in the object. */
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

/** An answer in the form of a responder. */
export interface RecordAnswer {
  readonly status: 200;
  readonly contentType: "json";
  readonly body: Uint8Array;
  readonly counted: boolean;
  readonly cacheable: true;
  readonly maxAgeSeconds: number;
  readonly etag: string;
  readonly snapshotId: string;
  /** Place at which the shown list continues, for a format that has no room for a cursor. */
  readonly next?: number;
}

/** An answer with this body; the notes give its caching. */
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
