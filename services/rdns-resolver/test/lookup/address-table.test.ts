/** The table by address against a `Map` by text, full enough for long runs of used slots, also over its end. */

import { expect, test } from "@jest/globals";
import { type Address, formatAddress } from "@netfacts/address";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { Addressed, AddressTable } from "../../src/lookup/address-table.ts";

/** Few addresses, so that they come again; some differ in their version or in their last word alone. */
function addressOf(number: number): Address {
  const w0 = (number * 0x9e37_79b1) >>> 0;
  const rest = { w1: 0, w2: 0, w3: 0 };
  switch (number % 3) {
    case 0:
      return { version: 4, w0, ...rest };
    case 1:
      return { version: 6, w0: ((number - 1) * 0x9e37_79b1) >>> 0, ...rest };
    default:
      return { version: 6, w0: 0xffff_ffff, ...rest, w3: number };
  }
}

test("has what was added and not deleted, at any fill", () => {
  // Up to 760 items fill 1,024 slots as far as they are filled; more of them let the table grow.
  const steps = fc.tuple(fc.constantFrom(40, 900, 4_000), fc.infiniteStream(fc.nat()));
  fc.assert(
    fc.property(steps, ([addresses, numbers]) => {
      const table = new AddressTable<Addressed>();
      const oracle = new Map<string, Addressed>();
      // Not by `expect`, which takes longer than all else.
      const isAsKnown = (address: Address) => table.find(address) === (oracle.get(formatAddress(address)) ?? null);
      let wrong = 0;
      for (const number of numbers.take(3 * addresses)) {
        const address = addressOf(number % addresses);
        const text = formatAddress(address);
        const known = oracle.get(text);
        if (!isAsKnown(address)) wrong += 1;
        if (known === undefined) {
          const item = new Addressed(address);
          table.add(item);
          oracle.set(text, item);
        } else {
          table.delete(known);
          oracle.delete(text);
        }
        if (!isAsKnown(address)) wrong += 1;
      }
      for (let number = 0; number < addresses; number++) if (!isAsKnown(addressOf(number))) wrong += 1;
      expect([wrong, table.size]).toEqual([0, oracle.size]);
    }),
    { seed: seed(1035), numRuns: runs(60) },
  );
});

test("items that come and go leave no slot in use", () => {
  const table = new AddressTable<Addressed>();
  for (let number = 0; number < 100_000; number++) {
    const item = new Addressed({ version: 4, w0: number, w1: 0, w2: 0, w3: 0 });
    table.add(item);
    if (number >= 700) table.delete(table.find({ version: 4, w0: number - 700, w1: 0, w2: 0, w3: 0 }) as Addressed);
  }
  expect(table.size).toBe(700);
});

test("addresses of the same hash are told apart", () => {
  // Of 300,000 hashes of 32 bits some ten meet another.
  const table = new AddressTable<Addressed>();
  const addresses = Array.from({ length: 300_000 }, (_, w3): Address => ({ version: 6, w0: 0x2001_0db8, w1: 0, w2: 0, w3 }));
  const items = addresses.map((address) => new Addressed(address));
  for (const item of items) table.add(item);
  expect(addresses.findIndex((address, index) => table.find(address) !== items[index])).toBe(-1);
});
