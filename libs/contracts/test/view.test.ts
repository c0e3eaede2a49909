/** Queries with a view: one text each, and no other text is read. */

import { expect, test } from "@jest/globals";
import {
  decodeQuery,
  encodeQuery,
  membersOf,
  QuestionSyntaxError,
  type Questions,
  shownMembers,
  type View,
  wholeRecord,
} from "../src/index.ts";

const question: Questions["asn"] = { asn: 3333, family: 4, rpki: "not-found", aggregate: true, limit: 1_000 };
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("the whole record is asked for by the question alone", () => {
  const text = encodeQuery("asn", question, wholeRecord);
  expect(text).toBe("3333|4|not-found|aggregate|1000");
  expect(encodeQuery("asn", question, { ...wholeRecord })).toBe(text);
  expect(decodeQuery("asn", text)).toEqual({ question, view: wholeRecord });
});

test("every view is read back, and fits a message", () => {
  const views: View[] = [
    { fields: ["asn", "prefixes", "meta"], format: "json", page: null, meta: true },
    { fields: null, format: "csv", page: null, meta: true },
    { fields: null, format: "ndjson", page: { list: "prefixes", start: 4_294_967_295 }, meta: true },
    { fields: [...membersOf("asn")], format: "json", page: { list: "allocations", start: 1 }, meta: true },
    { fields: null, format: "json", page: null, meta: false },
    { fields: [...membersOf("asn")], format: "json", page: { list: "neighbours", start: 1 }, meta: false },
    { fields: null, format: "json", page: null, meta: true, past: { at: 0, snapshotId: null, turn: 4_294_967_295 } },
    { fields: null, format: "csv", page: null, meta: true, past: { at: 1_767_225_600, snapshotId: "20260101T000000Z-1a2b3c4d", turn: 0 } },
    { fields: ["asn"], format: "json", page: null, meta: false, past: { at: 4_294_967_295, snapshotId: null, turn: 1 } },
  ];
  for (const view of views) {
    const text = encodeQuery("asn", question, view);
    expect(plain(decodeQuery("asn", text))).toEqual(plain({ question, view }));
    expect(text).toMatch(/^[ -~]{1,600}$/);
  }
});

test("nothing else is read", () => {
  const text = "3333|-|-|-|100";
  const views = [
    "",
    "json|-|-",
    "xml|-|-",
    "csv",
    "csv|-",
    "csv|-|-|-",
    "json|-|-|meta",
    "json|-|-|past:1:-",
    "json|-|-|past:01:-:1",
    "json|-|-|past:4294967296:-:1",
    "json|-|-|past:1:-:1|no_meta",
    "json|-|-|past:1:x:1",
    "json|-|-|no_meta|-",
    "csv||-",
    "json|asn,asn|-",
    "json|name,asn|-",
    "json|nope|-",
    "json|-|prefixes",
    "json|-|prefixes:0",
    "json|-|prefixes:01",
    "json|-|prefixes:4294967296",
    "json|-|more_specifics:1",
    "json|-|prefixes:1 ",
  ];
  for (const view of views) expect(() => decodeQuery("asn", `${text} ${view}`)).toThrow(QuestionSyntaxError);
});

test("members are kept in the record's order, with meta unless it is not wanted", () => {
  const record = { a: 1, b: 2, c: 3, meta: {} };
  expect(JSON.stringify(shownMembers(record, { ...wholeRecord, fields: ["c", "a"] }))).toBe('{"a":1,"c":3,"meta":{}}');
  expect(JSON.stringify(shownMembers(record, { fields: ["c"], meta: false }))).toBe('{"c":3}');
  expect(JSON.stringify(shownMembers(record, { fields: null, meta: false }))).toBe('{"a":1,"b":2,"c":3}');
  expect(shownMembers(record, wholeRecord)).toBe(record);
});
