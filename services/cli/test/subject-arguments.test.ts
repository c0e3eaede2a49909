/** Arguments that are no address, prefix or AS number: the error says why, and what was probably meant. */

import { expect, test } from "@jest/globals";
import { addressArgument, asnArgument, prefixArgument, prefixOrAsnArgument } from "../src/subject-arguments.ts";

test.each([
  [addressArgument, "fe80::1%eth0", "Expected an IPv4 or IPv6 address: zone ids are only meaningful on one machine; did you mean fe80::1?"],
  [addressArgument, "AS3333", "Expected an IPv4 or IPv6 address: it is an AS number; did you mean `netfacts lookup asn AS3333`?"],
  [addressArgument, "::g", "Expected an IPv4 or IPv6 address."],
  [prefixArgument, "193.0.6.139/21", "2001:db8::/32: it has bits set beyond its length; did you mean 193.0.0.0/21?"],
  [prefixArgument, "193.0.0.0/33", "the length of an IPv4 prefix is a decimal number, 0 to 32."],
  [asnArgument, "4294967296", "Expected an AS number, such as 3333, AS3333 or 1.10: the maximum is 4294967295."],
  [prefixOrAsnArgument, "193.0.6.139", "it is an IP address; a prefix has a length; did you mean 193.0.6.139/32?"],
  [prefixOrAsnArgument, "193.0.6.139/21", "did you mean 193.0.0.0/21?"],
  [prefixOrAsnArgument, "AS03333", "it has leading zeros; did you mean AS3333?"],
])("%p of %j: %s", (argument, text, message) => {
  expect(() => argument(text)).toThrow(message);
});
