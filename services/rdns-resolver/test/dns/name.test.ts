/** Names from the wire, against dns-packet and against hostile bytes. */

import { expect, test } from "@jest/globals";
import dnsPacket from "dns-packet";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { MalformedMessageError } from "../../src/dns/malformed-message.ts";
import { type NameReading, readName } from "../../src/dns/name.ts";

/** Names lie behind the header of a message. */
const header = Buffer.alloc(12);

function onWire(labels: readonly Buffer[]): Buffer {
  return Buffer.concat([header, ...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

/** Alone, and as one of many names of its message. */
function read(message: Buffer, start: number): NameReading {
  const [alone, among] = [() => readName(message, start, null), () => readName(message, start, new Map())].map(outcome);
  expect(alone).toEqual(among);
  if (alone instanceof Error) throw alone;
  return alone as NameReading;
}

function outcome(reading: () => NameReading): NameReading | Error {
  try {
    return reading();
  } catch (error) {
    expect(error).toBeInstanceOf(MalformedMessageError);
    return error as Error;
  }
}

test("reads hostile names alone as it reads them among others", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => [bytes.length, ...bytes]);
  const long = fc.constant([63, ...Buffer.alloc(63, 0x61)]);
  const pointer = fc.integer({ min: 0, max: 200 }).map((target) => [0xc0, target]);
  const piece = fc.oneof({ arbitrary: label, weight: 4 }, { arbitrary: pointer, weight: 3 }, long, fc.constant([0]), fc.constant([0x40]));
  const asked = fc.tuple(fc.array(piece, { maxLength: 40 }), fc.nat(200));
  let whole = 0;
  fc.assert(
    fc.property(asked, ([pieces, start]) => {
      const message = Buffer.concat([header, Buffer.from(pieces.flat())]);
      try {
        read(message, Math.min(start, message.length));
        whole += 1;
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
      }
    }),
    { seed: seed(1034), numRuns: runs(20_000) },
  );
  expect(whole).toBeGreaterThan(runs(20_000) / 20);
});

test("reads plain names as dns-packet writes them", () => {
  const label = fc.stringMatching(/^[A-Za-z0-9_/-]{1,63}$/);
  const name = fc
    .array(label, { minLength: 1, maxLength: 4 })
    .map((labels) => labels.join("."))
    .filter((text) => text.length <= 253);
  fc.assert(
    fc.property(name, (text) => {
      const message = dnsPacket.encode({ type: "query", questions: [{ type: "PTR", name: text }] });
      expect(read(message, 12)).toEqual({ text, end: message.length - 4 });
    }),
    { seed: seed(1035), numRuns: runs(1_000) },
  );
});

test("has one text for each name: the bytes of every label can be had back", () => {
  const label = fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), (labels) => {
      const { text } = read(onWire(labels), 12);
      expect(text).toMatch(/^[\x21-\x7e]+$/);
      expect(labelsOf(text)).toEqual(labels);
    }),
    { seed: seed(4343), numRuns: runs(2_000) },
  );
});

test("reads the root, follows pointers backwards, and ends behind the first one", () => {
  expect(read(onWire([]), 12)).toEqual({ text: ".", end: 13 });
  const message = Buffer.concat([onWire([Buffer.from("example")]), Buffer.from([3, 0x77, 0x77, 0x77, 0xc0, 12, 0xff])]);
  expect(read(message, 21)).toEqual({ text: "www.example", end: 27 });
});

test.each([
  ["a pointer to itself", [0xc0, 12], "bad pointer"],
  ["a pointer forwards", [0xc0, 20, 0, 0, 0, 0, 0, 0, 0], "bad pointer"],
  ["a pointer into the header", [0xc0, 2], "bad pointer"],
  ["half a pointer", [0xc0], "name past the end"],
  ["a label past the end", [5, 0x61], "label past the end"],
  ["no end", [1, 0x61], "name past the end"],
  ["a kind of label that is none", [0x41, 0], "unknown kind of label"],
  ["another one", [0x80, 0], "unknown kind of label"],
])("refuses %s", (_, bytes, fault) => {
  expect(() => read(Buffer.concat([header, Buffer.from(bytes)]), 12)).toThrow(fault);
});

test("refuses names longer than 255 bytes, also by way of pointers", () => {
  const label = Buffer.alloc(63, 0x61);
  expect(read(onWire([label, label, label, label.subarray(0, 61)]), 12).text).toHaveLength(253);
  expect(() => read(onWire([label, label, label, label.subarray(0, 62)]), 12)).toThrow("name too long");
  const long = onWire([label, label, label]);
  const message = Buffer.concat([long, Buffer.from([62]), label.subarray(0, 62), Buffer.from([0xc0, 12])]);
  expect(() => read(message, long.length)).toThrow("name too long");
});

function labelsOf(text: string): Buffer[] {
  const labels: number[][] = [[]];
  for (const [piece] of text.matchAll(/\\\d{3}|\\.|./g)) {
    if (piece === ".") labels.push([]);
    else if (/^\\\d{3}$/.test(piece)) labels.at(-1)!.push(Number(piece.slice(1)));
    else labels.at(-1)!.push(piece.charCodeAt(piece.length - 1));
  }
  return labels.map((bytes) => Buffer.from(bytes));
}
