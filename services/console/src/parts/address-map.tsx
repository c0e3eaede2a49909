/** A map of address space: the Hilbert curve on a canvas, a legend, and the content of the cell that the pointer or the keyboard has chosen. */

import { containsPrefix, formatPrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  type AddressMap,
  addressMap,
  type Colouring,
  cellsOf,
  type MapCell,
  type MapItem,
  orderOf,
  squareOf,
} from "../domain/address-map.ts";
import { count, counted } from "../domain/format.ts";
import { type Cell, placeAt } from "../domain/hilbert.ts";
import { isPrinting } from "../printing.ts";
import { texts } from "../texts.ts";
import { theme } from "../theme.ts";
import { Card } from "./basics.tsx";
import { paintMap, paintSwatches, showMap } from "./paint.ts";
import { useWidth } from "./use-width.ts";

/** 512 × 512 cells are painted; 16 × 16 can be chosen. */
const paintedOrder = 9;
const chosenOrder = 4;
const sideMax = 512;

interface AddressMapProps {
  readonly items: readonly MapItem[];
  /** Whether there are further items that are not loaded. */
  readonly isCut: boolean;
  /** The prefix that the map shows; null: the smallest one that contains all items. */
  readonly subject: string | null;
  readonly empty: string;
}

export function AddressMapCard({ items, isCut, subject, empty }: AddressMapProps) {
  const versions = useMemo(
    () => ([4, 6] as const).filter((version) => items.some(({ prefix }) => prefix.includes(":") === (version === 6))),
    [items],
  );
  const [wanted, setVersion] = useState<4 | 6>(4);
  const [colouring, setColouring] = useState<Colouring>("rpki");
  const version = versions.includes(wanted) ? wanted : versions[0];
  const map = useMemo(
    () => (version === undefined ? null : addressMap(items, version, colouring, { unknown: texts.unknown, rest: texts.map.rest })),
    [items, version, colouring],
  );
  const square = useMemo(
    () => squareOf(subject === null ? (map?.prefixes ?? []).map(({ prefix }) => prefix) : prefixesOf(subject)),
    [map, subject],
  );
  return (
    <Card title={texts.map.title} wide>
      {map === null || square === null || map.prefixes.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <>
          <div class="tools buttons">
            {versions.length < 2 ? null : (
              <label>
                {texts.map.version}{" "}
                <select value={version} onChange={({ currentTarget }) => setVersion(currentTarget.value === "6" ? 6 : 4)}>
                  <option value={4}>IPv4</option>
                  <option value={6}>IPv6</option>
                </select>
              </label>
            )}
            <label>
              {texts.map.colouring}{" "}
              <select
                value={colouring}
                onChange={({ currentTarget }) => setColouring(currentTarget.value === "origin" ? "origin" : "rpki")}
              >
                <option value="rpki">{texts.map.rpki}</option>
                <option value="origin">{texts.map.origin}</option>
              </select>
            </label>
          </div>
          <Square key={formatPrefix(square)} square={square} map={map} isCut={isCut} subject={subject} colouring={colouring} />
        </>
      )}
    </Card>
  );
}

function prefixesOf(text: string): Prefix[] {
  const reading = parsePrefix(text);
  return reading.ok ? [reading.prefix] : [];
}

interface SquareProps {
  readonly square: Prefix;
  readonly map: AddressMap;
  readonly isCut: boolean;
  readonly subject: string | null;
  readonly colouring: Colouring;
}

function Square({ square, map, isCut, subject, colouring }: SquareProps) {
  const [place, width] = useWidth<HTMLDivElement>();
  const [zoom, setZoom] = useState<readonly Prefix[]>([square]);
  const whole = zoom.at(-1) ?? square;
  const cellOrder = orderOf(whole, chosenOrder);
  const cells = useMemo(() => cellsOf(whole, cellOrder, map), [whole, cellOrder, map]);
  const [chosen, setChosen] = useState<Cell>({ x: 0, y: 0 });
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const side = Math.min(sideMax, width);
  const isDark = useDarkSystem();
  const painted = useRef<HTMLCanvasElement | null>(null);
  // Painting takes longer than the pointer stays on a cell, so the mark is painted separately.
  useLayoutEffect(() => {
    const swatches = [...(legend.current?.querySelectorAll("canvas") ?? [])];
    paintSwatches(swatches);
    painted.current =
      canvas.current === null || side === 0
        ? null
        : paintMap(canvas.current, { whole, order: orderOf(whole, paintedOrder), map, swatches, side });
  }, [whole, map, side, theme.value, isDark, isPrinting.value]);
  useLayoutEffect(() => {
    if (canvas.current !== null && painted.current !== null) showMap(canvas.current, painted.current, chosen, cellOrder);
  }, [whole, cellOrder, map, chosen, side, theme.value, isDark, isPrinting.value]);

  const sideCells = 2 ** cellOrder;
  const cell = cells[placeAt(cellOrder, chosen)];
  const isDivisible = cell !== undefined && orderOf(cell.block, 1) > 0 && cell.first >= 0;
  const cellAtPointer = ({ clientX, clientY }: MouseEvent): Cell | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const at = (offset: number) => Math.max(0, Math.min(sideCells - 1, Math.floor((offset / side) * sideCells)));
    return { x: at(clientX - box.left), y: at(clientY - box.top) };
  };
  const enter = () => {
    if (!isDivisible) return;
    setZoom([...zoom, cell.block]);
    setChosen({ x: 0, y: 0 });
  };
  const leave = () => {
    if (zoom.length > 1) setZoom(zoom.slice(0, -1));
    setChosen({ x: 0, y: 0 });
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = steps[event.key];
    if (step !== undefined) {
      const inside = (value: number) => Math.max(0, Math.min(sideCells - 1, value));
      setChosen({ x: inside(chosen.x + step.x), y: inside(chosen.y + step.y) });
    } else if (event.key === "Enter") enter();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  return (
    <div class="map-of-addresses">
      <div ref={place}>
        {/* The direction of the curve does not depend on the script. */}
        <div
          dir="ltr"
          class="pad"
          role="application"
          aria-label={texts.map.label(formatPrefix(whole))}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys choose a cell
          tabIndex={0}
          onKeyDown={press}
          onPointerMove={(event) => {
            if (event.pointerType !== "mouse") return;
            const cell = cellAtPointer(event);
            if (cell !== null && (cell.x !== chosen.x || cell.y !== chosen.y)) setChosen(cell);
          }}
          onClick={(event) => {
            const cell = cellAtPointer(event);
            if (cell === null) return;
            // On a touch screen, the first touch chooses the cell and the second one opens it.
            if (cell.x === chosen.x && cell.y === chosen.y) enter();
            else setChosen(cell);
          }}
        >
          <canvas ref={canvas} style={{ inlineSize: `${side}px`, blockSize: `${side}px` }} />
        </div>
      </div>
      <div class="beside">
        <p>{texts.map.whole(formatPrefix(whole))}</p>
        <ul ref={legend} class="plain legend" aria-label={texts.map.legend}>
          {map.groups.map(({ name, prefixes }, group) => (
            <li key={name}>
              <canvas class={colouring === "rpki" ? `state-${name}` : `series-${group}`} width={28} height={18} /> {name}:{" "}
              {counted(prefixes, "prefix", "prefixes")}
            </li>
          ))}
        </ul>
        <p role="status" class="cell">
          {cell === undefined ? "" : textOf(cell, map, { isCut, subject })}
        </p>
        <p class="buttons">
          {isDivisible ? (
            <button type="button" class="quiet" onClick={enter}>
              {texts.map.enter(formatPrefix(cell.block))}
            </button>
          ) : null}
          {zoom.length > 1 ? (
            <button type="button" class="quiet" onClick={leave}>
              {texts.map.leave(formatPrefix(zoom.at(-2) ?? square))}
            </button>
          ) : null}
        </p>
        <p class="detail">{texts.map.how}</p>
      </div>
    </div>
  );
}

const steps: Readonly<Record<string, Cell>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/** The content of a cell, in words. */
function textOf(
  { block, around, inside, first }: MapCell,
  { prefixes, groups }: AddressMap,
  { isCut, subject }: Pick<SquareProps, "isCut" | "subject">,
): string {
  const [whole] = subject === null ? [] : prefixesOf(subject);
  const name = `${formatPrefix(block)}:`;
  if (whole !== undefined && !containsPrefix(whole, block)) return `${name} ${texts.map.outside(formatPrefix(whole))}`;
  const outer = prefixes[around];
  const total = inside.reduce((sum, each) => sum + each, 0);
  const parts: string[] = [];
  if (outer !== undefined) parts.push(texts.map.around(formatPrefix(outer.prefix), groups[outer.group]?.name ?? ""));
  const inner = prefixes[first];
  if (total === 1 && inner !== undefined) parts.push(texts.map.one(formatPrefix(inner.prefix), groups[inner.group]?.name ?? ""));
  else if (total > 1)
    parts.push(
      texts.map.several(
        count(total),
        groups.flatMap((group, index) => (inside[index] ? [`${count(inside[index])} ${group.name}`] : [])).join(", "),
      ),
    );
  if (parts.length === 0) parts.push(isCut ? texts.map.noneLoaded : texts.map.none);
  return `${name} ${parts.join(" ")}`;
}

/** Whether the system wants dark colours; a change paints the map again. */
function useDarkSystem(): boolean {
  const [query] = useState(() => matchMedia("(prefers-color-scheme: dark)"));
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const change = () => setDark(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, [query]);
  return isDark;
}
