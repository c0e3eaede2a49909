/** Builds section `routes` and the objects of paths from the RIBs that were read. */

import { columnPieces, type Manifest, pathsFormat, type RoutesColumns, release, type SectionEntry } from "@netfacts/dataset";
import { type AsLinks, mergeLinks } from "../build/as-links.ts";
import { pathsColumns } from "../build/paths.ts";
import { linkColumns, mergeRoutes } from "../build/routes.ts";
import type { SourcesConfig } from "../sources/index.ts";
import type { RibReading } from "./rib-readers.ts";

type StoredObject = Manifest["ingest_objects"][string];

export interface BuiltRoutes {
  readonly columns: RoutesColumns;
  readonly entry: Pick<SectionEntry, "counts" | "peers_total" | "collectors" | "match_peers_min">;
  readonly ingestObjects: Manifest["ingest_objects"];
}

/**
 * Merges the RIBs, whatever their order, and stores the paths of each, which it then lets go of: `ribs` is empty in the end.
 */
export async function buildRoutes(
  config: Pick<SourcesConfig, "fullFeedShare" | "fullFeedMin" | "upstreamsMax" | "matchPeersMin">,
  ribs: Map<string, RibReading>,
  put: (pieces: readonly Uint8Array[]) => Promise<StoredObject>,
): Promise<BuiltRoutes> {
  const collectors = [...ribs.keys()].sort();
  const tables = collectors.map((name) => (ribs.get(name) as RibReading).table);
  const { columns, peerFull, peersTotal, counts } = mergeRoutes(tables, {
    fullFeed: { share: config.fullFeedShare, min: config.fullFeedMin },
    upstreamsMax: config.upstreamsMax,
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
  return {
    columns: { ...columns, ...linkColumns(mergeLinks(links)) },
    entry: { counts, peers_total: peersTotal, collectors, match_peers_min: config.matchPeersMin },
    ingestObjects,
  };
}
