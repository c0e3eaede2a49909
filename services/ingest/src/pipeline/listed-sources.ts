/** The sources of a run as they are read: tables of routes together with their updates, everything else by itself. */

import type { BuiltSection, SourceConfig, SourcesConfig, storedFormat } from "../sources/index.ts";
import type { RibSource } from "./read-rib.ts";
import type { TableFormat } from "./table-readers.ts";

/** A source of anything but routes. */
export type TableSource = SourceConfig & {
  readonly section: Exclude<BuiltSection, "routes">;
  readonly format: TableFormat | typeof storedFormat;
};

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

/** Compares sources, or what stands for them, by their place in the file. */
export function inFileOrder({ sources }: SourcesConfig): (a: { readonly name: string }, b: { readonly name: string }) => number {
  const places = new Map(sources.map(({ name }, place) => [name, place]));
  return (a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0);
}

export function isRibSource(source: ListedSource): source is RibSource {
  return source.section === "routes";
}
