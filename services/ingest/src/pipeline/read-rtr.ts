/** Reads an RTR source: the file that its session keeps, or one that is made by asking the caches now. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SourceError } from "../readers/reader-report.ts";
import { fetchVrps, RtrUnavailableError, readCacheList, writeVrpFile } from "../rtr/index.ts";
import type { TableSource } from "./listed-sources.ts";
import { readSource, type SourceReading } from "./read-source.ts";
import type { Run } from "./run.ts";
import type { TableFormat, TableInputs } from "./table-readers.ts";

/** The source's session gave its data up (RFC 8210 §6): what was published of them is to be withdrawn. */
export class DataGivenUpError extends Error {
  override readonly name = "DataGivenUpError";
}

/** As `readSource`. Throws `DataGivenUpError` where the session says so, `SourceError` where no cache has data. */
export async function readRtrSource(
  run: Run,
  source: TableSource & { readonly format: TableFormat },
  inputs: TableInputs,
): Promise<SourceReading> {
  if (source.givenUp !== undefined) throw new DataGivenUpError(`the data were discarded: ${source.givenUp}`);
  const caches = readCacheList(source.location);
  if (caches === null) return readSource(run, source, inputs);
  const folder = await mkdtemp(join(tmpdir(), "netfacts-rtr-"));
  try {
    const location = join(folder, "vrps");
    run.onProgress({ label: `read ${source.name}`, done: 0, total: null, unit: "bytes" });
    await writeVrpFile(location, await fetchVrps({ caches, timeoutMs: source.secondsMax * 1_000, signal: run.signal }));
    return await readSource(run, { ...source, location }, inputs);
  } catch (error) {
    if (error instanceof RtrUnavailableError) throw new SourceError(source.location, null, error.message, { cause: error });
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
