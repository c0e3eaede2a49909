/** The prefixes related to a prefix as a tree. The tree as a whole has the focus; its keys are those of WAI-ARIA's tree view. */

import type { PrefixRecord, RelatedPrefix } from "@netfacts/client";
import { useMemo, useRef, useState } from "preact/hooks";
import { count, counted, share } from "../domain/format.ts";
import { lengthOf } from "../domain/prefix-length.ts";
import { PrefixTree, type TreeRow, treeMove } from "../domain/prefix-tree.ts";
import { originWords } from "../domain/sentences.ts";
import { isPrinting } from "../printing.ts";
import { navigate } from "../router.ts";
import { texts } from "../texts.ts";
import { Card, PrefixLink, UnknownRouting } from "./basics.tsx";
import { Further } from "./further.tsx";
import type { Pages } from "./pages.ts";
import { RpkiBadge } from "./rpki.tsx";
import { LeftOut, rowPlace, rowsInSight, useRowsInSight } from "./virtual-list.tsx";

interface Node extends RelatedPrefix {
  /** Whether it is the prefix of the page. */
  readonly isThis: boolean;
  /** Null: not known. */
  readonly isAnnounced: boolean | null;
}

interface PrefixTreeProps {
  readonly record: PrefixRecord;
  /** The prefixes inside it. */
  readonly pages: Pages<RelatedPrefix>;
}

export function PrefixTreeCard({ record, pages }: PrefixTreeProps) {
  const { announced, less_specifics, more_specifics } = record;
  const tree = useTree(record, pages.items);
  const around = less_specifics?.length ?? 0;
  const inside = more_specifics.count;
  return (
    <Card title={texts.cards.tree} wide>
      {around === 0 && pages.items.length === 0 ? (
        announced === null ? (
          <UnknownRouting record={record} />
        ) : (
          <p>{texts.tree.alone}</p>
        )
      ) : (
        <>
          <p>
            {texts.tree.counts(counted(around, "prefix", "prefixes"), inside === null ? texts.unknown : count(inside))}
            {more_specifics.announced_share === null ? "" : ` ${texts.tree.share(share(more_specifics.announced_share))}`}
          </p>
          <Tree tree={tree} rows={tree.rows.length} isWhole={!pages.isCut} />
          <LeftOut rows={tree.rows.length} />
          <Further pages={pages} total={inside} />
        </>
      )}
    </Card>
  );
}

/** The tree of a record, which grows with the items of its further pages. */
function useTree(record: PrefixRecord, items: readonly RelatedPrefix[]): PrefixTree<Node> {
  const built = useRef<{ readonly record: PrefixRecord; readonly tree: PrefixTree<Node>; added: number }>(null);
  if (built.current?.record !== record) {
    const tree = new PrefixTree<Node>();
    tree.add([...(record.less_specifics ?? [])].sort((a, b) => lengthOf(a.prefix) - lengthOf(b.prefix)).map(nodeOf));
    const isAnnounced = record.announced;
    tree.add([
      {
        prefix: record.prefix,
        ...shortOrigins(record),
        rpki_state: isAnnounced ? record.rpki.state : null,
        visibility_ratio: isAnnounced ? (record.visibility?.ratio ?? null) : null,
        isThis: true,
        isAnnounced,
      },
    ]);
    built.current = { record, tree, added: 0 };
  }
  const now = built.current;
  now.tree.add(items.slice(now.added).map(nodeOf));
  now.added = items.length;
  return now.tree;
}

function nodeOf(related: RelatedPrefix): Node {
  return { ...related, isThis: false, isAnnounced: true };
}

/** The origins of the record as those of a related prefix. */
export function shortOrigins({ origins, as_set_origins }: PrefixRecord): Pick<RelatedPrefix, "origins" | "as_set_origins"> {
  return { origins: (origins ?? []).map(({ asn }) => asn), as_set_origins: (as_set_origins ?? []).map(({ as_set }) => as_set) };
}

/** @param rows  changes when the tree has grown. */
function Tree({ tree, rows, isWhole }: { readonly tree: PrefixTree<Node>; readonly rows: number; readonly isWhole: boolean }) {
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const shown = useMemo(() => tree.shown(folded), [tree, rows, folded]);
  const [chosen, setChosen] = useState<number | null>(null);
  const start = useMemo(() => tree.rows.findIndex(({ item }) => item.isThis), [tree]);
  // If the active row is inside a folded row, the folded row becomes active.
  const active = Math.max(
    0,
    shown.findLastIndex((index) => index <= (chosen ?? start)),
  );
  const { first, last, height, fullHeight, scrolling, onScroll, reveal } = useRowsInSight<HTMLDivElement>(shown.length);

  const setIsFolded = (index: number, isFolded: boolean) => {
    const next = new Set(folded);
    if (isFolded) next.add(index);
    else next.delete(index);
    setFolded(next);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isRightToLeft = scrolling.current !== null && getComputedStyle(scrolling.current).direction === "rtl";
    const key = isRightToLeft ? (mirrored[event.key] ?? event.key) : event.key;
    const row = tree.rows[shown[active] ?? -1];
    if (key === "Enter" && row !== undefined) {
      event.preventDefault();
      navigate(`/prefix/${row.item.prefix}`);
      return;
    }
    const move = treeMove(key, { tree, folded, shown, active, pageRows: rowsInSight - 1 });
    if (move === null) return;
    event.preventDefault();
    if ("fold" in move) setIsFolded(move.fold, true);
    else if ("unfold" in move) setIsFolded(move.unfold, false);
    else {
      setChosen(shown[move.to] ?? null);
      reveal(move.to);
    }
  };
  const click = ({ target }: MouseEvent) => {
    if (!(target instanceof Element)) return;
    const index = Number(target.closest("[data-row]")?.getAttribute("data-row") ?? -1);
    if (index < 0) return;
    setChosen(index);
    if (target.closest(".twist") !== null) setIsFolded(index, !folded.has(index));
  };
  // The active row is always in the document, at any scroll position, for assistive technology. Printed pages have none.
  const rendered = shown.slice(first, last).map((index, at) => [index, first + at] as const);
  if (!isPrinting.value && (active < first || active >= last)) rendered.push([shown[active] ?? 0, active]);
  return (
    <div
      class="virtual tree"
      role="tree"
      aria-label={texts.cards.tree}
      tabIndex={0}
      aria-activedescendant={`row-${shown[active]}`}
      ref={scrolling}
      style={{ blockSize: `${height}px` }}
      onScroll={onScroll}
      onKeyDown={press}
      onClick={click}
    >
      <div role="presentation" style={{ blockSize: `${fullHeight}px` }}>
        {rendered.map(([index, at]) => {
          const row = tree.rows[index];
          if (row === undefined) return null;
          return (
            // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus and names its active row
            <div
              key={index}
              id={`row-${index}`}
              data-row={index}
              role="treeitem"
              class={at === active ? "active" : ""}
              aria-level={row.level}
              aria-posinset={row.place}
              // The number of siblings is unknown until all pages are loaded.
              aria-setsize={isWhole ? tree.siblings(row) : -1}
              aria-expanded={row.children === 0 ? undefined : !folded.has(index)}
              aria-selected={at === active}
              aria-current={row.item.isThis ? "true" : undefined}
              style={rowPlace(at)}
            >
              <Row row={row} isFolded={folded.has(index)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const mirrored: Readonly<Record<string, string>> = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

/** Largest indent: deeper rows would have no room on a small screen. */
const indentsMax = 8;

function Row({ row: { item, level, children }, isFolded }: { readonly row: TreeRow<Node>; readonly isFolded: boolean }) {
  const { prefix, rpki_state, visibility_ratio, isThis, isAnnounced } = item;
  return (
    <span class="row" style={{ paddingInlineStart: `${Math.min(indentsMax, level - 1)}rem` }}>
      <span class="twist" aria-hidden="true">
        {children === 0 ? "" : isFolded ? "▸" : "▾"}
      </span>
      <PrefixLink prefix={prefix} inTree />
      {isThis ? <strong>{texts.tree.isThis}</strong> : null}
      <span class="fill">{isAnnounced ? originWords(item) : isAnnounced === null ? texts.unknown : texts.tree.silent}</span>
      <span class="detail">{visibility_ratio === null ? "" : share(visibility_ratio)}</span>
      {isAnnounced ? <RpkiBadge state={rpki_state} /> : null}
    </span>
  );
}
