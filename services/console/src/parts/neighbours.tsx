/** The neighbours of an AS in observed paths: a drawing of the most frequent ones, and a table with the same facts. */

import type { AsnRecord, Neighbour, Neighbours } from "@netfacts/contracts";
import { count, counted, share } from "../domain/format.ts";
import { type DrawnNeighbour, drawnOn, middleHeight, neighbourGraph, shortened } from "../domain/neighbour-graph.ts";
import { plainText } from "../domain/plain-text.ts";
import { texts } from "../texts.ts";
import { AsLink, Card, Unknown, UnknownRouting } from "./basics.tsx";
import { useWidth } from "./use-width.ts";

export function NeighboursCard({ record }: { readonly record: AsnRecord }) {
  const { neighbours, asn } = record;
  return (
    <Card title={texts.cards.neighbours} wide>
      {neighbours === null ? (
        record.announced === null ? (
          <UnknownRouting record={record} />
        ) : (
          <Unknown why={texts.neighbours.unknown} />
        )
      ) : neighbours.items.length === 0 ? (
        <p>{texts.neighbours.none}</p>
      ) : (
        <>
          <p class="detail">{texts.neighbours.what}</p>
          <Drawing asn={asn} neighbours={neighbours} />
          <Rest neighbours={neighbours} />
          <details>
            <summary>{texts.neighbours.table(count(neighbours.items.length))}</summary>
            <Table items={neighbours.items} />
          </details>
        </>
      )}
    </Card>
  );
}

function Drawing({ asn, neighbours }: { readonly asn: number; readonly neighbours: Neighbours }) {
  const [place, width] = useWidth<HTMLDivElement>();
  const { left, right, middle, leftX, rightX, height, isNarrow, lettersMax } = neighbourGraph(`AS${asn}`, neighbours, width);
  const { counts } = neighbours;
  return (
    // Left is towards the collector, in every script.
    <div class={isNarrow ? "graph narrow" : "graph"} dir="ltr" ref={place}>
      {width === 0 ? null : (
        // biome-ignore lint/a11y/useSemanticElements: SVG has no element for it
        <svg role="group" aria-label={texts.neighbours.drawing} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <text class="head" x={leftX} y={16} text-anchor="end">
            {texts.neighbours.left}: {count(counts.left)}
          </text>
          <text class="head" x={rightX} y={16}>
            {texts.neighbours.right}: {count(counts.right)}
          </text>
          <SideOf drawn={left} anchor="end" lettersMax={lettersMax} />
          <SideOf drawn={right} anchor="start" lettersMax={lettersMax} />
          <rect x={middle.x - middle.width / 2} y={middle.y - middleHeight / 2} width={middle.width} height={middleHeight} rx={8} />
          <text class="middle" x={middle.x} y={middle.y} dy="0.35em" text-anchor="middle">
            AS{asn}
          </text>
        </svg>
      )}
    </div>
  );
}

interface SideProps {
  readonly drawn: readonly DrawnNeighbour[];
  readonly anchor: "start" | "end";
  readonly lettersMax: number;
}

function SideOf({ drawn, anchor, lettersMax }: SideProps) {
  return (
    <>
      {drawn.map(({ neighbour: { asn, name, share: part }, x, y, line, lineWidth }) => (
        <g key={asn}>
          <path d={line} stroke-width={lineWidth} stroke-dasharray={part === null ? "3 4" : undefined} />
          <a href={`/as/AS${asn}`}>
            <text x={x} y={y - 3} text-anchor={anchor}>
              AS{asn}
            </text>
          </a>
          <text class="detail" x={x} y={y + 14} text-anchor={anchor}>
            {detailOf(name, part, anchor, lettersMax)}
          </text>
        </g>
      ))}
    </>
  );
}

/** Name and share. The share is on the side of the drawing, where text is never cut off. It is alone if there is no room for a name. */
function detailOf(name: string | null, part: number | null, anchor: SideProps["anchor"], lettersMax: number): string {
  const portion = part === null ? "" : share(part);
  const room = lettersMax - (portion === "" ? 0 : portion.length + 2);
  if (name === null || room < 4) return portion;
  const shown = shortened(plainText(name), room);
  return (anchor === "start" ? `${portion} ${shown}` : `${shown} ${portion}`).trim();
}

/** The neighbours that are not drawn. */
function Rest({ neighbours }: { readonly neighbours: Neighbours }) {
  const { counts, items, next_cursor } = neighbours;
  const left = counts.left - drawnOn("left", neighbours).length;
  const right = counts.right - drawnOn("right", neighbours).length;
  const rest = [
    left > 0 ? texts.neighbours.restLeft(count(left)) : "",
    right > 0 ? texts.neighbours.restRight(count(right)) : "",
    counts.uncertain > 0 ? texts.neighbours.uncertain(counted(counts.uncertain, "AS", "ASes")) : "",
    next_cursor === null ? "" : texts.neighbours.listed(count(items.length)),
  ].filter((text) => text !== "");
  return rest.length === 0 ? null : <p class="detail">{rest.join(" ")}</p>;
}

function Table({ items }: { readonly items: readonly Neighbour[] }) {
  const { columns, positions } = texts.neighbours;
  return (
    <div class="scroll">
      <table class="facts">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(({ asn, name, position, paths_left, paths_right, share: part }) => (
            <tr key={asn}>
              <th scope="row">
                <AsLink asn={asn} name={name} />
              </th>
              <td>{positions[position]}</td>
              <td>{count(paths_left)}</td>
              <td>{count(paths_right)}</td>
              <td>{part === null ? texts.unknown : share(part)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
