/** What the console decides without asking: what a text is, how it is shown, and the sentence of each page. */

import { expect, test } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { classify, pathOf } from "../src/domain/classify.ts";
import { countryName, duration, endOfWait } from "../src/domain/format.ts";
import { plainText } from "../src/domain/plain-text.ts";
import {
  asSentence,
  dataSentence,
  ipSentence,
  judged,
  listed,
  originWords,
  prefixSentence,
  reverseDnsSentence,
  validitySentence,
} from "../src/domain/sentences.ts";
import { callOf, curl, typescript } from "../src/domain/snippets.ts";

test("a text in the search field is an address, a prefix, an AS number or none of them", () => {
  const paths = Object.fromEntries(
    [" 193.0.6.139 ", "2001:DB8::1", "[2001:db8::1]", "193.0.0.0/21", "193.0.6.139/21", "AS3333", "as 3333", "3333", "AS1.10"].map(
      (text) => {
        const subject = classify(text);
        return [text, subject === null ? null : pathOf(subject)];
      },
    ),
  );
  expect(paths).toEqual({
    " 193.0.6.139 ": "/address/193.0.6.139",
    "2001:DB8::1": "/address/2001:db8::1",
    "[2001:db8::1]": "/address/2001:db8::1",
    "193.0.0.0/21": "/prefix/193.0.0.0/21",
    "193.0.6.139/21": "/prefix/193.0.0.0/21",
    AS3333: "/as/AS3333",
    "as 3333": "/as/AS3333",
    "3333": "/as/AS3333",
    "AS1.10": "/as/AS65546",
  });
  // As they are copied out of a log or a sentence.
  const logged = ["193.0.6.139:443", "193.0.6.139,", '"193.0.6.139"', "193.0.6.139.", "(193.0.6.139:443)", "<193.0.6.139>;"];
  for (const text of [...logged, "`193.0.6.139`", "“193.0.6.139”", "„193.0.6.139“", "»193.0.6.139«", "« 193.0.6.139 »"])
    expect([text, classify(text)]).toEqual([text, { kind: "address", text: "193.0.6.139" }]);
  expect(classify("[2001:db8::1]:443")).toEqual({ kind: "address", text: "2001:db8::1" });
  expect(classify("2001:db8::")).toEqual({ kind: "address", text: "2001:db8::" });
  for (const text of ["", "ripe", "193.0.6.139:x", "193.0.6", "1.2.3.4/33", "AS", "AS4294967296", "<script>", "a/b"])
    expect([text, classify(text)]).toEqual([text, null]);
});

test("text from outside loses what moves, hides or breaks other text, and has a bounded length", () => {
  expect(plainText("a\u202eb\u2066c\u200bd\ne\u0000f\u{e0041}g\ud800")).toBe("a�b�c�d�e�f�g�");
  expect(plainText("Société Générale, ירושלים, 東京 🇳🇱")).toBe("Société Générale, ירושלים, 東京 🇳🇱");
  expect(plainText("x".repeat(10_000))).toBe(`${"x".repeat(300)}…`);
  expect(plainText("😀".repeat(400))).toBe(`${"😀".repeat(300)}…`);
});

test("each page has its answer in a sentence", () => {
  expect(ipSentence(examples.ip)).toBe("193.0.6.139 is in 193.0.0.0/21, announced by AS3333 RIPE-NCC-AS, RPKI valid.");
  expect(prefixSentence(examples.prefix)).toBe("193.0.0.0/21 is announced by AS3333 RIPE-NCC-AS, RPKI valid.");
  expect(asSentence(examples.asn)).toBe("AS3333 RIPE-NCC-AS (Netherlands) announces 10 prefixes, none of them RPKI invalid.");
  expect(validitySentence(examples.validity)).toBe("AS3333 may announce 193.0.0.0/21: a ROA allows it.");
  expect(reverseDnsSentence(examples.reverse_dns)).toBe("193.0.6.139 is www.ripe.net, and a name leads back to it.");
});

test("what is not known is told apart from what is not there", () => {
  const { ip, prefix, asn, validity, reverse_dns } = examples;
  const unannounced = { ...ip.routing, announced: false, prefix: null, origins: [] };
  expect(ipSentence({ ...ip, routing: unannounced })).toBe("193.0.6.139 is not announced. It is assigned by RIPE NCC.");
  expect(ipSentence({ ...ip, routing: unannounced, allocation: null })).toBe("193.0.6.139 is not announced, and no registry lists it.");
  expect(ipSentence({ ...ip, routing: { ...unannounced, announced: null } })).toBe(
    "Whether 193.0.6.139 is announced is unknown: the loaded routes are not a full table.",
  );
  expect(ipSentence({ ...ip, rpki: { ...ip.rpki, state: null } })).toContain("RPKI state unknown");
  const without = { ...ip.meta, data: {} };
  expect(prefixSentence({ ...prefix, announced: null, meta: without })).toContain("is unknown: no routes are loaded");
  expect(prefixSentence({ ...prefix, announced: null })).toContain("is unknown: the loaded routes are not a full table");
  expect(asSentence({ ...asn, announced: null, meta: without })).toContain("is unknown: no routes are loaded");
  expect(validitySentence({ ...validity, rpki: { ...validity.rpki, state: null } })).toContain("is unknown: no usable ROAs");
  expect(reverseDnsSentence({ ...reverse_dns, status: "nxdomain", names: [] })).toBe("193.0.6.139 has no name in DNS.");
  expect(reverseDnsSentence({ ...reverse_dns, status: "timeout", names: [] })).toBe(
    "The name of 193.0.6.139 is unknown: DNS answered “timeout”.",
  );
});

test("what is loaded is one sentence", () => {
  expect([dataSentence(0, []), dataSentence(1, []), dataSentence(8, ["routes", "vrps"])]).toEqual([
    "No data are loaded yet.",
    "1 section of data is loaded, and it is not stale.",
    "8 sections of data are loaded; stale: routes and vrps.",
  ]);
});

test("a code that names no country stays a code", () => {
  expect(["NL", "EU", "ZZ", "AP", "nl", "\u202eNL"].map(countryName)).toEqual(["Netherlands", "European Union", "ZZ", "AP", "nl", "�NL"]);
});

test("an AS whose prefixes are known in one family only is told to announce those", () => {
  const { asn } = examples;
  const counts = (ipv4: number | null, ipv6: number | null) => ({
    ...asn,
    counts: {
      ...asn.counts,
      ipv4: { ...asn.counts?.ipv4, prefixes: ipv4 },
      ipv6: { ...asn.counts?.ipv6, prefixes: ipv6 },
    } as typeof asn.counts,
  });
  expect([counts(8, null), counts(null, null), counts(0, 0), counts(0, null)].map(asSentence)).toEqual([
    "AS3333 RIPE-NCC-AS (Netherlands) announces 8 prefixes (IPv6: unknown), none of them RPKI invalid.",
    "AS3333 RIPE-NCC-AS (Netherlands) announces an unknown number of prefixes.",
    "AS3333 RIPE-NCC-AS (Netherlands) announces no prefix.",
    "AS3333 RIPE-NCC-AS (Netherlands) announces 0 prefixes (IPv6: unknown), none of them RPKI invalid.",
  ]);
});

test("the reason of an invalid route is in words that say nothing about ROAs which it does not depend on", () => {
  const { validity, ip } = examples;
  const clause = (reason: "as" | "length") => ipSentence({ ...ip, rpki: { ...ip.rpki, state: "invalid", reason } });
  expect(clause("as")).toMatch(/, RPKI invalid: no ROA allows this origin at this length\.$/);
  expect(clause("length")).toMatch(/, RPKI invalid: more specific than any ROA allows\.$/);
  const invalid = (reason: "as" | "length") => validitySentence({ ...validity, rpki: { ...validity.rpki, state: "invalid", reason } });
  expect(invalid("as")).toBe("AS3333 must not announce 193.0.0.0/21: the ROAs that allow this length are not for this AS.");
  expect(invalid("length")).toBe("AS3333 must not announce 193.0.0.0/21: the ROAs allow only shorter prefixes.");
});

test("RPKI judges AS_SETs and an unknown AS, too", () => {
  const [origin] = examples.prefix.origins ?? [];
  if (origin === undefined) throw new Error("the example has no origin");
  const { visibility, rpki } = origin;
  const set = { as_set: [64_500, 64_501], visibility, rpki };
  const names = (asns: readonly (number | null)[], sets: readonly (typeof set)[]) =>
    judged({ origins: asns.map((asn) => ({ ...origin, asn })), as_set_origins: sets }).map(({ name }) => name);
  expect(names([], [set])).toEqual(["AS_SET {64500,64501}"]);
  expect(names([3333, null], [set])).toEqual(["AS3333", "unknown AS", "AS_SET {64500,64501}"]);
  expect(judged({ origins: null, as_set_origins: null })).toEqual([]);
});

test("lists and times are short", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]].map(listed)).toEqual([
    "",
    "a",
    "a and b",
    "a, b and c",
    "a, b, c and 2 more",
  ]);
  expect([0, 1, 59, 60, 3_599, 7_200, 86_400, 90 * 86_400, 800 * 86_400].map(duration)).toEqual([
    "0 seconds",
    "1 second",
    "59 seconds",
    "1 minute",
    "59 minutes",
    "2 hours",
    "1 day",
    "3 months",
    "2 years",
  ]);
});

test("the request for a terminal and for a program holds no key, and text cannot leave its quotes", () => {
  const lookup = { path: "/api/v1/ip/1'2", call: callOf("ip", 'a"b') };
  expect(curl("http://127.0.0.1:8080", lookup)).toBe(
    `curl -sS -H "Authorization: Bearer $NETFACTS_KEY" 'http://127.0.0.1:8080/api/v1/ip/1%272'`,
  );
  expect(typescript("http://127.0.0.1:8080", lookup)).toContain('await netfacts.ip("a\\"b");');
});

test("origins in a list are words, also an AS_SET and an unknown AS", () => {
  expect(originWords({ origins: [3333], as_set_origins: [[64_500, 64_501]] })).toBe("AS3333 and {64500,64501}");
  expect(originWords({ origins: [null], as_set_origins: [] })).toBe("unknown AS");
});

test("a wait ends at the minute that was meant, also when the answer took some seconds to arrive", () => {
  const midnight = Date.UTC(2026, 11, 1);
  const shown = (takenMs: number) => endOfWait(115_200, midnight - 115_200_000 + takenMs);
  expect([0, 900, 4_900].map(shown)).toEqual(Array(3).fill("2026-12-01 00:00 UTC"));
  expect(shown(6_000)).toBe("2026-12-01 00:01 UTC");
});
