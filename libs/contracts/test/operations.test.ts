/** Operations keep their numbers: a gateway and a service of different versions must mean the same by them. */

import { expect, test } from "@jest/globals";
import { type LookupDescription, operationByCode, operations } from "../src/index.ts";

const all = Object.values(operations);

test("the numbers in frames never change their meaning", () => {
  const codes = Object.fromEntries(all.map(({ name, code }) => [name, code]));
  expect(codes).toEqual({ ip: 1, routing: 2, validity: 3, status: 4, asn: 5, prefix: 6, reverse_dns: 7 });
});

test("a number leads back to its operation, and an unknown one to none", () => {
  for (const { code, name } of all) expect(operationByCode(code)).toBe(name);
  expect(operationByCode(0)).toBeNull();
  expect(operationByCode(255)).toBeNull();
});

test("an operation stands under its name, with a number that fits a byte and is its own", () => {
  expect(Object.entries(operations).filter(([name, described]) => described.name !== name)).toEqual([]);
  expect(new Set(all.map(({ code }) => code)).size).toBe(all.length);
  expect(all.filter(({ code }) => !Number.isInteger(code) || code < 1 || code > 255)).toEqual([]);
});

test.each(all.map(({ name, lookup, listView, lists }) => ({ name, lookup: lookup as LookupDescription | null, listView, lists })))(
  "$name: route, batch kind and lists agree",
  ({ lookup, listView, lists }) => {
    if (listView !== null) expect(lists).toContain(listView.list);
    if (lookup === null) return;
    const { route, batch } = lookup;
    const inPath = route.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
    expect([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)).toEqual(inPath);
    expect(batch.value === null ? [] : [batch.value]).toEqual(inPath.slice(0, 1));
    expect("value" in batch.members).toBe(batch.value !== null);
    const inQuery = route.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    expect(Object.keys(batch.members).filter((name) => name !== "value")).toEqual(inQuery.filter((name) => name !== "cursor"));
    expect(inQuery.includes("cursor")).toBe(lists.length > 0);
    expect((route.lists ?? []).length > 0).toBe(listView !== null);
  },
);
