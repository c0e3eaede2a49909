/** Lines of comma-separated values (RFC 4180), without line breaks inside of quotes. */

import { printable } from "./reader-report.ts";

/**
 * The fields of one line; null where a quote is not closed, or where something follows a closed one. A quoted field may hold commas and
 * doubled quotes; around what is not quoted white space is dropped.
 */
export function splitCsvLine(line: string): string[] | null {
  if (!line.includes('"')) return line.split(",").map((field) => field.trim());
  const fields: string[] = [];
  const field = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*|([^",]*))(,|$)/y;
  for (;;) {
    const match = field.exec(line);
    if (match === null) return null;
    fields.push(match[1]?.replaceAll('""', '"') ?? (match[2] as string).trim());
    if (match[3] === "") return fields;
  }
}

/** To be added to what is wrong with a first line: the line, and what it is separated by where that is no comma, as spreadsheets of many countries write it. */
export function firstLineHint(line: string): string {
  const found = `; found "${printable(line)}"`;
  // Binary data may have any character.
  if (line.includes(",") || /[^\P{Cc}\t]/u.test(line)) return found;
  const separator = line.includes(";") ? "semicolons" : line.includes("\t") ? "tabs" : null;
  return separator === null ? found : `${found}; the fields are separated by ${separator}; use commas`;
}
