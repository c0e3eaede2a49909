/**
 * The sample dataset: small enough, told in full, readable by the readers, and made by its script.
 *
 * @large It makes the whole sample dataset.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { openContent } from "@netfacts/content";
import { makeSamples } from "../../../../samples/make-samples.ts";
import { readSources } from "../../src/sources/index.ts";

const root = resolve(import.meta.dirname, "../../../..");
const samples = join(root, "samples");
const dataFolder = process.env.NETFACTS_TEST_DATA ?? resolve(root, "../shared/data");

const files = readdirSync(join(samples, "data")).sort();

test("the samples take at most 8 MB", () => {
  const bytes = readdirSync(samples, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(8_000_000);
});

test("every file's source, date and licence stands in the README", () => {
  const rows = readFileSync(join(samples, "README.md"), "utf8")
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  for (const file of files) {
    const cells = rows.find((row) => row[1] === `\`${file}\``);
    expect(cells).toHaveLength(6);
    expect(cells?.slice(2, 5).every((cell) => cell !== "")).toBe(true);
    expect(cells?.[3]).toMatch(/^20\d\d-\d\d-\d\d/);
  }
});

test("sources.yaml has no fault and names every file once", async () => {
  const config = await readSources(join(samples, "sources.yaml"));
  expect(config.sources.map(({ location }) => location).sort()).toEqual(files.map((file) => join(samples, "data", file)));
  expect(config.sampleData).toBe(true);
  for (const source of config.sources) expect(source).toMatchObject({ required: true, staleAfterSeconds: null });
});

test("the expected table was made from the RIB and the VRPs that are here", () => {
  const expected = JSON.parse(readFileSync(join(samples, "expected/jinx-routes.json"), "utf8"));
  const rib = readFileSync(join(samples, "data", expected.rib.file));
  expect(createHash("sha256").update(rib).digest("hex")).toBe(expected.rib.sha256);
  expect(files).toContain(expected.vrps.file);
  expect(expected.prefixes).toEqual({ ipv4: 497_323, ipv6: 84 });
  expect([expected.full_feed_peers.ipv4.length, expected.full_feed_peers.ipv6.length]).toEqual([1, 0]);
  const lines = readFileSync(join(samples, "expected", expected.sample.file), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines).toHaveLength(Math.ceil(expected.lines / expected.sample.every));
  expect([...lines].sort((a, b) => (a < b ? -1 : 1))).toEqual(lines);
});

test("make-samples gives the files that are here, unpacked byte for byte", async () => {
  if (!existsSync(join(dataFolder, "real-2014"))) {
    console.log(`not run: ${dataFolder} is not there`);
    return;
  }
  const target = mkdtempSync(join(tmpdir(), "netfacts-samples-"));
  try {
    await makeSamples(dataFolder, target);
    expect(readdirSync(target).sort()).toEqual(files);
    for (const file of files) expect([file, await digest(join(target, file))]).toEqual([file, await digest(join(samples, "data", file))]);
  } finally {
    rmSync(target, { recursive: true });
  }
});

/** Of the unpacked content: two versions of zlib may pack the same bytes differently. The RIB is compared packed. */
async function digest(path: string): Promise<string> {
  const hash = createHash("sha256");
  if (path.endsWith(".bz2")) return hash.update(readFileSync(path)).digest("hex");
  for await (const piece of openContent(path).stream) hash.update(piece);
  return hash.digest("hex");
}
