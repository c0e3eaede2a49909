/** The section object: named typed-array columns in one little-endian buffer that is read in place. */

import { crc32 } from "node:zlib";

/** Types of columns. The code is the one in the file. */
const columnTypes = { u8: { code: 1, bytes: 1 }, u16: { code: 2, bytes: 2 }, u32: { code: 4, bytes: 4 } } as const;

export type ColumnType = keyof typeof columnTypes;
export type ColumnArray<T extends ColumnType> = T extends "u8" ? Uint8Array : T extends "u16" ? Uint16Array : Uint32Array;
export type ColumnSpec = Readonly<Record<string, ColumnType>>;
export type Columns<S extends ColumnSpec> = { readonly [K in keyof S]: ColumnArray<S[K]> };

/** Columns for a writer: a long one may be in consecutive pieces. */
export type ColumnPieces<S extends ColumnSpec> = { readonly [K in keyof S]: ColumnArray<S[K]> | readonly ColumnArray<S[K]>[] };

/** The kind of a section object and its columns, in file order. */
export interface SectionFormat<S extends ColumnSpec> {
  readonly kind: string;
  /** Readers refuse any other major version. */
  readonly version: number;
  readonly columns: S;
  /** Columns that objects of earlier writers lack; they read as empty. */
  readonly optional?: readonly (keyof S)[];
}

/** A section object that cannot be read: wrong magic, version, size, checksum or column table. */
export class SectionFormatError extends Error {
  override readonly name = "SectionFormatError";
}

const magic = Buffer.from("NFSECT\r\n", "latin1");
const alignment = 64;
const headerBytes = 64;
const columnEntryBytes = 48;
const kindBytes = 16;
const columnNameBytes = 32;
const trailerBytes = 8;

/** Size limit of one object: Node reads, writes or hashes no more in one call. A process that tries to read more ends. */
export const objectBytesMax = 0x7fff_ffff;

const aligned = (bytes: number): number => Math.ceil(bytes / alignment) * alignment;

/** Returns the pieces of `columnPieces` as one buffer. */
export function encodeColumns<S extends ColumnSpec>(format: SectionFormat<S>, columns: ColumnPieces<S>): Buffer {
  return Buffer.concat(columnPieces(format, columns));
}

/**
 * Writes columns as one object, in consecutive pieces. Pieces of columns are views, not copies. The same columns give the same bytes, however they
 * are cut.
 *
 * Layout: magic (8), version u16, column count u16, total bytes u32, kind (16); then a table of name (32), type u32, offset u32, byte length u32,
 * zero u32 per column; then the columns, each at a multiple of 64; then "NFE1" and the CRC-32 of all before it.
 *
 * Throws `SectionFormatError` for names that are too long and for more than 2 GiB.
 */
export function columnPieces<S extends ColumnSpec>(format: SectionFormat<S>, columns: ColumnPieces<S>): Uint8Array[] {
  const names = Object.keys(format.columns);
  if (format.kind.length > kindBytes || names.some((name) => name.length > columnNameBytes))
    throw new SectionFormatError(`section ${format.kind}: a name is longer than the format allows`);
  const headEnd = aligned(headerBytes + names.length * columnEntryBytes);
  const head = Buffer.alloc(headEnd);
  const pieces: Uint8Array[] = [head];
  let offset = headEnd;
  names.forEach((name, index) => {
    const arrays = [columns[name] as Uint8Array | Uint8Array[]].flat();
    const byteLength = arrays.reduce((sum, array) => sum + array.byteLength, 0);
    const entry = headerBytes + index * columnEntryBytes;
    const next = aligned(offset + byteLength);
    if (next + trailerBytes > objectBytesMax)
      throw new SectionFormatError(`section ${format.kind} would be more than ${next} bytes; an object may have 2 GiB`);
    head.write(name, entry, columnNameBytes, "latin1");
    head.writeUInt32LE(columnTypes[format.columns[name] as ColumnType].code, entry + columnNameBytes);
    head.writeUInt32LE(offset, entry + columnNameBytes + 4);
    head.writeUInt32LE(byteLength, entry + columnNameBytes + 8);
    for (const array of arrays) pieces.push(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    pieces.push(new Uint8Array(next - offset - byteLength));
    offset = next;
  });
  magic.copy(head, 0);
  head.writeUInt16LE(format.version, 8);
  head.writeUInt16LE(names.length, 10);
  head.writeUInt32LE(offset + trailerBytes, 12);
  head.write(format.kind, 16, kindBytes, "latin1");
  const trailer = Buffer.alloc(trailerBytes);
  trailer.write("NFE1", "latin1");
  pieces.push(trailer.subarray(0, trailerBytes - 4));
  trailer.writeUInt32LE(
    pieces.reduce((sum, piece) => crc32(piece, sum), 0),
    trailerBytes - 4,
  );
  pieces.push(trailer.subarray(trailerBytes - 4));
  return pieces;
}

/**
 * Points typed arrays at the columns of an object. Nothing is copied; `bytes` must start at a multiple of 4 in its buffer.
 *
 * Throws `SectionFormatError` when the object is not of this format and version, is damaged, or lacks a column that is not optional.
 *
 * @param options.checked  the bytes passed this function before: skips the checksum, which reads all of them.
 */
export function decodeColumns<S extends ColumnSpec>(
  format: SectionFormat<S>,
  bytes: Uint8Array,
  options: { checked?: boolean } = {},
): Columns<S> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const refuse = (why: string): never => {
    throw new SectionFormatError(`section ${format.kind}: ${why}`);
  };
  if (view.length < headerBytes + trailerBytes || !view.subarray(0, 8).equals(magic)) refuse("not a section object");
  const version = view.readUInt16LE(8);
  if (version !== format.version) refuse(`version ${version}; this program reads version ${format.version}`);
  const kind = view.toString("latin1", 16, 16 + kindBytes).replace(/\0+$/, "");
  if (kind !== format.kind) refuse(`the object is a section ${JSON.stringify(kind)}`);
  const total = view.readUInt32LE(12);
  if (total !== view.length) refuse(`${view.length} bytes, but its header says ${total}`);
  if (options.checked !== true && crc32(view.subarray(0, total - 4)) !== view.readUInt32LE(total - 4))
    refuse("checksum differs: the object is damaged");
  const count = view.readUInt16LE(10);
  const dataStart = headerBytes + count * columnEntryBytes;
  if (dataStart + trailerBytes > total) refuse(`its column table of ${count} entries lies past the end`);
  const columns: Record<string, Uint8Array | Uint16Array | Uint32Array> = {};
  for (let index = 0; index < count; index++) {
    const entry = headerBytes + index * columnEntryBytes;
    const name = view.toString("latin1", entry, entry + columnNameBytes).replace(/\0+$/, "");
    const type = Object.hasOwn(format.columns, name) ? format.columns[name] : undefined;
    if (type === undefined) continue;
    const code = view.readUInt32LE(entry + columnNameBytes);
    const offset = view.readUInt32LE(entry + columnNameBytes + 4);
    const byteLength = view.readUInt32LE(entry + columnNameBytes + 8);
    const { code: expected, bytes: width } = columnTypes[type];
    if (code !== expected) refuse(`column ${name} has type ${code}; expected ${expected}`);
    if (offset < dataStart || offset % alignment !== 0 || byteLength % width !== 0 || offset + byteLength > total - trailerBytes)
      refuse(`column ${name} (${byteLength} bytes at ${offset}) lies outside the object`);
    const at = bytes.byteOffset + offset;
    columns[name] =
      type === "u8"
        ? new Uint8Array(bytes.buffer, at, byteLength)
        : type === "u16"
          ? new Uint16Array(bytes.buffer, at, byteLength / 2)
          : new Uint32Array(bytes.buffer, at, byteLength / 4);
  }
  for (const [name, type] of Object.entries(format.columns)) {
    if (columns[name] !== undefined) continue;
    if (format.optional?.includes(name) !== true) refuse(`column ${name} is missing`);
    columns[name] = type === "u8" ? new Uint8Array() : type === "u16" ? new Uint16Array() : new Uint32Array();
  }
  return columns as Columns<S>;
}

/**
 * Checks that `starts` are the bounds of consecutive runs in an array of `itemCount`: first 0, never falling, last `itemCount`.
 *
 * Throws `SectionFormatError`; after it, walking any run stays inside the array.
 */
export function checkRuns(kind: string, name: string, starts: Uint32Array, runCount: number, itemCount: number): void {
  let fault = starts.length !== runCount + 1 || starts[0] !== 0 || starts[runCount] !== itemCount;
  for (let index = 1; !fault && index <= runCount; index++) fault = (starts[index] as number) < (starts[index - 1] as number);
  if (fault) throw new SectionFormatError(`section ${kind}: column ${name} does not bound ${runCount} runs of ${itemCount} items`);
}

/** Checks that every value is below `bound`. Throws `SectionFormatError`. */
export function checkBelow(
  kind: string,
  name: string,
  values: Uint8Array | Uint16Array | Uint32Array,
  bound: number,
  except?: number,
): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (value >= bound && value !== except)
      throw new SectionFormatError(`section ${kind}: column ${name}[${index}] is ${value}; must be below ${bound}`);
  }
}

/** Checks that values rise from one to the next, as a binary search needs. Throws `SectionFormatError`. */
export function checkAscending(kind: string, name: string, values: Uint32Array): void {
  for (let index = 1; index < values.length; index++)
    if ((values[index] as number) <= (values[index - 1] as number))
      throw new SectionFormatError(`section ${kind}: column ${name}[${index}] is not greater than the previous item`);
}

/** Checks that each item was first seen at some time, and not after it was last seen. Throws `SectionFormatError`. */
export function checkTimes(kind: string, name: string, first: Uint32Array, last: Uint32Array): void {
  for (let index = 0; index < first.length; index++)
    if (first[index] === 0 || (first[index] as number) > (last[index] as number))
      throw new SectionFormatError(`section ${kind}: column ${name}[${index}] is ${first[index]}; must be 1 to ${last[index]}`);
}

/** Checks that columns which describe the same items are equally long. Throws `SectionFormatError`. */
export function checkLengths(kind: string, expected: number, columns: Record<string, { readonly length: number }>): void {
  for (const [name, column] of Object.entries(columns))
    if (column.length !== expected)
      throw new SectionFormatError(`section ${kind}: column ${name} has ${column.length} items; expected ${expected}`);
}
