/** Ranges of addresses with the same facts, over the small world. */

import { expect, test } from "@jest/globals";
import { type Address, compareAddresses, formatAddress, nextAddress } from "@netfacts/address";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { AnswerNotes, addressRanges, ipRecord } from "../src/index.ts";
import { now } from "./support/checked.ts";

const generation = madeGeneration(world);
const ranges = [...addressRanges(generation)];

/** What a range has in common. */
function facts(address: Address): object {
  const { allocation, routing, network_type, location, special_purpose } = ipRecord(address, new AnswerNotes(generation, now));
  return { allocation, routing, network_type, location, special_purpose };
}

test("both ends of each range have the same facts, and no address is missing", () => {
  for (const [index, { first, last }] of ranges.entries()) {
    expect([formatAddress(first), facts(first)]).toEqual([formatAddress(first), facts(last)]);
    const next = ranges[index + 1];
    if (next !== undefined && next.first.version === last.version)
      expect(compareAddresses(nextAddress(last) as Address, next.first)).toBe(0);
  }
});

test("a range begins where an entry of any section does, and behind its end", () => {
  const starts = new Set(ranges.map(({ first }) => formatAddress(first)));
  // Of locations, inside one route, one allocation and one network type.
  for (const text of ["193.0.5.0", "193.0.6.0", "193.0.7.0", "11.1.2.0", "14.0.1.0", "20.0.2.0"])
    expect([text, starts.has(text)]).toEqual([text, true]);
});
