/** Cursors: read back whole, and nothing else is read. */

import { expect, test } from "@jest/globals";
import { decodeCursor, encodeCursor, type Questions } from "../src/index.ts";

const question: Questions["asn"] = { asn: 3333, family: null, rpki: null, aggregate: false, limit: 100 };
const place = { snapshotId: "20261121T085500Z-1a2b3c4d", page: { list: "prefixes", start: 100 } } as const;
const cursor = encodeCursor("asn", question, place);

test("tells snapshot, list and place, and is of 30 characters that a URL takes as they are", () => {
  expect(decodeCursor("asn", question, cursor)).toEqual(place);
  expect(cursor).toMatch(/^[\w-]{30}$/);
});

test("is the same cursor whatever the size of pages, and at any replica", () => {
  expect(encodeCursor("asn", { ...question, limit: 7 }, place)).toBe(cursor);
  expect(decodeCursor("asn", { ...question, limit: 7 }, cursor)).toEqual(place);
});

test("is no cursor of another question", () => {
  const others: Questions["asn"][] = [
    { ...question, asn: 3334 },
    { ...question, family: 4 },
    { ...question, rpki: "valid" },
    { ...question, aggregate: true },
  ];
  for (const other of others) expect(decodeCursor("asn", other, cursor)).toBeNull();
  const prefix = { prefix: { version: 4 as const, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 }, limit: 100 };
  expect(decodeCursor("prefix", prefix, cursor)).toBeNull();
  // A list that the operation does not have, well bound.
  const foreign = encodeCursor("prefix", prefix, place);
  expect(decodeCursor("prefix", prefix, foreign)).toBeNull();
});

test("cut, prolonged, or with any character changed it is none", () => {
  for (let length = 0; length < cursor.length; length++) expect(decodeCursor("asn", question, cursor.slice(0, length))).toBeNull();
  for (const added of ["A", "=", " ", "AAAA"]) expect(decodeCursor("asn", question, cursor + added)).toBeNull();
  for (let at = 0; at < cursor.length; at++) {
    for (const char of "AZaz09-_+/=é") {
      if (char === cursor[at]) continue;
      expect(decodeCursor("asn", question, cursor.slice(0, at) + char + cursor.slice(at + 1))).toBeNull();
    }
  }
});
