/** What content that could not be read looks like. */

import { expect, test } from "@jest/globals";
import { isWebError, likenessOf } from "../../src/readers/likeness.ts";

const looksLike = (text: string) => likenessOf(Buffer.from(text, "latin1"))?.what ?? null;

test.each([
  "404 page not found",
  "429 Too Many Requests",
  "502 Bad Gateway",
  "HTTP/1.1 503 Service Unavailable",
  "Error: 403 - Forbidden",
  "403 Forbidden",
  "Access Denied.",
  "error code: 1015",
])("%j is an error message of a web server", (line) => {
  expect(isWebError(line)).toBe(true);
  expect(looksLike(`${line}\r\n`)).toBe("an error message of a web server");
});

test("a line takes no processor time for its blanks, and may hold the line separator of Unicode", () => {
  const before = process.cpuUsage();
  expect(isWebError(`error${" ".repeat(20_000)}\u2028x`)).toBe(false);
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  expect(isWebError("404 page not found\u2028more")).toBe(true);
});

test.each([
  ["404 NET-SERVICES, US\n", "format autnums"],
  ["AS403 FORBIDDEN-NET\n", "format autnums"],
  ["404\tpage not found\n", "format name-list"],
  ["12 records were found\n", null],
  ["one\rtwo", "text whose lines end with CR alone; use LF"],
  ["one\r", null],
  ["one\rtwo\r\n", null],
  ["\x00one\rtwo", null],
  ["one\rtwo\rthree\n", "text whose lines end with CR alone; use LF"],
  ["one\ntwo\rthree\rfour\n", null],
  ['{"ip":"192.0.2.1"}\r{"ip":"192.0.2.2"}\r', "text whose lines end with CR alone; use LF"],
  ['{"items": [\r{},\r{}\r]}', "a JSON document"],
  ["1\0,\0", "UTF-16 text; save it as UTF-8"],
  ["\x001\0,", "UTF-16 text; save it as UTF-8"],
  ["1\0,a", null],
])("%j looks like %j", (text, what) => {
  expect(looksLike(text)).toBe(what);
});
