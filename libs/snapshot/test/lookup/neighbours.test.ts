/** Neighbours of an AS: what two indexes over pairs answer, against a look at every pair. */

import { describe, expect, test } from "@jest/globals";
import { PrefixTrie } from "@netfacts/prefix-trie";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { linkSeen, type Neighbour, RouteTable, routesFormat } from "../../src/index.ts";
import { type MadeLink, madeRoutes } from "../support/made-sections.ts";

function tableOf(links?: readonly MadeLink[]): RouteTable {
  const columns = madeRoutes([], links);
  const prefixes = {
    ipv4: { address: columns.v4_address, length: columns.v4_length },
    ipv6: { words: columns.v6_words, length: columns.v6_length },
  };
  return new RouteTable({ columns, trie: PrefixTrie.build(prefixes) });
}

const { ipv4, ipv6, within } = linkSeen;

/** Only what the sentence on positions says, pair by pair. */
function slowNeighbours(links: readonly MadeLink[], asn: number): Neighbour[] {
  const others = [...new Set(links.flatMap(([left, right]) => (left === asn ? [right] : right === asn ? [left] : [])))];
  return others
    .sort((a, b) => a - b)
    .map((other) => {
      const left = links.find((link) => link[0] === other && link[1] === asn);
      const right = links.find((link) => link[0] === asn && link[1] === other);
      const [pathsLeft, pathsRight] = [left?.[2] ?? 0, right?.[2] ?? 0];
      const onlyAsPeer = left === undefined || (left[3] & within) === 0;
      const seen = (left?.[3] ?? 0) | (right?.[3] ?? 0);
      let position: Neighbour["position"] = pathsLeft >= pathsRight ? "left" : "right";
      if (onlyAsPeer) position = right === undefined ? "uncertain" : "right";
      return { asn: other, position, pathsLeft, pathsRight, ipv4: (seen & ipv4) !== 0, ipv6: (seen & ipv6) !== 0 };
    });
}

test("the neighbours of every AS are those of a look at every pair", () => {
  const number = fc.constantFrom(0, 1, 2, 3, 64_500, 4_200_000_000, 4_294_967_295);
  const link = fc.tuple(number, number, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 7 }));
  const links = fc
    .uniqueArray(link, { selector: ([left, right]) => `${left} ${right}`, maxLength: 30 })
    .map((list) => list.filter(([left, right]) => left !== right));
  fc.assert(
    fc.property(links, (made) => {
      const table = tableOf(made);
      for (const asn of [0, 1, 2, 3, 5, 64_500, 64_501, 4_200_000_000, 4_294_967_295]) {
        const slow = slowNeighbours(made, asn);
        expect(table.neighboursOf(asn)).toEqual(slow);
        const of = (position: Neighbour["position"]) => slow.filter((one) => one.position === position).length;
        const sum = (paths: (one: Neighbour) => number) => slow.reduce((all, one) => all + paths(one), 0);
        const most = slow.toSorted((a, b) => b.pathsLeft + b.pathsRight - a.pathsLeft - a.pathsRight || a.asn - b.asn);
        for (const limit of [1, 2, 100])
          expect(table.summariseNeighbours(asn, limit)).toEqual({
            counts: { left: of("left"), right: of("right"), uncertain: of("uncertain") },
            pathsLeft: sum((one) => one.pathsLeft),
            pathsRight: sum((one) => one.pathsRight),
            most: most.slice(0, limit),
          });
      }
    }),
    { seed: seed(3333), numRuns: runs(500) },
  );
});

describe("the position of a neighbour", () => {
  const positionOf = (...links: MadeLink[]) =>
    tableOf(links)
      .neighboursOf(9)
      ?.map(({ asn, position }) => `${asn} ${position}`);

  test("is the side with more paths, left of a tie", () => {
    expect(positionOf([1, 9, 5, ipv4 | within], [9, 1, 4, ipv4])).toEqual(["1 left"]);
    expect(positionOf([1, 9, 5, ipv4 | within], [9, 1, 5, ipv4])).toEqual(["1 left"]);
    expect(positionOf([1, 9, 5, ipv4 | within], [9, 1, 6, ipv4])).toEqual(["1 right"]);
  });

  test("is uncertain where it was left only as a collector's own peer, and right where it was seen there as well", () => {
    expect(positionOf([1, 9, 5, ipv4])).toEqual(["1 uncertain"]);
    expect(positionOf([1, 9, 5, ipv4], [9, 1, 1, ipv4])).toEqual(["1 right"]);
  });
});

test("an AS that stands on no path has no neighbours; a section without pairs tells nobody's", () => {
  expect(tableOf([[1, 2, 1, ipv4]]).neighboursOf(3)).toEqual([]);
  expect(tableOf([]).neighboursOf(3)).toEqual([]);
  expect([tableOf().neighboursOf(3), tableOf().summariseNeighbours(3, 1)]).toEqual([null, null]);
  expect(routesFormat.optional).toContain("link_left");
});
