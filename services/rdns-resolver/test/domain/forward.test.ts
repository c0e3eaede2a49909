/** Whether names lead back. */

import { expect, test } from "@jest/globals";
import { addressesMax, confirm, forwardConfirmed } from "../../src/domain/forward.ts";

const open = () => false;

test("a name leads back when the address is among its own", () => {
  const addresses = ["193.0.6.138", "193.0.6.139"];
  expect(confirm("193.0.6.139", { status: "ok", addresses }, open)).toEqual({ status: "ok", confirmed: true, addresses });
  expect(confirm("193.0.6.140", { status: "ok", addresses }, open)).toEqual({ status: "ok", confirmed: false, addresses });
});

test.each([
  ["nxdomain", false],
  ["nodata", false],
  ["servfail", null],
  ["refused", null],
  ["timeout", null],
] as const)("%s confirms %s", (status, confirmed) => {
  expect(confirm("193.0.6.139", { status, addresses: [] }, open)).toEqual({ status, confirmed, addresses: [] });
});

test("of many addresses some are shown, and that of the question always", () => {
  const addresses = Array.from({ length: 100 }, (_, index) => `193.0.7.${100 + index}`);
  const { confirmed, addresses: shown } = confirm("193.0.7.190", { status: "ok", addresses }, open);
  expect(confirmed).toBe(true);
  expect(shown).toHaveLength(addressesMax);
  expect(shown).toContain("193.0.7.190");
});

test("addresses ascend by number, IPv4 first", () => {
  const addresses = ["2001:db8::10", "2001:db8::9", "192.0.2.10", "192.0.2.9", "::1"];
  expect(confirm("192.0.2.9", { status: "ok", addresses }, open).addresses).toEqual([
    "192.0.2.9",
    "192.0.2.10",
    "::1",
    "2001:db8::9",
    "2001:db8::10",
  ]);
});

test("the address of the question takes no other's place while there is room, secret as it may be", () => {
  const addresses = ["10.1.2.3", "192.0.2.1", "192.0.2.2"];
  expect(confirm("10.1.2.3", { status: "ok", addresses }, (address) => address.startsWith("10."))).toEqual({
    status: "ok",
    confirmed: true,
    addresses,
  });
});

test("secret addresses are not shown, and still answer the question", () => {
  const finding = { status: "ok" as const, addresses: ["10.1.2.3"] };
  expect(confirm("193.0.6.139", finding, (address) => address.startsWith("10."))).toEqual({
    status: "ok",
    confirmed: false,
    addresses: [],
  });
});

test.each<[string, (boolean | null | undefined)[], boolean | null]>([
  ["no name", [], null],
  ["one that does", [null, false, undefined, true], true],
  ["none that does", [false, false], false],
  ["none that is known to", [false, null], null],
  ["one that was not looked up", [false, undefined], null],
])("%s", (_, names, expected) => {
  const confirmations = names.map((confirmed) => (confirmed === undefined ? null : { confirmed }));
  expect(forwardConfirmed(confirmations)).toBe(expected);
});
