/** The decoder against an obvious reading of the same bytes: whole streams, damaged ones, and cut in any way. */

import { expect, test } from "@jest/globals";
import { type Random, seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { encodePdu, type Pdu, pduBytesMax, pduTypes, RtrDecoder, RtrPduError, rtrErrors } from "../../src/rtr/index.ts";
import { anyStream, damaged } from "./made-pdus.ts";
import { type Reading, readAloud } from "./oracle.ts";

type Decode = (bytes: Uint8Array, cuts: readonly number[], settled: 0 | 1 | null) => Reading;

/** Everything that the decoder makes of a stream that comes in pieces cut at these bytes. */
const decode: Decode = (bytes, cuts, settled) => {
  const decoder = new RtrDecoder(1);
  if (settled !== null) decoder.settleVersion(settled);
  const pdus: Pdu[] = [];
  try {
    for (const [at, cut] of [...cuts, bytes.length].entries()) {
      decoder.feed(bytes.subarray(at === 0 ? 0 : (cuts[at - 1] ?? 0), cut));
      for (let pdu = decoder.next(); pdu !== null; pdu = decoder.next()) pdus.push(pdu);
    }
  } catch (error) {
    if (!(error instanceof RtrPduError)) throw error;
    return { pdus, failure: { code: error.code, offset: error.offset }, offset: decoder.offset };
  }
  return { pdus, failure: null, offset: decoder.offset };
};

const cutsOf = (random: Random, length: number) => Array.from({ length: random(6) }, () => random(length + 1)).sort((a, b) => a - b);

const damagedStreams = runs(12_000);

/** Damaged streams that a decoder reads otherwise than the oracle does. */
function disagreements(decodeIt: Decode, cases: number): string[] {
  const found: string[] = [];
  const random = seeded(seed(8210));
  for (let at = 0; at < cases; at++) {
    const stream = anyStream(random);
    const bytes = damaged(random, stream);
    const settled = random(3) === 0 ? null : stream.version;
    const read = JSON.stringify(decodeIt(bytes, cutsOf(random, bytes.length), settled));
    const expected = JSON.stringify(readAloud(bytes, 1, settled));
    if (read !== expected) found.push(`case ${at}: ${bytes.toString("hex")}\n  read     ${read}\n  expected ${expected}`);
  }
  return found;
}

test("reads every PDU that is encoded, however the stream is cut", () => {
  const random = seeded(seed(6810));
  for (let at = 0; at < runs(2_000); at++) {
    const { version, pdus, bytes } = anyStream(random);
    expect(decode(bytes, cutsOf(random, bytes.length), version)).toEqual({ pdus, failure: null, offset: bytes.length });
  }
});

test("reads a stream byte by byte", () => {
  const { version, pdus, bytes } = anyStream(seeded(1));
  const cuts = Array.from(bytes.keys());
  expect(decode(bytes, cuts, version).pdus).toEqual(pdus);
});

test(`reads ${damagedStreams} damaged streams as the oracle does, or refuses them at the same byte with the same code`, () => {
  const found = disagreements(decode, damagedStreams);
  expect(found.slice(0, 3).join("\n")).toBe("");
});

test("finds planted faults of a decoder by the same comparison", () => {
  const planted: Record<string, Decode> = {
    "host bits let through": (bytes, cuts, settled) => {
      const reading = decode(bytes, cuts, settled);
      const pdu = reading.failure === null ? undefined : bytes.subarray(reading.failure.offset);
      return pdu?.[1] === 4 && reading.failure?.code === 0 ? { ...reading, failure: null } : reading;
    },
    "every breach told as corrupt data": (bytes, cuts, settled) => {
      const reading = decode(bytes, cuts, settled);
      return reading.failure === null ? reading : { ...reading, failure: { ...reading.failure, code: 0 } };
    },
    "the other version taken for the settled one": (bytes, cuts, settled) =>
      decode(bytes, cuts, settled === null ? null : settled === 0 ? 1 : 0),
    "serials with a sign": (bytes, cuts, settled) => {
      const reading = decode(bytes, cuts, settled);
      const signed = (pdu: unknown) =>
        "serial" in (pdu as object) ? { ...(pdu as object), serial: (pdu as { serial: number }).serial | 0 } : pdu;
      return { ...reading, pdus: reading.pdus.map(signed) };
    },
  };
  for (const [fault, decodeIt] of Object.entries(planted))
    expect([fault, disagreements(decodeIt, 1_000).length > 0]).toEqual([fault, true]);
});

test("refuses a length of 4 GB at once, and keeps no more than one PDU waiting", () => {
  for (const [version, type] of [0, 1].flatMap((version) => Object.values(pduTypes).map((type) => [version, type] as const))) {
    // Type 9 does not exist in version 0 (RFC 6810).
    if (version === 0 && type === pduTypes.routerKey) continue;
    const decoder = new RtrDecoder(1);
    decoder.feed(Buffer.from([version, type, 0, 0, 255, 255, 255, 255]));
    expect(() => decoder.next()).toThrow("claims 4294967295 bytes");
  }

  const waiting = new RtrDecoder(1);
  waiting.feed(encodePdu({ kind: "error-report", version: 1, code: 0, pdu: new Uint8Array(4_000), text: "" }).subarray(0, 3_000));
  expect(waiting.next()).toBeNull();
  expect(pduBytesMax).toBe(16_384);
});

test("takes Serial Notifies and Error Reports of any version before one is agreed on, and nothing else", () => {
  const bytes = (type: number, length: number) => {
    const pdu = Buffer.alloc(length);
    pdu.set([2, type]);
    pdu.writeUInt32BE(length, 4);
    return pdu;
  };
  const decoder = new RtrDecoder(1);
  decoder.feed(Buffer.concat([bytes(0, 12), bytes(10, 16), bytes(3, 8)]));
  expect(decoder.next()).toMatchObject({ kind: "serial-notify", version: 2 });
  expect(decoder.next()).toMatchObject({ kind: "error-report", version: 2 });
  expect(() => decoder.next()).toThrow(expect.objectContaining({ code: rtrErrors.unsupportedVersion, offset: 28, mayReport: true }));
});

test("ignores what is reserved and tells by an Error Report's own breach that it must not be answered", () => {
  const prefix = encodePdu({
    kind: "prefix",
    version: 1,
    announce: false,
    prefix: { version: 4, w0: 0xc000_0200, w1: 0, w2: 0, w3: 0, length: 24 },
    maxLength: 24,
    asn: 1,
  });
  prefix[2] = 0xff;
  prefix[8] = 0xfe;
  prefix[11] = 0xff;
  const decoder = new RtrDecoder(1);
  const report = encodePdu({ kind: "error-report", version: 1, code: 2, pdu: new Uint8Array(), text: "x" });
  report.writeUInt32BE(9, 12);
  decoder.feed(Buffer.concat([prefix, report]));
  expect(decoder.next()).toMatchObject({ kind: "prefix", announce: false });
  expect(() => decoder.next()).toThrow(expect.objectContaining({ code: rtrErrors.corruptData, mayReport: false }));
});

test("cuts a report's PDU and text to what a PDU may hold, at a whole character", () => {
  const encoded = encodePdu({ kind: "error-report", version: 1, code: 0, pdu: new Uint8Array(70_000), text: "ü".repeat(70_000) });
  expect(encoded.length).toBeLessThanOrEqual(pduBytesMax);
  const decoder = new RtrDecoder(1);
  decoder.feed(encoded);
  expect(decoder.next()).toMatchObject({ kind: "error-report", text: expect.stringMatching(/^ü+$/) });
});
