/** Search: when to suggest, the page of a result, and its title. */

import type { SearchHighlight } from "@netfacts/contracts";
import { classify, pathOf } from "./classify.ts";
import { plainText, shownMax } from "./plain-text.ts";

/** The longest text that the API searches for, in characters: `searchCharactersMax` of the contract, which tests compare. */
export const searchedMax = 100;
const suggestedMin = 2;

/** Whether to suggest. Not for an address or a prefix, which is complete. An AS number has a name, and may have further digits. */
export function wantsSuggestions(input: string): boolean {
  const text = input.trim();
  const { length } = [...text];
  if (length < suggestedMin || length > searchedMax) return false;
  const subject = classify(text);
  return subject === null || subject.kind === "as";
}

/** The page of all results. */
export function searchPath(q: string): string {
  return `/search?${new URLSearchParams({ q: q.trim() })}`;
}

/** The text of a page of results. @param query  query of its URL. */
export function searchedText(query: string): string {
  return (new URLSearchParams(query).get("q") ?? "").trim();
}

/** The page of the record at a path of the API; null if the console has none. */
export function pageOf(link: string | null): string | null {
  const [, route, text = ""] = /^\/api\/v1\/(ip|prefix|asn|reverse-dns)\/(.+)$/.exec(link ?? "") ?? [];
  const subject = classify(text);
  if (subject === null) return null;
  if (route === "reverse-dns") return subject.kind === "address" ? `/reverse-dns/${subject.text}` : null;
  return subject.kind === { ip: "address", prefix: "prefix", asn: "as" }[route ?? ""] ? pathOf(subject) : null;
}

export interface TitlePart {
  readonly text: string;
  readonly isMarked: boolean;
}

/** The title in parts that are safe to show, with at most 300 characters together. Highlights that do not fit the title are left out. */
export function titleParts(title: string, highlights: readonly SearchHighlight[]): TitlePart[] {
  const parts: TitlePart[] = [];
  let at = 0;
  let left = shownMax;
  const add = (end: number, isMarked: boolean) => {
    if (end <= at || left < 0) return;
    const text = left === 0 ? "…" : plainText(title.slice(at, end), left);
    parts.push({ text, isMarked });
    left -= [...text].length;
    at = end;
  };
  for (const { start, end } of highlights) {
    if (!(start >= at && end > start && end <= title.length)) continue;
    add(start, false);
    add(end, true);
  }
  add(title.length, false);
  return parts;
}
