/** MRT files of which an ordinary run reads a tenth: other programs take long for half a million routes. */

import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { openContent } from "@netfacts/content";
import { madeOnce } from "../../support/made-once.ts";
import { isLong } from "../../support/runs.ts";

const recordHeaderBytes = 12;

/**
 * @param own  folder for the copy outside a run of tests.
 * @returns in an ordinary run, an unpacked copy with the first of the file's records and every tenth; in a long one, the file.
 */
export async function thinnedMrt(path: string, own: string): Promise<string> {
  if (isLong) return path;
  const name = `thinned-${basename(path).replace(/\.(gz|bz2)$/, "")}`;
  return await madeOnce(name, join(own, name), async (copy) => {
    const pieces: Buffer[] = [];
    for await (const piece of openContent(path).stream) pieces.push(Buffer.from(piece));
    const bytes = Buffer.concat(pieces);
    const kept: Buffer[] = [];
    for (let [at, number] = [0, 0]; at < bytes.length; number++) {
      const end = at + recordHeaderBytes + bytes.readUInt32BE(at + 8);
      if (number % 10 === 0) kept.push(bytes.subarray(at, end));
      at = end;
    }
    await writeFile(copy, Buffer.concat(kept));
  });
}
