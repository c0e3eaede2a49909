/** Opening of files: compression by content, and every kind of damage told with file and byte. */

import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { findDebianTool, toolOrNotRun } from "../../../test/support/debian.ts";
import fc from "../../../test/support/properties.ts";
import { isLong, runs, seed } from "../../../test/support/runs.ts";
import { ContentError, openContent, unpackStream } from "../src/index.ts";
import { fixtures, packedFixtures } from "./support/packed-fixtures.ts";

// Thousands of small files go through the disk, which may be busy.
jest.setTimeout(30_000);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-content-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Puts bytes into a file whose name tells nothing. */
function fileOf(bytes: Uint8Array): string {
  const path = join(folder, "content");
  writeFileSync(path, bytes);
  return path;
}

async function unpack(path: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of openContent(path).stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The error that unpacking ends in, which must be ours; null when it ends well. */
async function failureOf(bytes: Uint8Array): Promise<ContentError | null> {
  try {
    await unpack(fileOf(bytes));
    return null;
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return error;
  }
}

const big = Buffer.alloc(5_000_000, "0123456789abcdef, a line of some length\n");
const small = Buffer.from("a few words\n");

describe("gzip", () => {
  test("unpacks one member, many members, and an empty one", async () => {
    expect((await unpack(fileOf(gzipSync(big)))).equals(big)).toBe(true);
    expect(await unpack(fileOf(gzipSync("")))).toHaveLength(0);
    const members = Buffer.concat([gzipSync(small), gzipSync(""), gzipSync(big), gzipSync(small)]);
    expect((await unpack(fileOf(members))).equals(Buffer.concat([small, big, small]))).toBe(true);
  });

  test("a wrong checksum is told in words, without the code of a library", async () => {
    const packed = gzipSync(small);
    packed.writeUInt32LE(1, packed.length - 8);
    expect((await failureOf(packed))?.message).toMatch(/content: the gzip data are damaged \(at byte \d+ of the file\)$/);
  });

  test("cut anywhere is an error that says truncated", async () => {
    const packed = Buffer.concat([gzipSync(small), gzipSync("another")]);
    const firstMember = gzipSync(small).length;
    for (let end = 2; end < packed.length; end++) {
      if (end === firstMember) continue; // A whole file of one member.
      const failure = await failureOf(packed.subarray(0, end));
      expect({ end, code: failure?.code }).toEqual({
        end,
        code: end === firstMember + 1 ? expect.stringMatching(/truncated|trailing/) : "truncated",
      });
    }
  });

  test("followed by something else is an error, which for zeros says where they begin", async () => {
    const packed = gzipSync(big);
    for (const rest of ["\0", "\0".repeat(4000)]) {
      expect(await failureOf(Buffer.concat([packed, Buffer.from(rest)]))).toMatchObject({ code: "trailing", offset: packed.length });
    }
    const failure = await failureOf(Buffer.concat([packed, Buffer.from("junk")]));
    expect(failure).toMatchObject({ code: "trailing" });
    expect(failure?.offset).toBeLessThanOrEqual(packed.length);
  });

  test("whose member ends at the edge of a read goes on, ends, or is refused as anywhere else", async () => {
    const overhead = gzipSync(Buffer.alloc(1 << 20), { level: 0 }).length - (1 << 20);
    const content = Buffer.alloc((1 << 20) - overhead, 7);
    const member = gzipSync(content, { level: 0 });
    expect(member).toHaveLength(1 << 20);
    expect(await failureOf(member)).toBeNull();
    expect((await unpack(fileOf(Buffer.concat([member, gzipSync(small)])))).equals(Buffer.concat([content, small]))).toBe(true);
    for (const rest of [Buffer.alloc(5), Buffer.alloc(3 << 20), Buffer.from("junk")]) {
      expect(await failureOf(Buffer.concat([member, rest]))).toMatchObject({ code: "trailing", offset: member.length });
    }
    expect(await failureOf(Buffer.concat([member, gzipSync(small).subarray(0, 5)]))).toMatchObject({ code: "truncated" });
  });

  test("with a wrong checksum, size or code is damaged", async () => {
    for (const back of [8, 4, 30]) {
      const packed = gzipSync(big);
      packed[packed.length - back] = (packed[packed.length - back] as number) ^ 0xff;
      expect(await failureOf(packed)).toMatchObject({ code: "damaged", path: join(folder, "content") });
    }
  });
});

describe("bzip2", () => {
  test.each(packedFixtures)("unpacks $file", async ({ file, parts }) => {
    expect((await unpack(join(fixtures, file))).equals(Buffer.concat(parts))).toBe(true);
  });

  test("cut anywhere is an error that says truncated", async () => {
    const cutStep = isLong ? 97 : 389;
    for (const name of ["text.bz2", "noise.bz2", "empty.bz2"]) {
      const packed = readFileSync(join(fixtures, name));
      for (let end = 4; end < packed.length; end += end < 50 || end > packed.length - 20 ? 1 : cutStep) {
        expect({ name, end, code: (await failureOf(packed.subarray(0, end)))?.code }).toEqual({ name, end, code: "truncated" });
      }
    }
  });

  test("cut in a later block names where that block begins", async () => {
    const packed = readFileSync(join(fixtures, "blocks.bz2"));
    const failure = await failureOf(packed.subarray(0, packed.length - 20));
    expect(failure).toMatchObject({ code: "truncated" });
    expect(failure?.offset).toBeGreaterThan(1000);
    expect(failure?.message).toContain(`at byte ${failure?.offset} of the file`);
  });

  test("followed by something else is an error that says where it begins", async () => {
    const packed = readFileSync(join(fixtures, "text.bz2"));
    for (const rest of ["junk", "\0", "BZ"]) {
      expect(await failureOf(Buffer.concat([packed, Buffer.from(rest)]))).toMatchObject({ code: "trailing", offset: packed.length });
    }
  });

  test("with a wrong checksum of a block, or of the stream only, is damaged", async () => {
    const packed = readFileSync(join(fixtures, "text.bz2"));
    for (const [place, what] of [
      [10, "block's checksum"],
      [packed.length - 3, "stream's checksum"],
    ] as const) {
      const damaged = Buffer.from(packed);
      damaged[place] = (damaged[place] as number) ^ 0xff;
      expect(await failureOf(damaged)).toMatchObject({ code: "damaged", message: expect.stringContaining(what) });
    }
  });

  test("with any bit flipped is an error, or unpacks to the same", async () => {
    const parts = new Map(packedFixtures.map(({ file, parts }) => [file, Buffer.concat(parts)]));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("text.bz2", "noise.bz2", "runs.bz2", "streams.bz2"),
        fc.nat(),
        fc.nat(7),
        async (name, place, bit) => {
          const packed = readFileSync(join(fixtures, name));
          // Before byte 5 it is no longer seen to be bzip2.
          const at = 5 + (place % (packed.length - 5));
          packed[at] = (packed[at] as number) ^ (1 << bit);
          try {
            expect((await unpack(fileOf(packed))).equals(parts.get(name) as Buffer)).toBe(true);
          } catch (error) {
            if (!(error instanceof ContentError)) throw error;
          }
        },
      ),
      { seed: seed(314159), numRuns: runs(200) },
    );
  });

  const findBzip2 = async () =>
    toolOrNotRun(await findDebianTool({ name: "bzip2", variable: "BZIP2_PROGRAM", packageName: "bzip2", binary: "bin/bzip2" }), "bzip2", 1);

  test("with more in a block than the stream's level allows is damaged", async () => {
    const bzip2 = await findBzip2();
    if (bzip2 === null) return;
    const numbers = Array.from({ length: 40_000 }, (_, n) => (n * 7919) % 1000).join(" ");
    for (const [input, what] of [
      [numbers, "more than its level allows"],
      // Sorted, it is two runs.
      ["ab".repeat(150_000), "a run is longer than its block"],
    ] as const) {
      const packed = execFileSync(bzip2.command, ["-9"], { input, env: { ...process.env, ...bzip2.env } });
      packed.write("1", "BZh".length);
      expect(await failureOf(packed)).toMatchObject({ code: "damaged", message: expect.stringContaining(what) });
    }
  });

  test("unpacks what bzip2 packs, of any content and level", async () => {
    const bzip2 = await findBzip2();
    if (bzip2 === null) return;
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.tuple(fc.nat(255), fc.integer({ min: 1, max: 70_000 })).map(([byte, length]) => new Uint8Array(length).fill(byte)),
      fc.array(fc.constantFrom(..."ab"), { maxLength: 2000 }).map((letters) => Buffer.from(letters.join(""))),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }), async (pieces, level) => {
        const input = Buffer.concat(pieces);
        const packed = execFileSync(bzip2.command, [`-${level}`], { input, env: { ...process.env, ...bzip2.env } });
        expect((await unpack(fileOf(packed))).equals(input)).toBe(true);
      }),
      { seed: seed(265359), numRuns: runs(50) },
    );
  });
});

describe("zstd", () => {
  const skippable = Buffer.concat([Buffer.of(0x57, 0x2a, 0x4d, 0x18, 5, 0, 0, 0), Buffer.from("notes")]);

  test("unpacks one frame, many frames, an empty one, and passes over skippable ones", async () => {
    expect((await unpack(fileOf(zstdCompressSync(big)))).equals(big)).toBe(true);
    expect(await unpack(fileOf(zstdCompressSync("")))).toHaveLength(0);
    const frames = [skippable, zstdCompressSync(small), zstdCompressSync(""), skippable, zstdCompressSync(big), zstdCompressSync(small)];
    expect((await unpack(fileOf(Buffer.concat(frames)))).equals(Buffer.concat([small, big, small]))).toBe(true);
    const many = Array<Buffer>(300).fill(zstdCompressSync(Buffer.alloc(5000, 1)));
    expect(await unpack(fileOf(Buffer.concat(many)))).toHaveLength(1_500_000);
  });

  test.each([
    ["empty", zstdCompressSync("")],
    ["skippable", skippable],
  ])("up to 1,000 %s frames in a row are passed over; more are refused, as nobody could stop reading them", async (_kind, frame) => {
    const content = zstdCompressSync(small);
    const row = (frames: number) => Buffer.concat(Array<Buffer>(frames).fill(frame));
    expect((await unpack(fileOf(Buffer.concat([row(600), content, row(600)])))).equals(small)).toBe(true);
    const refused = Buffer.concat([content, row(1_001)]);
    expect(await failureOf(Buffer.concat([refused, content]))).toMatchObject({
      code: "unsupported",
      offset: refused.length,
      message: expect.stringContaining("more than 1000 zstd frames in a row have no content"),
    });
  });

  test("frames that begin and end anywhere in a read are told apart", async () => {
    // Frames that do not get smaller, so that their edges meet those of the reads.
    const noise = Buffer.from(Array.from({ length: 700_001 }, (_, n) => (Math.imul(n, 2654435761) >>> 13) & 255));
    const frame = zstdCompressSync(noise);
    const filler = Buffer.concat([Buffer.of(0x50, 0x2a, 0x4d, 0x18), Buffer.alloc(4), Buffer.alloc((1 << 20) - frame.length - 8)]);
    filler.writeUInt32LE(filler.length - 8, 4);
    for (const frames of [
      [frame, frame, frame, frame],
      [frame, filler, frame],
    ]) {
      const unpacked = await unpack(fileOf(Buffer.concat(frames)));
      expect(unpacked.equals(Buffer.concat(frames.filter((each) => each === frame).map(() => noise)))).toBe(true);
    }
  });

  test("cut anywhere is an error that says truncated", async () => {
    const first = Buffer.concat([zstdCompressSync(small), skippable]);
    const packed = Buffer.concat([first, zstdCompressSync("another")]);
    for (let end = 5; end < packed.length; end++) {
      if (end === first.length || end === first.length - skippable.length) continue; // Whole files of fewer frames.
      const failure = await failureOf(packed.subarray(0, end));
      // One to three bytes of a mark are no mark yet.
      expect({ end, code: failure?.code }).toEqual({ end, code: expect.stringMatching(/truncated|trailing/) });
    }
  });

  test("followed by something else, or damaged, is an error", async () => {
    expect(await failureOf(Buffer.concat([zstdCompressSync(small), Buffer.from("more text")]))).toMatchObject({
      code: "trailing",
      offset: zstdCompressSync(small).length,
    });
    const damaged = Buffer.from(zstdCompressSync(big));
    damaged[damaged.length - 9]! ^= 0xff;
    expect((await failureOf(damaged))?.code).toMatch(/damaged|truncated/);
  });
});

test.each([
  ["gzip", gzipSync],
  ["zstd", zstdCompressSync],
])("of a %s file that is cut, everything before the cut is handed out first", async (_name, pack) => {
  // Hardly compressible, so that a cut at the end of the file is one at the end of its content.
  const noise = Buffer.from(Array.from({ length: 6_000_000 }, (_, n) => (Math.imul(n, 2654435761) >>> 9) & 255));
  const packed = pack(noise);
  let unpacked = 0;
  const failure = await (async () => {
    for await (const chunk of openContent(fileOf(packed.subarray(0, packed.length - 1000))).stream) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      unpacked += chunk.length;
    }
  })().catch((error: unknown) => error as ContentError);
  expect(failure).toMatchObject({ code: "truncated" });
  expect(unpacked).toBeGreaterThan(5_500_000);
});

test.each([
  ["gzip", gzipSync(small)],
  ["zstd", zstdCompressSync(small)],
  ["bzip2", readFileSync(join(fixtures, "text.bz2"))],
  ["nothing", small],
])("a stream of %s, of one byte a piece, is told by content as a file is", async (name, packed) => {
  async function* pieces() {
    for (const byte of packed) yield Uint8Array.of(byte);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of unpackStream("standard input", pieces())) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe(name === "bzip2" ? "hello\n" : small.toString());
});

describe("other content", () => {
  test("is read as it is, also when it is empty or only resembles a compressed file", async () => {
    for (const bytes of [Buffer.alloc(0), small, big, Buffer.from("BZh9 is how bzip2 begins"), Buffer.of(0x1f)]) {
      const path = fileOf(bytes);
      expect(openContent(path).compression).toBe("none");
      expect((await unpack(path)).equals(bytes)).toBe(true);
    }
  });

  test.each([
    ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ["zip", [0x50, 0x4b, 3, 4]],
  ])("of %s is refused by name", (name, head) => {
    const path = fileOf(Uint8Array.from(head));
    expect(() => openContent(path)).toThrow(expect.objectContaining({ code: "unsupported", message: expect.stringContaining(name) }));
  });

  test("that cannot be read is an error with the file and the reason in words", () => {
    expect(() => openContent(join(folder, "absent"))).toThrow(
      expect.objectContaining({
        code: "unreadable",
        message: expect.stringMatching(/absent: the file cannot be read: no such file$/),
      }),
    );
    mkdirSync(join(folder, "sub"), { recursive: true });
    expect(() => openContent(join(folder, "sub"))).toThrow(
      expect.objectContaining({ code: "unreadable", message: expect.stringContaining("it is a folder") }),
    );
    symlinkSync("circle", join(folder, "circle"));
    expect(() => openContent(join(folder, "circle"))).toThrow(
      expect.objectContaining({ code: "unreadable", message: expect.stringContaining("its symbolic links form a loop") }),
    );
  });

  test("that is a pipe or a device is refused and not opened: nobody may ever write to it", () => {
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    for (const odd of [path, "/dev/zero"])
      expect(() => openContent(odd)).toThrow(
        expect.objectContaining({ code: "unreadable", message: `${odd}: the file cannot be read: it is a pipe, a socket or a device` }),
      );
  });
});

test("reading is counted in bytes as stored, and may be watched for a digest", async () => {
  const packed = Buffer.concat([gzipSync(big), gzipSync(small)]);
  const watched: Buffer[] = [];
  const content = openContent(fileOf(packed), (stored) => watched.push(Buffer.from(stored)));
  expect(content).toMatchObject({ compression: "gzip", bytesRead: 0 });
  for await (const chunk of content.stream) expect(chunk.length).toBeLessThanOrEqual(1 << 20);
  expect(content.bytesRead).toBe(packed.length);
  expect(Buffer.concat(watched).equals(packed)).toBe(true);
});

test("a small file takes little memory to read, and one that grows meanwhile is read to its end", async () => {
  const path = fileOf(small);
  for await (const chunk of openContent(path).stream) expect(chunk.buffer.byteLength).toBeLessThanOrEqual(1 << 16);
  const growing = openContent(path, () => {
    if (growing.bytesRead === small.length) appendFileSync(path, big);
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of growing.stream) chunks.push(chunk);
  expect(Buffer.concat(chunks).equals(Buffer.concat([small, big]))).toBe(true);
});

test.each(["none", "gzip", "bzip2"])("leaving a stream early closes the file (%s)", async (compression) => {
  // Larger than what is read before the first block.
  const manyStreams = Buffer.concat(Array<Buffer>(700).fill(readFileSync(join(fixtures, "streams.bz2"))));
  const bytes = { none: big, gzip: gzipSync(big), bzip2: manyStreams }[compression] as Buffer;
  const open = () => readdirSync("/proc/self/fd").length;
  const path = fileOf(bytes);
  for await (const _ of openContent(path).stream) break;
  const before = open();
  for (let round = 0; round < 3; round++) for await (const _ of openContent(path).stream) break;
  expect(open()).toBe(before);
});

test("a slow reader holds unpacking back: memory stays small where much comes from little", async () => {
  const path = fileOf(Buffer.concat(Array<Buffer>(200).fill(gzipSync(Buffer.alloc(1 << 20)))));
  const before = process.memoryUsage().arrayBuffers;
  for await (const _ of openContent(path).stream) {
    await new Promise((resolve) => setTimeout(resolve, 300));
    break;
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
});

test("a slow reader holds reading back, where nothing gets smaller", async () => {
  const content = openContent(fileOf(gzipSync(Buffer.alloc(32 << 20), { level: 0 })));
  let unpacked = 0;
  for await (const chunk of content.stream) {
    unpacked += chunk.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(content.bytesRead - unpacked).toBeLessThan(16 << 20);
  }
  expect(unpacked).toBe(32 << 20);
});
