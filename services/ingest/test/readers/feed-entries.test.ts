/** Geofeeds of strangers: whatever they have, reading them ends soon. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readFeedEntries } from "../../src/readers/feed-entries.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-feed-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(text: string | Uint8Array) {
  const path = join(folder, "feed");
  writeFileSync(path, gzipSync(text, { level: 1 }));
  return readFeedEntries(path);
}

const one = "192.0.2.0/24,NL,,City,\n";

test.each([
  [
    "lines without a prefix",
    one + ",\n".repeat(900_000),
    /^is no geofeed: more than 400000 lines are invalid; line 2: has no valid prefix/,
  ],
  [
    "repetitions with other locations",
    one + "192.0.2.0/24,BE\n".repeat(400_001),
    /^is no geofeed: more than 400000 lines are invalid; line 2: appears more than once, with different locations/,
  ],
  ["repetitions", one.repeat(400_002), /^repeats prefixes in more than 400000 lines$/],
  ["comments", one + "#\n".repeat(1_600_000), /^has more than 1600000 lines$/],
  ["empty lines", one + "\n".repeat(1_600_000), /^has more than 1600000 lines$/],
])("a geofeed with too many %s is refused", async (_what, text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test("invalid lines are counted, and only the first are kept", async () => {
  const { entries, skipped } = await read(
    `${one}${"192.0.2.0/24,BE\n".repeat(6)}${Array.from({ length: 7 }, (_, at) => `10.${at}.0.0/16,\n`).join("")}`,
  );
  expect(entries).toHaveLength(8);
  expect(skipped).toEqual([{ reason: expect.stringMatching(/more than once/), bad: true, count: 6, examples: expect.any(Array) }]);
  expect(skipped[0]?.examples).toHaveLength(5);
});

test("a prefix that is repeated with its location is no fault, however often", async () => {
  const nowhere = "198.51.100.0/24,,,,\n";
  const { entries, skipped } = await read(one + nowhere + "192.0.2.0/24,nl,,City,1234AB\n".repeat(3) + nowhere.repeat(3));
  expect(entries.map(({ record, line }) => [record.place?.city ?? null, line])).toEqual([
    ["City", 1],
    [null, 2],
  ]);
  expect(skipped).toEqual([
    { reason: "appears more than once, with the same location", bad: false, count: 6, examples: expect.any(Array) },
  ]);
});

test("what it costs follows from its lines and its bytes, comments included", async () => {
  expect((await read(one)).effort).toBe(1);
  expect((await read(one + "#\n".repeat(399))).effort).toBe(100);
  expect((await read(`${one}#${"x".repeat(10_240)}\n`)).effort).toBe(21);
});

test("text that is not UTF-8, or was encoded twice, is read as in the operator's own geofeeds", async () => {
  const text = "192.0.2.0/24,BR,BR-SP,S\u00e3o Paulo,\n198.51.100.0/24,CH,CH-ZH,Z\u00c3\u00bcrich,\n";
  const { entries } = await read(
    Buffer.concat([Buffer.from("\ufeff"), Buffer.from(text.slice(0, 34), "latin1"), Buffer.from(text.slice(34))]),
  );
  expect(entries.map(({ record }) => record.place?.city)).toEqual(["S\u00e3o Paulo", "Z\u00fcrich"]);
});

test("a last line that is too long to count leaves the one before it alone", async () => {
  expect((await read(`192.0.2.0/24,NL\n#${"x".repeat(20_000)}`)).entries).toHaveLength(1);
});
