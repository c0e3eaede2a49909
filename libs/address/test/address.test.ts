/** Address text: what is accepted, what it means, and how it is written. */

import { isIP, SocketAddress } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { IPv4, IPv6 } from "ip-num";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import {
  type Address,
  compareAddresses,
  formatAddress,
  formatIpv4,
  formatIpv6,
  nextAddress,
  parseAddress,
  parseIpv4,
} from "../src/index.ts";
import { hostileText, ipv4Text, ipv6Text, word } from "./address-text.ts";

const anyText = fc.oneof(ipv4Text, ipv6Text);
/** `net.isIP`, to which we add one rule: no zone ids. */
const isAddress = (text: string) => !text.includes("%") && isIP(text) !== 0;
const numberOf = ({ version, w0, w1, w2, w3 }: Address) =>
  version === 4 ? BigInt(w0) : (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);

describe("accepted text", () => {
  test("is what net.isIP accepts, for well-formed addresses", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect([text, isIP(text)]).toEqual([text, text.includes(":") ? 6 : 4]);
        expect(parseAddress(text)?.version).toBe(isIP(text));
      }),
      { seed: seed(4291), numRuns: runs(20_000) },
    );
  });

  test("is what net.isIP accepts, for hostile text", () => {
    let accepted = 0;
    fc.assert(
      fc.property(hostileText(anyText), (text) => {
        if (isAddress(text)) accepted++;
        // Comparing by `expect` would take most of the time.
        if ((parseAddress(text) !== null) !== isAddress(text) || parseIpv4(text) >= 0 !== (isIP(text) === 4))
          expect(text).toBe("read as net.isIP does");
      }),
      { seed: seed(666), numRuns: runs(60_000) },
    );
    // Both verdicts must occur, or nothing was compared.
    expect(accepted).toBeGreaterThan(runs(60_000) / 60);
  });

  test("is exact over every short text of the characters that matter", () => {
    const characters = [..."01fg:. "];
    let texts = [""];
    for (let length = 1; length <= 6; length++) {
      texts = texts.flatMap((text) => characters.map((character) => text + character));
      for (const text of texts) if ((parseAddress(text) !== null) !== isAddress(text)) expect(text).toBe("read as net.isIP does");
    }
    expect(texts).toHaveLength(7 ** 6);
  });

  test.each([
    "",
    " ",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.00",
    "1..2.3",
    ".1.2.3",
    "1.2.3.",
    "1.2.3.4 ",
    " 1.2.3.4",
    "1.2.3.4\n",
    "1.2.3.4\0",
    "+1.2.3.4",
    "0x1.2.3.4",
    "16909060",
    "１.2.3.4",
    "1.2.3.٣",
    ":",
    ":::",
    "1:",
    ":1",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "1:2:3:4::5:6:7:8",
    "12345::",
    "g::",
    "::1.2.3",
    "::1.2.3.04",
    "1:2:3:4:5:6:7:1.2.3.4",
    "::1.2.3.4:5",
    "1.2.3.4::",
    "fe80::1%eth0",
    "::1%0",
    "[::1]",
    "::1/128",
    ":".repeat(100_000),
    "1".repeat(100_000),
  ])("refuses %j", (text) => {
    expect(parseAddress(text)).toBeNull();
    expect(parseIpv4(text)).toBe(-1);
  });
});

test("means the number that ip-num reads", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const address = parseAddress(text) as Address;
      const expected = address.version === 4 ? new IPv4(text) : new IPv6(text);
      expect([text, numberOf(address)]).toEqual([text, expected.getValue()]);
      if (address.version === 4) expect(parseIpv4(text)).toBe(address.w0);
    }),
    { seed: seed(1884), numRuns: runs(5_000) },
  );
});

describe("written text", () => {
  test("of IPv6 is what net.SocketAddress writes", () => {
    fc.assert(
      fc.property(word, word, word, word, (w0, w1, w2, w3) => {
        const groups = [w0, w1, w2, w3].flatMap((value) => [value >>> 16, value & 0xffff]);
        const plain = groups.map((value) => value.toString(16)).join(":");
        expect(formatIpv6(w0, w1, w2, w3)).toBe(new SocketAddress({ address: plain, family: "ipv6" }).address);
      }),
      { seed: seed(5952), numRuns: runs(20_000) },
    );
  });

  test("of IPv6 is what net.SocketAddress writes, wherever groups are zero", () => {
    for (const filling of [1, 0xffff, 0xabc]) {
      for (let zeros = 0; zeros < 256; zeros++) {
        const groups = Array.from({ length: 8 }, (_, index) => (zeros & (1 << index) ? 0 : filling));
        const plain = groups.map((value) => value.toString(16)).join(":");
        expect(formatAddress(parseAddress(plain) as Address)).toBe(new SocketAddress({ address: plain, family: "ipv6" }).address);
      }
    }
  });

  test.each([
    ["2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["::FFFF:192.0.2.1", "::ffff:192.0.2.1"],
    ["::ffff:c000:0201", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
    ["::1.2.3.4", "::1.2.3.4"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::1", "::1"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
  ])("of %s is %s", (text, expected) => {
    expect(formatAddress(parseAddress(text) as Address)).toBe(expected);
  });

  test("of IPv4 is the dotted quad, from signed and unsigned numbers", () => {
    fc.assert(
      fc.property(word, (value) => {
        const expected = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
        expect(formatIpv4(value)).toBe(expected);
        expect(formatIpv4(value | 0)).toBe(expected);
        expect(parseIpv4(expected)).toBe(value);
      }),
      { seed: seed(791), numRuns: runs(5_000) },
    );
  });

  test("is read back as the same address", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const address = parseAddress(text) as Address;
        expect(parseAddress(formatAddress(address))).toEqual(address);
      }),
      { seed: seed(5953), numRuns: runs(5_000) },
    );
  });
});

describe("order", () => {
  test("is by version, then number; the next address is one more", () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        const [a, b] = [parseAddress(left) as Address, parseAddress(right) as Address];
        const expected = a.version - b.version || (numberOf(a) < numberOf(b) ? -1 : numberOf(a) > numberOf(b) ? 1 : 0);
        expect(Math.sign(compareAddresses(a, b))).toBe(Math.sign(expected));
        const next = nextAddress(a);
        if (next !== null) expect(numberOf(next)).toBe(numberOf(a) + 1n);
      }),
      { seed: seed(7), numRuns: runs(5_000) },
    );
  });

  test.each([
    ["255.255.255.255", null],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", null],
    ["9.255.255.255", "10.0.0.0"],
    ["::ffff:ffff", "::1:0:0"],
    ["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"],
    ["0:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1::"],
  ])("the address after %s is %s", (text, expected) => {
    const next = nextAddress(parseAddress(text) as Address);
    expect(next && formatAddress(next)).toBe(expected);
  });
});
