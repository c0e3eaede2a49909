/** The sources of a run as they are read: tables of routes together with their updates, everything else by itself. */

import type { SourceConfig } from "../sources/index.ts";
import type { RibSource } from "./read-rib.ts";
import type { TableSource } from "./read-source.ts";

export type ListedSource = TableSource | RibSource;

/** In the order of the list. */
export function listedSources(sources: readonly SourceConfig[]): ListedSource[] {
  const updatesOf = new Map(
    sources.flatMap((source) => (source.appliesTo === undefined ? [] : [[source.appliesTo.name, source] as const])),
  );
  return sources.flatMap((source): ListedSource[] => {
    if (source.section === "updates") return [];
    if (source.section === "routes") return [{ ...source, section: source.section, updates: updatesOf.get(source.name) ?? null }];
    return [source as TableSource];
  });
}

export function isRibSource(source: ListedSource): source is RibSource {
  return source.section === "routes";
}
