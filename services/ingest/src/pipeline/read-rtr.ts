/** Reads an RTR source: the file that its session keeps, or one that is made by asking the caches now. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ReaderReport, SourceError } from "../readers/index.ts";
import { fetchVrps, RtrUnavailableError, readCacheList, writeVrpFile } from "../rtr/index.ts";
import type { ProgressListener } from "./progress.ts";
import { readSource, type SourceReading, type TableSource } from "./read-source.ts";
import type { TableInputs } from "./table-readers.ts";

/** The source's session gave its data up (RFC 8210 §6): what was published of them is to be withdrawn. */
export class DataGivenUpError extends Error {
  override readonly name = "DataGivenUpError";
}

/** As `readSource`. Throws `DataGivenUpError` where the session says so, `SourceError` where no cache has data. */
export async function readRtrSource(
  source: TableSource,
  inputs: TableInputs,
  check: (report: ReaderReport) => void,
  onProgress: ProgressListener,
  signal?: AbortSignal,
): Promise<SourceReading> {
  if (source.givenUp !== undefined) throw new DataGivenUpError(`the data were given up: ${source.givenUp}`);
  const caches = readCacheList(source.location);
  if (caches === null) return readSource(source, inputs, check, onProgress, signal);
  const folder = await mkdtemp(join(tmpdir(), "netfacts-rtr-"));
  try {
    const location = join(folder, "vrps");
    onProgress({ label: `read ${source.name}`, done: 0, total: null, unit: "bytes" });
    await writeVrpFile(location, await fetchVrps({ caches, timeoutMs: source.secondsMax * 1_000, ...(signal && { signal }) }));
    return await readSource({ ...source, location }, inputs, check, onProgress, signal);
  } catch (error) {
    if (error instanceof RtrUnavailableError) throw new SourceError(source.location, null, error.message, { cause: error });
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
