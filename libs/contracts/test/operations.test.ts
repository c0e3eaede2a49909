/** Operations keep their numbers: a gateway and a service of different versions must mean the same by them. */

import { expect, test } from "@jest/globals";
import { parseAddress, parsePrefix } from "@netfacts/address";
import { type LookupDescription, operationByCode, operations } from "../src/index.ts";

const all = Object.values(operations);

test("the numbers in frames never change their meaning", () => {
  const codes = Object.fromEntries(all.map(({ name, code }) => [name, code]));
  expect(codes).toEqual({
    ip: 1,
    routing: 2,
    validity: 3,
    status: 4,
    asn: 5,
    prefix: 6,
    reverse_dns: 7,
    asn_changes: 8,
    prefix_changes: 9,
    search: 10,
    asn_vrps: 11,
  });
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
    const inQuery = route.parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
    expect(inQuery.includes("cursor")).toBe(lists.length > 0);
    expect((route.lists ?? []).length > 0).toBe(listView !== null);
    if (batch === null) return;
    // An item has one `value`, which may be a prefix.
    const ofValue = batch.value === "network" ? ["network", "length"] : [batch.value];
    expect(inPath).toEqual(batch.value === null ? [] : ofValue);
    expect("value" in batch.members).toBe(batch.value !== null);
    expect(Object.keys(batch.members).filter((name) => name !== "value")).toEqual(inQuery.filter((name) => name !== "cursor"));
  },
);

test("a question costs what the tables of the documents say", () => {
  const ip = parseAddress("193.0.6.139") as NonNullable<ReturnType<typeof parseAddress>>;
  const routing = (moreSpecifics: boolean, upstreams: boolean, limit: number) =>
    operations.routing.units({ ip, moreSpecifics, upstreams, limit });
  const validity = operations.validity.units({ asn: 3_333, prefix: { ...ip, length: 21 } });
  expect([operations.ip.units({ ip }), operations.reverse_dns.units({ ip }), validity]).toEqual([1, 1, 1]);
  expect([routing(false, true, 1_000), routing(true, false, 100), routing(true, true, 1_000)]).toEqual([1, 1, 10]);
  const asn = (limit: number) => operations.asn.units({ asn: 3_333, family: null, rpki: null, aggregate: false, limit });
  expect([asn(1), asn(100), asn(101), asn(1_000)]).toEqual([1, 1, 2, 10]);
  const asnVrps = (limit: number) => operations.asn_vrps.units({ asn: 3_333, family: null, announced: null, loose: null, limit });
  expect([asnVrps(1), asnVrps(100), asnVrps(101), asnVrps(1_000)]).toEqual([1, 1, 2, 10]);
});

test.each([
  ["0.0.0.0/0", [3, 3, 6, 30]],
  ["10.0.0.0/8", [3, 3, 6, 30]],
  ["16.0.0.0/11", [3, 3, 6, 30]],
  ["16.0.0.0/12", [1, 1, 2, 10]],
  ["16.0.0.0/19", [1, 1, 2, 10]],
  ["16.0.0.0/20", [1, 1, 1, 1]],
  ["::/0", [3, 3, 6, 30]],
  ["2001::/23", [3, 3, 6, 30]],
  ["2001:600::/24", [1, 1, 2, 10]],
  ["2001:67c:2e0::/43", [1, 1, 2, 10]],
  ["2001:67c:2e0::/44", [1, 1, 1, 1]],
])("%s costs %j units with a limit of 1, 100, 101 and 1,000", (text, costs) => {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(`no prefix: ${text}`);
  expect([1, 100, 101, 1_000].map((limit) => operations.prefix.units({ prefix: reading.prefix, limit }))).toEqual(costs);
});
