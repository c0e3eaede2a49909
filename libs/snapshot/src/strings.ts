/** A table of strings as two columns: UTF-8 bytes and where each string starts. */

export interface StringColumns {
  /** One item more than there are strings. */
  readonly start: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Packs strings in the order given. */
export function packStrings(strings: readonly string[]): StringColumns {
  const start = new Uint32Array(strings.length + 1);
  let end = 0;
  for (const [index, text] of strings.entries()) {
    end += Buffer.byteLength(text, "utf8");
    start[index + 1] = end;
  }
  const bytes = Buffer.alloc(end);
  for (const [index, text] of strings.entries()) bytes.write(text, start[index] as number, "utf8");
  return { start, bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, end) };
}

/** Every string of the table, in order. */
export function stringsOf(columns: StringColumns): string[] {
  return Array.from({ length: columns.start.length - 1 }, (_, index) => stringAt(columns, index));
}

/** Reads one string of the table. `index` must be below the table's size. */
export function stringAt(columns: StringColumns, index: number): string {
  const from = columns.start[index] as number;
  const { bytes } = columns;
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, (columns.start[index + 1] as number) - from).toString("utf8");
}
