/** The tree of prefixes: what lies in what, what is folded away, and its keys. */

import { expect, test } from "@jest/globals";
import { comparePrefixes, containsPrefix, formatPrefix, makePrefix, type Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { PrefixTree, treeMove } from "../src/domain/prefix-tree.ts";

/** Few bits, so that prefixes often lie in one another. */
const prefixes = fc
  .uniqueArray(fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 6 })), {
    selector: ([bits, length]) => formatPrefix(makePrefix(4, bits << 26, 0, 0, 0, length)),
  })
  .map((pairs) => pairs.map(([bits, length]) => makePrefix(4, bits << 26, 0, 0, 0, length)).sort(comparePrefixes));

function treeOf(texts: readonly string[]): PrefixTree<{ readonly prefix: string }> {
  const tree = new PrefixTree<{ readonly prefix: string }>();
  tree.add(texts.map((prefix) => ({ prefix })));
  return tree;
}

test("the parent of a prefix is the longest one around it, also when the list comes in pages", () => {
  fc.assert(
    fc.property(prefixes, fc.nat(20), (sorted, cut) => {
      const tree = treeOf(sorted.slice(0, cut).map(formatPrefix));
      tree.add(sorted.slice(cut).map((prefix) => ({ prefix: formatPrefix(prefix) })));
      const around = (inner: Prefix) =>
        sorted.filter((outer) => outer.length < inner.length && containsPrefix(outer, inner)).sort((a, b) => a.length - b.length);
      const slow = sorted.map((prefix) => {
        const parent = around(prefix).at(-1);
        const siblings = sorted.filter((each) => around(each).at(-1) === parent);
        return {
          prefix: formatPrefix(prefix),
          parent: parent === undefined ? null : formatPrefix(parent),
          level: around(prefix).length + 1,
          place: siblings.indexOf(prefix) + 1,
          siblings: siblings.length,
          children: sorted.filter((each) => around(each).at(-1) === prefix).length,
        };
      });
      const fast = tree.rows.map((row) => ({
        prefix: row.item.prefix,
        parent: tree.rows[row.parent]?.item.prefix ?? null,
        level: row.level,
        place: row.place,
        siblings: tree.siblings(row),
        children: row.children,
      }));
      expect(fast).toEqual(slow);
    }),
    { numRuns: runs(1_000), seed: seed(1) },
  );
});

const texts = ["10.0.0.0/8", "10.0.0.0/16", "10.0.0.0/24", "10.0.1.0/24", "10.1.0.0/16", "2001:db8::/32", "2001:db8:1::/48"];

test("rows below a folded one are hidden, however deep", () => {
  const tree = treeOf([...texts, "not a prefix"]);
  expect(tree.rows.map(({ level }) => level)).toEqual([1, 2, 3, 3, 2, 1, 2]);
  expect(tree.shown(new Set())).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(tree.shown(new Set([1]))).toEqual([0, 1, 4, 5, 6]);
  expect(tree.shown(new Set([0, 1]))).toEqual([0, 5, 6]);
  expect(tree.shown(new Set([2]))).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("keys move in the tree, fold and unfold", () => {
  const tree = treeOf(texts);
  const folded = new Set([1]);
  const shown = tree.shown(folded);
  const moves = (active: number, ...keys: string[]) => keys.map((key) => treeMove(key, { tree, folded, shown, active, pageRows: 3 }));
  expect(moves(0, "ArrowDown", "ArrowUp", "End", "Home", "PageDown", "PageUp", "a")).toEqual([
    { to: 1 },
    { to: 0 },
    { to: 4 },
    { to: 0 },
    { to: 3 },
    { to: 0 },
    null,
  ]);
  expect(moves(0, "ArrowRight", "ArrowLeft")).toEqual([{ to: 1 }, { fold: 0 }]);
  // Folded: right unfolds, left leads to its parent.
  expect(moves(1, "ArrowRight", "ArrowLeft")).toEqual([{ unfold: 1 }, { to: 0 }]);
  // A leaf.
  expect(moves(4, "ArrowRight", "ArrowLeft", "ArrowDown")).toEqual([null, { to: 3 }, { to: 4 }]);
  expect(treeMove("ArrowDown", { tree: treeOf([]), folded, shown: [], active: 0, pageRows: 3 })).toBeNull();
});
