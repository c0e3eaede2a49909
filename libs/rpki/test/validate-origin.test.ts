/** Origin validation: the cases that the RFCs and our semantics name, and every route of random tables by the linear rule. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix, type Prefix, parsePrefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { originStates, stateWords, type Vrp, VrpSet, validateOrigin } from "../src/index.ts";
import { anyRoute, vrpList } from "./arbitraries.ts";
import { ByLengthRule } from "./by-length-rule.ts";
import { linearRule } from "./linear-rule.ts";

const prefix = (text: string): Prefix => {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(text);
  return reading.prefix;
};
/** `10.0.0.0/8-24 AS1` */
const vrp = (text: string): Vrp => {
  const [, block = "", maxLength, asn] = /^(\S+?)(?:-(\d+))? AS(\d+)$/.exec(text) ?? [];
  const own = prefix(block);
  return { asn: Number(asn), prefix: own, maxLength: Number(maxLength ?? own.length), ta: "ripe", expiresAt: null, loose: false };
};
const text = ({ prefix: own, maxLength, asn }: Vrp) => `${formatPrefix(own)}-${maxLength} AS${asn}`;

function verdict(vrps: string[], route: string, origin: number | null) {
  const set = VrpSet.from(vrps.map(vrp));
  const { state, reason, matched, unmatchedAs, unmatchedLength } = validateOrigin(set, prefix(route), origin);
  expect(stateWords(set.originState(prefix(route), origin))).toEqual({ state, reason });
  return {
    state: reason === null ? state : `${state}: ${reason}`,
    matched: matched.map(text),
    unmatchedAs: unmatchedAs.map(text),
    unmatchedLength: unmatchedLength.map(text),
  };
}

describe("a route", () => {
  test.each([
    ["that nothing covers is not found", ["10.0.0.0/8 AS1"], "11.0.0.0/8", 1, "not-found"],
    ["that is less specific than every VRP is not found", ["10.0.0.0/8-24 AS1"], "10.0.0.0/7", 1, "not-found"],
    ["of the VRP's own prefix and AS is valid", ["10.0.0.0/8 AS1"], "10.0.0.0/8", 1, "valid"],
    ["as long as the max length is valid", ["10.0.0.0/8-24 AS1"], "10.1.2.0/24", 1, "valid"],
    ["longer than the max length is invalid for its length", ["10.0.0.0/8-24 AS1"], "10.1.2.0/25", 1, "invalid: length"],
    ["too long and of another AS is invalid for its length", ["10.0.0.0/8-24 AS1"], "10.1.2.0/25", 2, "invalid: length"],
    ["of another AS is invalid for its AS", ["10.0.0.0/8 AS1"], "10.0.0.0/8", 2, "invalid: as"],
    [
      "that one VRP calls too long and another gives to another AS is invalid for its AS",
      ["10.0.0.0/8 AS1", "10.0.0.0/9-16 AS2"],
      "10.0.0.0/16",
      1,
      "invalid: as",
    ],
    [
      "is valid by a less specific VRP, though a more specific one does not match",
      ["10.0.0.0/8-16 AS1", "10.0.0.0/16 AS2"],
      "10.0.0.0/16",
      1,
      "valid",
    ],
    [
      "is valid by one of several VRPs of one prefix",
      ["10.0.0.0/8 AS1", "10.0.0.0/8-16 AS2", "10.0.0.0/8-24 AS3"],
      "10.0.0.0/16",
      2,
      "valid",
    ],
    ["under AS 0 is invalid for its AS", ["10.0.0.0/8-32 AS0"], "10.0.0.0/8", 1, "invalid: as"],
    ["of AS 0 under AS 0 is invalid: AS 0 never matches", ["10.0.0.0/8-32 AS0"], "10.0.0.0/8", 0, "invalid: as"],
    ["longer than AS 0 allows is invalid for its length", ["10.0.0.0/8 AS0"], "10.0.0.0/9", 0, "invalid: length"],
    ["is valid beside AS 0", ["10.0.0.0/8-32 AS0", "10.0.0.0/8 AS1"], "10.0.0.0/8", 1, "valid"],
    ["that ends in an AS_SET is invalid when a VRP covers it", ["10.0.0.0/8 AS1"], "10.0.0.0/8", null, "invalid: as"],
    ["that ends in an AS_SET is invalid under AS 0", ["10.0.0.0/8 AS0"], "10.0.0.0/8", null, "invalid: as"],
    ["that ends in an AS_SET is not found when none covers it", ["10.0.0.0/8 AS1"], "11.0.0.0/8", null, "not-found"],
    ["of 0.0.0.0/0 is covered by 0.0.0.0/0 only", ["0.0.0.0/0 AS1", "0.0.0.0/1 AS2"], "0.0.0.0/0", 1, "valid"],
    ["to a host is valid by a VRP of everything", ["0.0.0.0/0-32 AS1"], "255.255.255.255/32", 1, "valid"],
    ["to a host is invalid one bit short", ["0.0.0.0/0-31 AS1"], "255.255.255.255/32", 1, "invalid: length"],
    ["to an IPv4 host is valid by its own VRP", ["192.0.2.1/32 AS1"], "192.0.2.1/32", 1, "valid"],
    ["to an IPv6 host is valid by its own VRP", ["2001:db8::1/128 AS1"], "2001:db8::1/128", 1, "valid"],
    ["to an IPv6 host is valid by a VRP of everything", ["::/0-128 AS1"], "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128", 1, "valid"],
    ["to an IPv6 host is invalid one bit short", ["2001:db8::/32-127 AS1"], "2001:db8::1/128", 1, "invalid: length"],
    ["of IPv6 is not covered by IPv4", ["0.0.0.0/0-32 AS1"], "::/0", 1, "not-found"],
    ["of IPv4 is not covered by IPv6", ["::/0-128 AS1"], "0.0.0.0/0", 1, "not-found"],
    ["of the last AS number is valid by it", ["10.0.0.0/8 AS4294967295"], "10.0.0.0/8", 4_294_967_295, "valid"],
  ])("%s", (_, vrps, route, origin, state) => {
    expect(verdict(vrps, route, origin).state).toBe(state);
  });

  test("gets every covering VRP in the list that tells its reason, ascending", () => {
    const vrps = [
      "10.0.0.0/16-24 AS3",
      "10.0.0.0/8 AS1",
      "10.0.0.0/16-24 AS2",
      "10.0.0.0/16-20 AS2",
      "10.0.0.0/8-32 AS0",
      "10.0.0.0/24 AS3",
      "10.0.0.0/25 AS2",
      "10.1.0.0/16 AS2",
    ];
    expect(verdict(vrps, "10.0.0.0/24", 2)).toEqual({
      state: "valid",
      matched: ["10.0.0.0/16-24 AS2"],
      unmatchedAs: ["10.0.0.0/8-32 AS0", "10.0.0.0/16-24 AS3", "10.0.0.0/24-24 AS3"],
      unmatchedLength: ["10.0.0.0/8-8 AS1", "10.0.0.0/16-20 AS2"],
    });
  });
});

test("validates every route of a random table as the linear rule does", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(vrpList(), fc.array(anyRoute, { minLength: 1, maxLength: 12 }), (vrps, routes) => {
      const set = VrpSet.from(vrps);
      // Stands in for the linear rule on full tables.
      const byLength = new ByLengthRule(vrps);
      for (const { prefix: own, origin } of routes) {
        const expected = linearRule(vrps, own, origin);
        expect(stateWords(byLength.state(own, origin ?? 0))).toEqual({ state: expected.state, reason: expected.reason });
        expect(validateOrigin(set, own, origin)).toEqual(expected);
        expect(stateWords(set.originState(own, origin))).toEqual({ state: expected.state, reason: expected.reason });
        seen.add(`${own.version} ${expected.state} ${expected.reason} ${origin === null ? "set" : ""}`);
      }
    }),
    { seed: seed(6811), numRuns: runs(2_000) },
  );
  // Each family meets each verdict, of an AS and, where it can be, of an AS_SET; or the table tests little.
  expect([...seen].sort()).toEqual(
    [4, 6].flatMap((version) =>
      [
        "invalid as ",
        "invalid as set",
        "invalid length ",
        "invalid length set",
        "not-found null ",
        "not-found null set",
        "valid null ",
      ].map((rest) => `${version} ${rest}`),
    ),
  );
});

test("state numbers, which files may hold, do not change", () => {
  expect(originStates).toEqual({ notFound: 0, valid: 1, invalidAs: 2, invalidLength: 3 });
});
