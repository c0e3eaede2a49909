/** A run of ingest: read, build, verify, publish. The previous snapshot serves until the last step. */

import { type Manifest, type SectionName, sealManifest, sectionNames } from "@netfacts/snapshot";
import { isDiskFull, isNotWritable, type StatedSection } from "@netfacts/storage";
import { isOperators } from "../sources/index.ts";
import type { CollectorSample } from "../verify/check-routes.ts";
import { verifySnapshot } from "../verify/verify-snapshot.ts";
import { OngoingReport, type Stage } from "./ongoing-report.ts";
import { joinOthers, type PublishTurn } from "./publish-turn.ts";
import { type ReadSources, readAll } from "./read-all.ts";
import { beginRun, type Run, type RunOptions } from "./run.ts";
import type { RunReport } from "./run-report.ts";
import { type BuiltSnapshot, buildSections, completeManifest, type ManifestContent } from "./sections.ts";
import type { TableInputs } from "./table-readers.ts";

/** A run that published nothing. `report` tells how far it came. */
export class IngestError extends Error {
  override readonly name = "IngestError";
  readonly report: RunReport;
  /** Whether something could not be written, which is no fault of a source: the disk is full, or a folder is not writable. */
  readonly isUnwritten: boolean;

  constructor(message: string, report: RunReport, { cause, isUnwritten = false }: { cause: unknown; isUnwritten?: boolean }) {
    super(message, { cause });
    this.report = report;
    this.isUnwritten = isUnwritten;
  }
}

/**
 * Imports the sources of a configuration and publishes one snapshot.
 *
 * - A required source that cannot be trusted ends the run, as does a full disk.
 * - An optional source that cannot be trusted is reported. Its last good version is read if that was kept; otherwise it is left out.
 * - A section stays as the last snapshot has it if none of its sources could be read, or if it shrank too much.
 * - A section is withdrawn if its RTR session gave up the data. ASPAs are withdrawn if no source has any more.
 *
 * @throws IngestError
 */
export async function runIngest(options: RunOptions): Promise<RunReport> {
  const report = new OngoingReport(options.config);
  try {
    const run = await beginRun(options, report);
    try {
      const manifest = await prepare(run);
      const turn = (await options.beforePublish?.()) ?? { others: [], isAlone: true };
      return await publish(run, manifest, turn);
    } finally {
      await run.ribReaders.stop();
    }
  } catch (cause) {
    options.statements?.discard();
    const { message, isUnwritten } = describeFailure(cause as Error);
    throw new IngestError(message, report.complete({ snapshot: null, unchanged: false, error: message }), { cause, isUnwritten });
  }
}

/** Failed sources that the error of a first run names. */
const reasonsMax = 3;

/** @returns the manifest of a snapshot that is stored, verified and not published. */
async function prepare(run: Run): Promise<Manifest> {
  const read = await stage(run, "read", () => readAll(run));
  if (run.previous === null) refuseIfNothingRead(run);
  // Taken before the build, which empties `ribs`.
  const collectors = [...read.inputs.ribs].map(([source, { sample }]) => ({ source, sample }));
  const manifest = sealManifest(await stage(run, "build", () => build(run, read)));
  await stage(run, "verify", () => verify(run, manifest, { collectors, tables: read.inputs.tables }));
  return manifest;
}

/** @throws Error if every source failed that is not the operator's own: an empty first snapshot would answer as if nothing was allocated or announced. */
function refuseIfNothingRead({ listed, report }: Run): void {
  const names = new Set(listed.flatMap((source) => (isOperators(source) ? [] : [source.name])));
  const reports = report.sources.filter(({ name }) => names.has(name));
  if (reports.length === 0 || reports.some(({ state }) => state !== "failed")) return;
  const reasons = reports.slice(0, reasonsMax).map(({ name, error }) => `${name}: ${error}`);
  const more = reports.length > reasonsMax ? `; and ${reports.length - reasonsMax} more` : "";
  throw new Error(`no source could be read, so there are no data to publish: ${reasons.join("; ")}${more}`);
}

async function stage<T>({ signal, report }: Run, name: Stage, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  return report.timed(name, work);
}

async function build(run: Run, { inputs, sources, failed, withdrawn }: ReadSources): Promise<ManifestContent> {
  run.onProgress({ label: "build", done: 0, total: 1, unit: "steps" });
  const built = await buildSections(run, inputs, sources);
  const content = completeManifest(run, built, { failed, withdrawn });
  run.report.sections = sectionReports(run, built, content);
  run.onProgress({ label: "build", done: 1, total: 1, unit: "steps" });
  return content;
}

function sectionReports({ shrink }: Run, built: BuiltSnapshot, { sections }: ManifestContent): RunReport["sections"] {
  return sectionNames.flatMap((name) => {
    const entry = sections[name];
    if (entry === undefined) return [];
    const notes = built.notes[name] ?? [];
    const kept = built.sections[name] === undefined;
    const refused = shrink.refused.get(name) ?? null;
    return [{ name, version: entry.version, kept, refused, checked: 0, counts: entry.counts, ...(notes.length > 0 && { notes }) }];
  });
}

interface Samples {
  readonly collectors: readonly CollectorSample[];
  readonly tables: TableInputs;
}

async function verify({ store, config, report, isBeside }: Run, manifest: Manifest, samples: Samples): Promise<void> {
  const built = report.sections.flatMap(({ name, kept }) => (kept ? [] : [name]));
  const checked = await verifySnapshot({ store, manifest, built, ...samples, upstreamsMax: config.upstreamsMax, readsKept: !isBeside });
  report.sections = report.sections.map((section) => ({ ...section, checked: checked[section.name] ?? 0 }));
}

async function publish(run: Run, verified: Manifest, { others, isAlone }: PublishTurn): Promise<RunReport> {
  const { store, report, onProgress } = run;
  const { manifest, replaces, theirs } = await joinOthers(run, verified, others);
  const built = new Set(report.sections.flatMap(({ name, kept }) => (kept || theirs.has(name) ? [] : [name])));
  // A section that is built now was asked for, or has newer versions: nothing in it is taken back any more.
  const takenBack = (await store.takenBack()).filter(({ section }) => !built.has(section));
  // The kept sections are of the snapshot that was current when the run began: no other one may be replaced.
  await stage(run, "publish", () => store.publish(manifest, { replaces, isAlone, takenBack }));
  report.sections = joinedReports(report.sections, manifest, theirs);
  commitStatements(run);
  onProgress({ label: "publish", done: 1, total: 1, unit: "steps" });
  // A damaged snapshot has no `previous`: it was replaced, although the id is the same.
  const before = replaces === run.replaces ? run.previous?.id : replaces;
  return report.complete({ snapshot: manifest.id, unchanged: before === manifest.id, error: null });
}

function joinedReports(reports: RunReport["sections"], { sections }: Manifest, theirs: ReadonlySet<SectionName>): RunReport["sections"] {
  if (theirs.size === 0) return reports;
  return sectionNames.flatMap((name): RunReport["sections"] => {
    const own = reports.find((report) => report.name === name);
    const entry = sections[name];
    if (!theirs.has(name)) return own === undefined ? [] : [own];
    if (entry === undefined) return [];
    const { version, counts } = entry;
    const before = own ?? { name, version, kept: true, refused: null, checked: 0, counts };
    const notes = before.kept ? [] : [joinedNote];
    return [{ ...before, version, counts, kept: true, refused: null, checked: 0, ...(notes.length > 0 && { notes }) }];
  });
}

const joinedNote =
  "another run published this section while this run was in progress; its version is in use, and the next run compares the sources again";

/** Makes the statements of the published sections those that operators see. */
function commitStatements({ statements, report }: Run): void {
  if (statements === null) return;
  statements.commit(new Set(report.sections.flatMap(({ name, kept }) => (kept ? [] : [name]))));
  report.sections = report.sections.map((section) => {
    const fault = statements.faults.get(section.name as StatedSection);
    return fault === undefined ? section : { ...section, notes: [...(section.notes ?? []), fault] };
  });
}

function describeFailure(error: Error): Pick<IngestError, "message" | "isUnwritten"> {
  const code = (error as NodeJS.ErrnoException).code;
  if (isDiskFull(code)) return { message: `the disk is full: ${error.message}; nothing was published`, isUnwritten: true };
  if (isNotWritable(code)) return { message: `cannot write: ${error.message}; nothing was published`, isUnwritten: true };
  return { message: error.name === "AbortError" ? "stopped; nothing was published" : error.message, isUnwritten: false };
}
