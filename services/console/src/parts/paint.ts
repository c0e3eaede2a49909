/** Paints a map of address space on a canvas. Groups differ in colour and pattern; the colours are from the style sheet. */

import { containsPrefix, type Prefix } from "@netfacts/address";
import type { AddressMap } from "../domain/address-map.ts";
import { areaOf, type Cell } from "../domain/hilbert.ts";

/** Lines of the patterns in a tile of 8 pixels, each with its start and end. */
const patterns: readonly (readonly (readonly [x: number, y: number, toX: number, toY: number])[])[] = [
  [],
  [
    [0, 0, 8, 8],
    [8, 0, 0, 8],
  ],
  [[0, 8, 8, 0]],
  [[0, 4, 8, 4]],
  [[4, 0, 4, 8]],
  [[0, 0, 8, 8]],
];
/** Smallest area with a pattern. */
const patternPixelsMin = 8;
/** Smallest area with a gap to the next one. */
const gapPixelsMin = 6;
/** Side of the smallest visible area. */
const seenPixels = 2;

/** The colour of a group, resolved for the theme. */
function inkOf(swatch: Element): string {
  return getComputedStyle(swatch).color;
}

function patternOf(context: CanvasRenderingContext2D, group: number, ink: string, ground: string): CanvasPattern | string {
  const tile = document.createElement("canvas");
  tile.width = 8;
  tile.height = 8;
  const small = tile.getContext("2d");
  if (small === null) return ink;
  small.fillStyle = ink;
  small.fillRect(0, 0, 8, 8);
  small.strokeStyle = ground;
  small.lineWidth = 1.6;
  for (const [x, y, toX, toY] of patterns[group % patterns.length] ?? []) {
    small.beginPath();
    small.moveTo(x, y);
    small.lineTo(toX, toY);
    small.stroke();
  }
  return context.createPattern(tile, "repeat") ?? ink;
}

/** Paints the colour and the pattern of each group on its swatch in the legend. */
export function paintSwatches(swatches: readonly HTMLCanvasElement[]): void {
  for (const [group, swatch] of swatches.entries()) {
    const context = swatch.getContext("2d");
    if (context === null) continue;
    context.fillStyle = patternOf(context, group, inkOf(swatch), getComputedStyle(swatch).backgroundColor);
    context.fillRect(0, 0, swatch.width, swatch.height);
  }
}

export interface Painting {
  readonly whole: Prefix;
  /** Levels of the curve that are painted. */
  readonly order: number;
  readonly map: AddressMap;
  /** Swatches of the groups, for their colours. */
  readonly swatches: readonly HTMLCanvasElement[];
  /** Side in CSS pixels. */
  readonly side: number;
}

/**
 * Paints the prefixes on a separate canvas.
 *
 * @param canvas  canvas of the page, whose background colour is used.
 */
export function paintMap(canvas: HTMLCanvasElement, { whole, order, map, swatches, side }: Painting): HTMLCanvasElement {
  const ratio = devicePixelRatio || 1;
  const painted = document.createElement("canvas");
  painted.width = side * ratio;
  painted.height = side * ratio;
  const context = painted.getContext("2d");
  if (context === null) return painted;
  context.scale(ratio, ratio);
  const ground = getComputedStyle(canvas).backgroundColor;
  context.fillStyle = ground;
  context.fillRect(0, 0, side, side);
  const inks = swatches.map(inkOf);
  const fills = inks.map((ink, group) => patternOf(context, group, ink, ground));
  const scale = side / 2 ** order;
  for (const { prefix, group } of map.prefixes) {
    const isAround = containsPrefix(prefix, whole);
    if (!isAround && !containsPrefix(whole, prefix)) continue;
    const area = isAround ? { x: 0, y: 0, width: 2 ** order, height: 2 ** order } : areaOf(whole, order, prefix);
    const [width, height] = [area.width * scale, area.height * scale];
    const least = Math.min(width, height);
    const gap = least >= gapPixelsMin ? 1 : 0;
    if (gap > 0) {
      context.fillStyle = ground;
      context.fillRect(area.x * scale, area.y * scale, width, height);
    }
    context.fillStyle = (least >= patternPixelsMin ? fills[group] : inks[group]) ?? ground;
    context.fillRect(
      area.x * scale + gap,
      area.y * scale + gap,
      Math.max(seenPixels, width - 2 * gap),
      Math.max(seenPixels, height - 2 * gap),
    );
  }
  return painted;
}

/** Shows what `paintMap` painted, with a mark around the chosen cell in the text colour of the canvas. */
export function showMap(canvas: HTMLCanvasElement, painted: HTMLCanvasElement, chosen: Cell, cellOrder: number): void {
  canvas.width = painted.width;
  canvas.height = painted.height;
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.drawImage(painted, 0, 0);
  const { backgroundColor: ground, color: mark } = getComputedStyle(canvas);
  const ratio = devicePixelRatio || 1;
  const cell = painted.width / ratio / 2 ** cellOrder;
  context.scale(ratio, ratio);
  context.lineWidth = 3;
  context.strokeStyle = ground;
  context.strokeRect(chosen.x * cell - 1, chosen.y * cell - 1, cell + 2, cell + 2);
  context.lineWidth = 2;
  context.strokeStyle = mark;
  context.strokeRect(chosen.x * cell + 1, chosen.y * cell + 1, Math.max(1, cell - 2), Math.max(1, cell - 2));
}
