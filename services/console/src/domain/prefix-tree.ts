/** A tree of nested prefixes in reading order: each prefix is before those inside it. */

import { containsPrefix, type Prefix, parsePrefix } from "@netfacts/address";

export interface TreePrefix {
  readonly prefix: string;
}

export interface TreeRow<T> {
  readonly item: T;
  /** 1 for a prefix that nothing covers. */
  readonly level: number;
  /** Row of the nearest prefix that covers it; -1: none. */
  readonly parent: number;
  /** Its place among the rows with the same parent, from 1. */
  readonly place: number;
  children: number;
}

/** Grows at its end in amortised constant time for each prefix. */
export class PrefixTree<T extends TreePrefix> {
  readonly rows: TreeRow<T>[] = [];
  /** The last row and those that cover it, outermost first. */
  readonly #open: { readonly row: number; readonly prefix: Prefix }[] = [];
  #roots = 0;

  /** Adds prefixes in ascending order of network, then of length. Text that is not a prefix is left out. */
  add(items: readonly T[]): void {
    for (const item of items) {
      const reading = parsePrefix(item.prefix);
      if (!reading.ok) continue;
      while (true) {
        const last = this.#open.at(-1);
        if (last === undefined || containsPrefix(last.prefix, reading.prefix)) break;
        this.#open.pop();
      }
      const parent = this.#open.at(-1)?.row ?? -1;
      const above = this.rows[parent];
      const place = above === undefined ? ++this.#roots : ++above.children;
      this.#open.push({ row: this.rows.length, prefix: reading.prefix });
      this.rows.push({ item, level: this.#open.length, parent, place, children: 0 });
    }
  }

  /** Number of rows with the same parent, including this one. */
  siblings({ parent }: TreeRow<T>): number {
    return this.rows[parent]?.children ?? this.#roots;
  }

  /** Indexes of the rows that are not inside a folded one. Cost: one step for each row. */
  shown(folded: ReadonlySet<number>): number[] {
    const shown: number[] = [];
    let hiddenBelow = Number.POSITIVE_INFINITY;
    for (const [index, { level }] of this.rows.entries()) {
      if (level > hiddenBelow) continue;
      hiddenBelow = folded.has(index) ? level : Number.POSITIVE_INFINITY;
      shown.push(index);
    }
    return shown;
  }
}

/** Effect of a key in a tree: the row that becomes active (its place among the shown ones), or the row that is folded or unfolded. */
export type TreeMove = { readonly to: number } | { readonly fold: number } | { readonly unfold: number };

/**
 * Effects of the keys of a tree (WAI-ARIA, tree view).
 *
 * @param shown  as `PrefixTree.shown` returns it; `active` is a place in it.
 * @param pageRows  number of visible rows.
 * @returns null if the key does nothing.
 */
export function treeMove<T extends TreePrefix>(key: string, { tree, folded, shown, active, pageRows }: TreePosition<T>): TreeMove | null {
  const index = shown[active];
  const row = index === undefined ? undefined : tree.rows[index];
  if (index === undefined || row === undefined) return null;
  const to = (place: number) => ({ to: Math.max(0, Math.min(shown.length - 1, place)) });
  const isOpen = row.children > 0 && !folded.has(index);
  if (key === "ArrowDown") return to(active + 1);
  if (key === "ArrowUp") return to(active - 1);
  if (key === "PageDown") return to(active + pageRows);
  if (key === "PageUp") return to(active - pageRows);
  if (key === "Home") return to(0);
  if (key === "End") return to(shown.length - 1);
  if (key === "ArrowRight") {
    if (isOpen) return to(active + 1);
    return row.children > 0 ? { unfold: index } : null;
  }
  if (key !== "ArrowLeft") return null;
  if (isOpen) return { fold: index };
  return row.parent < 0 ? null : to(shown.lastIndexOf(row.parent, active));
}

export interface TreePosition<T extends TreePrefix> {
  readonly tree: PrefixTree<T>;
  readonly folded: ReadonlySet<number>;
  readonly shown: readonly number[];
  readonly active: number;
  readonly pageRows: number;
}
