/** Reads one RIB into columns, in whatever thread it is called. */

import { MrtError, scanRib } from "@netfacts/mrt";
import { RibPass, type RibPaths, type RibTable } from "../build/rib-pass.ts";
import { boundedContent, type ReaderReport, SourceError } from "../readers/index.ts";
import type { SourceConfig } from "../sources/index.ts";
import { type BytesListener, openSource, type StoredFile } from "./open-source.ts";

export interface ReadRib {
  readonly report: ReaderReport;
  readonly stored: StoredFile;
  readonly table: RibTable;
  /** To be called once. */
  paths(): RibPaths;
}

/** Throws `SourceError` for a file that cannot be trusted. */
export async function readRib(source: SourceConfig, onBytes: BytesListener, signal?: AbortSignal): Promise<ReadRib> {
  const opened = openSource(source, onBytes, signal);
  const { content } = opened;
  const { chunks, meter } = boundedContent(content);
  const pass = new RibPass();
  try {
    const rib = await scanRib(chunks, pass, { name: content.file });
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
    return { report, stored: opened.stored(), table: pass.table(), paths: () => pass.paths() };
  } catch (error) {
    if (error instanceof MrtError)
      throw new SourceError(content.file, { offset: error.offset }, error.message.replace(`${content.file}: `, ""), { cause: error });
    throw error;
  }
}
