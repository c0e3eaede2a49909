/** Reads one source with the reader of its format and hands its records to the section's inputs. */

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { type Content, MrtError, openContent, scanRib } from "@netfacts/mrt";
import { RibPass } from "../build/rib-pass.ts";
import { boundedContent, type ReaderReport, type SourceContent, SourceError } from "../readers/index.ts";
import type { SourceConfig } from "../sources/index.ts";
import type { ProgressListener } from "./progress.ts";
import { type Reading, type SideRecords, TableInputs, tableReaders } from "./table-readers.ts";

/** What the sections are built from, filled source by source. */
export class SectionInputs extends TableInputs {
  readonly ribs = new RibPass();
}

/** A source that was read to its end. */
export interface SourceReading {
  readonly report: ReaderReport;
  /** Of the file as it is stored. */
  readonly stored: { readonly bytes: number; readonly sha256: string };
  readonly side?: SideRecords;
}

/**
 * Reads a source into `inputs`.
 *
 * Throws `SourceError` for a source that cannot be trusted, and what `check` throws, which looks at the report. A failed
 * source of anything but routes adds nothing; of a RIB `inputs` may hold a part and is to be thrown away.
 */
export async function readSource(
  source: SourceConfig,
  inputs: SectionInputs,
  check: (report: ReaderReport) => void,
  onProgress: ProgressListener,
  signal?: AbortSignal,
): Promise<SourceReading> {
  const digest = createHash("sha256");
  let content: Content;
  let total: number | null = null;
  try {
    total = statSync(source.location).size;
    content = openContent(source.location, (stored) => digest.update(stored));
  } catch (cause) {
    throw new SourceError(source.location, null, (cause as Error).message, { cause });
  }
  const tell = () => onProgress({ label: `read ${source.name}`, done: content.bytesRead, total, unit: "bytes" });
  const input: SourceContent = {
    file: source.location,
    chunks: told(content.stream, tell, signal),
    bytesMax: source.bytesMax,
    secondsMax: source.secondsMax,
    badRecordsMax: source.badRecordsMax,
  };
  const { format } = source;
  const { report, add, side } = format === "mrt" ? await readRib(input, inputs, source) : await tableReaders[format](input, inputs);
  check(report);
  add();
  tell();
  return { report, stored: { bytes: content.bytesRead, sha256: digest.digest("hex") }, ...(side && { side }) };
}

async function* told(chunks: AsyncIterable<Uint8Array>, tell: () => void, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    tell();
    signal?.throwIfAborted();
    yield chunk;
  }
}

/** What a RIB says is in the inputs before the reading is judged: it is too large to keep twice. */
async function readRib(content: SourceContent, inputs: SectionInputs, source: SourceConfig): Promise<Reading> {
  const { chunks, meter } = boundedContent(content);
  inputs.ribs.beginCollector(source.name);
  try {
    const rib = await scanRib(chunks, inputs.ribs, { name: content.file });
    const accepted = rib.prefixes.ipv4 + rib.prefixes.ipv6;
    const worst = rib.skipped.find(({ bad }) => bad);
    if (worst !== undefined && rib.bad > rib.records * content.badRecordsMax)
      throw new SourceError(
        content.file,
        { offset: worst.examples[0]?.offset ?? 0 },
        `${rib.bad} of ${rib.records} records break the format, more than bad_records_max allows; the first: ${worst.reason}: ${worst.examples[0]?.detail ?? ""}`,
      );
    if (accepted === 0) throw new SourceError(content.file, null, "has no routes");
    const skipped = rib.skipped.map(({ reason, bad, count, examples }) => ({
      reason,
      bad,
      count,
      examples: examples.map(({ offset, detail }) => ({ offset, text: detail })),
    }));
    const report = {
      bytes: rib.bytes,
      seconds: meter.seconds(),
      read: skipped.reduce((sum, { count }) => sum + count, accepted),
      accepted,
      skipped,
      asOf: rib.firstTimestamp,
      notes: [
        `${rib.routes.ipv4} IPv4 and ${rib.routes.ipv6} IPv6 routes`,
        ...(rib.masked > 0 ? [`${rib.masked} prefixes had bits past their length, which were cleared`] : []),
      ],
    };
    return { report, add: () => {} };
  } catch (error) {
    if (error instanceof MrtError)
      throw new SourceError(content.file, { offset: error.offset }, error.message.replace(`${content.file}: `, ""), { cause: error });
    throw error;
  }
}
