/** Renders a dashboard's file and the data of its queries as one HTML page that sends no requests. */

import { chart, clock, colorOf, type Series, type Step, seriesColors } from "./chart.ts";
import { withUnit } from "./units.ts";

export interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

export interface PanelFile {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly min?: number;
      readonly thresholds?: { readonly steps: readonly Step[] };
      readonly custom?: { readonly thresholdsStyle?: { readonly mode: string } };
    };
  };
}

export interface DashboardFile {
  readonly title: string;
  readonly description: string;
  readonly panels: readonly PanelFile[];
}

export interface Shown {
  /** Unix time in seconds. */
  readonly from: number;
  readonly to: number;
  /** Longest time between two points that are joined, in s. */
  readonly gap: number;
  /** Series of a panel, in the order of its queries. */
  series(panel: PanelFile): readonly Series[];
}

export const pageWidth = 1_200;
const columns = 24;
const margin = 12;
const rowHeight = 28;
const space = 8;
const titleHeight = 26;
const legendHeight = 40;

/** @throws Error for an unknown panel type, unit or colour. */
export function dashboardPage({ title, description, panels }: DashboardFile, shown: Shown): string {
  const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  const column = (pageWidth - 2 * margin + space) / columns;
  const header = 58;
  const boxes = panels.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    const [width, height] = [w * column - space, h * rowHeight - space];
    const place = `left:${margin + x * column}px;top:${header + y * rowHeight}px;width:${width}px;height:${height}px`;
    return `<div class="${panel.type}" style="${place}">${content(panel, width, height, shown)}</div>`;
  });
  return `<!doctype html><meta charset="utf-8"><style>${style}</style><body style="height:${header + bottom * rowHeight + 6}px">
<h1>${escaped(title)}</h1><p class="about">${escaped(description)}</p><p class="range">${clock(shown.from)} to ${clock(shown.to)} UTC</p>
${boxes.join("\n")}</body>`;
}

function content(panel: PanelFile, width: number, height: number, shown: Shown): string {
  const { type, title } = panel;
  if (type === "row") return `<h2>${escaped(title)}</h2>`;
  const series = shown.series(panel);
  const body = type === "timeseries" ? linesOf(panel, series, width, height, shown) : type === "stat" ? numbersOf(panel, series) : null;
  if (body === null) throw new Error(`no way to draw a panel of type ${type}: add it to scripts/pictures/dashboard-page.ts`);
  return `<h3>${escaped(title)}</h3>${series.length === 0 ? '<p class="none">No data</p>' : body}`;
}

function linesOf({ fieldConfig }: PanelFile, series: readonly Series[], width: number, height: number, shown: Shown): string {
  const { unit, min, thresholds, custom } = fieldConfig?.defaults ?? { unit: "short" };
  const drawn = chart(series, {
    ...shown,
    width: width - 12,
    height: height - titleHeight - legendHeight,
    unit,
    ...(min !== undefined && { min }),
    steps: custom?.thresholdsStyle === undefined ? [] : (thresholds?.steps ?? []),
  });
  const legend = series.map(({ name, points }, index) => ({
    name,
    isFlat: points.every(([, value]) => value === 0),
    color: seriesColors[index % seriesColors.length],
  }));
  return `${drawn}${legendBox(legend, width)}`;
}

const legendLines = 2;
/** Width of a name without its letters, and of a letter, in px. */
const legendPadding = 30;
const letterWidth = 5.9;

/** As many names as fit; those of series that are always 0 come last. */
function legendBox(names: readonly LegendName[], width: number): string {
  const inOrder = [...names.filter(({ isFlat }) => !isFlat), ...names.filter(({ isFlat }) => isFlat)];
  let shown = names.length;
  const texts = () => [...inOrder.slice(0, shown).map(({ name }) => name), ...(shown < names.length ? [more()] : [])];
  const more = () => `and ${names.length - shown} more`;
  while (shown > 1 && linesFor(texts(), width - 24) > legendLines) shown--;
  const spans = inOrder.slice(0, shown).map(({ name, color }) => `<span><i style="background:${color}"></i>${escaped(name)}</span>`);
  if (shown < names.length) spans.push(`<span>${more()}</span>`);
  return `<div class="legend">${spans.join("")}</div>`;
}

interface LegendName {
  readonly name: string;
  readonly isFlat: boolean;
  readonly color: string | undefined;
}

function linesFor(texts: readonly string[], width: number): number {
  let [lines, free] = [1, width];
  for (const text of texts) {
    const needed = text.length * letterWidth + legendPadding;
    if (needed > free) [lines, free] = [lines + 1, width];
    free -= needed;
  }
  return lines;
}

function numbersOf({ fieldConfig }: PanelFile, series: readonly Series[]): string {
  const { unit, thresholds } = fieldConfig?.defaults ?? { unit: "short" };
  const numbers = series.map(({ name, points }) => {
    const value = points.at(-1)?.[1] ?? Number.NaN;
    const step = thresholds?.steps.filter(({ value: from }) => from === null || value >= from).at(-1);
    const label = series.length === 1 ? "" : `<small>${escaped(name)}</small>`;
    return `<div>${label}<b style="color:${colorOf(step?.color ?? "green")}">${withUnit(unit, value)}</b></div>`;
  });
  return `<div class="numbers${series.length > 1 ? " several" : ""}">${numbers.join("")}</div>`;
}

/** `{{service}} {{instance}}` with the labels of a series; labels that it lacks are empty, as in Grafana. */
export function legendOf(format: string, labels: Readonly<Record<string, string>>): string {
  return format.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label: string) => labels[label] ?? "").trim() || "value";
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const style = `
body { margin: 0; position: relative; background: #f4f5f5; color: #24292e; font: 12px/1.3 "Open Sans", "Liberation Sans", "DejaVu Sans", sans-serif; }
h1 { position: absolute; left: 14px; top: 10px; margin: 0; font-size: 19px; font-weight: 600; }
.about { position: absolute; left: 14px; top: 34px; margin: 0; color: #5a6068; }
.range { position: absolute; right: 14px; top: 14px; margin: 0; color: #5a6068; }
body > div { position: absolute; box-sizing: border-box; overflow: hidden; }
.row h2 { margin: 2px 4px; font-size: 14px; font-weight: 600; }
.stat, .timeseries { background: #fff; border: 1px solid #dcdee1; border-radius: 3px; padding: 0 5px; }
h3 { margin: 5px 4px 4px; font-size: 13px; font-weight: 600; height: 17px; white-space: nowrap; }
svg { display: block; font-size: 11px; fill: #5a6068; }
.legend { display: flex; flex-wrap: wrap; gap: 0 12px; padding: 2px 6px; font-size: 11px; line-height: 15px; max-height: 32px; overflow: hidden; }
.legend i { display: inline-block; width: 12px; height: 3px; margin-right: 5px; vertical-align: middle; border-radius: 1px; }
.numbers { display: flex; height: calc(100% - 26px); align-items: center; justify-content: center; gap: 14px; text-align: center; }
.numbers b { font-size: 34px; font-weight: 600; display: block; }
.numbers.several { flex-wrap: wrap; align-content: center; gap: 2px 16px; }
.numbers.several b { font-size: 20px; line-height: 22px; }
.numbers small { font-size: 11px; color: #5a6068; }
.none { text-align: center; margin-top: 12%; color: #8a9098; font-size: 15px; }
`;
