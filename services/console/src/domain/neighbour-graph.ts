/** Layout of the neighbours of an AS: on its left and right side, those on the most paths first. */

import type { Neighbour, Neighbours } from "@netfacts/contracts";

/** Most neighbours on each side. */
export const drawnMax = 10;

const rowHeight = 46;
const headHeight = 30;
const nameWidthMax = 230;
export const middleHeight = 40;
/** Width in pixels below which a drawing has smaller letters and shorter lines. */
const narrowBelow = 480;
const strokeMax = 9;

export interface DrawnNeighbour {
  readonly neighbour: Neighbour;
  /** Start of its text (on the right side) or end (on the left). */
  readonly x: number;
  readonly y: number;
  /** The line to the middle, as an SVG path. */
  readonly line: string;
  readonly lineWidth: number;
}

export interface NeighbourGraph {
  readonly width: number;
  readonly height: number;
  readonly left: readonly DrawnNeighbour[];
  readonly right: readonly DrawnNeighbour[];
  readonly middle: { readonly x: number; readonly y: number; readonly width: number };
  /** Start or end of the names on each side. */
  readonly leftX: number;
  readonly rightX: number;
  readonly isNarrow: boolean;
  /** Number of letters of a name that fit. */
  readonly lettersMax: number;
}

/** The neighbours that are drawn on one side. */
export function drawnOn(position: "left" | "right", { items }: Pick<Neighbours, "items">): readonly Neighbour[] {
  return items.filter((each) => each.position === position).slice(0, drawnMax);
}

/**
 * @param name   name of the AS in the middle.
 * @param width  width of the drawing in pixels.
 */
export function neighbourGraph(name: string, neighbours: Pick<Neighbours, "items">, width: number): NeighbourGraph {
  const isNarrow = width < narrowBelow;
  const middleWidth = isNarrow ? 16 + 7.8 * name.length : 24 + 9.6 * name.length;
  const lineWidthMin = isNarrow ? 16 : 50;
  const nameWidth = Math.min(nameWidthMax, (width - middleWidth) / 2 - lineWidthMin);
  const rows = Math.max(1, drawnOn("left", neighbours).length, drawnOn("right", neighbours).length);
  const height = headHeight + rows * rowHeight;
  const middle = { x: width / 2, y: headHeight + (rows * rowHeight) / 2, width: middleWidth };
  const side = (position: "left" | "right"): DrawnNeighbour[] => {
    const drawn = drawnOn(position, neighbours);
    const direction = position === "left" ? -1 : 1;
    const x = position === "left" ? nameWidth : width - nameWidth;
    const from = middle.x + (direction * middleWidth) / 2;
    const bend = (from + x) / 2;
    return drawn.map((neighbour, index) => {
      const y = middle.y + (index - (drawn.length - 1) / 2) * rowHeight;
      // The lines end at the side of the middle box, spread over its height.
      const end = middle.y + ((index + 0.5) / drawn.length - 0.5) * (middleHeight - strokeMax);
      return {
        neighbour,
        x,
        y,
        line: `M${round(from)} ${round(end)}C${round(bend)} ${round(end)} ${round(bend)} ${round(y)} ${round(x - direction * 6)} ${round(y)}`,
        lineWidth: 1 + (strokeMax - 1) * (neighbour.share ?? 0),
      };
    });
  };
  return {
    width,
    height,
    left: side("left"),
    right: side("right"),
    middle,
    leftX: nameWidth,
    rightX: width - nameWidth,
    isNarrow,
    lettersMax: Math.floor(nameWidth / (isNarrow ? 7.8 : 7.6)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Width of a character in letters: names of ASes are mostly capitals, which are wider than `lettersMax` assumes. */
function lettersOf(character: string): number {
  if (/[MW@%]/.test(character)) return 1.8;
  return /\p{Lu}/u.test(character) ? 1.3 : 1;
}

/** The text, or its beginning if it is longer. */
export function shortened(text: string, lettersMax: number): string {
  const characters = [...text];
  const total = characters.reduce((sum, character) => sum + lettersOf(character), 0);
  if (total <= lettersMax) return text;
  let room = lettersMax - 1;
  const end = characters.findIndex((character) => {
    room -= lettersOf(character);
    return room < 0;
  });
  return `${characters.slice(0, end).join("")}…`;
}
