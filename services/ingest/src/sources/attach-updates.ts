/** Finds the source of routes that each source of updates is applied to. */

import type { SourceConfig } from "./config.ts";
import type { FaultList, MappingReader } from "./mapping.ts";
import { didYouMean } from "./suggestion.ts";

/** A source of updates as listed. `appliesTo`: the name in the list; null: it has none. */
export interface ListedUpdates {
  readonly source: SourceConfig;
  readonly members: MappingReader;
  readonly appliesTo: string | null;
}

/**
 * Sets `appliesTo` of each. Updates that name no table apply to the only source of routes. A table takes the updates of one source: those of two
 * could not be put in order.
 *
 * @param lineByName  all sources, also those with faults: a reference to a source with faults is not reported as well.
 */
export function attachUpdates(
  updates: readonly ListedUpdates[],
  sources: readonly SourceConfig[],
  lineByName: ReadonlyMap<string, number>,
  faults: FaultList,
): void {
  const tables = sources.filter(({ section }) => section === "routes");
  const names = tables.map(({ name }) => name);
  const taken = new Map<SourceConfig, SourceConfig>();
  for (const { source, members, appliesTo } of updates) {
    const fault = (key: string, message: string) => faults.at(members.offsetOf(key), message);
    if (appliesTo === null && names.length !== 1) {
      if (names.length > 1)
        fault("section", `section: for updates, "applies_to" must name the source of routes that they apply to: ${names.join(", ")}`);
      else if (faults.faults.length === 0) fault("section", "section: updates are applied to a source of routes; there is none");
      continue;
    }
    const table = appliesTo === null ? tables[0] : tables.find(({ name }) => name === appliesTo);
    if (table === undefined) {
      const other = sources.find(({ name }) => name === appliesTo);
      const known = names.length === 0 ? "; there is none" : `; expected ${names.length === 1 ? "" : "one of "}${names.join(", ")}`;
      if (other !== undefined) fault("applies_to", `applies_to: "${appliesTo}" is a source of ${other.section}, not of routes${known}`);
      else if (!lineByName.has(appliesTo as string))
        fault("applies_to", `applies_to: there is no source of routes "${appliesTo}"${didYouMean(appliesTo as string, names) || known}`);
      continue;
    }
    const before = taken.get(table);
    if (before !== undefined)
      fault("name", `name: updates are already applied to "${table.name}" in line ${before.line}; list all files in one folder`);
    taken.set(table, source);
    source.appliesTo = table;
  }
}
