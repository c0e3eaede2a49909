/** Draws a panel of lines as SVG: axes, thresholds, and a line with a faint area for each series. */

import { ticks, withUnit } from "./units.ts";

export interface Series {
  readonly name: string;
  /** Unix time in seconds, and the value; in ascending order. */
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface Step {
  /** Least value of the step; null: no bound. */
  readonly value: number | null;
  readonly color: string;
}

export interface ChartOptions {
  readonly width: number;
  readonly height: number;
  readonly unit: string;
  /** Start of the axis; absent: the least value. */
  readonly min?: number;
  readonly steps: readonly Step[];
  readonly from: number;
  readonly to: number;
  /** Longest time between two points that are joined, in s. */
  readonly gap: number;
}

/** Colours of the series, in order; then from the beginning again. */
export const seriesColors = ["#3871dc", "#37872d", "#e0752d", "#8f3bb8", "#c4162a", "#0a8f8f", "#b38600", "#6e4ac9", "#7a6a5a", "#d44a8a"];
const thresholdColors: Readonly<Record<string, string>> = { green: "#37872d", yellow: "#d9a400", red: "#d0021b" };
const axisHeight = 22;
const top = 8;
const right = 10;
const characterWidth = 6.3;
const filledMax = 4;

export function colorOf(name: string): string {
  const color = thresholdColors[name];
  if (color === undefined) throw new Error(`no such colour of a threshold: ${name}`);
  return color;
}

export function chart(series: readonly Series[], options: ChartOptions): string {
  const { width, height, unit, min, steps, from, to, gap } = options;
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  const greatest = Math.max(...values, min ?? Number.NEGATIVE_INFINITY);
  const marks = ticks(min ?? Math.min(...values), greatest, unit);
  const [low = 0, high = 1] = [marks[0], marks.at(-1)];
  const labels = marks.map((mark) => withUnit(unit, mark));
  const left = Math.max(...labels.map(({ length }) => length)) * characterWidth + 10;
  const x = (time: number) => (left + ((time - from) / (to - from)) * (width - left - right)).toFixed(1);
  const share = (value: number) => Math.max(0, Math.min(1, (value - low) / (high - low)));
  const y = (value: number) => (top + (1 - share(value)) * (height - top - axisHeight)).toFixed(1);
  const across = (at: string, more: string) => `<line x1="${left}" x2="${width - right}" y1="${at}" y2="${at}" ${more}/>`;
  const grid = marks.map(
    (mark, index) =>
      `${across(y(mark), 'stroke="#e6e8eb"')}<text x="${left - 6}" y="${Number(y(mark)) + 4}" text-anchor="end">${labels[index]}</text>`,
  );
  const times = timesBetween(from, to).map((time) => `<text x="${x(time)}" y="${height - 5}" text-anchor="middle">${clock(time)}</text>`);
  const thresholds = steps.flatMap(({ value, color }) =>
    value === null || value < low || value > high
      ? []
      : [across(y(value), `stroke="${colorOf(color)}" stroke-width="1.5" stroke-dasharray="8 6"`)],
  );
  const drawn = series.map(({ points }, index) => {
    const color = seriesColors[index % seriesColors.length];
    return parts(points, gap)
      .map((part) => {
        const path = part.map(([time, value]) => `${x(time)},${y(value)}`).join(" ");
        const [first, last] = [part[0]?.[0] ?? from, part.at(-1)?.[0] ?? from];
        // Many overlapping areas would hide the lines.
        const area =
          series.length > filledMax
            ? ""
            : `<polygon points="${x(first)},${y(low)} ${path} ${x(last)},${y(low)}" fill="${color}" fill-opacity="0.08"/>`;
        const dot = part.length === 1 ? `<circle cx="${x(first)}" cy="${y(part[0]?.[1] ?? 0)}" r="2" fill="${color}"/>` : "";
        return `${area}${dot}<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.5" stroke-linejoin="round"/>`;
      })
      .join("");
  });
  return `<svg width="${width}" height="${height}">${[...grid, ...times, ...drawn, ...thresholds].join("")}</svg>`;
}

/** The parts of a line between its gaps. */
function parts(points: Series["points"], gap: number): Series["points"][] {
  const found: (readonly [number, number])[][] = [];
  for (const point of points) {
    const last = found.at(-1)?.at(-1);
    if (last === undefined || point[0] - last[0] > gap) found.push([point]);
    else found.at(-1)?.push(point);
  }
  return found;
}

const secondsBetweenTimes = [10, 30, 60, 120, 300, 600, 3_600];

function timesBetween(from: number, to: number): number[] {
  const step = secondsBetweenTimes.find((seconds) => (to - from) / seconds <= 6) ?? 3_600;
  const first = Math.ceil(from / step) * step;
  const margin = (to - from) / 30;
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step).filter(
    (time) => time - from > margin && to - time > margin,
  );
}

/** Time of day in UTC: `08:55:12`. */
export function clock(time: number): string {
  return new Date(time * 1_000).toISOString().slice(11, 19);
}
