/** Operations keep their numbers: a gateway and a service of different versions must mean the same by them. */

import { expect, test } from "@jest/globals";
import { operationByCode, operations } from "../src/index.ts";

test("the numbers in frames never change their meaning", () => {
  const codes = Object.fromEntries(Object.entries(operations).map(([name, { code }]) => [name, code]));
  expect(codes).toEqual({ ip: 1, routing: 2, validity: 3, status: 4, asn: 5, prefix: 6, reverse_dns: 7 });
});

test("a number leads back to its operation, and an unknown one to none", () => {
  for (const { code, name } of Object.values(operations)) expect(operationByCode(code)).toBe(name);
  expect(operationByCode(0)).toBeNull();
  expect(operationByCode(255)).toBeNull();
});
