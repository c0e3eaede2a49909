/** The record of a search: the subjects that the text names, then countries, AS names and organisations by rank. */

import type { SearchMatch, SearchQuestion, SearchRecord, SearchResult } from "@netfacts/contracts";
import { foldedWords, type Generation, levelOf, matchLevels, type OtherRows, ranks, type WordIndex, WordSearch } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { countryRanks, type RankedCountry } from "./search-countries.ts";
import { highlightsOf } from "./search-highlights.ts";
import { asnResult, asnText } from "./search-results.ts";
import { subjectsOf } from "./search-subjects.ts";
import type { Steps } from "./steps.ts";

/** Number of words of a question that are used. */
const questionWordsMax = 8;
/** Number of AS numbers in the subtitle of an organisation. */
const asnsShown = 3;

type AsNameTable = NonNullable<Generation["names"]>;
type ProfileTable = NonNullable<Generation["profiles"]>;

/** Rows of one kind, each with a rank. */
interface Source {
  readonly counts: Uint32Array;
  each(visit: (row: number, rank: number) => void): void;
  result(row: number, match: SearchMatch): SearchResult;
}

export function* searchSteps(question: SearchQuestion, notes: AnswerNotes): Steps<Omit<SearchRecord, "meta">> {
  const { q, limit } = question;
  notes.use("as_names", "profiles");
  const { names, profiles } = notes.generation;
  if (names === null) notes.warn("as_names_unavailable", "no AS names are loaded, so names of ASes are not found");
  if (profiles === null) notes.warn("profiles_unavailable", "no profiles are loaded, so organisations are not found");
  const nameWords = names === null ? null : yield* names.words();
  const organisationWords = profiles === null ? null : yield* profiles.words();
  // In one step: the marked rows of a search are in the memory of its index.
  const { results: subjects, searched, asns } = subjectsOf(q, notes);
  const words = questionWords(searched);
  const sources: Source[] = [countrySource(countryRanks(words), words)];
  if (names !== null && nameWords !== null) sources.push(nameSource(notes.generation, names, nameWords, words, asns));
  if (profiles !== null && organisationWords !== null) sources.push(organisationSource(profiles, organisationWords, words));
  const total = subjects.length + sources.reduce((sum, { counts }) => sum + counts.reduce((a, b) => a + b, 0), 0);
  const start = notes.start("results");
  const items = [
    ...subjects.slice(start, start + limit),
    ...window(sources, Math.max(0, start - subjects.length), Math.max(0, Math.min(limit, start + limit - subjects.length))),
  ];
  return {
    query: q,
    results: { items, total, limit, next_cursor: notes.nextCursor("search", question, "results", items.length, total) },
  };
}

/** `count` items from a place on, in the order of ranks, then sources, then rows. */
function window(sources: readonly Source[], start: number, count: number): SearchResult[] {
  const places = sources.map(() => new Uint32Array(ranks));
  let place = 0;
  for (let rank = 0; rank < ranks; rank++)
    for (const [at, { counts }] of sources.entries()) {
      (places[at] as Uint32Array)[rank] = place;
      place += counts[rank] as number;
    }
  const found: (SearchResult | undefined)[] = [];
  for (const [at, source] of sources.entries()) {
    const next = places[at] as Uint32Array;
    source.each((row, rank) => {
      const here = next[rank] as number;
      next[rank] = here + 1;
      if (here >= start && here < start + count) found[here - start] = source.result(row, matchLevels[levelOf(rank)] as SearchMatch);
    });
  }
  return found.filter((item) => item !== undefined);
}

/** The different words of the text. */
function questionWords(text: string): string[] {
  const words = foldedWords(text).map((word) => word.text);
  return [...new Set(words)].slice(0, questionWordsMax);
}

function countrySource(
  { counts, found }: { readonly counts: Uint32Array; readonly found: readonly RankedCountry[] },
  words: readonly string[],
): Source {
  return {
    counts,
    each(visit) {
      for (const [row, { rank }] of found.entries()) visit(row, rank);
    },
    result(row, match) {
      const { title } = found[row] as RankedCountry;
      return { type: "country", match, title, subtitle: null, link: null, highlights: highlightsOf(title, words) };
    },
  };
}

/** One search for each index, as it has memory for each row. */
const searches = new WeakMap<WordIndex, WordSearch>();

function searchOf(index: WordIndex, others?: OtherRows): WordSearch {
  let search = searches.get(index);
  if (search === undefined) {
    search = new WordSearch(index, others);
    searches.set(index, search);
  }
  return search;
}

/** @param left AS numbers that are already results. */
function nameSource(
  generation: Generation,
  names: AsNameTable,
  index: WordIndex,
  words: readonly string[],
  left: readonly number[],
): Source {
  const search = searchOf(index, numberRows(names.asns));
  return {
    counts: search.find(
      words,
      left.map((asn) => names.rowOf(asn)),
    ),
    each: (visit) => search.each(visit),
    result: (row, match) => asnResult(generation, names.asns[row] as number, match, words),
  };
}

/** Rows whose AS number equals the word, or begins with it in decimal digits: `33`, `AS33` or `ASN33`. */
const numberRows =
  (asns: Uint32Array): OtherRows =>
  (word, visit) => {
    const digits = /^(?:asn?)?(0|[1-9]\d{0,9})$/.exec(word)?.[1];
    if (digits === undefined) return;
    const value = Number(digits);
    for (let scale = 1; value * scale < 2 ** 32 && (value > 0 || scale === 1); scale *= 10)
      visit(firstFrom(asns, value * scale), firstFrom(asns, (value + 1) * scale), scale === 1 ? 0 : 1);
  };

function firstFrom(ascending: Uint32Array, value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function organisationSource(profiles: ProfileTable, index: WordIndex, words: readonly string[]): Source {
  const search = searchOf(index);
  return {
    counts: search.find(words),
    each: (visit) => search.each(visit),
    result(row, match) {
      const title = profiles.organisationAt(row) ?? "";
      const rows = [...index.sameText(row)];
      const asns = rows.slice(0, asnsShown).map((same) => asnText(profiles.asns[same] as number));
      const more = rows.length - asns.length;
      return {
        type: "organisation",
        match,
        title,
        subtitle: more === 0 ? asns.join(", ") : `${asns.join(", ")} and ${more} more`,
        link: `/api/v1/asn/${asns[0]}`,
        highlights: highlightsOf(title, words),
      };
    },
  };
}
