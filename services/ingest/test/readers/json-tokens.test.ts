/** The JSON tokenizer against JSON.parse: what it accepts, what it refuses and where, however the document is cut. */

import { describe, expect, jest, test } from "@jest/globals";
import { pick, seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { type JsonSink, JsonSyntaxError, JsonTokenizer, jsonDepthMax, jsonTokenBytesMax } from "../../src/readers/json-tokens.ts";
import { mutated } from "./mutations.ts";

/** Builds the value again, as JSON.parse would. */
class Builder implements JsonSink {
  value: unknown;
  readonly #open: { container: unknown[] | Record<string, unknown>; key: string }[] = [];

  #put(value: unknown): void {
    const top = this.#open.at(-1);
    if (top === undefined) this.value = value;
    else if (Array.isArray(top.container)) top.container.push(value);
    else top.container[top.key] = value;
  }
  #enter(container: unknown[] | Record<string, unknown>): void {
    this.#put(container);
    this.#open.push({ container, key: "" });
  }
  beginObject(): void {
    this.#enter({});
  }
  beginArray(): void {
    this.#enter([]);
  }
  endObject(): void {
    this.#open.pop();
  }
  endArray(): void {
    this.#open.pop();
  }
  key(bytes: Uint8Array, start: number, end: number, plain: boolean): void {
    const top = this.#open.at(-1);
    if (top !== undefined) top.key = text(bytes, start, end, plain);
  }
  string(bytes: Uint8Array, start: number, end: number, plain: boolean): void {
    this.#put(text(bytes, start, end, plain));
  }
  number(bytes: Uint8Array, start: number, end: number): void {
    this.#put(Number(text(bytes, start, end, true)));
  }
  literal(value: true | false | null): void {
    this.#put(value);
  }
}

function text(bytes: Uint8Array, start: number, end: number, plain: boolean): string {
  const raw = Buffer.from(bytes.subarray(start, end)).toString("utf8");
  return plain ? raw : (JSON.parse(`"${raw}"`) as string);
}

/** The value in JSON, or the error. */
function tokenized(bytes: Uint8Array, pieceBytes: number): string | JsonSyntaxError {
  const builder = new Builder();
  const tokens = new JsonTokenizer(builder);
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) tokens.feed(Uint8Array.from(bytes.subarray(at, at + pieceBytes)));
    tokens.finish();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  return JSON.stringify(builder.value);
}

/** The same from JSON.parse of the same bytes; null where it refuses. */
function parsed(bytes: Uint8Array): string | null {
  try {
    return JSON.stringify(JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)));
  } catch {
    return null;
  }
}

const accepted = [
  "null",
  " true ",
  "[]",
  "{}",
  "[[],{}]",
  "0",
  "-0",
  "-0.5e+10",
  "1E9",
  '""',
  '"\\ud800"',
  '"\\u00e9 é 😀"',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
  '{"a":1,"a":2}',
  "\t[1 ,\r\n2]\n",
  '"\u007f"',
];
const refused = [
  "",
  " ",
  "nul",
  "nulll",
  "True",
  "[",
  "]",
  "{",
  "}",
  "[1,]",
  "[,1]",
  "[1 2]",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  "{1:2}",
  "{a:1}",
  '{"a":1 "b":2}',
  "[1]]",
  "[1}",
  '{"a":1]',
  "01",
  "-",
  "-01",
  "1.",
  ".1",
  "1e",
  "1e+",
  "+1",
  "0x1",
  "1_0",
  "NaN",
  "Infinity",
  '"',
  '"\\',
  '"\\u12',
  '"\\u12g4"',
  '"\\x41"',
  '"\n"',
  '"\u0000"',
  "'a'",
  "[1]x",
  "1 2",
  "// a\n1",
  "[1]\u00a0",
  "\v1",
];

describe("as JSON.parse does", () => {
  test.each(accepted)("accepts %j", (document) => {
    const bytes = Buffer.from(document);
    for (const piece of [1, 2, 3, 100]) expect(tokenized(bytes, piece)).toBe(parsed(bytes));
  });

  test.each(refused)("refuses %j", (document) => {
    const bytes = Buffer.from(document);
    expect(parsed(bytes)).toBe(null);
    const errors = [1, 2, 3, 100].map((piece) => tokenized(bytes, piece) as JsonSyntaxError);
    for (const error of errors) {
      expect(error).toBeInstanceOf(JsonSyntaxError);
      expect([error.offset, error.message]).toEqual([errors[0]?.offset, errors[0]?.message]);
    }
  });
});

test.each([
  ['{"a": 1, "b": tru3}', 17, 'not JSON: "3" where a value is expected'],
  ["", 0, "the document is empty"],
  [" \n", 2, "the document is empty"],
  ["\n<!DOCTYPE html>", 1, 'not JSON: "<" where a value is expected'],
  ['{"a": <', 6, 'not JSON: "<" where a value is expected'],
  ['{"a": [1, 2', 11, 'the document ends where "," or the end of the object or array is expected'],
  ['{"a": "un', 9, "the document ends within a token"],
  ['["a\tb"]', 3, "a control character within a string"],
  ["[007]", 1, "a number with a leading zero"],
  ["[1] [2]", 4, 'not JSON: "[" where the end of the document is expected'],
])("tells where %s breaks", (document, offset, message) => {
  const error = tokenized(Buffer.from(document), 5) as JsonSyntaxError;
  expect([error.offset, error.message]).toEqual([offset, message]);
});

test("refuses bytes in a string that are not UTF-8", () => {
  const bytes = Buffer.concat([Buffer.from('["a", "'), Uint8Array.of(0xc3, 0x28), Buffer.from('"]')]);
  expect(tokenized(bytes, 3)).toMatchObject({ offset: 6, message: "the string is not UTF-8" });
});

test("bounds nesting and the length of a token", () => {
  expect(tokenized(Buffer.from("[".repeat(jsonDepthMax) + "]".repeat(jsonDepthMax)), 7)).toBe(
    "[".repeat(jsonDepthMax) + "]".repeat(jsonDepthMax),
  );
  expect(tokenized(Buffer.from("[".repeat(jsonDepthMax + 1)), 7)).toMatchObject({ offset: jsonDepthMax, message: "nested deeper than 64" });
  expect(tokenized(Buffer.from(`["${"x".repeat(jsonTokenBytesMax + 10)}`), 65_536)).toMatchObject({
    offset: 1,
    message: "the token is longer than 1048576 bytes",
  });
});

test("a token of 3,000 letters in pieces of one byte is not copied with each of them", () => {
  const document = JSON.stringify(["x".repeat(3_000), "y"]);
  const copies = [jest.spyOn(Buffer, "concat"), jest.spyOn(Buffer, "allocUnsafeSlow"), jest.spyOn(Uint8Array, "from")];
  try {
    expect(tokenized(Buffer.from(document), 1)).toBe(document);
    const made = copies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    // Each piece is made by such a call here. The room for the token doubles.
    expect(made - document.length).toBeLessThan(20);
  } finally {
    for (const copy of copies) copy.mockRestore();
  }
});

const documents = runs(10_000);

test(`agrees with JSON.parse on ${documents} damaged documents, cut anywhere`, () => {
  const anyToken = /"(?:[^"\\]|\\.)*"|[-+\w.]+|[[\]{},:]/g;
  const scalarToken = /"(?:[^"\\]|\\.)*"|[-+\w.]+/g;
  const random = seeded(seed(8259));
  const sound =
    '{"metadata": {"buildtime": "2026-01-05T09:31:33Z", "n": [1, -2.5e3, 0, true, false, null]},\n "roas": [\n{ "asn": 1, "x": "\\u00e9\\n" },\n{ "é": {} }, []\n]}\n';
  const nasty = [...accepted, ...refused, '"', "\\", "e", ".", "\u0001", "\u00ff"];
  const outcomes = { accepted: 0, refused: 0 };
  for (let round = 0; round < documents; round++) {
    const bytes = mutated(random, sound, random(4) === 0 ? anyToken : scalarToken, nasty);
    const expected = parsed(bytes);
    const actual = tokenized(bytes, 1 + random(pick(random, [3, 50, 500])));
    if ((typeof actual === "string" ? actual : null) !== expected)
      throw new Error(`${actual} instead of ${expected} for ${JSON.stringify(bytes.toString())}`);
    outcomes[expected === null ? "refused" : "accepted"]++;
  }
  expect(outcomes.accepted).toBeGreaterThan(documents / 10);
  expect(outcomes.refused).toBeGreaterThan(documents / 10);
});
