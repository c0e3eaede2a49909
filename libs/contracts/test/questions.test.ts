/** Canonical queries: one text per question, and no other text is read. */

import { describe, expect, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import {
  decodeQuestion,
  encodeQuestion,
  listLimitMax,
  type OperationName,
  operations,
  QuestionSyntaxError,
  type Questions,
  searchText,
} from "../src/index.ts";

const word = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 0xffff_ffff, 1));
const ipv4 = word.map((w0) => ({ version: 4 as const, w0, w1: 0, w2: 0, w3: 0 }));
const ipv6 = fc.tuple(word, word, word, word).map(([w0, w1, w2, w3]) => ({ version: 6 as const, w0, w1, w2, w3 }));
const ip = fc.oneof(ipv4, ipv6);
const prefix = fc
  .tuple(ip, fc.nat(128))
  .map(([a, length]) => makePrefix(a.version, a.w0, a.w1, a.w2, a.w3, a.version === 4 ? length % 33 : length));
const asn = word;
const limit = fc.integer({ min: 1, max: listLimitMax });

/** Any but the halves of surrogate pairs. */
const letter = fc
  .nat(0x10ffff)
  .map((codePoint) => String.fromCodePoint(codePoint))
  .filter((text) => text.isWellFormed());
const either = fc.constantFrom(true, false, null);

const questions: { [O in OperationName]: fc.Arbitrary<Questions[O]> } = {
  search: fc.record({
    q: fc
      .string({
        unit: fc.oneof(fc.constantFrom("|", " ", "%", "ß", "\u202e", "\u0000"), letter),
        maxLength: 100,
      })
      .map((text) => searchText(text))
      .filter((text) => text !== null),
    limit,
  }),
  ip: fc.record({ ip }),
  reverse_dns: fc.record({ ip }),
  routing: fc.record({ ip, moreSpecifics: fc.boolean(), upstreams: fc.boolean(), limit }),
  validity: fc.record({ asn, prefix }),
  asn: fc.record({
    asn,
    family: fc.constantFrom(4, 6, null),
    rpki: fc.constantFrom("valid", "invalid", "not-found", null),
    aggregate: fc.boolean(),
    limit,
  }),
  prefix: fc.record({ prefix, limit }),
  asn_vrps: fc.record({ asn, family: fc.constantFrom(4, 6, null), announced: either, loose: either, limit }),
  asn_changes: fc.record({ asn, limit }),
  prefix_changes: fc.record({ prefix, limit }),
  status: fc.constant({}),
};

const names = Object.keys(operations) as OperationName[];
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(names)("operation %s", (op) => {
  test("reads back every question that it writes", () => {
    fc.assert(
      fc.property(questions[op] as fc.Arbitrary<Questions[typeof op]>, (question) => {
        expect(plain(decodeQuestion(op, encodeQuestion(op, question)))).toEqual(plain(question));
      }),
      { seed: seed(3), numRuns: runs(300) },
    );
  });

  test("reads no text but the one that it writes", () => {
    const mutation = fc.record({ at: fc.nat(60), insert: fc.constantFrom("", "0", "|", " ", "-", "F", ":", "/"), drop: fc.nat(2) });
    fc.assert(
      fc.property(questions[op] as fc.Arbitrary<Questions[typeof op]>, mutation, (question, { at, insert, drop }) => {
        const text = encodeQuestion(op, question);
        const mutant = text.slice(0, at) + insert + text.slice(at + drop);
        let reread: string;
        try {
          reread = encodeQuestion(op, decodeQuestion(op, mutant));
        } catch (error) {
          expect(error).toBeInstanceOf(QuestionSyntaxError);
          return;
        }
        expect(reread).toBe(mutant);
      }),
      { seed: seed(3), numRuns: runs(500) },
    );
  });

  test("fits the query field of a message", () => {
    fc.assert(
      fc.property(questions[op] as fc.Arbitrary<Questions[typeof op]>, (question) => {
        expect(encodeQuestion(op, question)).toMatch(op === "search" ? /^[!-~]{0,1210}$/ : /^[!-~]{0,100}$/);
      }),
      { seed: seed(3), numRuns: runs(300) },
    );
  });
});

test("refuses texts that mean a question but are not its canonical form", () => {
  const refused: [OperationName, string][] = [
    ["ip", "2001:DB8::1"],
    ["ip", "2001:db8:0::1"],
    ["ip", "193.0.6.139|"],
    ["ip", ""],
    ["routing", "193.0.6.139"],
    ["routing", "193.0.6.139|-|-|0100"],
    ["routing", "193.0.6.139|-|-|1001"],
    ["routing", "193.0.6.139|-|-|0"],
    ["routing", "193.0.6.139|upstreams|-|1"],
    ["validity", "AS3333|193.0.0.0/21"],
    ["validity", "4294967296|193.0.0.0/21"],
    ["validity", "3333|193.0.6.139/21"],
    ["asn", "3333|5|-|-|1"],
    ["asn", "3333|-|unknown|-|1"],
    ["prefix", "193.0.0.0/21"],
    ["status", "-"],
    ["search", "|10"],
    ["search", "%20ripe|10"],
    ["search", "%52ipe|10"],
    ["search", "%ff|10"],
    ["search", `${"a".repeat(101)}|10`],
  ];
  for (const [op, text] of refused) expect(() => decodeQuestion(op, text)).toThrow(QuestionSyntaxError);
});
