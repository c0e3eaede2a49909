/** Output of results: tables and fields for people, JSON for programs. */

import type { CliContext } from "./context.ts";

/** Text for an unknown value in a table. */
export const none = "–";

export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printLines(context: CliContext, lines: readonly string[]): void {
  context.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

/** Prints a note in addition to the result. */
export function printNote(context: CliContext, note: string): void {
  context.stderr.write(`netfacts: ${note}\n`);
}

/** Left-aligned columns with titles, two spaces apart. Columns with only numbers are right-aligned. */
export function tableLines(titles: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const columns = titles.map((title, at) => {
    const cells = rows.map((row) => row[at] ?? "");
    const right = cells.every((cell) => /^[\d,.]+$/.test(cell) || cell === none) && cells.some((cell) => cell !== none);
    const width = cells.reduce((widest, cell) => Math.max(widest, textWidth(cell)), textWidth(title));
    return { title, cells, right, width };
  });
  const line = (cellOf: (column: (typeof columns)[number]) => string): string =>
    columns
      .map((column) => {
        const cell = cellOf(column);
        const padding = " ".repeat(column.width - textWidth(cell));
        return column.right ? padding + cell : cell + padding;
      })
      .join("  ")
      .trimEnd();
  return [line(({ title }) => title), ...rows.map((_, at) => line(({ cells }) => cells[at] ?? ""))];
}

/** `name  value` lines with aligned values. */
export function fieldLines(fields: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...fields.map(([name]) => textWidth(name)));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

/** A time for people, to the minute, in UTC like all times here. */
export function timeText(ms: number | null): string {
  return ms === null ? none : `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** Width in code points, which is close enough to columns for usual labels. */
function textWidth(text: string): number {
  return [...text].length;
}
