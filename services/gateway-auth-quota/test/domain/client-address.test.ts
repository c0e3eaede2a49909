/** One rule for IPv4-mapped addresses: rules, throttling and logs see the same client. */

import { expect, test } from "@jest/globals";
import { formatAddress, parseAddress } from "@netfacts/address";
import { plainAddress, sourceOf } from "../../src/domain/client-address.ts";

const text = (address: string): string | null => {
  const plain = plainAddress(address);
  return plain === null ? null : formatAddress(plain);
};

test.each([
  ["198.51.100.7", "198.51.100.7"],
  ["::ffff:198.51.100.7", "198.51.100.7"],
  ["::FFFF:c633:6407", "198.51.100.7"],
  // Other addresses that embed an IPv4 address stay as they are: they were routed by their own bits.
  ["::198.51.100.7", "::198.51.100.7"],
  ["64:ff9b::198.51.100.7", "64:ff9b::c633:6407"],
  ["2002:c633:6407::1", "2002:c633:6407::1"],
  ["::1:ffff:198.51.100.7", "::1:ffff:c633:6407"],
  ["2001:db8::1", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["FE80::1%enp0s31f6.100", "fe80::1"],
])("%s is %s", (address, plain) => {
  expect(text(address)).toBe(plain);
});

test("a text that is no address has none", () => {
  for (const address of ["", "unknown", "::ffff:198.51.100.256", "198.51.100.7:80", "198.51.100.7%eth0", "fe80::1%", "fe80::1%a%b"])
    expect(plainAddress(address)).toBeNull();
});

test("a source is an IPv4 /32 or an IPv6 /64, and unknown addresses share one", () => {
  const source = (address: string) => sourceOf(plainAddress(address));
  expect(source("::ffff:198.51.100.7")).toBe(source("198.51.100.7"));
  expect(source("198.51.100.8")).not.toBe(source("198.51.100.7"));
  expect(source("2001:db8::1")).toBe(source("2001:db8::ffff:1:2:3"));
  expect(source("2001:db8:0:1::1")).not.toBe(source("2001:db8::1"));
  expect(source("fe80::1%eth0")).toBe(source("fe80::2%eth0"));
  expect(source("fe80::1%eth0")).not.toBe("unknown");
  expect(sourceOf(parseAddress("nowhere"))).toBe("unknown");
});
