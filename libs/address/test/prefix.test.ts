/** Prefixes: text with its faults, masks, order and containment, against bit strings. */

import { isIP } from "node:net";
import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import {
  type Address,
  comparePrefixes,
  containsAddress,
  containsPrefix,
  firstAddress,
  formatPrefix,
  lastAddress,
  makePrefix,
  type Prefix,
  parseAddress,
  parsePrefix,
} from "../src/index.ts";
import { hostileText, ipv4Text, ipv6Text, word } from "./address-text.ts";

/** The address as a string of 0 and 1: slow, obvious. */
function bits({ version, w0, w1, w2, w3 }: Address): string {
  return (version === 4 ? [w0] : [w0, w1, w2, w3]).map((value) => value.toString(2).padStart(32, "0")).join("");
}
const prefixBits = (prefix: Prefix) => bits(prefix).slice(0, prefix.length);

/** Few distinct words, so that prefixes often contain one another. */
const fewWords = fc.oneof(word, fc.constantFrom(0, 0x8000_0000, 0xc000_0000, 0xffff_ffff));
const prefix: fc.Arbitrary<Prefix> = fc
  .tuple(fc.boolean(), fewWords, fewWords, fewWords, fewWords, fc.nat(128))
  .map(([six, w0, w1, w2, w3, length]) => (six ? makePrefix(6, w0, w1, w2, w3, length) : makePrefix(4, w0, 0, 0, 0, length % 33)));
const prefixText = fc.tuple(fc.oneof(ipv4Text, ipv6Text), fc.nat(130)).map(([text, length]) => `${text}/${length}`);

/** What `parsePrefix` has to say, from `net.isIP` and a pattern. */
function slowVerdict(text: string): "ok" | "host-bits" | "syntax" {
  const match = /^([^%/]+)\/(0|[1-9][0-9]{0,2})$/u.exec(text);
  const version = match?.[1] === undefined ? 0 : isIP(match[1]);
  const length = Number(match?.[2]);
  if (version === 0 || length > (version === 4 ? 32 : 128)) return "syntax";
  return bits(parseAddress(match?.[1] as string) as Address)
    .slice(length)
    .includes("1")
    ? "host-bits"
    : "ok";
}

describe("text", () => {
  test("is accepted, corrected or refused as the slow rule says, hostile text too", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(
        fc.oneof(prefixText, prefix.map(formatPrefix), hostileText(prefixText), hostileText(prefix.map(formatPrefix))),
        (text) => {
          const reading = parsePrefix(text);
          const verdict = reading.ok ? "ok" : reading.fault;
          seen.add(verdict);
          expect([text, verdict]).toEqual([text, slowVerdict(text)]);
          if (!reading.ok && reading.fault === "host-bits") {
            const [network, length] = text.split("/") as [string, string];
            const asked = bits(parseAddress(network) as Address);
            expect(bits(reading.corrected)).toBe(asked.slice(0, Number(length)).padEnd(asked.length, "0"));
            expect(reading.corrected.length).toBe(Number(length));
          }
        },
      ),
      { seed: seed(4632), numRuns: runs(30_000) },
    );
    expect(seen).toEqual(new Set(["ok", "host-bits", "syntax"]));
  });

  test("is read back as the same prefix", () => {
    fc.assert(
      fc.property(prefix, (value) => expect(parsePrefix(formatPrefix(value))).toEqual({ ok: true, prefix: value })),
      { seed: seed(24), numRuns: runs(5_000) },
    );
  });

  test.each([
    "",
    "/",
    "/8",
    "10.0.0.0",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/+8",
    "10.0.0.0/8 ",
    "10.0.0.0/255.0.0.0",
    "10/8",
    "::/129",
    "::/1e1",
    "fe80::%1/64",
    "10.0.0.0/٨",
    "10.0.0.0//8",
    "10.0.0.0/8/8",
  ])("refuses %j", (text) => expect(parsePrefix(text)).toEqual({ ok: false, fault: "syntax" }));

  test("tells the prefix that was meant when host bits are set", () => {
    const reading = parsePrefix("193.0.6.139/21");
    expect(reading.ok === false && reading.fault === "host-bits" && formatPrefix(reading.corrected)).toBe("193.0.0.0/21");
  });
});

describe("arithmetic", () => {
  test("masks, first and last address agree with bit strings", () => {
    fc.assert(
      fc.property(fc.boolean(), word, word, word, word, fc.nat(128), (six, w0, w1, w2, w3, anyLength) => {
        const address: Address = six ? { version: 6, w0, w1, w2, w3 } : { version: 4, w0, w1: 0, w2: 0, w3: 0 };
        const all = bits(address);
        const length = six ? anyLength : anyLength % 33;
        const made = makePrefix(address.version, w0, six ? w1 : 0, six ? w2 : 0, six ? w3 : 0, length);
        const network = all.slice(0, length);
        expect(bits(made)).toBe(network.padEnd(all.length, "0"));
        expect(bits(firstAddress(made))).toBe(network.padEnd(all.length, "0"));
        expect(bits(lastAddress(made))).toBe(network.padEnd(all.length, "1"));
      }),
      { seed: seed(33), numRuns: runs(10_000) },
    );
  });

  test("containment and order agree with bit strings", () => {
    fc.assert(
      fc.property(prefix, prefix, (a, b) => {
        const same = a.version === b.version;
        expect(containsAddress(a, firstAddress(b))).toBe(same && bits(b).startsWith(prefixBits(a)));
        expect(containsPrefix(a, b)).toBe(same && prefixBits(b).startsWith(prefixBits(a)));
        const key = (value: Prefix) => `${value.version}${bits(value)}${String(value.length).padStart(3, "0")}`;
        expect(Math.sign(comparePrefixes(a, b))).toBe(key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      }),
      { seed: seed(34), numRuns: runs(20_000) },
    );
  });

  test("0.0.0.0/0 holds every IPv4 address and no IPv6 one", () => {
    const everything = makePrefix(4, 0, 0, 0, 0, 0);
    expect(containsAddress(everything, parseAddress("255.255.255.255") as Address)).toBe(true);
    expect(containsAddress(everything, parseAddress("::") as Address)).toBe(false);
  });

  test.each([
    [4, 33],
    [4, -1],
    [6, 129],
    [6, 1.5],
    [6, Number.NaN],
  ] as const)("refuses a length that IPv%i does not have: %p", (version, length) => {
    expect(() => makePrefix(version, 0, 0, 0, 0, length)).toThrow(RangeError);
  });
});
