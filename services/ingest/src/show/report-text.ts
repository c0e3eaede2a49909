/** A run's report as text for people. */

import type { RunReport, SourceReport } from "../pipeline/run-report.ts";
import { bytesText } from "./show-progress.ts";

const number = (value: number): string => value.toLocaleString("en-US");

/** The report, ending with a line break: sources with what was skipped and why, sections, times; not the error that a run ended by. */
export function reportText(report: RunReport): string {
  const lines = report.sources.flatMap((source) => sourceLines(source, report.error));
  for (const section of report.sections) {
    const counts = Object.entries(section.counts).map(([name, count]) => `${number(count)} ${name.replaceAll("_", " ")}`);
    lines.push(
      `${section.name} ${section.version}: ${counts.join(", ")}${section.kept ? " (kept from the last snapshot)" : `; ${number(section.checked)} records checked`}`,
    );
    for (const note of section.notes ?? []) lines.push(`  note: ${note}`);
    if (section.refused !== null)
      lines.push(`  not published: the new section ${section.refused}; to accept it for one run, add --accept-shrink ${section.name}`);
  }
  const { read, build, verify, publish } = report.stages;
  lines.push(`read ${read} s, build ${build} s, verify ${verify} s, publish ${publish} s; peak memory ${bytesText(report.peak_rss_bytes)}`);
  if (report.snapshot !== null)
    lines.push(`snapshot ${report.snapshot} ${report.unchanged ? "is unchanged and was published before" : "published"}`);
  return `${lines.join("\n")}\n`;
}

/** @param ending  what the run ended by: told where it ends, and not here again. */
function sourceLines(source: SourceReport, ending: string | null): string[] {
  if (source.state === "failed" && source.error !== null && ending?.includes(source.error)) return [`${source.name}: ended the run`];
  if (source.state === "failed") return [`${source.name}: left out: ${source.error ?? "unknown"}`];
  const where = source.url === null ? [] : [`  from ${source.url}, fetched ${source.fetched_at}`];
  const kept = source.state === "kept" ? [`  uses a previous version: ${source.error ?? "unknown"}`] : [];
  const size = `${bytesText(source.stored_bytes)}, decompressed ${bytesText(source.bytes)}`;
  const lines = [
    `${source.name} (${source.section}, ${source.format}): read ${number(source.read)}, accepted ${number(source.accepted)}; ${size}; ${source.seconds.toFixed(1)} s; as of ${source.as_of ?? "unknown"}`,
    ...where,
    ...kept,
  ];
  for (const note of source.notes) lines.push(`  note: ${note}`);
  for (const skipped of source.skipped) {
    lines.push(`  skipped ${number(skipped.count)}: ${skipped.reason}`);
    for (const example of skipped.examples.slice(0, 3))
      lines.push(`    ${"line" in example ? `line ${example.line}` : `byte ${example.offset}`}: ${example.text}`);
  }
  return lines;
}
