/** Reads one RIB into columns, with the updates that are applied to it, in whatever thread it is called. */

import { timestamp } from "@netfacts/contracts";
import { type RibReport, type Skipped, scanRib } from "@netfacts/mrt";
import { RibPass, type RibPaths, type RibTable } from "../assembly/rib-pass.ts";
import { boundedContent } from "../readers/bounded-content.ts";
import { type ReaderReport, type SourceContent, SourceError } from "../readers/reader-report.ts";
import { replay, type UpdateFileCounts, type UpdatesReport } from "../replay/index.ts";
import type { SourceConfig } from "../sources/index.ts";
import { randomOf } from "../verify/reservoir.ts";
import { type RibSample, RibSampler } from "../verify/rib-sample.ts";
import { type BytesListener, type OpenedSource, openSource, type StoredFile } from "./open-source.ts";
import { type ReadUpdates, sourceErrorOf, UpdateFeed } from "./read-updates.ts";

/** A source of routes, and that of its updates. */
export type RibSource = SourceConfig & { readonly section: "routes"; readonly updates: SourceConfig | null };

export interface ReadRib {
  readonly report: ReaderReport;
  readonly stored: StoredFile;
  readonly table: RibTable;
  readonly sample: RibSample;
  /** Null where the source has none. */
  readonly updates: ReadUpdates | null;
  /** To be called once. */
  paths(): RibPaths;
}

/**
 * Throws `SourceError` for a file that cannot be trusted, `UpdatesError` where it is one of required updates. Of others the first that cannot be trusted and
 * all behind it are left out: the table is read once more then, as a part of that file is in it.
 */
export async function readRib(source: RibSource, onBytes: BytesListener, signal?: AbortSignal): Promise<ReadRib> {
  const feed = source.updates === null ? null : await UpdateFeed.open(source.updates, source.location);
  for (;;) {
    const table: { opened: OpenedSource | null } = { opened: null };
    try {
      return await readOnce(source, feed, onBytes, signal, table);
    } catch (error) {
      signal?.throwIfAborted();
      if (feed?.leaveOutFailed(error) === true) continue;
      const told = sourceErrorOf(error, source.location);
      throw table.opened?.explained(told) ?? told;
    }
  }
}

async function readOnce(
  source: RibSource,
  feed: UpdateFeed | null,
  onBytes: BytesListener,
  signal: AbortSignal | undefined,
  table: { opened: OpenedSource | null },
): Promise<ReadRib> {
  let ribBytes = 0;
  const behind = feed?.storedBytes() ?? 0;
  const onRib: BytesListener = (done, total) => {
    ribBytes = done;
    onBytes(done, total === null ? null : total + behind);
  };
  const opened = openSource(source, onRib, signal);
  table.opened = opened;
  const { content } = opened;
  const { chunks, meter } = boundedContent(content);
  const pass = new RibPass();
  const sampler = new RibSampler(pass, randomOf(source.name));
  let rib: RibReport;
  let ribPrefixes: number | null = null;
  let counts: UpdatesReport | null = null;
  let seconds: number | null = null;
  if (feed === null || feed.isEmpty) rib = await scanRib(chunks, sampler, { name: content.file });
  else {
    const inputs = async function* () {
      seconds = meter.seconds();
      yield* feed.inputs((done) => onBytes(ribBytes + done, ribBytes + behind), signal);
    };
    const options = { gapSeconds: feed.gapSeconds, onFile: (file: UpdateFileCounts) => feed.check(file) };
    ({ rib, ribPrefixes, updates: counts } = await replay({ name: content.file, chunks }, inputs(), sampler, options));
  }
  refuseMalformed(rib, content);
  const routes = pass.table();
  const report = ribReport(rib, routes, ribPrefixes, seconds ?? meter.seconds(), counts);
  return {
    report,
    stored: opened.stored(),
    table: routes,
    sample: sampler.sample(),
    updates: feed?.result(counts) ?? null,
    paths: () => pass.paths(),
  };
}

/** @throws SourceError for a table that cannot be trusted */
function refuseMalformed(rib: RibReport, { file, badRecordsMax }: SourceContent): void {
  const { skipped, bad, records, routesLeftOut, badRoutes, routes } = rib;
  for (const [what, among, counted, count] of [
    ["records", records, skipped, bad],
    ["routes", routes.ipv4 + routes.ipv6 + badRoutes, routesLeftOut, badRoutes],
  ] as const) {
    if (count <= among * badRecordsMax) continue;
    const first = counted.find((each) => each.bad);
    const { offset = 0, detail = "" } = first?.examples[0] ?? {};
    throw new SourceError(
      file,
      { offset },
      `${count} of ${among} ${what} are malformed, more than bad_records_max allows; the first: ${first?.reason}: ${detail}`,
    );
  }
  if (rib.prefixes.ipv4 + rib.prefixes.ipv6 > 0) return;
  const [first] = skipped;
  if (first === undefined) throw new SourceError(file, null, "contains no routes");
  const count = skipped.reduce((sum, each) => sum + each.count, 0);
  const { offset = 0, detail = "" } = first.examples[0] ?? {};
  throw new SourceError(
    file,
    { offset },
    `contains no routes; ${count} of ${records} records were skipped, the first: ${first.reason}: ${detail}`,
  );
}

/**
 * Counts each prefix once, as answers do: a table behind itself in one file has no more of them than the next one will have.
 *
 * @param ribPrefixes  different prefixes before the updates; null: there were none.
 */
function ribReport(
  rib: RibReport,
  table: RibTable,
  ribPrefixes: number | null,
  seconds: number,
  updates: UpdatesReport | null,
): ReaderReport {
  const [ipv4, ipv6] = [table.ipv4.length.length, table.ipv6.length.length];
  const accepted = ipv4 + ipv6;
  const again = rib.prefixes.ipv4 + rib.prefixes.ipv6 - (ribPrefixes ?? accepted);
  const skipped = rib.skipped.map(({ reason, bad, count, examples }) => ({
    reason,
    bad,
    count,
    examples: examples.map(({ offset, detail }) => ({ offset, text: detail })),
  }));
  if (again > 0) skipped.push({ reason: "listed more than once; the routes were joined", bad: false, count: again, examples: [] });
  const applied = updates !== null && updates.messages + updates.stateChanges > 0;
  return {
    bytes: rib.bytes,
    seconds,
    read: skipped.reduce((sum, { count }) => sum + count, accepted),
    accepted,
    skipped,
    kinds: { "IPv4 prefixes": ipv4, "IPv6 prefixes": ipv6 },
    latestAt: rib.lastTimestamp,
    asOf: applied ? updates.lastTimestamp : rib.firstTimestamp,
    notes: [
      `${rib.routes.ipv4} IPv4 and ${rib.routes.ipv6} IPv6 routes`,
      ...rib.routesLeftOut.map(leftOutNote),
      ...(rib.masked > 0 ? [`${rib.masked} prefixes had host bits set, which were cleared`] : []),
      ...(applied ? [`written ${timestamp(rib.firstTimestamp * 1_000)}, then updated by its updates`] : []),
    ],
  };
}

function leftOutNote({ reason, count, examples: [first] }: Skipped): string {
  const routes = count === 1 ? "1 route was" : `${count} routes were`;
  return `${routes} left out: ${reason}: ${first?.detail}; the first in the record at byte ${first?.offset}`;
}
