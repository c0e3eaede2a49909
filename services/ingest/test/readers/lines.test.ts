/** Lines and bounds: the same lines however the text is cut, and every bound with its place. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { ContentError } from "@netfacts/content";
import { readNameList } from "../../src/readers/as-names.ts";
import { boundedContent } from "../../src/readers/bounded-content.ts";
import { forEachLine, lineBytesMax } from "../../src/readers/lines.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, contentOfFile, failureOf } from "./content.ts";

async function linesOf(text: string, pieceBytes: number) {
  const found: [number, string][] = [];
  const { lines, ended } = await forEachLine("made-up", contentOf(text, pieceBytes).chunks, (bytes, from, to, line) => {
    found.push([line, Buffer.from(bytes.subarray(from, to)).toString()]);
  });
  return { found, lines, ended };
}

describe("lines", () => {
  test("of UTF-16 are refused by name, whichever end comes first", async () => {
    const little = Buffer.from("\ufeff1\tone\n", "utf16le");
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const error = await failureOf(forEachLine("made-up", contentOf(bytes, 100).chunks, () => {}));
      expect(error.message).toBe("made-up:1: is UTF-16 text; save it as UTF-8");
    }
  });

  test("of UTF-16 without a byte order mark are refused by name: without its NULs a name that is not ASCII would be another one", async () => {
    const little = Buffer.from("1\t株式会社\n", "utf16le");
    for (const bytes of [little, Buffer.from(little).swap16()])
      expect(await failureOf(forEachLine("made-up", contentOf(bytes, 100).chunks, () => {}))).toMatchObject({
        message: "made-up:1: is UTF-16 text; save it as UTF-8",
      });
  });

  test("with a block of NULs are refused with its byte, however they are cut; fewer NULs are text", async () => {
    const text = (nuls: number) => `1\tone\n2\tt${"\0".repeat(nuls)}o\n3\tthree\n`;
    for (const pieceBytes of [1, 7, 8, 9, 16, 30, 1_000]) {
      expect((await linesOf(text(15), pieceBytes)).lines).toBe(3);
      for (const nuls of [16, 4_096, 40_000]) {
        const error = await failureOf(linesOf(text(nuls), pieceBytes));
        expect(error.message).toBe("made-up: byte 9: has a block of NUL bytes: it is damaged, or no text; copy or fetch it again");
      }
    }
    expect((await failureOf(linesOf(`1\tone\n${"\0".repeat(16)}`, 3))).message).toMatch(/^made-up: byte 6: has a block of NUL bytes/);
  });

  test.each(["", "\n", "a", "a\n", "a\nb", "\n\na\r\n\r\nb\r\n", "\r", "a\rb\n", "x\nab\n", "abc\ndefghi\n\njkl"])(
    "%j gives the same lines however it is cut",
    async (text) => {
      const expected = text.split("\n").map((line) => line.replace(/\r$/, ""));
      if (expected.at(-1) === "" && !text.endsWith("\r")) expected.pop();
      for (const pieceBytes of [1, 2, 3, 5, 1_000]) {
        const { found, lines, ended } = await linesOf(text, pieceBytes);
        expect(found).toEqual(expected.map((line, index) => [index + 1, line]));
        expect(lines).toBe(expected.length);
        expect(ended).toBe(text === "" || text.endsWith("\n"));
      }
    },
  );

  test("a line of the greatest length passes, and one byte more is refused with its number", async () => {
    for (const pieceBytes of [1_000, 1e6]) {
      const longest = "x".repeat(lineBytesMax);
      expect((await linesOf(`a\n${longest}\nb\n`, pieceBytes)).found).toHaveLength(3);
      for (const text of [`a\n${longest}y\nb\n`, `a\n${longest}y`]) {
        const error = (await failureOf(linesOf(text, pieceBytes))) as SourceError;
        expect(error.message).toBe(`made-up:2: the line is longer than ${lineBytesMax} bytes`);
      }
    }
  });
});

describe("bounds", () => {
  async function drained(content: Parameters<typeof boundedContent>[0]) {
    const { chunks, meter } = boundedContent(content);
    for await (const chunk of chunks) void chunk;
    return meter;
  }

  test("content of exactly the greatest length passes, and one byte more is refused", async () => {
    expect((await drained(contentOf("12345678", 3, { bytesMax: 8 }))).bytes).toBe(8);
    const error = (await failureOf(drained(contentOf("123456789", 3, { bytesMax: 8 })))) as SourceError;
    expect(error.message).toBe("made-up: byte 8: is longer than the 8 bytes that bytes_max allows");
  });

  test("content that takes too long is refused", async () => {
    const slow = async function* () {
      yield Uint8Array.of(1);
      await new Promise((done) => setTimeout(done, 30));
      yield Uint8Array.of(2);
    };
    const error = await failureOf(drained({ ...contentOf(""), chunks: slow(), secondsMax: 0.01 }));
    expect(error.message).toBe("made-up: byte 1: took longer than the 0.01 s that seconds_max allows");
  });

  test("damaged compression is told as the source's failure, with the byte of the packed file", async () => {
    const damaged = async function* (): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1);
      throw new ContentError("truncated", "/data/x.gz", 77, "the data end early");
    };
    const error = (await failureOf(drained({ ...contentOf(""), file: "x.gz", chunks: damaged() }))) as SourceError;
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toBe("x.gz: byte 77: the data end early (byte of the stored file)");
    expect(error.cause).toBeInstanceOf(ContentError);
  });

  test("a packed file cut anywhere is refused by its reader, and never read as a shorter one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "netfacts-cut-"));
    const fixture = readFileSync(join(import.meta.dirname, "../fixtures/name-list.tsv"));
    const packed = gzipSync(Buffer.concat(Array.from({ length: 50 }, () => fixture)));
    try {
      for (let length = 20; length < packed.length; length += 7) {
        const path = join(folder, `${length}.gz`);
        writeFileSync(path, packed.subarray(0, length));
        const error = (await failureOf(readNameList({ ...contentOfFile(path), badRecordsMax: 0.5 }, () => {}))) as SourceError;
        expect(error).toBeInstanceOf(SourceError);
        expect(error.message.startsWith(`${path}: byte `)).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a reader that stops early closes the pieces", async () => {
    let closed = false;
    const pieces = async function* () {
      try {
        yield Uint8Array.of(1);
        yield Uint8Array.of(2);
      } finally {
        closed = true;
      }
    };
    for await (const _ of boundedContent({ ...contentOf(""), chunks: pieces() }).chunks) break;
    expect(closed).toBe(true);
  });
});
