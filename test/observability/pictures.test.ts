/** Pictures of dashboards: each dashboard has one, its page shows it, and what draws them knows every panel. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { dashboards } from "../../observability/panels/dashboards.ts";
import { type DashboardFile, dashboardPage, legendOf } from "../../scripts/pictures/dashboard-page.ts";
import { ticks, withUnit } from "../../scripts/pictures/units.ts";

const root = join(import.meta.dirname, "../..");
const names = dashboards.map(({ name }) => name).sort();
const pageOf = readFileSync(join(root, "docs/operations/dashboards.md"), "utf8");
const fileOf = (name: string) => JSON.parse(readFileSync(join(root, `observability/dashboards/${name}.json`), "utf8")) as DashboardFile;
const kilobytesMax = 200;

test("each dashboard has its picture, small enough for a page, and there is no other", () => {
  const folder = join(root, "docs/operations/dashboards");
  expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.webp`));
  const sizes = names.map((name) => ({ name, size: statSync(join(folder, `${name}.webp`)).size }));
  expect(sizes.filter(({ size }) => size > kilobytesMax * 1_000)).toEqual([]);
});

test("the page shows each picture under the title of its dashboard", () => {
  const shown = [...pageOf.matchAll(/^## (.+)$[^#]*?^!\[\1: [^\]]+\]\(dashboards\/([\w-]+)\.webp\)$/gm)].map(([, title, name]) => ({
    title,
    name,
  }));
  expect(shown).toEqual(dashboards.map(({ name, title }) => ({ title: title.replace("Netfacts / ", ""), name })));
});

const points = [
  [1_000, 0.5],
  [1_002, 12],
  [1_030, 3],
] as const;

test.each(names)("%s: every panel is drawn, with its title", (name) => {
  const dashboard = fileOf(name);
  const html = dashboardPage(dashboard, { from: 990, to: 1_040, gap: 6, series: () => [{ name: "a & b", points }] });
  for (const { title } of dashboard.panels) expect(html).toContain(`>${title}</h`);
  expect(html).not.toMatch(/NaN|undefined|a & b/);
  // Two parts for each series, as there is a gap.
  const charts = dashboard.panels.filter(({ type }) => type === "timeseries").length;
  expect(html.split("<polyline").length - 1).toBe(2 * charts);
});

test("a panel, a unit or a colour that nobody can draw is refused", () => {
  const [, panel] = fileOf("overview").panels;
  if (panel === undefined) throw new Error("the overview has no panel");
  const draw = (changed: object) =>
    dashboardPage(
      { title: "x", description: "x", panels: [{ ...panel, ...changed }] },
      { from: 0, to: 1, gap: 1, series: () => [{ name: "a", points }] },
    );
  expect(() => draw({ type: "heatmap" })).toThrow("no way to draw a panel of type heatmap");
  expect(() => draw({ fieldConfig: { defaults: { unit: "furlong" } } })).toThrow("no way to write the unit furlong");
  const steps = [{ value: null, color: "mauve" }];
  expect(() => draw({ fieldConfig: { defaults: { unit: "s", thresholds: { steps } } } })).toThrow("no such colour of a threshold: mauve");
});

test("values are written with their units", () => {
  expect(withUnit("s", 0.25)).toBe("250 ms");
  expect(withUnit("s", 5_400)).toBe("1.5 h");
  expect(withUnit("bytes", 3 << 20)).toBe("3 MiB");
  expect(withUnit("percentunit", 0.0232)).toBe("2.32%");
  expect(withUnit("reqps", 1_250)).toBe("1.25K req/s");
});

test("an axis covers its values, and no two of its texts are alike", () => {
  for (const [least, greatest, unit] of [
    [0, 0, "short"],
    [0, 0.004, "percentunit"],
    [7_775_000, 7_775_240, "s"],
    [0, 320 << 20, "bytes"],
  ] as const) {
    const found = ticks(least, greatest, unit);
    expect(found[0]).toBeLessThanOrEqual(least);
    expect(found.at(-1)).toBeGreaterThanOrEqual(greatest);
    expect(new Set(found.map((value) => withUnit(unit, value))).size).toBe(found.length);
    expect(found.length).toBeGreaterThan(1);
    expect(found.length).toBeLessThan(9);
  }
});

test("a legend has the labels of its series, and nothing for those that it lacks", () => {
  expect(legendOf("{{service}} {{instance}}", { service: "ingest", instance: "ingest-0" })).toBe("ingest ingest-0");
  expect(legendOf("{{source}}", {})).toBe("value");
});
