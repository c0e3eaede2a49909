/** Lines of comma-separated values (RFC 4180), without line breaks inside of quotes. */

import { printable } from "./reader-report.ts";

/**
 * The fields of one line; null if a quote is not closed, or if text follows a closing quote. A quoted field may contain commas and doubled quotes.
 * White space around unquoted fields is dropped.
 *
 * Cost: one or two looks at each character, whatever the line has: it may come from anyone.
 */
export function splitCsvLine(line: string): string[] | null {
  if (!line.includes('"')) return line.split(",").map((field) => field.trim());
  const fields: string[] = [];
  // Each part can begin at one place only: otherwise a line of blanks costs the square of its length.
  const field = /(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^",]*))(,|$)/y;
  for (;;) {
    const match = field.exec(line);
    if (match === null) return null;
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string).trim());
    if (match[3] === "") return fields;
  }
}

/**
 * Hint to append to the fault of a first line: the line itself, and its separator if that is not a comma. Spreadsheets of many countries use others.
 */
export function firstLineHint(line: string): string {
  const found = `; found "${printable(line)}"`;
  // Binary data may contain any character, so that no separator is named.
  if (line.includes(",") || /[^\P{Cc}\t]/u.test(line)) return found;
  const separator = line.includes(";") ? "semicolons" : line.includes("\t") ? "tabs" : null;
  return separator === null ? found : `${found}; the fields are separated by ${separator}; use commas`;
}
