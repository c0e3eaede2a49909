/** References to geofeeds in registry dumps: which attribute of which object counts, and which files are refused. */

import { expect, test } from "@jest/globals";
import { formatAddress } from "@netfacts/address";
import { SourceError } from "../../src/readers/reader-report.ts";
import { readGeofeedReferences } from "../../src/readers/rpsl-references.ts";

const bounds = { file: "dump", bytesMax: 1 << 30, secondsMax: 60, badRecordsMax: 0.05 };

async function* pieces(text: string | Buffer, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function referencesIn(text: string, size = 1 << 16): Promise<string[]> {
  const { references } = await readGeofeedReferences({ ...bounds, chunks: pieces(text, size) });
  return references.map(({ start, end, url, lastModified }) => `${formatAddress(start)} ${formatAddress(end)} ${url} ${lastModified}`);
}

const plain = "inetnum:        198.51.100.0 - 198.51.100.255\nnetname:        PLAIN\nsource:         TEST\n";

test("an inetnum object has two addresses, or a prefix as LACNIC writes it", async () => {
  const at = (range: string) => `inetnum: ${range}\ngeofeed: https://one.example/\n\n`;
  const url = "https://one.example/ 0";
  expect(await referencesIn(`${at("200.160.0.0/20")}${at("200.3.12/22")}${at("191/16")}${at("192.0.2.7/32")}`)).toEqual([
    `200.160.0.0 200.160.15.255 ${url}`,
    `200.3.12.0 200.3.15.255 ${url}`,
    `191.0.0.0 191.0.255.255 ${url}`,
    `192.0.2.7 192.0.2.7 ${url}`,
  ]);
});

test.each(["", "# a comment\n", "% a comment\n#\n", "\n"])(
  "a byte order mark before %j takes nothing from the first object",
  async (first) => {
    const dump = `${first}inetnum: 192.0.2.0 - 192.0.2.255\ngeofeed: https://one.example/\n`;
    const found = ["192.0.2.0 192.0.2.255 https://one.example/ 0"];
    expect(await referencesIn(`\ufeff${dump}`)).toEqual(found);
    expect(await referencesIn(`\ufeff${dump}`, 1)).toEqual(found);
  },
);

test("an object refers to a geofeed by its attribute, or by a remark of exactly that form", async () => {
  const dump = `# a comment
% another one

inetnum:        192.0.2.0 - 192.0.2.255
netname:        ONE
geofeed:        https://one.example/feed.csv  # where it is
last-modified:  2024-08-07T15:09:20Z
source:         TEST

${plain}
inet6num:       2001:db8::/32
remarks:        some words
remarks:        Geofeed https://six.example/feed.csv
source:         TEST

inetnum:        203.0.113.0 - 203.0.113.63
remarks:        geofeed https://case.example/
remarks:        see Geofeed https://words.example/

inetnum:        203.0.113.64 - 203.0.113.127
Geofeed:        https://first.example/
geofeed:        https://second.example/
remarks:        Geofeed https://remark.example/

organisation:   ORG-ONE
geofeed:        https://organisation.example/
remarks:        Geofeed https://organisation.example/
`;
  const expected = [
    "192.0.2.0 192.0.2.255 https://one.example/feed.csv 1723043360",
    "2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff https://six.example/feed.csv 0",
    "203.0.113.64 203.0.113.127 https://first.example/ 0",
  ];
  expect(await referencesIn(dump)).toEqual(expected);
  expect(await referencesIn(dump.replaceAll("\n", "\r\n"), 7)).toEqual(expected);
});

test("a value goes on in lines that begin with a space, a tab or a plus", async () => {
  const dump = `inetnum:        192.0.2.0 -
                192.0.2.255
remarks:        Geofeed
+               # where it is
+
\thttps://one.example/feed.csv
netname:        ONE
                geofeed: https://name.example/

inetnum:        198.51.100.0 - 198.51.100.255
remarks:        some words
                Geofeed https://words.example/
geofeed:
# between
+               https://two.example/
source:         TEST

inetnum:        203.0.113.0 - 203.0.113.255
geofeed:        https://split.example/
+               feed.csv
`;
  const { references, refused } = await readGeofeedReferences({ ...bounds, chunks: pieces(dump, 11) });
  expect(references.map(({ url }) => url)).toEqual(["https://one.example/feed.csv", "https://two.example/"]);
  expect(Object.fromEntries(refused)).toEqual({ "the geofeed is no https URL": 1 });
});

test("a value without end takes no memory, and is refused", async () => {
  const line = Buffer.from(`+${"a".repeat(10_000)}\n`);
  async function* endless(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("inetnum: 192.0.2.0 - 192.0.2.255\ngeofeed: https://x.example/\n");
    for (let at = 0; at < 50_000; at++) yield line;
  }
  const before = process.memoryUsage().heapUsed;
  const { refused } = await readGeofeedReferences({ ...bounds, chunks: endless() });
  expect(Object.fromEntries(refused)).toEqual({ "the geofeed is no https URL": 1 });
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(100);
}, 60_000);

test("references that are not followed are counted with the reason", async () => {
  const at = (range: string, url: string) => `inetnum: ${range}\ngeofeed: ${url}\n\n`;
  const one = "192.0.2.0 - 192.0.2.255";
  const urls = [
    "http://plain.example/",
    "ftp://x.example/",
    "https://user:secret@x.example/",
    "feed.csv",
    `https://x.example/${"a".repeat(3_000)}`,
  ];
  const text =
    urls.map((url) => at(one, url)).join("") + at("0.0.0.0 - 255.255.255.255", "https://x.example/") + at(one, "https://x.example/#a");
  const { references, refused, objects } = await readGeofeedReferences({ ...bounds, chunks: pieces(text, 100) });
  expect([references.map(({ url }) => url), objects]).toEqual([["https://x.example/"], { ipv4: 7, ipv6: 0 }]);
  expect(Object.fromEntries(refused)).toEqual({ "the geofeed is no https URL": 5, "the range is too large": 1 });
});

test("a line that is longer than any that counts is skipped, wherever the pieces end", async () => {
  const long = `remarks:        ${"x".repeat(200_000)}\n`;
  const dump = `inetnum: 192.0.2.0 - 192.0.2.255\n${long}geofeed: https://one.example/\n${long}\n${plain}`;
  for (const size of [1_000, 16_385, 1 << 20])
    expect(await referencesIn(dump, size)).toEqual(["192.0.2.0 192.0.2.255 https://one.example/ 0"]);
});

test.each([
  ["no objects of addresses", "organisation: ORG-ONE\nsource: TEST\n", "has no inetnum or inet6num objects"],
  [
    "ranges that cannot be read",
    `${plain}\ninetnum: 192.0.2.9 - 192.0.2.1\n\ninet6num: 192.0.2.0/24\n\ninetnum: 200.3.13/22\n`,
    "3 of 4 inetnum or inet6num objects",
  ],
  ["a last line without its break", `${plain}\ninetnum: 192.0.2.0 - 192.0.2`, "is truncated"],
  ["nothing", "", "has no inetnum or inet6num objects"],
])("a file with %s is refused", async (_what, text, reason) => {
  const reading = referencesIn(text);
  await expect(reading).rejects.toThrow(SourceError);
  await expect(reading).rejects.toThrow(reason);
});
