/**
 * Cut and mutated tables: an error or a report, never a crash, a hang, memory without bound, or a route that is not in the file.
 *
 * @large It cuts a table at every byte.
 */

import { expect, jest, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { isAsPath } from "../src/as-path.ts";
import { MrtError, type RibSink, readPathOrigin, readPathSet, scanRib } from "../src/index.ts";
import { chunksOf, dump } from "./support/dump.ts";
import { attribute, mrtRecord, peerIndexRecord, ribRecord, type WrittenRoute } from "./support/mrt-writer.ts";

// A long run reads 10,000 files, and the machine may be busy.
jest.setTimeout(30_000);

const routes: WrittenRoute[] = [
  { peer: 0, path: "64500 1 2" },
  { peer: 1, path: "64501 {4,3}", extended: true, after: attribute(0xc0, 8, Buffer.alloc(300, 7)) },
  { peer: 2, path: null },
  { peer: 2, path: "(65001) [65002,65003]", pathId: 9 },
];
const records = [
  peerIndexRecord(
    [
      { address: "192.0.2.1", asn: 64500, asBytes: 2 },
      { address: "2001:db8::2", asn: 64501 },
      { address: "0.0.0.0", asn: 0 },
    ],
    "hostile",
  ),
  ribRecord("10.64.0.0/10", routes),
  ribRecord("2001:db8::/33", routes),
  mrtRecord(13, 6, Buffer.alloc(20)),
  ribRecord("10.0.0.0/8", routes, { addPath: true }),
  ribRecord("2001:db8::/48", routes.slice(0, 1), { addPath: true }),
  mrtRecord(16, 4, Buffer.alloc(30, 255)),
  ribRecord("0.0.0.0/0", routes.slice(0, 1)),
];
const file = Buffer.concat(records);

test("cut at any byte, it is refused where the cut record begins; between records, it is the shorter table", async () => {
  const whole = await dump(file);
  const starts = [0];
  for (const record of records) starts.push((starts.at(-1) as number) + record.length);
  for (let end = 0; end < file.length; end++) {
    const begin = starts.findLast((start) => start <= end) as number;
    const outcome = await dump(file.subarray(0, end)).catch((error: unknown) => error as MrtError);
    if (outcome instanceof MrtError) {
      expect({ end, code: outcome.code, offset: outcome.offset }).toEqual({
        end,
        code: end === 0 ? "not-a-rib" : "truncated",
        offset: begin,
      });
    } else {
      expect(begin).toBe(end);
      expect(outcome.lines).toEqual(whole.lines.slice(0, outcome.lines.length));
    }
  }
});

/** Checks what `RibSink` promises. */
function suspiciousSink(bytesMax: number): { sink: RibSink; routes: () => number } {
  let peerCount = -1;
  let prefixes = 0;
  let count = 0;
  const fail = (what: string): never => {
    throw new Error(`broken promise: ${what}`);
  };
  const sink: RibSink = {
    peerIndex(peers) {
      peerCount = peers.length;
    },
    prefix(version, w0, w1, w2, w3, length) {
      prefixes++;
      if (length > (version === 4 ? 32 : 128)) fail("length");
      [w0, w1, w2, w3].forEach((word, index) => {
        const kept = Math.min(32, Math.max(0, length - 32 * index));
        const mask = kept === 0 ? 0 : (-1 << (32 - kept)) >>> 0;
        if (word !== word >>> 0 || (word & mask) >>> 0 !== word) fail("host bits");
      });
    },
    route(peerIndex, originatedAt, path, start, end) {
      count++;
      if (prefixes === 0) fail("a route without a prefix");
      if (peerIndex >= peerCount) fail("peer");
      if (originatedAt !== originatedAt >>> 0) fail("time");
      if (start > end || end > path.length || end - start > bytesMax || !isAsPath(path, start, end)) fail("path");
      const origin = readPathOrigin(path, start, end);
      if ((origin === -2) !== readPathSet(path, start, end).length > 0) fail("set");
    },
  };
  return { sink, routes: () => count };
}

const mutations = runs(10_000);

test(`${mutations} mutations each end in an error or a report, and the sink gets only what it was promised`, async () => {
  const mutation = fc.record({
    bytes: fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
    cut: fc.option(fc.nat(file.length), { freq: 4 }),
    chunkBytes: fc.integer({ min: 1, max: file.length }),
  });
  const before = process.memoryUsage().arrayBuffers;
  const outcomes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(mutation, async ({ bytes, cut, chunkBytes }) => {
      const mutated = Buffer.from(file.subarray(0, cut ?? file.length));
      for (const [place, value] of bytes) if (place < mutated.length) mutated[place] = value;
      const { sink, routes: seen } = suspiciousSink(mutated.length);
      const outcome = await scanRib(chunksOf(mutated, chunkBytes), sink).catch((error: unknown) => {
        if (error instanceof MrtError) return error;
        throw error;
      });
      if (outcome instanceof MrtError) expect(outcome.offset).toBeLessThanOrEqual(mutated.length);
      else {
        expect(outcome.bytes).toBe(mutated.length);
        expect(outcome.routes.ipv4 + outcome.routes.ipv6).toBe(seen());
      }
      const kind = outcome instanceof MrtError ? outcome.code : outcome.bad > 0 ? "bad records" : "sound";
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    }),
    { seed: seed(6396), numRuns: mutations },
  );
  // The mutations reach every way in which a table can end.
  expect([...outcomes.keys()].sort()).toEqual([
    "bad records",
    "bad-header",
    "bad-peer-index",
    "no-peer-index",
    "not-a-rib",
    "sound",
    "truncated",
  ]);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(512 << 20);
});

test("takes memory for what has come of a record, not for what its header claims", async () => {
  const claimed = 16 * 1024 * 1024;
  const header = Buffer.alloc(12);
  header.writeUInt16BE(13, 4);
  header.writeUInt16BE(2, 6);
  header.writeUInt32BE(claimed, 8);
  let taken = 0;
  async function* pieces() {
    yield Buffer.concat([...records, header]);
    const before = process.memoryUsage().arrayBuffers;
    yield Buffer.alloc(100);
    taken = process.memoryUsage().arrayBuffers - before;
  }
  await expect(scanRib(pieces(), suspiciousSink(file.length).sink)).rejects.toThrow("112 bytes into a record");
  expect(taken).toBeLessThan(claimed / 4);
});
