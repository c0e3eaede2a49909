/** Reads one source with the reader of its format; RIBs are read elsewhere. */

import { referredVersion } from "../fetch/referred-feeds.ts";
import type { TableSource } from "./listed-sources.ts";
import { checkMd5Beside } from "./md5-beside.ts";
import { openSource, type StoredFile } from "./open-source.ts";
import type { Run } from "./run.ts";
import { type Reading, type TableFormat, type TableInputs, tableReaders } from "./table-readers.ts";

/** A source that was read to its end. */
export interface SourceReading extends Reading {
  stored(): StoredFile;
}

/**
 * Reads a source; its records join `inputs` when `add` is called.
 *
 * Throws `SourceError` for a source that cannot be trusted.
 */
export async function readSource(
  { onProgress, signal }: Run,
  source: TableSource & { readonly format: TableFormat },
  inputs: TableInputs,
): Promise<SourceReading> {
  const label = `read ${source.name}`;
  // A fetched file was compared with its digest when it was fetched.
  if (source.format === "delegated" && source.fetch === undefined) await checkMd5Beside(source.location);
  const { content, stored, explained } = openSource(source, (done, total) => onProgress({ label, done, total, unit: "bytes" }), signal);
  try {
    const named = { ...content, registry: source.format === "delegated" ? registryNamed(source) : null };
    const reading = await tableReaders[source.format](named, inputs, source);
    const { feeds } = source;
    if (feeds === undefined) return { ...reading, stored };
    const versioned = () => {
      const { bytes, sha256 } = stored();
      return { bytes, sha256: referredVersion(sha256, feeds) };
    };
    return { ...reading, stored: versioned };
  } catch (error) {
    throw explained(error);
  }
}

/** The registry in a file's name. On a first import nothing else shows that a file is in the place of another registry's. */
function registryNamed({ location, fetched }: TableSource): string | null {
  const [, registry = null] =
    /(?:^|\/)delegated-(afrinic|apnic|arin|iana|lacnic|ripencc)(?:[-.][^/?#]*)?(?:[?#].*)?$/.exec(fetched?.url ?? location) ?? [];
  return registry;
}
