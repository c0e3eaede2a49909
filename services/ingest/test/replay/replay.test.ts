/** Updates applied to a RIB: the table is the one that an obvious replayer makes, and what was missed is told. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, jest, test } from "@jest/globals";
import { formatAddress, formatPrefix } from "@netfacts/address";
import { openContent } from "@netfacts/content";
import { type Peer, pathText, type RibSink } from "@netfacts/mrt";
import { chunksOf } from "../../../../libs/mrt/test/support/dump.ts";
import { Chance } from "../../../../libs/mrt/test/support/made-records.ts";
import { peerIndexRecord, ribRecord } from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { type Replayed, type ReplayOptions, replay } from "../../src/replay/index.ts";
import { type MadePeer, type MadeUpdate, madeShortStateChange, madeStateChange, madeUpdate } from "../support/made-updates.ts";
import { slowlyReplayed } from "./slow-replay.ts";

// The machine may be busy.
jest.setTimeout(120_000);

/** The lines of `slowlyReplayed`, of what the replay hands to a sink. */
class LineSink implements RibSink {
  readonly #lines: string[] = [];
  #peers: Peer[] = [];
  #prefix = "";

  peerIndex(peers: Peer[]): void {
    this.#peers = peers;
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): void {
    this.#prefix = formatPrefix({ version, w0, w1, w2, w3, length });
  }

  route(peerIndex: number, _at: number, path: Uint8Array, start: number, end: number, pathId: number): void {
    const { address, asn } = this.#peers[peerIndex] as Peer;
    this.#lines.push(`${this.#prefix}|${formatAddress(address)}|${asn}|${pathId}|${pathText(path, start, end)}`);
  }

  get lines(): string[] {
    return this.#lines.toSorted();
  }
}

async function replayed(rib: Uint8Array, updates: readonly Uint8Array[], options?: ReplayOptions): Promise<Replayed & { lines: string[] }> {
  const sink = new LineSink();
  const inputs = updates.map((bytes, index) => ({ name: `updates ${index}`, chunks: chunksOf(bytes, 1000) }));
  const result = await replay({ name: "rib", chunks: chunksOf(rib, 1000) }, inputs, sink, options);
  return { ...result, lines: sink.lines };
}

const ribAt = 1_700_000_000;
const peers = [
  { address: "192.0.2.1", asn: 64500 },
  { address: "2001:db8::2", asn: 4200000001 },
  { address: "192.0.2.3", asn: 64503 },
];

const update = (peer: MadePeer, made: Partial<MadeUpdate>) => madeUpdate(peer, { at: ribAt + 10, ...made });
const stateChange = (peer: MadePeer, from: number, to: number, at = ribAt + 10) => madeStateChange(peer, from, to, at);

const [first, second, third] = peers as [(typeof peers)[0], (typeof peers)[0], (typeof peers)[0]];
const smallRib = Buffer.concat([
  peerIndexRecord(peers),
  ribRecord("10.0.0.0/8", [
    { peer: 0, path: "64500 7" },
    { peer: 1, path: "4200000001 7" },
  ]),
  ribRecord("2001:db8::/32", [{ peer: 0, path: "64500 8" }]),
]);

test("announcements replace and add, withdrawals remove, of both families", async () => {
  const { lines, updates } = await replayed(smallRib, [
    Buffer.concat([
      update(first, { announced: ["10.0.0.0/8", "192.0.2.0/24", "2001:db8::/32"], path: "64500 {1,2}" }),
      update(second, { withdrawn: ["10.0.0.0/8", "203.0.113.0/24"] }),
      update(third, { announced: ["2001:db8::/32"], path: "64503 9" }),
      update(first, { withdrawn: ["2001:db8::/32"], at: ribAt + 20 }),
    ]),
  ]);
  expect(lines).toEqual([
    "10.0.0.0/8|192.0.2.1|64500|0|64500 {1,2}",
    "192.0.2.0/24|192.0.2.1|64500|0|64500 {1,2}",
    "2001:db8::/32|192.0.2.3|64503|0|64503 9",
  ]);
  expect(updates).toMatchObject({ records: 4, announced: 4, withdrawn: 2, withdrawnUnknown: 1, lastTimestamp: ribAt + 20, gaps: [] });
});

test("a prefix that one message withdraws and announces is announced", async () => {
  const { lines } = await replayed(smallRib, [update(first, { withdrawn: ["10.0.0.0/8"], announced: ["10.0.0.0/8"], path: "64500 5" })]);
  expect(lines).toContain("10.0.0.0/8|192.0.2.1|64500|0|64500 5");
});

test("a peer that leaves Established takes its routes with it, and no others; other changes of state take none", async () => {
  const { lines, updates } = await replayed(smallRib, [
    Buffer.concat([
      stateChange(second, 3, 1),
      stateChange(first, 6, 1),
      stateChange(first, 5, 6),
      update(first, { announced: ["10.1.0.0/16"] }),
    ]),
  ]);
  expect(lines).toEqual(["10.0.0.0/8|2001:db8::2|4200000001|0|4200000001 7", "10.1.0.0/16|192.0.2.1|64500|0|64500 1"]);
  expect(updates).toMatchObject({ sessionsLost: 1, routesLost: 2 });
});

test("a session that comes up begins without the routes of the one before, whose end was not recorded", async () => {
  const { lines, updates } = await replayed(smallRib, [
    Buffer.concat([stateChange(first, 5, 6), update(first, { announced: ["10.1.0.0/16"] }), stateChange(third, 5, 6)]),
  ]);
  expect(lines).toEqual(["10.0.0.0/8|2001:db8::2|4200000001|0|4200000001 7", "10.1.0.0/16|192.0.2.1|64500|0|64500 1"]);
  expect(updates).toMatchObject({ sessionsLost: 1, routesLost: 2 });
});

test.each([
  ["with a malformed ORIGIN", badOrigin, "ORIGIN 9"],
  ["without AS_PATH", withoutPath, "without AS_PATH"],
  ["with AS 0 in its path", (message: Buffer) => message, "AS 0", "64500 5 0"],
])("an update %s withdraws all of its prefixes and counts as bad (RFC 7606)", async (_, damage, detail, path = "64500 5") => {
  const announced = ["10.0.0.0/8", "192.0.2.0/24"];
  const { lines, updates } = await replayed(smallRib, [damage(update(first, { withdrawn: ["2001:db8::/32"], announced, path }))]);
  expect(lines).toEqual(["10.0.0.0/8|2001:db8::2|4200000001|0|4200000001 7"]);
  expect(updates).toMatchObject({ records: 1, bad: 1, announced: 0, withdrawn: 2, withdrawnUnknown: 1 });
  expect(updates.badExamples[0]?.detail).toContain(detail);
});

test("paths of one peer are told apart by their identifiers (ADD-PATH)", async () => {
  const rib = Buffer.concat([
    peerIndexRecord(peers),
    ribRecord(
      "10.0.0.0/8",
      [
        { peer: 0, path: "64500 7", pathId: 1 },
        { peer: 0, path: "64500 8", pathId: 2 },
      ],
      { addPath: true },
    ),
  ]);
  const { lines } = await replayed(rib, [
    Buffer.concat([
      update(first, { withdrawn: ["10.0.0.0/8"], pathId: 1 }),
      update(first, { announced: ["10.0.0.0/8"], path: "64500 9", pathId: 3 }),
    ]),
  ]);
  expect(lines).toEqual(["10.0.0.0/8|192.0.2.1|64500|2|64500 8", "10.0.0.0/8|192.0.2.1|64500|3|64500 9"]);
});

test("a peer that the RIB does not know is a new one; what the collector sent itself, and what is older than the RIB, is passed over", async () => {
  const { lines, updates } = await replayed(smallRib, [
    Buffer.concat([
      update(first, { announced: ["10.9.0.0/16"], at: ribAt - 1 }),
      update(first, { announced: ["10.8.0.0/16"], subtype: 7 }),
      update({ address: "198.51.100.1", asn: 64999 }, { announced: ["10.0.0.0/8"], path: "64999" }),
    ]),
  ]);
  expect(lines.filter((line) => !line.includes("|0|64500 ") && !line.includes("4200000001"))).toEqual([
    "10.0.0.0/8|198.51.100.1|64999|0|64999",
  ]);
  expect(updates).toMatchObject({ beforeRib: 1, sent: 1, announced: 1 });
});

test("a silence between the RIB and its first update, and between two files, is told as a gap", async () => {
  const at = (seconds: number) => update(first, { announced: ["10.0.0.0/8"], at: ribAt + seconds });
  const gapsOf = async (...files: Buffer[]) => (await replayed(smallRib, files)).updates.gaps;
  expect(await gapsOf(at(300))).toEqual([]);
  expect(await gapsOf(at(301))).toEqual([{ from: ribAt, to: ribAt + 301 }]);
  // Within a file nothing is missing, however quiet it was.
  expect(await gapsOf(Buffer.concat([at(1), at(900)]), at(1200))).toEqual([]);
  expect(await gapsOf(Buffer.concat([at(1), at(900)]), at(1201))).toEqual([{ from: ribAt + 900, to: ribAt + 1201 }]);
  expect((await replayed(smallRib, [at(301)], { gapSeconds: 1000 })).updates.gaps).toEqual([]);
});

test("a bad record is counted with its file and byte, the others are applied; a file cut in the middle is refused", async () => {
  const good = update(first, { announced: ["10.7.0.0/16"] });
  const bad = Buffer.from(good);
  bad[bad.length - 3] = 200;
  const { lines, updates } = await replayed(smallRib, [good, Buffer.concat([good, bad])]);
  expect(lines).toContain("10.7.0.0/16|192.0.2.1|64500|0|64500 1");
  expect(updates).toMatchObject({ bad: 1, badExamples: [{ name: "updates 1", offset: good.length }] });
  await expect(replayed(smallRib, [good.subarray(0, -1)])).rejects.toMatchObject({ code: "truncated" });
});

/** A few prefixes and peers, so that everything meets everything. */
/** ORIGIN 9, which is none. */
function badOrigin(record: Buffer): Buffer {
  return replaced(record, Buffer.of(0x40, 1, 1, 0), Buffer.of(0x40, 1, 1, 9));
}

/** AS_PATH becomes an attribute that nobody knows. */
function withoutPath(record: Buffer): Buffer {
  return replaced(record, Buffer.of(0x40, 1, 1, 0, 0x40, 2), Buffer.of(0x40, 1, 1, 0, 0xc0, 99));
}

function replaced(record: Buffer, from: Buffer, to: Buffer): Buffer {
  const damaged = Buffer.from(record);
  const at = damaged.indexOf(from);
  if (at >= 0) to.copy(damaged, at);
  return damaged;
}

function randomUpdates(chance: Chance): Buffer {
  const prefixes = [
    "0.0.0.0/0",
    "10.0.0.0/8",
    "10.0.0.0/9",
    "10.128.0.0/9",
    "::/0",
    "2001:db8::/32",
    "2001:db8::/33",
    "2001:db8:8000::/33",
  ];
  const records = Array.from({ length: 60 }, (_, step) => {
    const peer = chance.pick([...peers, { address: "198.51.100.1", asn: 64999 }]);
    const at = ribAt - 2 + step;
    if (chance.oneIn(12)) return stateChange(peer, 1 + chance.below(8), 1 + chance.below(8), at);
    const pathId = chance.oneIn(3) ? { pathId: chance.below(3) } : {};
    const path = `${peer.asn} ${chance.below(5)}`;
    const sound = update(peer, {
      at,
      path,
      ...pathId,
      withdrawn: chance.times(3, () => chance.pick(prefixes)),
      announced: chance.times(3, () => chance.pick(prefixes)),
    });
    return chance.oneIn(8) ? chance.pick([badOrigin, withoutPath])(sound) : sound;
  });
  return Buffer.concat(records);
}

test("AS_TRANS in a record with 2-byte AS numbers is the peer at that address, unless it may be another one", async () => {
  const short = { ...second, asn: 23456 };
  const lost = (from: Uint8Array) => replayed(from, [madeShortStateChange(short, 6, 1, ribAt + 10)]);
  const { lines, updates } = await lost(smallRib);
  expect(lines.filter((line) => line.includes("4200000001"))).toEqual([]);
  expect(updates).toMatchObject({ sessionsLost: 1, routesLost: 1, newPeers: 0 });
  for (const asn of [4200000002, 23456]) {
    const other = { address: second.address, asn };
    const two = Buffer.concat([peerIndexRecord([...peers, other]), ribRecord("10.0.0.0/8", [{ peer: 1, path: "4200000001 7" }])]);
    expect((await lost(two)).updates).toMatchObject({ routesLost: 0 });
  }
});

test("100 random runs of updates leave the table that the obvious replayer leaves", async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const files = [randomUpdates(new Chance(seed)), randomUpdates(new Chance(seed + 1000))];
    expect({ seed, lines: (await replayed(smallRib, files)).lines }).toEqual({ seed, lines: slowlyReplayed(smallRib, files) });
  }
});

test("a synthetic RIB of 8 peers and its updates leave the table that the obvious replayer leaves", async () => {
  const tool = join(import.meta.dirname, "../../../..", "../shared/tools/synth-mrt.mjs");
  if (!existsSync(tool)) {
    console.log(`not run: the synthetic RIB and its updates (${tool} is not there)`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "netfacts-replay-"));
  try {
    const [rib, upd] = [join(folder, "rib.mrt.gz"), join(folder, "upd.mrt.gz")];
    const args = [tool, "--limit", "5000", "--peers", "8", "--out", rib, "--updates", upd, "--changes", "6000"];
    execFileSync(process.execPath, args, { stdio: "ignore", env: { PATH: process.env.PATH } });
    const sink = new LineSink();
    const input = (name: string) => ({ name, chunks: openContent(name).stream });
    const { updates } = await replay(input(rib), [input(upd)], sink);
    const wanted = slowlyReplayed(gunzipSync(readFileSync(rib)), [gunzipSync(readFileSync(upd))]);
    expect(updates).toMatchObject({ records: 6000, bad: 0, unread: 0, beforeRib: 0, gaps: [] });
    expect(updates.withdrawn).toBeGreaterThan(500);
    expect(wanted.length).toBeGreaterThan(30_000);
    expect(sink.lines).toEqual(wanted);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
