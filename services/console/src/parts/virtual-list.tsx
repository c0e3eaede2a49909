/** A list of any length, of which only the rows in sight are in the document. It has the focus as a whole; arrows and Page keys scroll it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

const rowPixels = 36;
const viewPixels = 360;
/** Rows above and below those in sight. */
const spareRows = 8;

interface VirtualListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly row: (item: T) => ComponentChildren;
}

export function VirtualList<T>({ label, items, row }: VirtualListProps<T>) {
  const [top, setTop] = useState(0);
  const height = Math.min(viewPixels, items.length * rowPixels);
  const first = Math.max(0, Math.floor(top / rowPixels) - spareRows);
  const last = Math.min(items.length, Math.ceil((top + height) / rowPixels) + spareRows);
  return (
    <section
      class="virtual"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
      style={{ blockSize: `${height}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <ul style={{ blockSize: `${items.length * rowPixels}px` }}>
        {items.slice(first, last).map((item, index) => (
          <li
            key={first + index}
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            style={{ insetBlockStart: `${(first + index) * rowPixels}px` }}
          >
            {row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}
