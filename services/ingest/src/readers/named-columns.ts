/** CSV whose first line names the columns, as people write it: in any order, with comments and blank lines. */

import { boundedContent } from "./bounded-content.ts";
import { firstLineHint, splitCsvLine } from "./csv.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { ReadableText } from "./readable-text.ts";
import { type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";

export interface NamedColumns {
  /** Name of the records, in the plural: `network types`. */
  readonly what: string;
  /** Columns that a file must have, in lower case, in any order. */
  readonly required: readonly string[];
  /** Further columns that it may have. No others are allowed. */
  readonly optional: readonly string[];
  /** A file with only the first line is valid, and says nothing. Absent: it is a fault. */
  readonly mayBeEmpty?: true;
}

/** Why a valid row is left out. */
export interface LeftOut {
  readonly leftOut: string;
}

/**
 * Reads rows by the column names of the first line. Blank lines and lines that begin with `#` are ignored.
 *
 * @param take  returns what is wrong with a row, or why it is left out, or otherwise whether it replaced an earlier one. A column that the file lacks
 * is undefined.
 * @throws SourceError with the line if the first line does not name the columns, if there are no records (but see `mayBeEmpty`), or more bad ones
 * than allowed.
 */
export async function readRows(
  content: SourceContent,
  { what, required, optional, mayBeEmpty }: NamedColumns,
  take: (row: Readonly<Record<string, string>>, line: number) => string | boolean | LeftOut,
): Promise<ReaderReport> {
  const { file, badRecordsMax } = content;
  const { chunks, meter } = boundedContent(content);
  const known = [...required, ...optional];
  const tally = new Tally();
  const texts = new ReadableText();
  const found: { header: readonly string[] | null } = { header: null };
  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1);
    if (text.startsWith("#") || text.trim() === "") return;
    const fields = splitCsvLine(text);
    if (found.header === null) {
      const names = fields?.map((name) => name.toLowerCase()) ?? [];
      const good = required.every((name) => names.includes(name)) && names.every((name) => known.includes(name));
      if (!good || new Set(names).size < names.length)
        throw new SourceError(
          file,
          { line },
          `the first line must name the columns (required: ${required.join(", ")}; optional: ${optional.join(", ")})${firstLineHint(text)}`,
        );
      found.header = names;
      return;
    }
    tally.read++;
    if (fields === null) return tally.bad("a quote is not closed", { line }, text);
    if (fields.length !== found.header.length) return tally.bad("the number of fields differs from the first line", { line }, text);
    const taken = take(Object.fromEntries(found.header.map((name, index) => [name, fields[index] as string])), line);
    if (typeof taken === "string") return tally.bad(taken, { line }, text);
    if (typeof taken === "object") return tally.leaveOut(taken.leftOut, { line }, text);
    if (taken) tally.leaveOut("appears more than once; the last one was kept", { line }, text);
    else tally.accepted++;
  });
  const saysNothing = tally.read === 0 && found.header !== null && mayBeEmpty === true;
  if (!saysNothing) tally.judge(file, badRecordsMax, what, { line: Math.max(1, lines) });
  if (!ended) throw cutLine(file, lines);
  return {
    bytes: meter.bytes,
    seconds: meter.seconds(),
    read: tally.read,
    accepted: tally.accepted,
    skipped: tally.skipped(),
    asOf: null,
    notes: texts.notes(),
  };
}
