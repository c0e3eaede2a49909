/** Builds section `aspas`: the ASPAs of all sources, one record per customer. */

import { type AspasColumns, aspaSectionColumns } from "@netfacts/dataset";
import { type Aspa, encodeAspaColumns } from "@netfacts/rpki";

/** Merges ASPAs as `encodeAspaColumns` does. */
export function buildAspas(sources: readonly Iterable<Aspa>[]): AspasColumns {
  const { columns, taNames } = encodeAspaColumns(sources.flatMap((source) => [...source]));
  return aspaSectionColumns(columns, taNames);
}
