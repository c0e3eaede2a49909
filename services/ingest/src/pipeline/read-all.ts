/** The first stage of a run: reads each source once, and decides which of them count. */

import { stat } from "node:fs/promises";
import type { SectionName, SourceEntry } from "@netfacts/snapshot";
import { referredVersion } from "../fetch/referred-feeds.ts";
import type { ReaderReport } from "../readers/reader-report.ts";
import { isStanding, type SourceConfig, sectionOf, storedFormat } from "../sources/index.ts";
import { sha256Of } from "../updates/update-files.ts";
import { duplicateTables, ReadContents, sameContentText } from "./duplicates.ts";
import { haveAspasEnded } from "./ended-aspas.ts";
import { asOfBefore, dateOf, olderText, type SourceDate, toldBefore } from "./future-date.ts";
import { inFileOrder, isRibSource, type ListedSource, type TableSource } from "./listed-sources.ts";
import type { StoredFile } from "./open-source.ts";
import { bgpIdBefore, bgpIdOf, otherCollectorText } from "./other-collector.ts";
import { DataGivenUpError, readRtrSource } from "./read-rtr.ts";
import { readSource, type SourceReading } from "./read-source.ts";
import { readStored } from "./read-stored.ts";
import { type ReadUpdates, UpdatesError } from "./read-updates.ts";
import type { Run } from "./run.ts";
import { earlierText, failedSourceReport, partlyReadText, sourceReport, unreadText, updatesReport } from "./run-report.ts";
import { draftSection, type SectionInputs, type SourcesBySection } from "./sections.ts";
import { acceptedBefore, kindsBefore, refuseShrunk } from "./source-shrink.ts";
import { type SideRecords, TableInputs } from "./table-readers.ts";

/** All that was read from the sources of a run. */
export interface ReadSources {
  readonly inputs: SectionInputs;
  /** The sources of each section that has one, in the order of the file. */
  readonly sources: SourcesBySection;
  /** Names of sources that could not be read, in any version. */
  readonly failed: ReadonlySet<string>;
  /** Sections whose data were given up, or have no source any more. */
  readonly withdrawn: readonly SectionName[];
}

/** `ReadSources` while it is filled. */
interface Found {
  readonly inputs: SectionInputs;
  readonly sources: Partial<Record<SectionName, { readonly configs: SourceConfig[]; readonly entries: SourceEntry[] }>>;
  readonly failed: SourceConfig[];
  readonly givenUp: Set<SectionName>;
  readonly contents: ReadContents;
}

/** A source that was read, and joined the inputs. */
interface ReadListed {
  readonly report: ReaderReport;
  readonly stored: StoredFile;
  readonly side?: SideRecords | undefined;
  readonly date: SourceDate;
  /** Note on a source that was left out, because another one has the same content; null: it was not. */
  readonly same: string | null;
  /** BGP identifier of the collector of a RIB; null where there is none. */
  readonly bgpId: string | null;
  /** Of a RIB; null where it has none. */
  readonly updates: ReadUpdates | null;
}

/**
 * Reads every source into the inputs, and writes each into the run's report.
 *
 * Throws what a required source fails with, and the reason of the run's signal.
 */
export async function readAll(run: Run): Promise<ReadSources> {
  const { config, listed, ribReaders, signal, previous } = run;
  const inputs = { tables: new TableInputs(), ribs: new Map(), drafts: {} };
  const found: Found = { inputs, sources: {}, failed: [], givenUp: new Set(), contents: new ReadContents() };
  const { sources, failed, givenUp } = found;
  const lastOf = new Map(listed.map((source) => [source.section, source]));
  for (const source of inReadingOrder(listed, (one) => ribReaders.isThreaded(one))) {
    signal.throwIfAborted();
    await readOrLeaveOut(run, found, source);
    if (source === lastOf.get(source.section))
      draftSection(source.section, inputs, { statements: run.statements, entries: sources[source.section]?.entries ?? [] });
  }
  leaveOutSameCollectors(found);
  const order = inFileOrder(config);
  for (const { configs, entries } of Object.values(sources)) {
    configs.sort(order);
    entries.sort(order);
  }
  for (const source of failed.sort(order)) {
    const before = acceptedBefore(source, previous);
    const error = unreadText;
    const kinds = kindsBefore(source, previous);
    const entry = sourceEntry(source, { sha256: "", as_of: null, accepted: 0, skipped: 0, error, ...(kinds !== null && { kinds }) });
    const asOf = asOfBefore(source, previous);
    const bgpId = bgpIdBefore(source, previous);
    sources[sectionOf(source)]?.entries.push({
      ...entry,
      ...(before !== null && { accepted_before: before }),
      ...(asOf !== null && { as_of_before: asOf }),
      ...(bgpId !== null && { bgp_id: bgpId }),
      as_of_told: toldBefore(source, previous),
    });
  }
  // Exceptions alone are no data: with nothing but them every route would be unknown to RPKI.
  const hasExceptionsAlone = (name: SectionName) => sources[name]?.configs.every(({ format }) => isStanding(format)) ?? true;
  const withdrawn = [...givenUp].filter(hasExceptionsAlone);
  for (const name of withdrawn) delete sources[name];
  if (hasExceptionsAlone("vrps")) {
    delete sources.vrps;
    for (const { format, notes } of run.report.sources)
      if (format === "slurm") notes.push("not applied: no VRPs were read, and exceptions alone are not data");
  }
  const failedNames = new Set(failed.map(({ name }) => name));
  if (haveAspasEnded(run, sources, failedNames)) {
    withdrawn.push("aspas");
    for (const { section, format, notes } of run.report.sources)
      if (section === "vrps" && !isStanding(format)) notes.push("no source has ASPAs any more: section aspas was removed");
  }
  return { inputs, sources, failed: failedNames, withdrawn };
}

/**
 * The order of the list, with two exceptions. Optional sources of VRPs come after required ones, since the later of two that do not go together is
 * refused; their order makes no other difference. Sources that threads read come last, so that the others are read meanwhile.
 */
function inReadingOrder(listed: readonly ListedSource[], isThreaded: (source: ListedSource) => boolean): ListedSource[] {
  const turnOf = (source: ListedSource) => (isThreaded(source) ? 2 : source.section === "vrps" && !source.required ? 1 : 0);
  return listed.toSorted((a, b) => turnOf(a) - turnOf(b));
}

/**
 * Reads a source. If that fails, reads the last good version of an optional one; if that fails too, records it as failed.
 *
 * @throws what a required source fails with. So it does for an optional one whose last good version was taken back: neither that version nor a
 * section without the source is what the operator went back to.
 */
async function readOrLeaveOut(run: Run, found: Found, source: ListedSource): Promise<void> {
  const { signal, report } = run;
  try {
    await readListed(run, found, source, null);
  } catch (error) {
    // A reader that was stopped also throws: that is not a fault of its source.
    signal.throwIfAborted();
    // No other source may count as a duplicate of one that was not used.
    found.contents.forget(source);
    const lastGood = source.required ? null : (source.fetched?.lastGood ?? null);
    const isTakenBack = lastGood?.isTakenBack === true;
    const isKept =
      lastGood !== null &&
      !isTakenBack &&
      (await succeeds(() => readListed(run, found, { ...source, location: lastGood.location }, error as Error)));
    signal.throwIfAborted();
    if (isKept) return;
    const updates = isRibSource(source) ? source.updates : null;
    if (error instanceof UpdatesError && updates !== null) {
      report.sources.push(failedSourceReport(updates, error, error.refused));
      throw error;
    }
    if (error instanceof DataGivenUpError) found.givenUp.add(source.section);
    // All stored observations were deleted: not a fault.
    if (error instanceof DataGivenUpError && source.format === storedFormat) return;
    report.sources.push({ ...failedSourceReport(source, error as Error), sha256: await versionOnDisk(source, signal) });
    signal.throwIfAborted();
    if ((source.required || isTakenBack) && !(error instanceof DataGivenUpError)) throw error;
    found.failed.push(source);
  }
}

/**
 * The version of a local file as it is behind a failed reading: another one than was to be read where it is being written. Null for sources that are
 * no local file, and for what cannot be read.
 */
async function versionOnDisk({ location, fetch, format, feeds }: ListedSource, signal: AbortSignal): Promise<string | null> {
  if (fetch !== undefined || format === "rtr" || format === storedFormat) return null;
  try {
    // A pipe may have no end.
    if (!(await stat(location)).isFile()) return null;
    const sha256 = await sha256Of(location, signal);
    return feeds === undefined ? sha256 : referredVersion(sha256, feeds);
  } catch {
    return null;
  }
}

async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
}

/** @param newer  why the newest version cannot be used, if this is the last good one; null: this is the newest. */
async function readListed(run: Run, found: Found, source: ListedSource, newer: Error | null): Promise<void> {
  const { report, stored, side, updates, date, same, bgpId } = await readInto(run, found, source, newer === null);
  const { asOf, isTold, warning } = date;
  run.report.sources.push(sourceReport(source, report, stored, asOf, newer));
  const own = { section: source.section, accepted: report.accepted, skipped: report.read - report.accepted };
  for (const { section: name, accepted, skipped } of side === undefined ? [own] : [own, side]) {
    const section = found.sources[name] ?? { configs: [], entries: [] };
    found.sources[name] = section;
    // The true time of data with a date in the future is not known: they are stale from the beginning.
    if (same === null) section.configs.push(warning === null ? source : { ...source, staleAfterSeconds: 0 });
    const isEarlier = newer !== null || source.fetched?.isEarlier === true;
    const error = [isEarlier ? earlierText : null, warning ?? same].filter((text) => text !== null).join("; ") || null;
    const kinds = name === source.section && report.kinds !== undefined ? { kinds: { ...report.kinds } } : {};
    const told = { as_of_told: isTold ? asOf : toldBefore(source, run.previous), ...(bgpId !== null && { bgp_id: bgpId }) };
    const entry = sourceEntry(source, { sha256: stored.sha256, as_of: asOf, accepted, skipped, error, ...told, ...kinds });
    section.entries.push(error === null ? entry : { ...entry, accepted_before: accepted });
  }
  if (updates !== null && isRibSource(source) && source.updates !== null) tellUpdates(run, found, source.updates, updates);
}

/** @throws for a source that cannot be trusted, shrank too much, is far older than before, or does not go together with others. It then adds nothing. */
async function readInto(
  run: Run,
  { inputs: { tables, ribs }, contents }: Found,
  source: ListedSource,
  isNewest: boolean,
): Promise<ReadListed> {
  if (isRibSource(source)) {
    const rib = await run.ribReaders.read(source);
    const date = checkedDate(run, source, rib.report, isNewest);
    refuseShrunk(run, source, rib.report);
    const bgpId = bgpIdOf(rib.table.collectorId);
    const other = isNewest ? otherCollectorText(bgpId, bgpIdBefore(source, run.previous)) : null;
    if (other !== null) rib.report.notes.push(other);
    const same = await sameContent(run, contents, { source, ...rib });
    if (same === null) ribs.set(source.name, rib);
    return { ...rib, date, same, bgpId };
  }
  const { report, add, stored: storedOf, side } = await readTable(run, source, tables);
  const date = checkedDate(run, source, report, isNewest);
  refuseShrunk(run, source, report);
  const stored = storedOf();
  const same = await sameContent(run, contents, { source, report, stored });
  if (same === null) add(source.name);
  return { report, stored, side, updates: null, date, same, bgpId: null };
}

function readTable(run: Run, source: TableSource, tables: TableInputs): Promise<SourceReading> {
  const { format } = source;
  if (format === storedFormat) return readStored(run, source, tables);
  return format === "rtr" ? readRtrSource(run, { ...source, format }, tables) : readSource(run, { ...source, format }, tables);
}

function checkedDate(run: Run, source: ListedSource, report: ReaderReport, isNewest: boolean): SourceDate {
  const date = dateOf(source, report);
  const older = isNewest ? olderText(run, source, date) : null;
  if (older !== null) report.notes.push(older);
  return date;
}

/** Notes the content of a source. @returns a note if another source has the same content; null: none has. */
async function sameContent(
  { signal }: Run,
  contents: ReadContents,
  { source, report, stored }: { readonly source: ListedSource } & Pick<ReadListed, "report" | "stored">,
): Promise<string | null> {
  const other = await contents.otherOf({ source, stored, unpacked: report.bytes }, signal);
  if (other === null) return null;
  const text = sameContentText(other);
  report.notes.push(text);
  return text;
}

/** Two tables of one collector would count each of its peers twice. */
function leaveOutSameCollectors({ inputs: { ribs }, sources }: Found): void {
  const tables = [...ribs].map(([name, { table, report }]) => ({ name, table, asOf: report.asOf ?? 0 }));
  const { configs = [], entries = [] } = sources.routes ?? {};
  for (const { name, reason } of duplicateTables(tables)) {
    ribs.get(name)?.report.notes.push(reason);
    ribs.delete(name);
    const counted = configs.filter((config) => config.name !== name && config.appliesTo?.name !== name);
    configs.splice(0, configs.length, ...counted);
    const at = entries.findIndex((entry) => entry.name === name);
    const entry = entries[at];
    if (entry !== undefined)
      entries[at] = { ...entry, error: entry.error === null ? reason : `${entry.error}; ${reason}`, accepted_before: entry.accepted };
  }
}

function tellUpdates(run: Run, found: Found, source: SourceConfig, updates: ReadUpdates): void {
  const told = updatesReport(source, updates);
  run.report.sources.push(told);
  if (told.state === "failed") {
    found.failed.push(source);
    return;
  }
  const { accepted, read } = updates.report;
  const error = updates.error === null ? null : partlyReadText;
  const { sha256 } = updates.stored;
  found.sources.routes?.configs.push(source);
  found.sources.routes?.entries.push(sourceEntry(source, { sha256, as_of: told.as_of, accepted, skipped: read - accepted, error }));
}

function sourceEntry({ name, format }: SourceConfig, read: Omit<SourceEntry, "name" | "format">): SourceEntry {
  return { name, format, ...read };
}
