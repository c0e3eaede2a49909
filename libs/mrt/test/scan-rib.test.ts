/** Tables made in code: what the scan hands out, counts, skips and refuses. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { MrtError, type Peer, type RibSink, scanRib } from "../src/index.ts";
import { chunksOf, dump } from "./support/dump.ts";
import {
  addressBytes,
  attribute,
  mrtRecord,
  originIgp,
  pathBytes,
  peerIndexRecord,
  ribEntry,
  ribRecord,
  u16,
  u32,
  type WrittenRoute,
  writtenAt,
} from "./support/mrt-writer.ts";

const peers = [
  { address: "192.0.2.1", asn: 64500, asBytes: 2 as const, bgpId: 0xc0000201 },
  { address: "2001:db8::2", asn: 4200000000 },
];
const index = peerIndexRecord(peers, "view", 0x0a000001);
const good = ribRecord("10.0.0.0/8", [{ peer: 0, path: "64500 1" }]);
const goodLine = `${writtenAt}|B|192.0.2.1|64500|10.0.0.0/8|64500 1`;

const refusal = async (bytes: Uint8Array, options = {}): Promise<MrtError> => {
  const error = await dump(bytes, options).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MrtError);
  return error as MrtError;
};

describe("a sound table", () => {
  test("gives peers, prefixes and routes of both families in file order", async () => {
    const { lines, report } = await dump(
      Buffer.concat([
        index,
        ribRecord("10.0.0.0/8", [
          { peer: 0, path: "64500 1" },
          { peer: 1, path: "4200000000 2 {3,4}" },
        ]),
        ribRecord("0.0.0.0/0", [{ peer: 0, path: "" }]),
        ribRecord("255.255.255.255/32", [{ peer: 0, path: "1" }], { timestamp: writtenAt + 9 }),
        ribRecord("2001:db8:1:8000::/49", [{ peer: 1, path: "(65001) 7" }]),
        ribRecord("::/0", [{ peer: 1, path: "7" }]),
        ribRecord("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", [{ peer: 1, path: "7" }]),
      ]),
    );
    expect(lines).toEqual([
      goodLine,
      `${writtenAt}|B|2001:db8::2|4200000000|10.0.0.0/8|4200000000 2 {3,4}`,
      `${writtenAt}|B|192.0.2.1|64500|0.0.0.0/0|`,
      `${writtenAt + 9}|B|192.0.2.1|64500|255.255.255.255/32|1`,
      `${writtenAt}|B|2001:db8::2|4200000000|2001:db8:1:8000::/49|(65001) 7`,
      `${writtenAt}|B|2001:db8::2|4200000000|::/0|7`,
      `${writtenAt}|B|2001:db8::2|4200000000|ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128|7`,
    ]);
    expect(report).toMatchObject({
      records: 7,
      prefixes: { ipv4: 3, ipv6: 3 },
      routes: { ipv4: 4, ipv6: 3 },
      firstTimestamp: writtenAt,
      lastTimestamp: writtenAt + 9,
      skipped: [],
      bad: 0,
      masked: 0,
    });
  });

  test("tells who collected it, and each peer's address, AS and BGP identifier", async () => {
    const seen: unknown[] = [];
    await scanRib(chunksOf(index, 7), {
      peerIndex: (table: Peer[], collectorId, viewName, timestamp) => seen.push(table, collectorId, viewName, timestamp),
      prefix: () => undefined,
      route: () => undefined,
    });
    expect(seen).toEqual([
      [
        { address: { version: 4, w0: 0xc0000201, w1: 0, w2: 0, w3: 0 }, asn: 64500, bgpId: 0xc0000201 },
        { address: { version: 6, w0: 0x20010db8, w1: 0, w2: 0, w3: 2 }, asn: 4200000000, bgpId: 0 },
      ],
      0x0a000001,
      "view",
      writtenAt,
    ]);
  });

  test("hands out when a route was originated", async () => {
    const times: number[] = [];
    const sink: RibSink = { peerIndex: () => undefined, prefix: () => undefined, route: (_, originatedAt) => times.push(originatedAt) };
    const routes = [0, 1, 0xffffffff].map((originatedAt) => ({ peer: 0, path: "1", originatedAt }));
    await scanRib(chunksOf(Buffer.concat([index, ribRecord("10.0.0.0/8", routes)]), 1000), sink);
    expect(times).toEqual([0, 1, 0xffffffff]);
  });

  test.each([false, true])(
    "may hold as many entries as their count can say, of the fewest bytes, and others after them (ADD-PATH: %s)",
    async (addPath) => {
      const seen: number[][] = [];
      const sink: RibSink = {
        peerIndex: () => undefined,
        prefix: () => seen.push([]),
        route: (_, originatedAt) => seen.at(-1)?.push(originatedAt),
      };
      // Columns grow between these numbers, and by more and by less than double.
      const counts = [1, 256, 257, 300, 2_000, 3, 0xffff, 1];
      // Entries of peer 0 without attributes, at the times 0, 1, 2 and so on.
      const entryBytes = addPath ? 12 : 8;
      const many = counts.map((count) => {
        const entries = Buffer.alloc(count * entryBytes);
        for (let entry = 0; entry < count; entry++) entries.writeUInt32BE(entry, entry * entryBytes + 2);
        return mrtRecord(13, addPath ? 8 : 2, Buffer.concat([u32(0), Buffer.of(8, 10), u16(count), entries]));
      });
      const report = await scanRib(chunksOf(Buffer.concat([index, ...many]), 1 << 16), sink);
      expect(report.bad).toBe(0);
      expect(seen.map(String)).toEqual(counts.map((count) => Array.from({ length: count }, (_, entry) => entry).join()));
    },
  );

  test("may carry ADD-PATH records, one route per path identifier", async () => {
    const routes = [
      { peer: 0, path: "1 2", pathId: 1 },
      { peer: 0, path: "1 3", pathId: 0xffffffff },
    ];
    const { lines, report } = await dump(
      Buffer.concat([index, ribRecord("10.0.0.0/8", routes, { addPath: true }), ribRecord("2001:db8::/32", routes, { addPath: true })]),
    );
    expect(lines.map((line) => line.split("|").slice(4).join(" "))).toEqual([
      "10.0.0.0/8 1 2",
      "10.0.0.0/8 1 3",
      "2001:db8::/32 1 2",
      "2001:db8::/32 1 3",
    ]);
    expect(report.routes).toEqual({ ipv4: 2, ipv6: 2 });
  });

  test("uses the latest peer index table for the routes that follow it", async () => {
    const later = peerIndexRecord([{ address: "198.51.100.7", asn: 7 }]);
    const { lines } = await dump(Buffer.concat([index, good, later, good]));
    expect(lines).toEqual([goodLine, `${writtenAt}|B|198.51.100.7|7|10.0.0.0/8|64500 1`]);
  });

  test("finds AS_PATH behind and before other attributes, with either form of length", async () => {
    const communities = attribute(0xc0, 8, Buffer.alloc(400, 1));
    const long = Array.from({ length: 100 }, (_, hop) => hop + 1).join(" ");
    const routes: WrittenRoute[] = [
      { peer: 0, path: "1 2", before: Buffer.concat([originIgp, communities]), after: communities },
      { peer: 0, path: "1 2", extended: true },
      { peer: 0, path: long },
      { peer: 0, path: null, before: Buffer.alloc(0) },
      { peer: 0, path: null, before: communities },
    ];
    const { lines } = await dump(Buffer.concat([index, ribRecord("10.0.0.0/8", routes)]));
    expect(lines.map((line) => line.split("|")[5])).toEqual(["1 2", "1 2", long, "", ""]);
  });

  test("does not look at what follows AS_PATH", async () => {
    const { lines } = await dump(
      Buffer.concat([index, ribRecord("10.0.0.0/8", [{ peer: 0, path: "64500 1", after: Buffer.of(0x40, 3, 200) }])]),
    );
    expect(lines).toEqual([goodLine]);
  });

  test("clears bits past the mask and counts the prefix", async () => {
    const { lines, report } = await dump(
      Buffer.concat([
        index,
        ribRecord("10.255.255.255/9", [{ peer: 0, path: "1" }]),
        ribRecord("2001:db8:ffff::/33", [{ peer: 0, path: "1" }]),
        ribRecord("10.128.0.0/9", [{ peer: 0, path: "1" }]),
      ]),
    );
    expect(lines.map((line) => line.split("|")[4])).toEqual(["10.128.0.0/9", "2001:db8:8000::/33", "10.128.0.0/9"]);
    expect(report.masked).toBe(2);
  });

  test("keeps a prefix without entries from the sink", async () => {
    const { lines, report } = await dump(Buffer.concat([index, ribRecord("10.0.0.0/8", []), good]));
    expect(lines).toEqual([goodLine]);
    expect(report.prefixes.ipv4).toBe(1);
  });

  test("gives every length of both families as it was written", async () => {
    const written: string[] = [];
    for (let length = 0; length <= 32; length++) written.push(`255.255.255.255/${length}`);
    for (let length = 0; length <= 128; length++) written.push(`ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/${length}`);
    const got: [string, number][] = [];
    const sink: RibSink = {
      peerIndex: () => undefined,
      prefix: (version, w0, w1, w2, w3, length) => {
        const words = version === 4 ? [w0] : [w0, w1, w2, w3];
        got.push([words.map((word) => word.toString(2).padStart(32, "0")).join(""), length]);
      },
      route: () => undefined,
    };
    await scanRib(chunksOf(Buffer.concat([index, ...written.map((prefix) => ribRecord(prefix, [{ peer: 0, path: "1" }]))]), 64), sink);
    expect(got).toHaveLength(33 + 129);
    for (const [bits, length] of got) expect(bits).toBe("1".repeat(length).padEnd(bits.length, "0"));
  });

  test("reads the same however it is cut into chunks", async () => {
    const big = Array.from({ length: 3000 }, (_, entry) => ({
      peer: entry % 2,
      path: `${entry + 1} 2 3`,
      after: attribute(0xc0, 8, Buffer.alloc(40)),
    }));
    const empty = mrtRecord(13, 6, Buffer.alloc(0));
    const bytes = Buffer.concat([
      index,
      empty,
      empty,
      good,
      empty,
      ribRecord("192.0.2.0/24", big),
      good,
      ribRecord("2001:db8::/32", big.slice(0, 9)),
      good,
    ]);
    const whole = await dump(bytes);
    expect(whole.lines).toHaveLength(3012);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 300_000 }), async (chunkBytes) => {
        expect(await dump(bytes, {}, chunkBytes)).toEqual(whole);
      }),
      // The first chunk ends at each byte of the two empty records, then anywhere.
      {
        seed: seed(6396),
        numRuns: runs(60),
        examples: [...Array.from({ length: 25 }, (_, n): [number] => [index.length + n]), [1], [12], [bytes.length - 1]],
      },
    );
  });
});

describe("a bad record", () => {
  const withEntries = (count: number, entries: Uint8Array): Buffer =>
    mrtRecord(13, 2, Buffer.concat([Buffer.from([0, 0, 0, 42, 8, 10, count >> 8, count & 255]), entries]));
  const entry = ribEntry({ peer: 0, path: "1" });

  test.each([
    ["peer-index-out-of-range", ribRecord("10.0.0.0/8", [{ peer: 2, path: "1" }])],
    ["bad-prefix-length", mrtRecord(13, 2, Buffer.from([0, 0, 0, 0, 33, 1, 1, 1, 1, 1, 0, 0]))],
    ["bad-prefix-length", mrtRecord(13, 4, Buffer.from([0, 0, 0, 0, 129, ...Buffer.alloc(17), 0, 0]))],
    ["record-overrun", mrtRecord(13, 2, Buffer.alloc(0))],
    ["record-overrun", mrtRecord(13, 2, Buffer.from([0, 0, 0, 0]))],
    ["record-overrun", mrtRecord(13, 2, Buffer.from([0, 0, 0, 0, 24, 10, 0]))],
    ["record-overrun", mrtRecord(13, 2, Buffer.from([0, 0, 0, 0, 8, 10, 0]))],
    ["record-overrun", withEntries(2, entry)],
    ["record-overrun", withEntries(65535, entry)],
    ["record-overrun", withEntries(1, entry.subarray(0, entry.length - 1))],
    ["trailing-bytes", withEntries(1, Buffer.concat([entry, Buffer.of(0)]))],
    ["trailing-bytes", withEntries(0, entry)],
    ["bad-time", ribRecord("10.0.0.0/8", [{ peer: 0, path: "1" }], { timestamp: 0 })],
    ["bad-time", ribRecord("10.0.0.0/8", [{ peer: 0, path: "1" }], { timestamp: writtenAt - 86_401 })],
    ["bad-time", ribRecord("2001:db8::/32", [{ peer: 0, path: "1" }], { timestamp: writtenAt + 86_401 })],
  ])("(%s) is skipped by its length, counted, and kept with its byte", async (reason, record) => {
    const { lines, report } = await dump(Buffer.concat([index, good, record, good]));
    expect(lines).toEqual([goodLine, goodLine]);
    expect(report.bad).toBe(1);
    expect(report.skipped).toEqual([
      { reason, bad: true, count: 1, examples: [{ offset: index.length + good.length, detail: expect.any(String) }] },
    ]);
  });

  test("that is written up to a day from the peer index table is sound", async () => {
    const record = (timestamp: number) => ribRecord("10.0.0.0/8", [{ peer: 0, path: "1" }], { timestamp });
    const { report } = await dump(Buffer.concat([index, record(writtenAt - 86_400), record(writtenAt + 86_400)]));
    expect(report).toMatchObject({ bad: 0, routes: { ipv4: 2 } });
  });

  test("gives the sink nothing, not even the entries before its fault", async () => {
    const record = ribRecord("10.0.0.0/8", [
      { peer: 0, path: "1" },
      { peer: 9, path: "1" },
    ]);
    const { lines, report } = await dump(Buffer.concat([index, record, good]));
    expect(lines).toEqual([goodLine]);
    expect(report.routes.ipv4).toBe(1);
  });

  test("names its sequence number", async () => {
    const { report } = await dump(Buffer.concat([index, withEntries(2, entry)]));
    expect(report.skipped[0]?.examples[0]?.detail).toContain("sequence number 42");
  });

  test("is kept as an example only so often, and counted always", async () => {
    const record = ribRecord("10.0.0.0/8", [{ peer: 2, path: "1" }]);
    const bytes = Buffer.concat([index, ...Array<Buffer>(20).fill(record)]);
    const { report } = await dump(bytes, { examplesMax: 3 });
    expect(report.skipped[0]).toMatchObject({ count: 20 });
    expect(report.skipped[0]?.examples.map(({ offset }) => offset)).toEqual([0, 1, 2].map((n) => index.length + n * record.length));
  });
});

describe("a route with malformed attributes", () => {
  const malformed: [string, Buffer][] = [
    ["attribute-overrun", Buffer.of(0x40, 1, 2, 0)],
    ["attribute-overrun", Buffer.of(0x40)],
    ["attribute-overrun", Buffer.of(0x50, 2, 0)],
    ["attribute-overrun", Buffer.of(0x40, 2, 6, 2, 1, 0, 0)],
    ["bad-as-path", attribute(0x40, 2, Buffer.of(2, 2, 0, 0, 0, 1))],
    ["bad-as-path", attribute(0x40, 2, Buffer.of(9, 1, 0, 0, 0, 1))],
    ["bad-as-path", attribute(0x40, 2, Buffer.of(2, 0))],
    ["as-zero", attribute(0x40, 2, pathBytes("64500 0"))],
    ["as-zero", attribute(0x40, 2, pathBytes("64500 0 7"))],
    ["as-zero", attribute(0x40, 2, pathBytes("64500 {0,7}"))],
    ["as-zero", attribute(0x40, 2, pathBytes("(65001 0) 7"))],
  ];

  test.each(malformed)("(%s) is left out and counted, and those of other peers are handed on", async (reason, before) => {
    const bad = { peer: 0, path: null, before };
    const sound = { peer: 1, path: "1" };
    const wanted = await dump(Buffer.concat([index, good, ribRecord("10.0.0.0/8", [sound, sound]), good]));
    for (const routes of [
      [bad, sound, sound],
      [sound, bad, sound],
      [sound, sound, bad],
    ]) {
      const { lines, report } = await dump(Buffer.concat([index, good, ribRecord("10.0.0.0/8", routes), good]));
      expect(lines).toEqual(wanted.lines);
      expect(report).toMatchObject({ bad: 0, skipped: [], badRoutes: 1, routes: { ipv4: 4 }, prefixes: { ipv4: 3 } });
      expect(report.routesLeftOut).toEqual([
        { reason, bad: true, count: 1, examples: [{ offset: index.length + good.length, detail: expect.any(String) }] },
      ]);
    }
  });

  test("leaves no prefix where it is the only one", async () => {
    const bad = { peer: 0, path: null, before: malformed[0]?.[1] as Buffer };
    const { lines, report } = await dump(Buffer.concat([index, ribRecord("10.0.0.0/8", [bad, bad]), good]));
    expect(lines).toEqual([goodLine]);
    expect(report).toMatchObject({ badRoutes: 2, routes: { ipv4: 1 }, prefixes: { ipv4: 1 } });
  });

  test("is none where a router writes its own route with AS 0, of no peer", async () => {
    const own = peerIndexRecord([{ address: "0.0.0.0", asn: 0 }]);
    const { lines, report } = await dump(Buffer.concat([own, ribRecord("10.0.0.0/8", [{ peer: 0, path: "0" }])]));
    expect(lines).toEqual([`${writtenAt}|B|0.0.0.0|0|10.0.0.0/8|0`]);
    expect(report).toMatchObject({ badRoutes: 0 });
    const { report: other } = await dump(Buffer.concat([own, ribRecord("10.0.0.0/8", [{ peer: 0, path: "0 7" }])]));
    expect(other).toMatchObject({ badRoutes: 1, routes: { ipv4: 0 } });
  });

  test("does not hide that its record is of another form", async () => {
    const bad = { peer: 0, path: null, before: malformed[0]?.[1] as Buffer };
    const record = ribRecord("10.0.0.0/8", [bad, { peer: 9, path: "1" }]);
    const { report } = await dump(Buffer.concat([index, record, good]));
    expect(report).toMatchObject({ bad: 1, badRoutes: 0 });
  });
});

test("records of other kinds are skipped and counted, and are not bad", async () => {
  const others = [mrtRecord(13, 6, Buffer.alloc(9)), mrtRecord(16, 4, Buffer.alloc(30)), mrtRecord(999, 0, Buffer.alloc(0))];
  const { lines, report } = await dump(Buffer.concat([others[1] as Buffer, index, ...others, good]));
  expect(lines).toEqual([goodLine]);
  expect(report).toMatchObject({ records: 6, bad: 0 });
  expect(report.skipped).toEqual([
    {
      reason: "other-record-type",
      bad: false,
      count: 4,
      examples: expect.arrayContaining([
        { offset: 0, detail: "BGP4MP BGP4MP_MESSAGE_AS4" },
        { offset: expect.any(Number), detail: "TABLE_DUMP_V2 RIB_GENERIC" },
        { offset: expect.any(Number), detail: "unknown type 999" },
      ]),
    },
  ]);
});

describe("TABLE_DUMP", () => {
  /** One route (RFC 6396 §4.2) with 2-byte AS numbers. */
  const old = (network: string, length: number, peer: string, asn: number, attributes: Uint8Array) =>
    mrtRecord(
      12,
      network.includes(":") ? 2 : 1,
      Buffer.concat([
        u16(0),
        u16(1),
        addressBytes(network),
        Buffer.of(length, 1),
        u32(5),
        addressBytes(peer),
        u16(asn),
        u16(attributes.length),
        attributes,
      ]),
    );
  const path = (text: string) => attribute(0x40, 2, pathBytes(text, 2));

  test("is read with its peers as they come, AS4_PATH merged, beside TABLE_DUMP_V2", async () => {
    const as4 = attribute(0xc0, 17, pathBytes("200000"));
    const table = Buffer.concat([
      old("10.0.0.0", 8, "192.0.2.7", 65007, path("65007 {1,2}")),
      old("10.0.0.0", 8, "192.0.2.8", 65008, Buffer.concat([path("65008 23456"), as4])),
      index,
      good,
      old("10.0.0.0", 8, "192.0.2.7", 65007, Buffer.alloc(0)),
      good,
      old("2001:db8::", 32, "2001:db8::7", 65007, path("65007")),
    ]);
    const { lines, report } = await dump(table);
    expect(lines).toEqual([
      "1700000000|B|192.0.2.7|65007|10.0.0.0/8|65007 {1,2}",
      "1700000000|B|192.0.2.8|65008|10.0.0.0/8|65008 200000",
      goodLine,
      "1700000000|B|192.0.2.7|65007|10.0.0.0/8|",
      goodLine,
      "1700000000|B|2001:db8::7|65007|2001:db8::/32|65007",
    ]);
    expect(report).toMatchObject({ records: 7, routes: { ipv4: 5, ipv6: 1 }, prefixes: { ipv4: 4, ipv6: 1 }, bad: 0, skipped: [] });
  });

  test("is left out as a route if its path has AS 0, and others are handed on", async () => {
    const as4 = (text: string) => attribute(0xc0, 17, pathBytes(text));
    const bad = old("10.0.0.0", 8, "192.0.2.7", 65007, path("65007 0"));
    const hidden = old("10.0.0.0", 8, "192.0.2.9", 65009, Buffer.concat([path("65009 0"), as4("200000")]));
    const unmerged = old("10.0.0.0", 8, "192.0.2.8", 65008, Buffer.concat([path("65008 23456"), as4("0")]));
    const { lines, report } = await dump(Buffer.concat([bad, hidden, unmerged]));
    expect(lines).toEqual(["1700000000|B|192.0.2.8|65008|10.0.0.0/8|65008 23456"]);
    expect(report).toMatchObject({ badRoutes: 2, routes: { ipv4: 1 }, prefixes: { ipv4: 1 } });
    expect(report.routesLeftOut).toMatchObject([{ reason: "as-zero", count: 2, examples: [{ offset: 0 }, { offset: bad.length }] }]);
  });

  test("that is bad is skipped with its place", async () => {
    const bad = old("10.0.0.0", 33, "192.0.2.7", 65007, path("65007"));
    const sound = old("10.0.0.0", 8, "192.0.2.7", 65007, path("65007"));
    const { lines, report } = await dump(Buffer.concat([sound, bad]));
    expect(lines).toHaveLength(1);
    expect(report.skipped).toMatchObject([{ reason: "bad-prefix-length", bad: true, count: 1, examples: [{ offset: sound.length }] }]);
  });
});

test("a record of TABLE_DUMP more than a day from the first one is bad", async () => {
  const at = (timestamp: number) => {
    const record = Buffer.from(oldRecord());
    record.writeUInt32BE(timestamp);
    return record;
  };
  const { report } = await dump(Buffer.concat([at(writtenAt), at(writtenAt + 86_400), at(0)]));
  expect(report).toMatchObject({ routes: { ipv4: 2 }, firstTimestamp: writtenAt, bad: 1, skipped: [{ reason: "bad-time", count: 1 }] });
});

/** One route of TABLE_DUMP without attributes. */
function oldRecord(): Buffer {
  const [network, peer] = [addressBytes("10.0.0.0"), addressBytes("192.0.2.7")];
  return mrtRecord(12, 1, Buffer.concat([u16(0), u16(1), network, Buffer.of(8, 1), u32(5), peer, u16(65007), u16(0)]));
}

describe("a whole input is refused", () => {
  test("when it is empty", async () => {
    expect(await refusal(Buffer.alloc(0), { name: "rrc00" })).toMatchObject({
      code: "not-a-rib",
      offset: 0,
      message: expect.stringContaining("rrc00: the input is empty"),
    });
  });

  test("when it has no peer index table, and says what it has", async () => {
    expect(await refusal(mrtRecord(16, 4, Buffer.alloc(30)))).toMatchObject({
      code: "not-a-rib",
      message: expect.stringContaining("BGP4MP"),
    });
  });

  test("when a RIB record comes before any peer index table", async () => {
    const other = mrtRecord(16, 4, Buffer.alloc(30));
    expect(await refusal(Buffer.concat([other, good, index]))).toMatchObject({ code: "no-peer-index", offset: other.length });
  });

  test.each([
    ["its head", index.subarray(12, 16)],
    ["its view name", index.subarray(12, 20)],
    ["a peer", index.subarray(12, index.length - 1)],
    ["nothing, and goes on", Buffer.concat([index.subarray(12), Buffer.of(0)])],
  ])("when a peer index table ends inside %s", async (_, body) => {
    expect(await refusal(Buffer.concat([index, good, mrtRecord(13, 1, body)]))).toMatchObject({
      code: "bad-peer-index",
      offset: index.length + good.length,
    });
  });

  test("when it has two dumps of one collector, with the times of both", async () => {
    const first = Buffer.concat([index, good]);
    const later = peerIndexRecord(peers, "view", 0x0a000001, writtenAt + 601);
    const other = peerIndexRecord(peers, "view", 0x0a000002);
    for (const dumps of [first, Buffer.concat([first, peerIndexRecord(peers, "other", 0x0a000001)]), Buffer.concat([other, first])])
      expect(await refusal(Buffer.concat([dumps, later, good]))).toMatchObject({
        code: "two-dumps",
        offset: dumps.length,
        message: expect.stringContaining("has tables of two times, 2023-11-14T22:13:20Z and 2023-11-14T22:23:21Z; keep only the later one"),
      });
  });

  test.each([
    ["ten minutes later", peerIndexRecord(peers, "view", 0x0a000001, writtenAt + 600)],
    ["of another view", peerIndexRecord(peers, "other", 0x0a000001, writtenAt + 28_800)],
    ["of another collector", peerIndexRecord(peers, "view", 0x0a000002, writtenAt + 28_800)],
    [
      "without a collector, behind another one without",
      Buffer.concat([peerIndexRecord(peers, "", 0), peerIndexRecord(peers, "", 0, writtenAt + 28_800)]),
      4,
    ],
  ])("but not for another peer index table %s", async (_, later, records = 3) => {
    const { report } = await dump(Buffer.concat([index, good, later]));
    expect(report.records).toBe(records);
  });

  test("when it ends inside a record, with the byte where that record begins", async () => {
    const bytes = Buffer.concat([index, good, good]);
    const error = await refusal(bytes.subarray(0, bytes.length - 1), { name: "rib.gz" });
    expect(error).toMatchObject({ code: "truncated", offset: index.length + good.length });
    expect(error.message).toMatch(/^rib\.gz: .*byte \d+/);
  });

  test.each([
    [0xffffffff, 13],
    [0xffffffff, 0x6c6c],
    [1001, 13],
  ])("when a header claims %d bytes, however little follows", async (length, type) => {
    const bytes = Buffer.concat([index, mrtRecord(type, 2, Buffer.alloc(5), writtenAt, length)]);
    const before = process.memoryUsage().arrayBuffers;
    expect(await refusal(bytes, { recordBytesMax: 1000 })).toMatchObject({ code: "bad-header", offset: index.length });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
  });

  test("when it is a text", async () => {
    const error = await refusal(Buffer.from("<!doctype html><title>404 Not Found</title>"));
    expect(error).toMatchObject({ code: "bad-header", offset: 0, message: expect.stringContaining("not MRT data: ") });
  });
});

test("memory for a record grows with what has come, not with what its header claims", async () => {
  const claim = mrtRecord(13, 2, Buffer.alloc(1000), writtenAt, 15 << 20);
  const before = process.memoryUsage().arrayBuffers;
  expect(await refusal(Buffer.concat([index, claim]))).toMatchObject({ code: "truncated" });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
});

test("an error of the chunks passes through", async () => {
  const failure = new RangeError("disk");
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield index;
    throw failure;
  }
  const sink: RibSink = { peerIndex: () => undefined, prefix: () => undefined, route: () => undefined };
  await expect(scanRib(chunks(), sink)).rejects.toBe(failure);
});

test("allocates nothing per route", async () => {
  const routes = Array.from({ length: 50 }, (_, peer) => ({ peer: peer % 2, path: "1 2 3 4" }));
  const records = Buffer.concat(Array<Buffer>(2000).fill(ribRecord("10.0.0.0/8", routes)));
  let pathBytesSeen = 0;
  const sink: RibSink = {
    peerIndex: () => undefined,
    prefix: () => undefined,
    route: (_peer, _originatedAt, _path, start, end) => {
      pathBytesSeen += end - start;
    },
  };
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield index;
    for (let round = 0; round < 4; round++) yield records;
  }
  const grown: number[] = [];
  for (let round = 0; round < 9; round++) {
    const before = process.memoryUsage().heapUsed;
    await scanRib(chunks(), sink);
    grown.push(process.memoryUsage().heapUsed - before);
  }
  expect(pathBytesSeen).toBe(9 * 4 * 2000 * 50 * 18);
  // 400,000 routes in a round: the smallest object for each would be 6.4 MB. The median, as a collection may fall into some rounds.
  expect(grown.sort((a, b) => a - b)[4]).toBeLessThan(1 << 20);
});

test("writes paths that the decoder has not seen (the writer's own form)", () => {
  expect(pathBytes("1 {2,3}")).toEqual(Buffer.from([2, 1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 2, 0, 0, 0, 3]));
});
