/** ASPA records against a plain list: what is merged, found and kept. */

import { expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { type Aspa, AspaSet, encodeAspaColumns } from "../src/index.ts";

const asn = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constantFrom(0xffff_ffff, 23456));
const aspas = fc.array(
  fc.record<Aspa>({
    customer: asn,
    providers: fc.array(asn, { maxLength: 4 }),
    ta: fc.constantFrom("ripe", "arin", null),
    expiresAt: fc.constantFrom(null, 1, 50, 60, 0xffff_ffff),
  }),
  { maxLength: 12 },
);

/** The rules by sets of text: groups of one customer, in each the records of equal providers. */
function obvious(list: readonly Aspa[], customer: number): Aspa | null {
  const own = list.filter((one) => one.customer === customer);
  if (own.length === 0) return null;
  const keyOf = ({ providers }: Aspa) => [...new Set(providers)].sort((a, b) => a - b).join();
  const told = (times: (number | null)[]) => times.filter((time) => time !== null);
  const expiries = [...new Set(own.map(keyOf))].map((key) => {
    const times = told(own.filter((one) => keyOf(one) === key).map(({ expiresAt }) => expiresAt));
    return times.length === 0 ? null : Math.max(...times);
  });
  const anchors = new Set(own.map(({ ta }) => ta));
  return {
    customer,
    providers: [...new Set(own.flatMap(({ providers }) => providers))].sort((a, b) => a - b),
    ta: anchors.size === 1 ? (own[0]?.ta ?? null) : null,
    expiresAt: told(expiries).length === 0 ? null : Math.min(...told(expiries)),
  };
}

test("finds of every customer what a plain list of its records says, in whatever order they came", () => {
  fc.assert(
    fc.property(aspas, (list) => {
      const set = AspaSet.from(list);
      expect(AspaSet.from(list.toReversed()).columns).toEqual(set.columns);
      for (const customer of [0, 1, 2, 3, 4, 5, 6, 7, 23456, 0xffff_ffff]) {
        expect(set.lookupAspa(customer)).toEqual(obvious(list, customer));
      }
      expect(set.size).toBe(new Set(list.map(({ customer }) => customer)).size);
    }),
    { seed: seed(9582), numRuns: runs(1_000) },
  );
});

test("an ASPA of AS 0 alone says that there is no provider, which is not the same as no ASPA", () => {
  const set = AspaSet.from([{ customer: 39002, providers: [0], ta: null, expiresAt: null }]);
  expect(set.lookupAspa(39002)?.providers).toEqual([0]);
  expect(set.lookupAspa(39003)).toBeNull();
});

test.each([
  [-1, 1],
  [1, 2 ** 32],
  [1.5, 1],
])("refuses what is no AS number: customer %d, provider %d", (customer, provider) => {
  expect(() => encodeAspaColumns([{ customer, providers: [provider], ta: null, expiresAt: null }])).toThrow(RangeError);
});
