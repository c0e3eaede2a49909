/** Lists of addresses: what is added is what `parseAddress` reads and `formatAddress` writes. */

import { expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { AddressList, formatAddress, parseAddress } from "../src/index.ts";
import { hostileText, ipv4Text, ipv6Text } from "./address-text.ts";

const anyText = fc.oneof(ipv4Text, ipv6Text);

/** Adds to a list that holds another address already, and compares. */
function expectSame(list: AddressList, text: string): boolean {
  list.clear();
  list.add("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  const added = list.add(text);
  const address = parseAddress(text);
  if (added !== (address !== null)) expect(text).toBe("read as parseAddress does");
  if (address === null) return false;
  const same = formatAddress(list.at(1)) === formatAddress(address) && list.versions[1] === address.version;
  if (!same || list.texts[1] !== formatAddress(address))
    expect([text, list.at(1), list.texts[1]]).toEqual([text, address, formatAddress(address)]);
  return true;
}

test("text of any form is read as parseAddress reads it, and kept as formatAddress writes it", () => {
  const list = new AddressList();
  fc.assert(
    fc.property(anyText, (text) => {
      expect(expectSame(list, text)).toBe(true);
    }),
    { seed: seed(5952), numRuns: runs(20_000) },
  );
});

test("hostile text is refused where parseAddress refuses it", () => {
  const list = new AddressList();
  let accepted = 0;
  let refused = 0;
  fc.assert(
    fc.property(hostileText(anyText), (text) => {
      if (expectSame(list, text)) accepted++;
      else refused++;
    }),
    { seed: seed(667), numRuns: runs(40_000) },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(runs(40_000) / 40);
});

test("every form of zero groups is told from the canonical one", () => {
  const list = new AddressList();
  let canonical = 0;
  for (let zeros = 0; zeros < 256; zeros++) {
    const groups = Array.from({ length: 8 }, (_, index) => ((zeros >> index) & 1 ? "0" : index === 5 ? "ffff" : "a1"));
    const texts = [groups.join(":")];
    for (let from = 0; from < 8; from++)
      for (let to = from + 1; to <= 8; to++)
        if (groups.slice(from, to).every((group) => group === "0"))
          texts.push(`${groups.slice(0, from).join(":")}::${groups.slice(to).join(":")}`);
    for (const text of texts) {
      expect(expectSame(list, text)).toBe(true);
      if (list.texts[1] === text) canonical++;
    }
  }
  // One form of each, but of those that end in dotted-quad form: ::a1:x and ::ffff:x:x, where x is either.
  expect(canonical).toBe(256 - 2 - 4);
});

test("a text in canonical form is kept, not written anew; capital letters and leading zeros are written anew", () => {
  const list = new AddressList();
  for (const text of ["192.0.2.1", "2001:db8::1", "2001:DB8::1", "2001:db8::01", "::ffff:192.0.2.1", "0::"])
    expect(list.add(text)).toBe(true);
  expect(list.texts).toEqual(["192.0.2.1", "2001:db8::1", "2001:db8::1", "2001:db8::1", "::ffff:192.0.2.1", "::"]);
});

test("grows, and is empty again after clear", () => {
  const list = new AddressList();
  for (let number = 0; number < 1_000; number++) expect(list.add(`10.0.${number >> 8}.${number & 255}`)).toBe(true);
  expect(list.count).toBe(1_000);
  expect(Array.from({ length: 1_000 }, (_, index) => list.at(index).w0 - 0x0a00_0000)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index),
  );
  expect(list.add("10.0.0.256")).toBe(false);
  expect(list.count).toBe(1_000);
  list.clear();
  expect(list.count).toBe(0);
});
