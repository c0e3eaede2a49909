/** Records of every kind against a second decoder that shares nothing with the first: sound ones, and mutated ones. */

import { expect, jest, test } from "@jest/globals";
import { runs, seed } from "../../../test/support/runs.ts";
import { attributes } from "../src/attribute/index.ts";
import { bgpdumpLines, type MrtRecord, recordJson } from "../src/index.ts";
import { Chance, madePeerIndex, madeRecord } from "./support/made-records.ts";
import { addressBytes, attribute, mrtRecord, nlriBytes, peerIndexRecord, ribRecord, u16, u32 } from "./support/mrt-writer.ts";
import { type Decode, decoded, disagreement } from "./support/readings.ts";

// The machine may be busy.
jest.setTimeout(120_000);

const soundFiles = runs(300);

test(`${soundFiles * 10} sound records of every kind read as the slow decoder reads them, in chunks of any size`, async () => {
  const kinds = new Map<string, number>();
  const told = new Set<string>();
  const first = seed(1);
  for (let one = first; one < first + soundFiles; one++) {
    const chance = new Chance(one);
    const file = Buffer.concat([madePeerIndex(), ...Array.from({ length: 10 }, () => madeRecord(chance))]);
    const { readings } = await decoded(file, 1 + chance.below(file.length));
    for (const reading of readings) {
      if ("fault" in reading) throw new Error(`seed ${one}: refused: ${reading.fault.detail}`);
      const { body } = reading;
      kinds.set(body.kind, (kinds.get(body.kind) ?? 0) + 1);
      for (const name of attributeNames(recordJson(reading))) told.add(name);
    }
    expect({ one, wrong: await disagreement(file, decoded, 1 + chance.below(file.length)) }).toEqual({ one, wrong: null });
  }
  const every = ["keepalive", "notification", "open", "peer-index", "rib", "route-refresh", "state-change", "unread", "update"];
  expect([...kinds.keys()].sort()).toEqual(every);
  // Whoever adds an attribute has to make some, and to print it: docs/extending/mrt-attribute.md.
  expect(attributes.map(({ name }) => name.toLowerCase()).filter((name) => !told.has(name))).toEqual([]);
});

test.each([
  ["every prefix of a full MP_REACH_NLRI", ["2a00::/32", "2a00:1::/48"], Buffer.alloc(0), ["2a00::/32", "2a00:1::/48"]],
  ["none where one has a length that no prefix has, and the route all the same", ["2a00::/32"], Buffer.of(129), []],
])("a RIB entry keeps %s", async (_what, prefixes, more, told) => {
  const value = Buffer.concat([Buffer.of(0, 2, 1, 16), addressBytes("2001:db8::1"), Buffer.of(0), ...prefixes.map(nlriBytes), more]);
  const record = ribRecord("2a00::/32", [{ peer: 0, path: "64500 9", after: attribute(0x80, 14, value) }]);
  const { readings } = await decoded(Buffer.concat([peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }]), record]), 64);
  const rib = readings.flatMap((reading) => ("fault" in reading ? [] : [recordJson(reading)])).at(-1) as {
    routes: { attributes: object }[];
  };
  expect(rib.routes[0]?.attributes).toMatchObject({
    as_path: "64500 9",
    mp_reach_nlri: [{ afi: 2, safi: 1, next_hop: "2001:db8::1", prefixes: told }],
  });
});

/** Names of the attributes that a record has in JSON. */
function attributeNames(json: Record<string, unknown>): string[] {
  const { attributes: own, routes = [] } = json as { attributes?: object; routes?: readonly { attributes: object }[] };
  return [own ?? {}, ...routes.map((route) => route.attributes)].flatMap((each) => Object.keys(each));
}

/** Values that lengths, counts, types and flags go wrong with. */
const oddBytes = [0, 1, 2, 3, 4, 14, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 254, 255];

/** One case: a file of at most 4 kB, and one to three strokes of damage. */
function mutatedFile(number: number): Buffer {
  const chance = new Chance(number);
  const records = [madePeerIndex(), ...Array.from({ length: 1 + chance.below(4) }, () => madeRecord(chance))];
  let file = Buffer.concat(records).subarray(0, 4096);
  for (let stroke = chance.below(3); stroke >= 0; stroke--) {
    const at = chance.below(file.length);
    const kind = chance.below(9);
    if (kind < 3) file[at] = chance.pick(oddBytes);
    else if (kind === 3) file[at] = (file[at] as number) ^ (1 << chance.below(8));
    else if (kind === 4) file[at] = ((file[at] as number) + chance.pick([1, 255])) & 255;
    else if (kind === 5) file = Buffer.concat([file.subarray(0, at), file.subarray(at + 1 + chance.below(6))]);
    else if (kind === 6)
      file = Buffer.concat([file.subarray(0, at), Buffer.alloc(1 + chance.below(6), chance.pick(oddBytes)), file.subarray(at)]);
    else if (kind === 7) file = Buffer.from(file.subarray(0, at));
    else
      file.writeUInt32BE(
        chance.pick([0xffffffff, 0x7fffffff, 0x01000001, 0x00ffffff]),
        Math.max(0, Math.min(at, file.length - 4)) % Math.max(1, file.length - 3),
      );
    if (file.length < 4) return file;
  }
  return file.subarray(0, 4096);
}

const cases = runs(12_000);
const firstCase = seed(1);

/** @returns the first cases in which the decoder and the slow one differ. */
async function differingCases(decode: Decode, count: number, most: number): Promise<string[]> {
  const found: string[] = [];
  for (let one = firstCase; one < firstCase + count && found.length < most; one++) {
    const wrong = await disagreement(mutatedFile(one), decode);
    if (wrong !== null) found.push(`case ${one}: ${wrong}`);
  }
  return found;
}

test(`${cases} mutated files are read as the slow decoder reads them, or refused with byte and cause, and every line can be printed`, async () => {
  const seen = { refused: 0, read: 0, endings: new Set<string | null>() };
  const printing: Decode = async (file, chunkBytes) => {
    const result = await decoded(file, chunkBytes);
    seen.endings.add(result.ending);
    for (const reading of result.readings) {
      if ("fault" in reading) seen.refused++;
      else {
        seen.read++;
        for (const piece of bgpdumpLines(reading))
          if (!/^([\x20-\x7e]+\n)+$/.test(piece)) throw new Error(`no lines: ${JSON.stringify(piece)}`);
      }
    }
    return result;
  };
  expect(await differingCases(printing, cases, 3)).toEqual([]);
  // The damage is such that it is worth it: much is refused, much goes on.
  expect(seen.refused).toBeGreaterThan(cases / 10);
  expect(seen.read).toBeGreaterThan(cases);
  expect([...seen.endings].sort()).toEqual(["bad-header", "truncated", null].sort());
});

/** A decoder with a fault of its own. */
function planted(spoil: (record: MrtRecord) => MrtRecord): Decode {
  return async (file, chunkBytes) => {
    const { readings, ending } = await decoded(file, chunkBytes);
    return { readings: readings.map((reading) => ("fault" in reading ? reading : spoil(reading))), ending };
  };
}

test.each<[string, (record: MrtRecord) => MrtRecord]>([
  [
    "loses the last of several announced prefixes",
    ({ header, body }) =>
      body.kind === "update" && body.announced.length > 1
        ? { header, body: { ...body, announced: body.announced.slice(0, -1) } }
        : { header, body },
  ],
  [
    "reads MULTI_EXIT_DISC as a signed number",
    ({ header, body }) => {
      if (body.kind !== "update" || body.attributes.multiExitDisc === null) return { header, body };
      return { header, body: { ...body, attributes: { ...body.attributes, multiExitDisc: body.attributes.multiExitDisc | 0 } } };
    },
  ],
  [
    "does not merge AS4_PATH where it stands alone",
    ({ header, body }) => {
      if (body.kind !== "update" || body.attributes.as4Path === null || header.subtype !== 1) return { header, body };
      return { header, body: { ...body, attributes: { ...body.attributes, asPath: [{ type: "sequence", asns: [23456] }] } } };
    },
  ],
  ["takes the time of the record for that of the one before", ({ header, body }) => ({ header: { ...header, timestamp: 0 }, body })],
])("the same cases find a decoder that %s", async (_fault, spoil) => {
  expect(await differingCases(planted(spoil), cases, 1)).toHaveLength(1);
});

test("a decoder that takes a bad record for an empty one is found", async () => {
  const lenient: Decode = async (file, chunkBytes) => {
    const { readings, ending } = await decoded(file, chunkBytes);
    const body = { kind: "unread", what: "" } as const;
    return { readings: readings.map((reading) => ("fault" in reading ? { header: reading.header, body } : reading)), ending };
  };
  expect(await differingCases(lenient, cases, 1)).toHaveLength(1);
});

test("lengths that claim four gigabytes allocate nothing", async () => {
  const session = Buffer.concat([u32(1), u32(2), u16(0), u16(1), u32(3), u32(4)]);
  const claims = [
    mrtRecord(16, 4, session, 0, 0xffffffff),
    mrtRecord(13, 2, Buffer.concat([u32(0), Buffer.of(0), u16(0xffff)])),
    mrtRecord(13, 1, Buffer.concat([u32(0), u16(0), u16(0xffff), Buffer.alloc(13)])),
    mrtRecord(12, 1, Buffer.concat([Buffer.alloc(20), u16(0xffff), Buffer.of(0x50, 2, 0xff, 0xff)])),
  ];
  const before = process.memoryUsage();
  for (const claim of claims) for (let round = 0; round < 50; round++) await decoded(Buffer.concat([madePeerIndex(), claim]), 64);
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(64 << 20);
});

test("a message of very many prefixes with a very long path is printed piece by piece, not held as text", async () => {
  const path = Buffer.concat(Array.from({ length: 16 }, () => Buffer.concat([Buffer.of(2, 255), Buffer.alloc(1020, 255)])));
  const attributes = Buffer.concat([Buffer.of(0x50, 2), u16(path.length), path]);
  const body = Buffer.concat([u16(0), u16(attributes.length), attributes, Buffer.alloc(40_000)]);
  const message = Buffer.concat([Buffer.alloc(16, 255), u16(19 + body.length), Buffer.of(2), body]);
  const session = Buffer.concat([u32(1), u32(2), u16(0), u16(1), u32(3), u32(4)]);
  const { readings } = await decoded(mrtRecord(16, 4, Buffer.concat([session, message])), 1 << 20);
  const lines = bgpdumpLines(readings[0] as MrtRecord);
  // All 40,000 would be 1.8 GB.
  for (let line = 0; line < 3; line++) expect((lines.next().value as string).length).toBeGreaterThan(40_000);
});

test.each([
  ["unknown", Buffer.of(0xc0, 200, 0), "unknown", 21_000],
  ["repeated", Buffer.of(0x40, 6, 0), "discarded", 20_999],
])("a message of 21,000 %s attributes is read, each in its list", async (_what, attribute, list, count) => {
  const attributes = Buffer.concat(Array<Buffer>(21_000).fill(attribute));
  const file = mrtRecord(5, 1, Buffer.concat([Buffer.alloc(12), u16(0), u16(attributes.length), attributes]));
  const { readings } = await decoded(file, file.length);
  const told = recordJson(readings[0] as MrtRecord) as { attributes: Record<string, unknown[]> };
  expect(told.attributes[list]).toHaveLength(count);
});

test("an AS4_PATH is put behind as much of AS_PATH as is longer, with the confederations between (RFC 6793 §4.2.3)", async () => {
  const attribute = (type: number, value: Uint8Array) => Buffer.concat([Buffer.of(0xc0, type, value.length), value]);
  const sequence2 = (...asns: number[]) => Buffer.concat([Buffer.of(2, asns.length), ...asns.map(u16)]);
  const confederation2 = (...asns: number[]) => Buffer.concat([Buffer.of(3, asns.length), ...asns.map(u16)]);
  const set2 = (...asns: number[]) => Buffer.concat([Buffer.of(1, asns.length), ...asns.map(u16)]);
  const sequence4 = (...asns: number[]) => Buffer.concat([Buffer.of(2, asns.length), ...asns.map(u32)]);
  const aggregator2 = (asn: number) => attribute(7, Buffer.concat([u16(asn), u32(0x01020304)]));
  const aggregator4 = attribute(18, Buffer.concat([u32(400000), u32(0x05060708)]));
  const pathOf = async (...parts: Buffer[]) => {
    const attributes = Buffer.concat(parts);
    const update = Buffer.concat([u16(0), u16(attributes.length), attributes, Buffer.of(8, 10)]);
    const { readings } = await decoded(mrtRecord(5, 1, Buffer.concat([Buffer.alloc(12), update])), 4096);
    const { attributes: told } = recordJson(readings[0] as MrtRecord) as { attributes: { as_path: string; aggregator?: { asn: number } } };
    return [told.as_path, told.aggregator?.asn];
  };
  expect(await pathOf(attribute(2, sequence2(1, 23456, 23456)), attribute(17, sequence4(200000, 300000)))).toEqual([
    "1 200000 300000",
    undefined,
  ]);
  // As long: nothing of AS_PATH is left. Longer: AS4_PATH is not of this path.
  expect(await pathOf(attribute(2, sequence2(1, 23456)), attribute(17, sequence4(200000, 300000)))).toEqual(["200000 300000", undefined]);
  expect(await pathOf(attribute(2, sequence2(23456)), attribute(17, sequence4(200000, 300000)))).toEqual(["23456", undefined]);
  // Confederations count nothing; a leading one stays, and so does one behind a segment that stays.
  const confederated = attribute(2, Buffer.concat([confederation2(65001, 65002), sequence2(1, 23456)]));
  expect(await pathOf(confederated, attribute(17, sequence4(200000)))).toEqual(["(65001 65002) 1 200000", undefined]);
  // Segments of the leading part in their order; a set counts one.
  const several = attribute(2, Buffer.concat([sequence2(1, 2), set2(7, 8), sequence2(23456)]));
  expect(await pathOf(several, attribute(17, sequence4(200000)))).toEqual(["1 2 {7,8} 200000", undefined]);
  // RFC 7607 §2: an AS4 attribute with AS 0 is left out, and AS_PATH with it is malformed, which the merge must not hide.
  expect(await pathOf(attribute(2, sequence2(65007, 23456)), attribute(17, sequence4(0)))).toEqual(["65007 23456", undefined]);
  expect(await pathOf(attribute(2, sequence2(65007, 0)), attribute(17, sequence4(200000)))).toEqual(["65007 0", undefined]);
  const zero4 = attribute(18, Buffer.concat([u32(0), u32(0x05060708)]));
  expect(await pathOf(attribute(2, sequence2(1)), aggregator2(23456), zero4)).toEqual(["1", 23456]);
  // A later aggregator that knows no AS4 makes both stale; AS_TRANS says that it does not.
  const stale = [attribute(2, sequence2(1, 23456)), attribute(17, sequence4(200000))];
  expect(await pathOf(...stale, aggregator2(64999), aggregator4)).toEqual(["1 23456", 64999]);
  expect(await pathOf(...stale, aggregator2(23456), aggregator4)).toEqual(["1 200000", 400000]);
  // With AS 0 it is malformed, and none.
  expect(await pathOf(...stale, aggregator2(0), aggregator4)).toEqual(["1 200000", 0]);
});
