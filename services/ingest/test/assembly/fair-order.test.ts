/** Room for geofeeds, against hosts that take one unit each in turn. */

import { expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { inFairOrder } from "../../src/assembly/fair-order.ts";

const feed = (host: string, name: string, weight: number) => ({ url: `https://${host}/${name}`, weight });
const names = (items: readonly { readonly url: string }[]) => items.map(({ url }) => url.replace("https://", ""));

test("small geofeeds of a large host go before large ones of others, and the largest hosts' largest come last", () => {
  const items = [
    feed("greedy", "1", 400),
    feed("greedy", "2", 400),
    feed("shared", "c", 300),
    feed("shared", "a", 10),
    feed("own", "b", 390),
  ];
  expect(names(inFairOrder(items))).toEqual(["shared/a", "shared/c", "own/b", "greedy/1", "greedy/2"]);
});

test("the room of many equal geofeeds is shared equally by their hosts, however many each has", () => {
  const world = fc.record({ counts: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }), room: fc.nat(40) });
  fc.assert(
    fc.property(world, ({ counts, room }) => {
      const items = counts.flatMap((count, host) => Array.from({ length: count }, (_, at) => feed(`h${host}`, `${at}`, 1)));
      const taken = inFairOrder(items).slice(0, room);
      const expected = counts.map(() => 0);
      for (let left = room, wasGiven = true; wasGiven; ) {
        wasGiven = false;
        for (const [host, count] of counts.entries()) {
          if (left === 0 || expected[host] === count) continue;
          expected[host] = (expected[host] as number) + 1;
          left--;
          wasGiven = true;
        }
      }
      expect(counts.map((_, host) => taken.filter(({ url }) => url.startsWith(`https://h${host}/`)).length)).toEqual(expected);
    }),
    { seed: seed(20), numRuns: runs(300) },
  );
});
