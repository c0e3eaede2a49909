/** Local exceptions against the rule of RFC 8416 §4, said VRP by VRP. */

import { expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix, makePrefix } from "@netfacts/address";
import type { Vrp } from "@netfacts/rpki";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { applySlurm, refuseOverlap, type SlurmFile } from "../../src/assembly/slurm.ts";
import type { PrefixFilter } from "../../src/readers/slurm.ts";

const prefix = fc
  .record({ version: fc.constantFrom<4 | 6>(4, 6), length: fc.integer({ min: 6, max: 12 }), bits: fc.nat(7) })
  .map(({ version, length, bits }) =>
    makePrefix(version, ((version === 4 ? 0x0b00_0000 : 0x2a00_0000) | (bits << 20)) >>> 0, 0, 0, 0, length),
  );
const asn = fc.nat(3);
const vrp = fc
  .record({ asn, prefix, more: fc.nat(2) })
  .map(({ more, ...rest }): Vrp => ({ ...rest, maxLength: rest.prefix.length + more, ta: "ripe", expiresAt: 99, loose: false }));
const filter = fc.oneof(
  fc.record<PrefixFilter>({ prefix, asn: fc.constant(null) }),
  fc.record<PrefixFilter>({ prefix: fc.constant(null), asn }),
  fc.record<PrefixFilter>({ prefix, asn }),
);
const key = ({ prefix: covered, maxLength, asn: origin }: Vrp) => `${formatPrefix(covered)}-${maxLength} AS${origin}`;
const slurmOf = (filters: PrefixFilter[], assertions: Vrp[], file = "local.json"): SlurmFile => ({
  file,
  exceptions: { filters, assertions },
});
const asserted = (one: Vrp): Vrp => ({ ...one, ta: "slurm", expiresAt: null });

test("takes out every VRP that a filter matches, and then adds the assertions", () => {
  let out = 0;
  fc.assert(
    fc.property(
      fc.array(vrp, { maxLength: 12 }),
      fc.array(filter, { maxLength: 4 }),
      fc.array(vrp, { maxLength: 3 }),
      (vrps, filters, added) => {
        const assertions = added.map(asserted);
        const kept = vrps.filter(
          (one) =>
            !filters.some(
              (only) => (only.prefix === null || containsPrefix(only.prefix, one.prefix)) && (only.asn === null || only.asn === one.asn),
            ),
        );
        const applied = applySlurm(vrps, [slurmOf(filters, assertions)]);
        const expected = [...kept.filter((one) => !assertions.some((other) => key(other) === key(one))), ...assertions];
        expect([...applied.vrps]).toEqual(expected);
        const different = (list: readonly Vrp[]) => new Set(list.map(key)).size;
        expect(applied.filtered()).toBe(different(vrps) - different(kept));
        expect(applied.added()).toBe(different([...kept, ...assertions]) - different(kept));
        out += applied.filtered();
      },
    ),
    { seed: seed(8416), numRuns: runs(2_000) },
  );
  expect(out).toBeGreaterThan(runs(2_000) / 2);
});

test("an assertion survives the filter that would match it: filters come first", () => {
  const one: Vrp = { asn: 1, prefix: makePrefix(4, 0x0b00_0000, 0, 0, 0, 8), maxLength: 8, ta: "ripe", expiresAt: 5, loose: false };
  expect([...applySlurm([one], [slurmOf([{ prefix: null, asn: 1 }], [asserted(one)])]).vrps]).toEqual([asserted(one)]);
});

test("a file that speaks of the same addresses as another one is refused, naming both", () => {
  const [wide, narrow] = [makePrefix(4, 0x0b00_0000, 0, 0, 0, 8), makePrefix(4, 0x0b01_0000, 0, 0, 0, 16)];
  const first = slurmOf([{ prefix: wide, asn: null }], [], "first.json");
  const second = slurmOf([], [asserted({ asn: 1, prefix: narrow, maxLength: 16, ta: null, expiresAt: null, loose: false })], "second.json");
  const anyAddress = slurmOf([{ prefix: null, asn: 1 }], []);
  expect(() => refuseOverlap(second, [anyAddress, first])).toThrow("second.json: 11.1.0.0/16 overlaps 11.0.0.0/8 of first.json");
  expect(() => refuseOverlap(first, [second])).toThrow("first.json: 11.0.0.0/8 overlaps 11.1.0.0/16 of second.json");
  expect(() => refuseOverlap(anyAddress, [first])).not.toThrow();
  expect(() => refuseOverlap(second, [anyAddress])).not.toThrow();
});
