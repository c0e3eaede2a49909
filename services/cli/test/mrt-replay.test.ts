/** `netfacts mrt replay`: the table that updates leave, as lines and as JSON; what is missing or damaged. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { mrtRecord, peerIndexRecord, ribRecord, writtenAt } from "../../../libs/mrt/test/support/mrt-writer.ts";
import { slowlyReplayed } from "../../ingest/test/replay/slow-replay.ts";
import { madeStateChange, madeUpdate } from "../../ingest/test/support/made-updates.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { type Ran, run, runProcess, runWith } from "./support/run.ts";

// Machines may be busy.
jest.setTimeout(120_000);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-cli-replay-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, ...parts: Uint8Array[]): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

const replay = (...args: string[]) => run("nowhere", "mrt", "replay", ...args);
const cat = (...args: string[]) => run("nowhere", "mrt", "cat", ...args);

const at = 1_700_000_000;
const peers = [
  { address: "192.0.2.1", asn: 64500 },
  { address: "2001:db8::2", asn: 4200000001 },
];
const [first, second] = peers as [(typeof peers)[0], (typeof peers)[0]];
const table = Buffer.concat([
  peerIndexRecord(peers, "", 0, at),
  ribRecord(
    "10.0.0.0/8",
    [
      { peer: 0, path: "64500 {1,2}" },
      { peer: 1, path: "4200000001 7" },
    ],
    { timestamp: at },
  ),
  ribRecord("192.0.2.0/24", [{ peer: 0, path: "64500 3" }], { timestamp: at }),
  ribRecord("2001:db8::/32", [{ peer: 1, path: "4200000001 8" }], { timestamp: at }),
]);

/** `prefix|peer address|peer AS|path identifier|path` of each line, sorted, as the obvious replayer has them. */
function columnsOf({ out }: Ran): string[] {
  return out
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [type, , , address, asn, prefix, ...rest] = line.split("|");
      const [pathId, path] = type === "TABLE_DUMP2_AP" ? rest : ["0", ...rest];
      return `${prefix}|${address}|${asn}|${pathId}|${path}`;
    })
    .sort();
}

test("a table that nothing changed is printed as `mrt cat` prints it, and as JSON but for places and numbers in the file", async () => {
  const rib = fileOf("rib", table);
  const nothing = fileOf("nothing", madeStateChange(first, 3, 4, at));
  expect(await replay(rib, nothing)).toEqual(await cat(rib));
  const ribs = (text: string) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; offset?: number; sequence?: number })
      .filter(({ kind }) => kind === "rib")
      .map(({ offset: _, sequence: _number, ...record }) => record);
  expect(ribs((await replay("--json", rib, nothing)).out)).toEqual(ribs((await cat("--json", rib)).out));
});

test("what updates change stands with all its attributes and the time of the last record, in the order of RIB files", async () => {
  const rib = fileOf("rib.gz", gzipSync(table));
  const updates = Buffer.concat([
    madeUpdate(first, { at: at + 5, announced: ["9.0.0.0/8", "2001:db8:1::/48"], path: "64500 9" }),
    madeUpdate(second, { at: at + 6, withdrawn: ["10.0.0.0/8"] }),
    madeUpdate(first, { at: at + 7, announced: ["10.0.0.0/9"], path: "64500 10", pathId: 4 }),
  ]);
  const ran = await replay(rib, fileOf("updates", updates));
  expect(ran).toMatchObject({ code: exitCodes.ok, err: "" });
  const time = at + 7;
  expect(ran.out.split("\n")).toEqual([
    `TABLE_DUMP2|${time}|B|192.0.2.1|64500|9.0.0.0/8|64500 9|IGP|192.0.2.9|0|0||NAG||`,
    `TABLE_DUMP2|${time}|B|192.0.2.1|64500|10.0.0.0/8|64500 {1,2}|IGP|255.255.255.255|0|0||NAG||`,
    `TABLE_DUMP2_AP|${time}|B|192.0.2.1|64500|10.0.0.0/9|4|64500 10|IGP|192.0.2.9|0|0||NAG||`,
    `TABLE_DUMP2|${time}|B|192.0.2.1|64500|192.0.2.0/24|64500 3|IGP|255.255.255.255|0|0||NAG||`,
    `TABLE_DUMP2|${time}|B|2001:db8::2|4200000001|2001:db8::/32|4200000001 8|IGP|255.255.255.255|0|0||NAG||`,
    `TABLE_DUMP2|${time}|B|192.0.2.1|64500|2001:db8:1::/48|64500 9|IGP|2001:db8::9|0|0||NAG||`,
    "",
  ]);
  const [, , addPath] = (await replay("--json", rib, fileOf("updates", updates))).out.split("\n");
  expect(JSON.parse(addPath as string)).toMatchObject({
    timestamp: time,
    subtype: "RIB_IPV4_UNICAST_ADDPATH",
    sequence: 2,
    prefix: "10.0.0.0/9",
    routes: [
      {
        peer: { address: "192.0.2.1", asn: 64500 },
        originated_at: time,
        path_id: 4,
        attributes: { as_path: "64500 10", next_hop: "192.0.2.9" },
      },
    ],
  });
});

test("silence in front of a file is told, and a file that is older than the one before it; neither is a failure", async () => {
  const late = fileOf("late", madeUpdate(first, { at: at + 400, announced: ["10.0.0.0/8"], path: "64500 1" }));
  const early = fileOf("early", madeUpdate(first, { at: at + 300, announced: ["10.0.0.0/8"], path: "64500 1" }));
  const { code, err } = await replay(fileOf("rib", table), late, early);
  expect(code).toBe(exitCodes.ok);
  expect(err.split("\n")).toEqual([
    `netfacts: ${early}: begins before ${late}, which was already applied`,
    "netfacts: updates from 2023-11-14T22:13:20Z to 2023-11-14T22:20:00Z may be missing: there are no records in this time",
    "",
  ]);
});

test("a routing table in place of updates is told", async () => {
  const other = fileOf("other", table);
  const { code, err } = await replay(fileOf("rib", table), other);
  expect({ code, err }).toEqual({
    code: exitCodes.ok,
    err: `netfacts: ${other}: nothing was applied: it is a routing table and has no updates\n`,
  });
});

test("a bad record is told with its byte, and the others count; a damaged file prints nothing; each with exit code 4", async () => {
  const rib = fileOf("rib", table);
  const good = madeUpdate(first, { at: at + 5, announced: ["9.0.0.0/8"], path: "64500 9" });
  const bad = Buffer.from(good);
  bad[bad.length - 2] = 200;
  const some = await replay(rib, fileOf("some", good, bad));
  expect(some.code).toBe(exitCodes.untrusted);
  expect(some.err).toMatch(new RegExp(`some: bad record at byte ${good.length} \\(BGP4MP BGP4MP_MESSAGE_AS4`));
  expect(columnsOf(some)).toContain("9.0.0.0/8|192.0.2.1|64500|0|64500 9");
  const cut = fileOf("cut", good, good.subarray(0, -1));
  expect(await replay(rib, cut)).toEqual({
    code: exitCodes.untrusted,
    out: "",
    err: expect.stringMatching(/cut: the input ends .* \(record at byte \d+\)\n$/),
  });
  expect(await replay(fileOf("cut.rib", table.subarray(0, -1)), cut)).toMatchObject({ code: exitCodes.untrusted, out: "" });
  expect(await replay(cut.replace("cut", "some"), rib)).toMatchObject({
    code: exitCodes.untrusted,
    out: "",
    err: expect.stringContaining("contains no routes"),
  });
  expect(await replay(rib, join(folder, "missing"))).toMatchObject({ code: exitCodes.notFound, out: "" });
  expect((await replay(rib)).code).toBe(exitCodes.usage);
  const unread = await replay(rib, fileOf("unread", mrtRecord(13, 6, Buffer.alloc(9)), good));
  expect(unread).toMatchObject({ code: exitCodes.ok, err: expect.stringContaining("1 records skipped: TABLE_DUMP_V2 RIB_GENERIC") });
});

test("routes and updates that an import counts as malformed are told and left out, with exit code 4", async () => {
  const zero = ribRecord(
    "198.51.100.0/24",
    [
      { peer: 0, path: "64500 0" },
      { peer: 1, path: "4200000001 9" },
    ],
    { timestamp: at },
  );
  const updates = fileOf(
    "zero",
    madeUpdate(second, { at: at + 5, announced: ["9.0.0.0/8"], path: "4200000001 9" }),
    madeUpdate(first, { at: at + 6, announced: ["192.0.2.0/24"], path: "64500 0 3" }),
  );
  const ran = await replay(fileOf("zero.rib", table, zero), updates);
  expect(ran.code).toBe(exitCodes.untrusted);
  const prefixes = columnsOf(ran).filter((line) => /^(?:9|19[28])\./.test(line));
  expect(prefixes).toEqual(["198.51.100.0/24|2001:db8::2|4200000001|0|4200000001 9", "9.0.0.0/8|2001:db8::2|4200000001|0|4200000001 9"]);
  expect(ran.err.trimEnd().split("\n")).toEqual([
    expect.stringMatching(new RegExp(`zero\\.rib: record at byte ${table.length}: a route was left out: AS_PATH has AS 0`)),
    expect.stringMatching(/zero: record at byte \d+: AS_PATH has AS 0/),
  ]);
});

test("a peer of the RIB whose AS is AS_TRANS is no other one, and an update finds a peer without routes behind AS_TRANS", async () => {
  const address = "192.0.2.7";
  const both = Buffer.concat([
    peerIndexRecord([
      { address, asn: 70_000 },
      { address, asn: 23_456 },
      { address: "192.0.2.8", asn: 80_000 },
    ]),
    ribRecord("10.0.0.0/8", [
      { peer: 0, path: "70000 5" },
      { peer: 1, path: "23456 6" },
    ]),
  ]);
  const update = madeUpdate({ address: "192.0.2.8", asn: 23_456 }, { at: writtenAt + 5, announced: ["9.0.0.0/8"], path: "7" });
  expect(columnsOf(await replay(fileOf("trans.rib", both), fileOf("trans", update)))).toEqual([
    "10.0.0.0/8|192.0.2.7|23456|0|23456 6",
    "10.0.0.0/8|192.0.2.7|70000|0|70000 5",
    "9.0.0.0/8|192.0.2.8|80000|0|7",
  ]);
});

test("the table may come from standard input", async () => {
  const nothing = fileOf("nothing", madeStateChange(first, 3, 4, at));
  const ran = await runWith([gzipSync(table)], "nowhere", "mrt", "replay", "-", nothing);
  expect(ran).toEqual(await cat(fileOf("rib", table)));
});

test("a synthetic RIB of 8 peers with its updates is the table of the obvious replayer", async () => {
  const tool = join(import.meta.dirname, "../../../..", "shared/tools/synth-mrt.mjs");
  if (!existsSync(tool)) {
    console.log(`not run: the synthetic RIB and its updates (${tool} is not there)`);
    return;
  }
  const [rib, upd] = [join(folder, "synth.gz"), join(folder, "synth-updates.gz")];
  const args = [tool, "--limit", "2000", "--peers", "8", "--out", rib, "--updates", upd, "--changes", "3000"];
  execFileSync(process.execPath, args, { stdio: "ignore", env: { PATH: process.env.PATH } });
  const wanted = slowlyReplayed(gunzipSync(readFileSync(rib)), [gunzipSync(readFileSync(upd))]);
  const ran = await runProcess("nowhere", "mrt", "replay", rib, upd);
  expect(ran).toMatchObject({ code: exitCodes.ok, err: "" });
  expect(wanted.length).toBeGreaterThan(10_000);
  expect(columnsOf(ran)).toEqual(wanted);
});
