/**
 * bzip2 by several threads: the same bytes and the same faults as by one, from whole files and broken ones.
 *
 * @large It unpacks a real table many times.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { bunzip2 } from "../src/bzip2.ts";
import { findMark, marks } from "../src/bzip2-marks.ts";
import { bunzip2InThreads } from "../src/bzip2-threads.ts";
import { ContentError } from "../src/content-error.ts";

const root = join(import.meta.dirname, "../../..");
const fixtures = join(import.meta.dirname, "fixtures");
const readBytes = 1 << 18;

async function* stored(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < packed.length; at += readBytes) yield packed.subarray(at, at + readBytes);
}

interface Outcome {
  readonly bytes: number;
  readonly digest: string;
  readonly fault: readonly [code: string, offset: number, message: string] | null;
}

async function outcomeOf(content: AsyncIterable<Uint8Array>): Promise<Outcome> {
  const digest = createHash("sha256");
  let bytes = 0;
  let fault: Outcome["fault"] = null;
  try {
    for await (const chunk of content) {
      digest.update(chunk);
      bytes += chunk.length;
    }
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    fault = [error.code, error.offset, error.message];
  }
  return { bytes, digest: digest.digest("hex"), fault };
}

async function expectAsByOne(packed: Uint8Array): Promise<Outcome> {
  const byOne = await outcomeOf(bunzip2("made", stored(packed)));
  expect(await outcomeOf(bunzip2InThreads("made", stored(packed), 2))).toEqual(byOne);
  return byOne;
}

/** Many streams of one and of several blocks: more than threads are started for. */
function manyStreams(): Buffer {
  const file = (name: string) => readFileSync(join(fixtures, name));
  const noise = file("noise.bz2");
  // Noise makes many stored bytes of few that are unpacked.
  const some = Buffer.concat([...Array(40).fill(noise), file("streams.bz2"), file("empty.bz2"), file("text.bz2")]);
  return Buffer.concat(Array.from({ length: Math.ceil((9 << 18) / some.length) }, () => some));
}

test("unpacks a real table as bzip2 does", async () => {
  const packed = readFileSync(join(root, "samples/data/routeviews.route-views.jinx.ribs.1401487200.bz2"));
  // Of what bzip2 itself makes of it.
  const digest = "4a5cbb2cf6eb164d0d29ecc88f4e9e214691030f78a5fc76e365fb823f40ead3";
  expect(await outcomeOf(bunzip2InThreads("made", stored(packed), 2))).toEqual({ bytes: 32_575_928, digest, fault: null });
});

test("unpacks many streams, whole, cut, damaged or followed by something else, as one thread does", async () => {
  const packed = manyStreams();
  expect((await expectAsByOne(packed)).fault).toBeNull();
  expect((await expectAsByOne(Buffer.concat([packed, Buffer.from("junk")]))).fault?.[0]).toBe("trailing");
  await fc.assert(
    fc.asyncProperty(fc.nat(packed.length - 6), fc.nat(7), fc.boolean(), async (place, bit, cut) => {
      const broken = Buffer.from(cut ? packed.subarray(0, place + 5) : packed);
      const at = Math.min(broken.length - 1, place + 5);
      broken[at] = (broken[at] as number) ^ (1 << bit);
      await expectAsByOne(broken);
    }),
    { seed: seed(265359), numRuns: runs(8, 3) },
  );
});

test("a file too short for threads is unpacked without, and what is no bzip2 is refused as ever", async () => {
  for (const name of ["noise.bz2", "zeros.bz2", "empty.bz2"])
    expect((await expectAsByOne(readFileSync(join(fixtures, name)))).fault).toBeNull();
  expect((await expectAsByOne(Buffer.alloc(3 << 20, "text"))).fault).toMatchObject(["damaged", 0, expect.stringContaining("not a bzip2")]);
});

test("a reader that leaves early ends the threads", async () => {
  // The test's own process may be such a thread.
  const ports = () => process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;
  const before = ports();
  const content = bunzip2InThreads("made", stored(manyStreams()), 2);
  expect((await content.next()).done).toBe(false);
  expect(ports()).toBeGreaterThan(before);
  await content.return();
  expect(ports()).toBe(before);
});

describe("marks", () => {
  test("are found at every bit, and nowhere else", () => {
    for (const kind of ["block", "end"] as const)
      for (let bit = 0; bit < 64; bit++) {
        const bytes = new Uint8Array(20);
        const text = [...marks[kind]].map((half) => half.toString(2).padStart(24, "0")).join("");
        for (const [index, digit] of [...text].entries()) if (digit === "1") bytes[(bit + index) >> 3]! |= 0x80 >> ((bit + index) & 7);
        expect(findMark(bytes, 0, bytes.length)).toEqual({ kind, bit });
        expect(findMark(bytes, bit, bytes.length)).toEqual({ kind, bit });
        expect(findMark(bytes, bit + 1, bytes.length)).toBeNull();
        const end = Math.ceil((bit + 48) / 8);
        expect(findMark(bytes, 0, end)).toEqual({ kind, bit });
        expect(findMark(bytes, 0, end - 1)).toBeNull();
      }
  });
});
