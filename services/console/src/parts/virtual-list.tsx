/**
 * A list of any length. Only the visible or printed rows are in the document. The list as a whole has the focus; arrow and Page keys scroll
 * it.
 */

import type { ComponentChildren, RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { count } from "../domain/format.ts";
import { isPrinting } from "../printing.ts";
import { texts } from "../texts.ts";

export const rowsInSight = 10;
/** 36 with letters of the usual size, and in proportion if the reader chose larger ones in the browser. */
const rowPixels = Math.round(2.25 * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
const viewPixels = rowsInSight * rowPixels;
/** Additional rows above and below the visible ones. */
const spareRows = 8;
/** Most printed rows, about 70 sheets: browsers take long for the layout of more. */
const printedRowsMax = 2_000;

interface Window<E extends Element> {
  /** The rows to render: from `first` to before `last`. */
  readonly first: number;
  readonly last: number;
  /** Heights of the scrolling element and of all rows, in pixels. */
  readonly height: number;
  readonly fullHeight: number;
  readonly scrolling: RefObject<E | null>;
  readonly onScroll: () => void;
  /** Scrolls just far enough to show the row. */
  reveal(row: number): void;
}

/** The visible rows, for parts that place their rows themselves. */
export function useRowsInSight<E extends HTMLElement>(rows: number): Window<E> {
  const [top, setTop] = useState(0);
  const scrolling = useRef<E>(null);
  const height = Math.min(viewPixels, rows * rowPixels);
  const inDocument = isPrinting.value
    ? { first: 0, last: Math.min(rows, printedRowsMax) }
    : {
        first: Math.max(0, Math.floor(top / rowPixels) - spareRows),
        last: Math.min(rows, Math.ceil((top + height) / rowPixels) + spareRows),
      };
  return {
    ...inDocument,
    height,
    fullHeight: rows * rowPixels,
    scrolling,
    onScroll: () => setTop(scrolling.current?.scrollTop ?? 0),
    reveal(row) {
      const element = scrolling.current;
      if (element === null) return;
      const start = row * rowPixels;
      const shown = Math.min(start, Math.max(element.scrollTop, start + rowPixels - height));
      element.scrollTop = shown;
      setTop(shown);
    },
  };
}

/** Position of a row from the start of all rows, and its height, as a style. */
export function rowPlace(row: number): { readonly insetBlockStart: string; readonly blockSize: string } {
  return { insetBlockStart: `${row * rowPixels}px`, blockSize: `${rowPixels}px` };
}

/** A note on printed pages that rows are left out. */
export function LeftOut({ rows }: { readonly rows: number }) {
  return isPrinting.value && rows > printedRowsMax ? <p class="left-out">{texts.leftOut(count(printedRowsMax), count(rows))}</p> : null;
}

interface VirtualListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly row: (item: T) => ComponentChildren;
}

export function VirtualList<T>({ label, items, row }: VirtualListProps<T>) {
  const { first, last, height, fullHeight, scrolling, onScroll } = useRowsInSight<HTMLElement>(items.length);
  return (
    <>
      <section
        class="virtual"
        aria-label={label}
        ref={scrolling}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable with the keyboard
        tabIndex={0}
        style={{ blockSize: `${height}px` }}
        onScroll={onScroll}
      >
        <ul style={{ blockSize: `${fullHeight}px` }}>
          {items.slice(first, last).map((item, index) => (
            <li key={first + index} aria-setsize={items.length} aria-posinset={first + index + 1} style={rowPlace(first + index)}>
              {row(item)}
            </li>
          ))}
        </ul>
      </section>
      <LeftOut rows={items.length} />
    </>
  );
}
