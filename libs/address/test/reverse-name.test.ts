/** Reverse names, against a slow rule over written-out digits. */

import { expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { type Address, formatIpv4, parseAddress, reverseName } from "../src/index.ts";
import { word } from "./address-text.ts";

test.each([
  ["193.0.6.139", "139.6.0.193.in-addr.arpa"],
  ["255.254.1.0", "0.1.254.255.in-addr.arpa"],
  ["2001:db8::567:89ab", "b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"],
  ["::", `${"0.".repeat(32)}ip6.arpa`],
])("%s is named %s", (text, name) => expect(reverseName(parseAddress(text) as Address)).toBe(name));

test("digits stand last first, one a label", () => {
  fc.assert(
    fc.property(word, word, word, word, (w0, w1, w2, w3) => {
      const hex = [w0, w1, w2, w3].map((value) => value.toString(16).padStart(8, "0")).join("");
      expect(reverseName({ version: 6, w0, w1, w2, w3 })).toBe(`${[...hex].reverse().join(".")}.ip6.arpa`);
      expect(reverseName({ version: 4, w0, w1: 0, w2: 0, w3: 0 })).toBe(`${formatIpv4(w0).split(".").reverse().join(".")}.in-addr.arpa`);
    }),
    { seed: seed(3596), numRuns: runs(2_000) },
  );
});
