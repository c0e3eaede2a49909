/** Notices that the table of a source is of another collector than the one before. */

import { formatAddress } from "@netfacts/address";
import type { Manifest } from "@netfacts/snapshot";
import { type SourceConfig, sectionOf } from "../sources/index.ts";

/** The BGP identifier of a table's collector, as text; null: it has none. */
export function bgpIdOf(collectorId: number): string | null {
  return collectorId === 0 ? null : formatAddress({ version: 4, w0: collectorId, w1: 0, w2: 0, w3: 0 });
}

/** That of the source's table in the last snapshot; null: it had none, or it is not known. */
export function bgpIdBefore(source: SourceConfig, previous: Pick<Manifest, "sections"> | null): string | null {
  return previous?.sections[sectionOf(source)]?.sources.find(({ name }) => name === source.name)?.bgp_id ?? null;
}

/** A note on a table of another collector; null: it is of the same one. A router may get another identifier, so that nothing is refused for it. */
export function otherCollectorText(now: string | null, before: string | null): string | null {
  if (now === null || before === null || now === before) return null;
  return `the BGP identifier of its collector is ${now}; that of the last import was ${before}: check that location is the right one`;
}
