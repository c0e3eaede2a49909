/** Shared by lists of ranges: each prefix once, with the regions and services that the list names for it. */

import type { Prefix } from "@netfacts/address";
import { readName } from "./as-profiles.ts";
import { isCovered, mapKey, notCovered, readLocatedPrefix } from "./location-fields.ts";
import { type Place, type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";

/** The details of a prefix besides its type. Equal ones share one object. */
export interface RangeDetail {
  /** Null: the list names none, or several. */
  readonly region: string | null;
  /** Ascending. */
  readonly services: readonly string[];
}

export interface ListedRange {
  readonly prefix: Prefix;
  readonly detail: RangeDetail;
}

/** A range as listed, with its place for reports. */
export interface RangeItem {
  readonly prefix: unknown;
  readonly region?: unknown;
  readonly services?: readonly unknown[];
  readonly place: Place;
  /** The record; with its path, if it is JSON. */
  readonly text: string;
}

/** The largest published lists have 80,000. A list with many more fills memory, with about 320 bytes for each. */
export const rangesMax = 1_000_000;
/** Most services that are kept for one prefix: the first ones in ascending order. Real lists name at most four. */
const servicesMax = 16;
/** Most different combinations of region and services; real lists have some thousand. */
const detailsMax = 65_536;
const wordLettersMax = 64;

interface Detail extends RangeDetail {
  /** Whether the list names more than one region. */
  readonly isSeveral: boolean;
}

/** The detail of a range without region and services. Most lists have no others. */
const noDetail: Detail = { region: null, isSeveral: false, services: [] };

/** Collects the ranges of one list within its bounds. */
export class RangeList {
  readonly tally = new Tally();
  readonly #content: SourceContent;
  readonly #ranges = new Map<number | string, { readonly prefix: Prefix; detail: Detail }>();
  readonly #details = new Map<string, Detail>();

  constructor(content: SourceContent) {
    this.#content = content;
  }

  /**
   * Adds a range. If its prefix was added before, it gets the regions and services of both.
   *
   * @returns whether the range is valid.
   * @throws SourceError for more than `rangesMax` prefixes.
   */
  add(item: RangeItem): boolean {
    const { tally } = this;
    const { place, text } = item;
    tally.read++;
    const said = readRange(item);
    if (typeof said === "string") {
      tally.bad(said, place, text);
      return false;
    }
    const { prefix, detail } = said;
    if (!isCovered(prefix, this.#content.covers)) {
      tally.leaveOut(notCovered, place, text);
      return true;
    }
    const key = mapKey(prefix);
    const known = this.#ranges.get(key);
    if (known !== undefined) {
      known.detail = this.#detail(joined(known.detail, detail), place);
      tally.leaveOut("appears more than once; its regions and services were joined", place, text);
      return true;
    }
    if (this.#ranges.size === rangesMax) throw new SourceError(this.#content.file, place, `has more than ${rangesMax} prefixes`);
    this.#ranges.set(key, { prefix, detail: this.#detail(detail, place) });
    return true;
  }

  /** All ranges. @param end  the end of the content @throws SourceError for a list without any, or with more invalid ones than allowed */
  ranges(end: Place): ListedRange[] {
    const { file, badRecordsMax } = this.#content;
    this.tally.accepted = this.#ranges.size;
    this.tally.judge(file, badRecordsMax, "ranges", end);
    return [...this.#ranges.values()];
  }

  /** The report of a list that was read to its end; call it after `ranges`. */
  report(read: Pick<ReaderReport, "bytes" | "seconds" | "asOf" | "notes">): ReaderReport {
    let ipv4 = 0;
    for (const { prefix } of this.#ranges.values()) if (prefix.version === 4) ipv4++;
    return {
      ...read,
      read: this.tally.read,
      accepted: this.tally.accepted,
      skipped: this.tally.skipped(),
      kinds: { "IPv4 prefixes": ipv4, "IPv6 prefixes": this.#ranges.size - ipv4 },
    };
  }

  #detail({ region, isSeveral, services }: Detail, place: Place): Detail {
    if (region === null && !isSeveral && services.length === 0) return noDetail;
    const kept = [...new Set(services)].sort().slice(0, servicesMax);
    const key = JSON.stringify([region, isSeveral, kept]);
    const known = this.#details.get(key);
    if (known !== undefined) return known;
    if (this.#details.size === detailsMax)
      throw new SourceError(this.#content.file, place, `has more than ${detailsMax} combinations of region and services`);
    const detail = { region, isSeveral, services: kept };
    this.#details.set(key, detail);
    return detail;
  }
}

/** Returns text to say what is wrong. */
function readRange({ prefix: text, region, services = [] }: RangeItem): { readonly prefix: Prefix; readonly detail: Detail } | string {
  const prefix = typeof text === "string" ? readLocatedPrefix(text.trim()) : "has no prefix";
  if (typeof prefix === "string") return prefix;
  if (region === undefined && services.length === 0) return { prefix, detail: noDetail };
  const regionWord = region === undefined || region === null || region === "" ? null : wordOf(region);
  if (regionWord === undefined) return `region is not a text of at most ${wordLettersMax} letters`;
  const words = services.filter((service) => service !== "").map(wordOf);
  const known = words.filter((word) => word !== undefined);
  if (known.length < words.length) return `a service is not a text of at most ${wordLettersMax} letters`;
  return { prefix, detail: { region: regionWord, isSeveral: false, services: known } };
}

function joined(a: Detail, b: Detail): Detail {
  const isSeveral = a.isSeveral || b.isSeveral || (a.region !== null && b.region !== null && a.region !== b.region);
  return { region: isSeveral ? null : (a.region ?? b.region), isSeveral, services: [...a.services, ...b.services] };
}

/** One line of text; undefined for anything else. */
function wordOf(value: unknown): string | undefined {
  const word = typeof value === "string" && value.isWellFormed() && value.length <= wordLettersMax ? readName(value) : null;
  return word || undefined;
}
