/** Damage to texts of rows and fields: what a careless writer makes of delegated files, CSV and lists. */

import { pick, type Random } from "../../../../test/support/random.ts";
import { bytesChanged } from "./mutate-bytes.ts";

export interface TextForm {
  /** A good document, of rows that end with `\n`. */
  readonly text: string;
  /** What parts the fields of a row. */
  readonly separator: string;
  /** Fields that a careful reader must mind. */
  readonly nasty: readonly string[];
}

const bytesMax = 4_000;

/** One to three changes: to a field, to the fields of a row, to the rows, and at times to the bytes. Never more than 4 kB. */
export function mutatedText(random: Random, { text, separator, nasty }: TextForm): Uint8Array {
  const rows = text.split("\n").map((row) => row.split(separator));
  for (let change = random(3); change >= 0; change--) {
    const kind = random(8);
    if (kind < 4) fieldChanged(random, pick(random, rows), rows, nasty);
    else if (kind < 6) fieldsChanged(random, pick(random, rows), separator);
    else rowsChanged(random, rows);
  }
  const breaks = random(12) === 0 ? "\r\n" : "\n";
  let bytes: Uint8Array = Buffer.from(rows.map((row) => row.join(separator)).join(breaks));
  for (let damage = random(6); damage > 4; damage--) bytes = bytesChanged(random, bytes);
  return bytes.subarray(0, bytesMax);
}

function fieldChanged(random: Random, row: string[], rows: readonly string[][], nasty: readonly string[]): void {
  const at = random(row.length);
  const field = row[at] ?? "";
  const letter = random(field.length + 1);
  switch (random(7)) {
    case 0:
      row[at] = "";
      break;
    case 1:
      row[at] = pick(random, pick(random, rows)) ?? "";
      break;
    case 2:
      row[at] = field.slice(0, letter) + field.slice(letter + 1);
      break;
    case 3:
      row[at] = `${" ".repeat(random(2))}${field}${" ".repeat(random(2))}`;
      break;
    default:
      row[at] = random(4) === 0 ? field.slice(0, letter) + pick(random, nasty) + field.slice(letter) : pick(random, nasty);
  }
}

function fieldsChanged(random: Random, row: string[], separator: string): void {
  const at = random(row.length);
  switch (random(5)) {
    case 0:
      row.splice(at, 1);
      break;
    case 1:
      row.splice(at, 0, row[at] ?? "");
      break;
    case 2:
      row.splice(random(row.length), 0, ...row.splice(at, 1));
      break;
    case 3:
      row.splice(at, row.length, ...row.slice(at).map((field) => (random(2) === 0 ? `"${field}"` : field)));
      break;
    default:
      row[at] = `${row[at] ?? ""}${separator}`;
  }
}

function rowsChanged(random: Random, rows: string[][]): void {
  const at = random(rows.length);
  switch (random(5)) {
    case 0:
      if (rows.length > 1) rows.splice(at, 1);
      break;
    case 1:
      rows.splice(random(rows.length + 1), 0, [...(rows[at] ?? [])]);
      break;
    case 2:
      rows.splice(random(rows.length), 0, ...rows.splice(at, 1));
      break;
    case 3:
      rows.splice(at, 0, [pick(random, ["", "# a comment", " ", "#"])]);
      break;
    default:
      rows.splice(at + 1);
  }
}
