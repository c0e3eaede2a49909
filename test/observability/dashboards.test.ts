/** The dashboards, as files: what Grafana needs is there, queries use metrics that exist, and each alert leads to a panel. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { alerts, ruleFile } from "../../observability/alerts/index.ts";
import { dashboards } from "../../observability/panels/dashboards.ts";
import { knownMetrics, metricsIn } from "./metric-names.ts";

const folder = join(import.meta.dirname, "../../observability/dashboards");
const panels = dashboards.flatMap(({ name, rows }) => rows.flatMap((row) => row.panels.map((panel) => ({ dashboard: name, ...panel }))));

interface GrafanaPanel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly description?: string;
  readonly links?: readonly { readonly url: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
}

interface GrafanaDashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly GrafanaPanel[];
}

test("there is a file for each dashboard, and none beside", () => {
  expect(readdirSync(folder).sort()).toEqual(dashboards.map(({ name }) => `${name}.json`).sort());
});

test.each(dashboards.map(({ name }) => name))("%s: every panel has a unit, a description and the chosen data source", (name) => {
  const { uid, templating, panels: found } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as GrafanaDashboard;
  expect(uid).toBe(`netfacts-${name}`);
  const variables = templating.list.map((variable) => variable.name);
  expect(variables).toEqual(expect.arrayContaining(["datasource", "namespace", "runbooks"]));
  const shown = found.filter(({ type }) => type !== "row");
  expect(shown.length).toBeGreaterThan(3);
  expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length);
  for (const { description, fieldConfig, targets = [], links = [] } of shown) {
    expect(description).toMatch(/\.$/);
    expect(fieldConfig?.defaults.unit).toBeTruthy();
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr, datasource } of targets) {
      expect(datasource.uid).toBe("$datasource");
      for (const [, variable = ""] of expr.matchAll(/\$(?!__)(\w+)/g)) expect(variables).toContain(variable);
    }
    for (const { url } of links) expect(url).toMatch(/^\$\{runbooks\}Netfacts\w+\.md$/);
  }
});

test.each(dashboards.map(({ name }) => name))("%s: panels fill the 24 columns, and none covers another", (name) => {
  const { panels: found } = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as GrafanaDashboard;
  const cells = found.flatMap(({ title, gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => ({ title, column: x + (index % w), line: y + Math.floor(index / w) })),
  );
  expect(cells.filter(({ column }) => column >= 24).map(({ title }) => title)).toEqual([]);
  const places = new Set(cells.map(({ column, line }) => line * 24 + column));
  expect(places.size).toBe(cells.length);
  expect([...places].sort((a, b) => a - b)).toEqual([...places].map((_, index) => index));
});

test("queries use only metrics that exist, and each only its own installation's", async () => {
  const known = await knownMetrics();
  const recorded = ruleFile().groups.flatMap((group) => (group as { rules: { record?: string }[] }).rules.map(({ record }) => record));
  for (const { dashboard, title, queries } of panels)
    for (const { expr } of queries) {
      const unknown = [...metricsIn(expr)].filter((name) => !known.has(name) && !recorded.includes(name));
      expect({ dashboard, title, unknown }).toEqual({ dashboard, title, unknown: [] });
      expect(expr).toContain('namespace=~"$namespace"');
    }
});

test("each alert is linked from a panel, and each link leads to an alert", () => {
  const linked = new Set(panels.flatMap(({ alerts: list = [] }) => list));
  expect([...linked].sort()).toEqual(
    alerts()
      .map(({ name }) => name)
      .sort(),
  );
});
