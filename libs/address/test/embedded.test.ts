/** IPv4 inside IPv6, by the examples of the RFCs. */

import { expect, test } from "@jest/globals";
import { type Address, embeddedIpv4, formatAddress, parseAddress } from "../src/index.ts";

test.each([
  ["mapped", "::ffff:192.0.2.1", "192.0.2.1"],
  ["mapped, in hexadecimal", "::ffff:ffff:ffff", "255.255.255.255"],
  ["6to4", "2002:c000:0201::1", "192.0.2.1"],
  ["6to4, the highest address", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "255.255.255.255"],
  ["Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.45"],
  ["NAT64", "64:ff9b::192.0.2.33", "192.0.2.33"],
  ["NAT64, the lowest address", "64:ff9b::", "0.0.0.0"],
])("%s: %s holds %s", (_, text, expected) => {
  const embedded = embeddedIpv4(parseAddress(text) as Address);
  expect(embedded).toEqual(parseAddress(expected));
  expect(formatAddress(embedded as Address)).toBe(expected);
});

test.each([
  "192.0.2.1",
  "::192.0.2.1",
  "::1:ffff:0:0",
  "::fffe:1.2.3.4",
  "64:ff9b:1::192.0.2.33",
  "64:ff9b::1:0:0",
  "64:ff9b:0:1::",
  "2003::1",
  "2001:1::",
  "2001:db8::1.2.3.4",
])("%s holds none", (text) => expect(embeddedIpv4(parseAddress(text) as Address)).toBeNull());
