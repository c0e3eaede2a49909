/** Builds section `aspas`: the ASPAs of all sources, one record per customer. */

import { type Aspa, encodeAspaColumns } from "@netfacts/rpki";
import { type AspasColumns, aspaSectionColumns } from "@netfacts/snapshot";

/** Merges ASPAs as `encodeAspaColumns` does. */
export function buildAspas(sources: readonly Iterable<Aspa>[]): AspasColumns {
  const { columns, taNames } = encodeAspaColumns(sources.flatMap((source) => [...source]));
  return aspaSectionColumns(columns, taNames);
}
