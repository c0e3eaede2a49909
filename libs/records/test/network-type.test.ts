/** Network types of addresses: random lists, prefixes and origins against a slow rule (docs/design/semantics.md#network-types). */

import { expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix, makePrefix, type Prefix } from "@netfacts/address";
import { type NetworkTypeRecord, type NetworkTypeStatement, networkTypesColumns } from "@netfacts/snapshot";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeProfiles, madeRoutes, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { ask } from "./support/checked.ts";

const operator = "operator:network-types";
const bases = [operator, "range-list:a", "range-list:b", "range-list:c"];

const statement: fc.Arbitrary<NetworkTypeStatement> = fc.record({
  types: fc.uniqueArray(fc.constantFrom("isp", "hosting", "vpn", "crawler"), { minLength: 1, maxLength: 3 }),
  confidence: fc.constantFrom(0, 0.5, 0.9, 1),
  basis: fc.constantFrom(...bases),
  provider: fc.constantFrom(null, "P"),
  region: fc.constantFrom(null, "r"),
  services: fc.subarray(["s", "t"]),
});
/** Inside 10.0.0.0/8 in few places, so that prefixes contain each other. */
const prefixes: fc.Arbitrary<Prefix> = fc
  .tuple(fc.constantFrom(8, 9, 16, 24, 32), fc.constantFrom(0, 1), fc.constantFrom(0, 7))
  .map(([length, middle, last]) => {
    const word = ((10 << 24) | (middle << 16) | last) >>> 0;
    return makePrefix(4, length === 32 ? word : (word & (-1 << (32 - length))) >>> 0, 0, 0, 0, length);
  });
const records: fc.Arbitrary<NetworkTypeRecord[]> = fc.array(
  fc.oneof(
    fc.record({ prefix: prefixes, statement }),
    fc.record({ asn: fc.constantFrom(1, 2), statement: statement.map((one) => ({ ...one, basis: operator })) }),
  ),
  { maxLength: 12 },
);
const profile = fc.option(
  fc.record({
    type: fc.constantFrom("nsp", "content"),
    basis: fc.constantFrom("peeringdb:net.info_type" as const, "operator:overrides" as const),
    confidence: fc.constantFrom(0.5, 0.8),
  }),
);

/** By walking every record for every address: the last of each basis and prefix, then the longest prefix of each basis, then the order. */
function slowTypes(
  said: readonly NetworkTypeRecord[],
  address: Prefix,
  origins: readonly number[],
  profiled: (asn: number) => object | null,
) {
  const items: object[] = [];
  const found: { prefix: Prefix; statement: NetworkTypeStatement }[] = [];
  for (const basis of bases) {
    let best: { prefix: Prefix; statement: NetworkTypeStatement } | null = null;
    for (const one of said) {
      if (!("prefix" in one) || one.statement.basis !== basis || !containsPrefix(one.prefix, address)) continue;
      if (best === null || one.prefix.length >= best.prefix.length) best = one;
    }
    if (best !== null) found.push(best);
  }
  const isBefore = (a: (typeof found)[number], b: (typeof found)[number]) => {
    if ((a.statement.basis === operator) !== (b.statement.basis === operator)) return a.statement.basis === operator;
    if (a.statement.confidence !== b.statement.confidence) return a.statement.confidence > b.statement.confidence;
    if (a.prefix.length !== b.prefix.length) return a.prefix.length > b.prefix.length;
    return a.statement.basis < b.statement.basis;
  };
  while (found.length > 0) {
    const first = found.reduce((best, one) => (isBefore(one, best) ? one : best));
    found.splice(found.indexOf(first), 1);
    const { types, ...rest } = first.statement;
    for (const type of types) items.push({ type, ...rest, prefix: formatPrefix(first.prefix), asn: null });
  }
  for (const asn of origins) {
    const last = said.findLast((one) => "asn" in one && one.asn === asn);
    const own = profiled(asn);
    const none = { provider: null, region: null, services: [], prefix: null, asn };
    if (last !== undefined)
      for (const type of last.statement.types) items.push({ ...last.statement, types: undefined, type, prefix: null, asn });
    if (own !== null) items.push({ ...own, ...none });
    if (last !== undefined || own !== null) break;
  }
  return items.slice(0, 16).map((item) => JSON.parse(JSON.stringify(item)));
}

test("the types of an address are those that a slow rule finds", () => {
  fc.assert(
    fc.property(records, fc.tuple(profile, profile), (said, profiles) => {
      const known = Object.fromEntries(profiles.flatMap((networkType, at) => (networkType === null ? [] : [[at + 1, { networkType }]])));
      const generation = madeGeneration({
        routes: madeRoutes([route("10.0.0.0/9", [1, 9], [2, 4])]),
        networkTypes: networkTypesColumns(said),
        profiles: madeProfiles(known),
      });
      const { ip, asn } = ask(generation);
      for (const text of ["10.0.0.0", "10.0.0.7", "10.1.0.0", "10.1.0.7", "10.200.0.1", "11.0.0.1"]) {
        const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
        const address = makePrefix(4, ((a << 24) | (b << 16) | (c << 8) | d) >>> 0, 0, 0, 0, 32);
        const origins = a === 10 && b < 128 ? [1, 2] : [];
        const { network_type, network_types } = ip(text);
        expect(network_types).toEqual(slowTypes(said, address, origins, (of) => known[of]?.networkType ?? null));
        const [first] = network_types;
        expect(network_type).toEqual(first === undefined ? null : { type: first.type, basis: first.basis, confidence: first.confidence });
      }
      for (const number of [1, 2, 3]) {
        const nowhere = makePrefix(4, 0, 0, 0, 0, 32);
        expect(asn(number).network_types).toEqual(slowTypes(said, nowhere, [number], (of) => known[of]?.networkType ?? null));
      }
    }),
    { seed: seed(14), numRuns: runs(300) },
  );
});

test("no answer has more than sixteen types", () => {
  const types = Array.from({ length: 8 }, (_, at) => `type_${at}`);
  const said = Array.from({ length: 30 }, (_, at) => ({
    prefix: makePrefix(4, 0x0a000000, 0, 0, 0, 8 + (at % 20)),
    statement: { types, confidence: 1, basis: `range-list:l${at}`, provider: null, region: null, services: [] },
  }));
  const { ip } = ask(madeGeneration({ networkTypes: networkTypesColumns(said) }));
  expect(ip("10.0.0.1").network_types).toHaveLength(16);
});
