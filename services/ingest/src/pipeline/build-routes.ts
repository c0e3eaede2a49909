/** Builds section `routes` and the objects of paths from the RIBs that were read. */

import { timestamp } from "@netfacts/contracts";
import {
  columnPieces,
  historyFormat,
  type Manifest,
  pathsFormat,
  type RoutesColumns,
  release,
  type SectionEntry,
} from "@netfacts/snapshot";
import { type AsLinks, mergeLinks } from "../assembly/as-links.ts";
import { mergeHistory } from "../assembly/history.ts";
import { pathsColumns } from "../assembly/paths.ts";
import { linkColumns, mergeRoutes } from "../assembly/routes.ts";
import type { SourcesConfig } from "../sources/index.ts";
import { historyObject, type LastHistory } from "./last-history.ts";
import type { RibReading } from "./rib-readers.ts";

type StoredObject = Manifest["ingest_objects"][string];

/** Most gaps in updates that a manifest lists. */
const gapsMax = 100;

export interface BuiltRoutes {
  readonly columns: RoutesColumns;
  readonly entry: Pick<SectionEntry, "counts" | "peers_total" | "collectors" | "match_peers_min" | "updates_gaps">;
  readonly ingestObjects: Manifest["ingest_objects"];
  /** Notes for the operator on how they were built. */
  readonly notes: readonly string[];
}

/**
 * Merges the RIBs, in any order, and stores the paths of each. Removes each from `ribs` as soon as possible to free its memory: the map is empty in the
 * end. Continues the history, and stores it as another object.
 *
 * @param readHistory  of all tables before; read when the RIBs have been let go of.
 */
export async function buildRoutes(
  config: Pick<SourcesConfig, "fullFeedShare" | "fullFeedMin" | "upstreamsMax" | "matchPeersMin" | "historyKeptSeconds" | "sampleData">,
  ribs: Map<string, RibReading>,
  put: (pieces: readonly Uint8Array[]) => Promise<StoredObject>,
  readHistory: () => Promise<LastHistory>,
): Promise<BuiltRoutes> {
  const collectors = [...ribs.keys()].sort();
  const gaps = collectors.flatMap((name) => gapsOf(name, ribs.get(name) as RibReading)).slice(0, gapsMax);
  const tables = collectors.map((name) => (ribs.get(name) as RibReading).table);
  const tableTimes = collectors.map((name) => timeOf(ribs.get(name) as RibReading));
  const { columns, times, peerFull, peersTotal, counts } = mergeRoutes(tables, {
    fullFeed: { share: config.fullFeedShare, min: config.fullFeedMin },
    upstreamsMax: config.upstreamsMax,
    tableTimes,
  });
  for (const { originKind, originValue, upstreamKind, upstream } of tables.map(({ facts }) => facts))
    release(originKind, originValue, upstreamKind, upstream);
  const ingestObjects: Manifest["ingest_objects"] = {};
  const links: AsLinks[] = [];
  for (const [index, name] of collectors.entries()) {
    const { table, paths } = ribs.get(name) as RibReading;
    ribs.delete(name);
    const found = await paths();
    links.push(found.links);
    ingestObjects[`paths/${name}`] = await put(columnPieces(pathsFormat, pathsColumns(table, found, peerFull[index] as Uint8Array)));
    release(found.start, found.bytes, ...Object.values(table.ipv4), ...Object.values(table.ipv6));
  }
  const last = await readHistory();
  const { history, seen, withdrawn, forgotten } = mergeHistory(columns, times, last.columns, {
    now: Math.max(0, ...tableTimes),
    keptSeconds: config.historyKeptSeconds,
  });
  ingestObjects[historyObject(config.sampleData)] = await put(columnPieces(historyFormat, history));
  return {
    columns: { ...columns, ...linkColumns(mergeLinks(links)), ...seen },
    entry: {
      counts: { ...counts, withdrawn_origins: withdrawn },
      peers_total: peersTotal,
      collectors,
      match_peers_min: config.matchPeersMin,
      ...(gaps.length > 0 && { updates_gaps: gaps }),
    },
    ingestObjects,
    notes: [
      ...(last.fault === null ? [] : [`the history of the last snapshot cannot be used and starts again: ${last.fault}`]),
      ...(forgotten === 0 ? [] : [`${forgotten} origins that are no longer announced were removed`]),
    ],
  };
}

function gapsOf(collector: string, { updates }: RibReading): NonNullable<SectionEntry["updates_gaps"]> {
  const time = (seconds: number) => timestamp(seconds * 1_000);
  return (updates?.gaps ?? []).map(({ from, to }) => ({ collector, from: time(from), to: to === null ? null : time(to) }));
}

/** Time of the table with its updates applied, in Unix seconds; 0: unknown. */
function timeOf({ report, updates }: RibReading): number {
  return Math.max(report.asOf ?? 0, updates?.report.asOf ?? 0);
}
