/** The section object: what goes in comes out, and nothing that was touched is read. */

import { crc32 } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { columnPieces, decodeColumns, encodeColumns, type SectionFormat, SectionFormatError } from "../src/index.ts";

const columns = { small: "u8", middle: "u16", large: "u32", empty: "u32" } as const;
const format: SectionFormat<typeof columns> = { kind: "test", version: 1, columns };
const content = {
  small: Uint8Array.of(1, 2, 3, 255, 0),
  middle: Uint16Array.of(0, 65_535, 7),
  large: Uint32Array.of(0xffff_ffff, 0, 1),
  empty: new Uint32Array(0),
};
const object = encodeColumns(format, content);

/** The same object with something changed and the checksum put right again, as only malice does it. */
function resealed(change: (bytes: Buffer) => void, from: Buffer = object): Buffer {
  const bytes = Buffer.from(from);
  change(bytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, bytes.length - 4)), bytes.length - 4);
  return bytes;
}

const entryOf = (column: number): number => 64 + column * 48;

const mutations = runs(10_000);

describe("a section object", () => {
  test("is not made of more bytes than can be read", () => {
    const piece = new Uint8Array(1 << 20);
    const small = (bytes: number) => ({ ...content, small: Array<Uint8Array>(bytes / piece.length).fill(piece) });
    expect(() => columnPieces(format, small(2 ** 31))).toThrow(
      /^section test would be more than 21474\d+ bytes; an object may have 2 GiB$/,
    );
  });

  test("gives back any columns, at offsets of 64, and the same bytes for the same columns", () => {
    const made = fc.record({
      small: fc.uint8Array({ maxLength: 200 }),
      middle: fc.uint16Array({ maxLength: 200 }),
      large: fc.uint32Array({ maxLength: 200 }),
      empty: fc.uint32Array({ maxLength: 0 }),
    });
    fc.assert(
      fc.property(made, (some) => {
        const bytes = encodeColumns(format, some);
        expect(encodeColumns(format, some)).toEqual(bytes);
        const read = decodeColumns(format, bytes);
        for (const name of Object.keys(columns) as (keyof typeof columns)[]) {
          expect(Array.from(read[name])).toEqual(Array.from(some[name]));
          expect((read[name].byteOffset - bytes.byteOffset) % 64).toBe(0);
          expect(read[name].buffer).toBe(bytes.buffer);
        }
      }),
      { seed: seed(1), numRuns: runs(300) },
    );
  });

  test("is written from views into larger buffers too", () => {
    const large = Uint32Array.of(9, 8, 7, 6, 5).subarray(1, 4);
    expect(Array.from(decodeColumns(format, encodeColumns(format, { ...content, large })).large)).toEqual([8, 7, 6]);
  });

  test("is the same bytes however its columns are cut", () => {
    const cut = fc.record({ large: fc.uint32Array({ maxLength: 50 }), at: fc.array(fc.nat(50), { maxLength: 4 }) });
    fc.assert(
      fc.property(cut, ({ large, at }) => {
        const bounds = [0, ...at.map((index) => Math.min(index, large.length)).sort((a, b) => a - b), large.length];
        const pieces = bounds.slice(1).map((end, index) => large.subarray(bounds[index], end));
        expect(Buffer.concat(columnPieces(format, { ...content, large: pieces }))).toEqual(encodeColumns(format, { ...content, large }));
      }),
      { seed: seed(2), numRuns: runs(200) },
    );
  });

  test("reads a column that its writer did not know as empty, where that is allowed", () => {
    const { large: _, ...fewer } = columns;
    const written = encodeColumns({ kind: format.kind, version: format.version, columns: fewer }, content);
    expect(() => decodeColumns(format, written)).toThrow("column large is missing");
    expect(decodeColumns({ ...format, optional: ["large"] }, written).large).toEqual(new Uint32Array());
  });

  test("is refused with any one byte flipped", () => {
    for (let at = 0; at < object.length; at++) {
      const damaged = Buffer.from(object);
      damaged[at] = (damaged[at] as number) ^ 0xff;
      expect(() => decodeColumns(format, damaged)).toThrow(SectionFormatError);
    }
  });

  test("is refused when it is cut anywhere, or longer", () => {
    for (let length = 0; length < object.length; length++)
      expect(() => decodeColumns(format, object.subarray(0, length))).toThrow(SectionFormatError);
    expect(() => decodeColumns(format, Buffer.concat([object, Buffer.of(0)]))).toThrow(SectionFormatError);
  });

  test(`is refused or reads the same after ${mutations} mutations, with their checksum put right`, () => {
    const random = fc.sample(fc.tuple(fc.nat(object.length - 9), fc.nat(255), fc.nat(3)), { seed: seed(10), numRuns: mutations });
    let refused = 0;
    for (const [at, value, more] of random) {
      const mutated = resealed((bytes) => bytes.fill(value, at, Math.min(bytes.length - 8, at + more + 1)));
      try {
        const read = decodeColumns(format, mutated);
        // What is read lies inside the object, whatever was changed.
        for (const name of Object.keys(columns) as (keyof typeof columns)[])
          expect(read[name].byteOffset + read[name].byteLength).toBeLessThanOrEqual(mutated.byteOffset + mutated.length - 8);
      } catch (error) {
        expect(error).toBeInstanceOf(SectionFormatError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(mutations / 10);
    for (const [at, value] of random) {
      const mutated = Buffer.from(object);
      mutated[at] = value;
      if (mutated.equals(object)) continue;
      expect(() => decodeColumns(format, mutated)).toThrow(/damaged|not a section|version|header says|is a section/);
    }
  });

  test("takes no memory for what a header only claims", () => {
    const before = process.memoryUsage().arrayBuffers;
    const claims = [
      resealed((bytes) => bytes.writeUInt32LE(0xffff_ffff, 12)),
      resealed((bytes) => bytes.writeUInt16LE(0xffff, 10)),
      resealed((bytes) => bytes.writeUInt32LE(0xffff_fffc, entryOf(2) + 40)),
      resealed((bytes) => bytes.writeUInt32LE(0xffff_ffc0, entryOf(2) + 36)),
    ];
    for (const claim of claims) expect(() => decodeColumns(format, claim)).toThrow(SectionFormatError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  test.each<[string, (bytes: Buffer) => void, RegExp]>([
    ["another version", (bytes) => bytes.writeUInt16LE(2, 8), /section test: version 2; this program reads version 1/],
    ["another kind", (bytes) => bytes.write("tset", 16, "latin1"), /the object is a section "tset"/],
    ["a column of another name", (bytes) => bytes.write("x", entryOf(0), "latin1"), /column small is missing/],
    ["a column of another type", (bytes) => bytes.writeUInt32LE(3, entryOf(0) + 32), /column small has type 3; expected 1/],
    [
      "a column that is not aligned",
      (bytes) => bytes.writeUInt32LE(bytes.readUInt32LE(entryOf(1) + 36) + 2, entryOf(1) + 36),
      /column middle .* lies outside/,
    ],
    ["a column inside the table", (bytes) => bytes.writeUInt32LE(64, entryOf(1) + 36), /column middle .* lies outside/],
    ["a column of half a number", (bytes) => bytes.writeUInt32LE(5, entryOf(2) + 40), /column large .* lies outside/],
    ["a column past the end", (bytes) => bytes.writeUInt32LE(bytes.length & ~63, entryOf(2) + 36), /column large .* lies outside/],
  ])("is refused for %s, and says so", (_what, change, message) => {
    expect(() => decodeColumns(format, resealed(change))).toThrow(message);
  });

  test("is refused for anything that is not one", () => {
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(200), Buffer.from("{}".repeat(100))])
      expect(() => decodeColumns(format, bytes)).toThrow("section test: not a section object");
    const foreign = encodeColumns({ ...format, kind: "other" }, content);
    expect(() => decodeColumns(format, foreign)).toThrow('section test: the object is a section "other"');
  });

  test.each(["empty", "constructor"])("may have columns that this reader does not know: %s", (name) => {
    const { empty, ...known } = columns;
    const written = encodeColumns(
      { kind: "test", version: 1, columns: { ...known, [name]: empty } },
      { ...content, [name]: content.empty },
    );
    const read = decodeColumns({ kind: "test", version: 1, columns: known }, written);
    expect(Object.keys(read)).toEqual(["small", "middle", "large"]);
  });

  test("is not written with a name that its form cannot hold", () => {
    expect(() => encodeColumns({ ...format, kind: "longer than sixteen" }, content)).toThrow(SectionFormatError);
  });
});
