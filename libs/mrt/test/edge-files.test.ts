/** Real and damaged files beside bgpdump, line for line: peer, prefix and path. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, jest, test } from "@jest/globals";
import { ContentError, openContent } from "@netfacts/content";
import { bgpdumpLines, findBgpdump } from "../../../test/support/bgpdump.ts";
import { toolOrNotRun } from "../../../test/support/debian.ts";
import { type RibReport, scanRib } from "../src/index.ts";
import { lineSink } from "./support/dump.ts";
import { attribute, peerIndexRecord, ribRecord, type WrittenRoute } from "./support/mrt-writer.ts";

// The first use of bgpdump may download it.
jest.setTimeout(60_000);

const repository = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const data = process.env.NETFACTS_TEST_DATA ?? join(repository, "../shared/data");
const edge = join(data, "mrt-edge");

async function ourLines(path: string): Promise<{ lines: string[]; report: RibReport }> {
  const lines: string[] = [];
  const report = await scanRib(
    openContent(path).stream,
    lineSink((line) => lines.push(line)),
    { name: path },
  );
  return { lines, report };
}

/** Our columns of a line of `bgpdump -m`; an ADD-PATH line has the path identifier before the path. */
function comparable(line: string): string {
  const [kind, ...fields] = line.split("|");
  if (kind === "TABLE_DUMP2_AP") fields.splice(5, 1);
  return fields.slice(0, 6).join("|");
}

/** True when the data outside of the repository are there; else says what was not run. */
function hasData(path: string): boolean {
  if (existsSync(path)) return true;
  console.log(`not run: needs ${path} (NETFACTS_TEST_DATA)`);
  return false;
}

describe("equals what bgpdump prints", () => {
  test.each([
    ["bird-mrtdump_rib", 18],
    ["bird6-mrtdump_rib", 10],
    ["quagga_rib", 9],
    ["openbgpd_rib_table-v2", 31],
    ["bgpdump-testdata.bview.ipv4_unicast_add_path.gz", 62],
    ["bgpdump-testdata.bview.ipv6_unicast_add_path.gz", 62],
    ["bgpdump-testdata.bview.64k_stream_overflow.gz", 23],
    ["openbgpd_rib_table", 31],
    ["ris.bview.20020722.2337.gz", 115_521],
  ])("of %s", async (name, count) => {
    const path = join(edge, name);
    if (!hasData(path)) return;
    const { lines, report } = await ourLines(path);
    expect(lines).toHaveLength(count);
    expect(report.bad).toBe(0);
    const bgpdump = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
    if (bgpdump === null) return;
    const theirs: string[] = [];
    for await (const line of bgpdumpLines(bgpdump, path)) theirs.push(comparable(line));
    expect(lines).toEqual(theirs);
  });

  test.each([
    ["bgpdump-testdata.bview.ipv4_unicast_add_path.gz", "bview.ipv4_unicast_add_path.gz.bgp.gz"],
    ["bgpdump-testdata.bview.ipv6_unicast_add_path.gz", "bview.ipv6_unicast_add_path.gz.bgp.gz"],
    ["bgpdump-testdata.bview.64k_stream_overflow.gz", "bview.64k_stream_overflow.gz.bgp.gz"],
  ])("as its authors recorded it for %s", async (name, expected) => {
    const path = join(edge, "bgpdump-expected", expected);
    if (!hasData(path)) return;
    const theirs = gunzipSync(readFileSync(path)).toString().trimEnd().split("\n").map(comparable);
    expect((await ourLines(join(edge, name))).lines).toEqual(theirs);
  });

  test("of a table made in code with every form of path, both families, ADD-PATH and odd times", async () => {
    const routes: WrittenRoute[] = [
      { peer: 0, path: "64500 1 1 1 4200000000" },
      { peer: 1, path: "64501 {3,4}" },
      { peer: 1, path: "{5}", pathId: 7 },
      { peer: 0, path: "(65001 65002) 1 [65003,65004]", extended: true },
      { peer: 0, path: "", pathId: 0xffffffff },
      { peer: 1, path: "1 {2,3} 4", after: attribute(0xc0, 8, Buffer.alloc(300, 1)) },
    ];
    const table = Buffer.concat([
      peerIndexRecord([
        { address: "192.0.2.1", asn: 64500, asBytes: 2 },
        { address: "2001:db8::2", asn: 4200000001 },
      ]),
      ...["0.0.0.0/0", "10.0.0.0/9", "203.0.113.255/32", "::/0", "2001:db8:8000::/33", "2001:db8::1/128"].flatMap((prefix, sequence) => [
        ribRecord(prefix, routes, { sequence, timestamp: 1_700_000_000 + sequence }),
        ribRecord(prefix, routes, { sequence, addPath: true }),
      ]),
    ]);
    const bgpdump = toolOrNotRun(await findBgpdump(), "bgpdump", 1);
    if (bgpdump === null) return;
    const folder = mkdtempSync(join(tmpdir(), "netfacts-mrt-"));
    try {
      const path = join(folder, "table");
      writeFileSync(path, table);
      const { lines } = await ourLines(path);
      expect(lines).toHaveLength(72);
      const theirs: string[] = [];
      for await (const line of bgpdumpLines(bgpdump, path)) theirs.push(comparable(line));
      expect(lines).toEqual(theirs);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("a truncated bzip2 table is refused with its file and byte, where bgpdump ends well", async () => {
  const path = join(edge, "pyasn.truncated.rib.20140523.0600_firstMB.bz2");
  if (!hasData(path)) return;
  const error = await ourLines(path).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ContentError);
  expect(error).toMatchObject({ code: "truncated", path, message: expect.stringMatching(/firstMB\.bz2.*at byte \d+/) });
});

test.each(["openbgpd_rib_table-mp", "bgpdump-testdata.updates.20071015.1505.gz"])(
  "%s, which holds other records, is refused with what it holds",
  async (name) => {
    const path = join(edge, name);
    if (!hasData(path)) return;
    await expect(ourLines(path)).rejects.toMatchObject({ code: "not-a-rib", message: expect.stringMatching(/BGP4MP/) });
  },
);
