/** What is unpacked while it is read: bombs end, whatever they would become. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openSource } from "../../src/pipeline/open-source.ts";
import { readSources } from "../../src/sources/index.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-open-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** How many bytes come before the end, or the error. */
async function unpackedOf(content: Uint8Array): Promise<{ bytes: number; error: string | null }> {
  writeFileSync(join(folder, "rib"), content);
  writeFileSync(join(folder, "sources.yaml"), "sources:\n  - {name: rib, section: routes, format: mrt, location: rib}\n");
  const [source] = (await readSources(join(folder, "sources.yaml"))).sources;
  if (source === undefined) throw new Error("no source");
  let bytes = 0;
  try {
    for await (const chunk of openSource(source, () => undefined).content.chunks) bytes += chunk.length;
    return { bytes, error: null };
  } catch (error) {
    return { bytes, error: (error as Error).message };
  }
}

test("a file that unpacks to far more than such data do is not read to its end", async () => {
  const { bytes, error } = await unpackedOf(gzipSync(Buffer.alloc(100 << 20)));
  expect(error).toBe("decompresses to more than 100 times its size, which such data never do");
  expect(bytes).toBe(64 << 20);
});

test("a small one may be of any ratio", async () => {
  expect(await unpackedOf(gzipSync(Buffer.alloc(60 << 20)))).toEqual({ bytes: 60 << 20, error: null });
});
