/** `as_of`: which texts are a time, and which. */

import { expect, test } from "@jest/globals";
import { parseAsOf } from "../src/index.ts";

const now = Date.parse("2026-11-28T12:00:00Z");

test.each([
  ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00Z"],
  ["2026-11-20t10:00:00z", "2026-11-20T10:00:00Z"],
  ["2026-11-20T10:00:00.9+01:00", "2026-11-20T09:00:00Z"],
  ["2026-11-20T10:00:00 01:00", "2026-11-20T09:00:00Z"],
  ["2026-11-20T23:59:59-00:30", "2026-11-21T00:29:59Z"],
  ["2026-11-20", "2026-11-20T23:59:59Z"],
  ["2026-11-28", "2026-11-28T12:00:00Z"],
  ["2026-11-28T12:00:59Z", "2026-11-28T12:00:00Z"],
  ["1969-12-31", "1970-01-01T00:00:00Z"],
])("%s is %s", (text, time) => {
  expect(parseAsOf(text, now)).toBe(Date.parse(time) / 1_000);
});

test.each([
  "2026-11-20T24:00:00Z",
  "2026-11-20T10:60:00Z",
  "2026-11-20T10:00:00+24:00",
  "2026-11-31",
  "2026-02-29T00:00:00Z",
  "2026-11-20T10:00Z",
  "2026-11-20T10:00:00",
  "20261120",
  "",
])("%j is no time", (text) => {
  expect(parseAsOf(text, now)).toBe("invalid");
});

test.each(["2026-11-29", "2026-11-28T12:01:01Z"])("%s is in the future", (text) => {
  expect(parseAsOf(text, now)).toBe("future");
});
