/** A dashboard as Grafana reads it. */

import * as common from "@grafana/grafana-foundation-sdk/common";
import * as grafana from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import * as stat from "@grafana/grafana-foundation-sdk/stat";
import * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";
import { runbooks } from "../alerts/index.ts";
import type { Dashboard, Panel } from "./panel.ts";

/** Panels stand in a grid of 24 columns. */
const columns = 24;
const sizes = { lines: { span: 12, height: 8 }, number: { span: 6, height: 5 } } as const;
const rowHeight = 1;
const source = { type: "prometheus", uid: "$datasource" };
const tag = "netfacts";

/** Plain data, ready for JSON. */
export function grafanaDashboard({ name, title, description, rows }: Dashboard): object {
  const builder = new grafana.DashboardBuilder(title)
    .uid(`netfacts-${name}`)
    .description(description)
    .tags([tag])
    .timezone("browser")
    .refresh("1m")
    .time({ from: "now-6h", to: "now" })
    .tooltip(grafana.DashboardCursorSync.Crosshair)
    .link(
      new grafana.DashboardLinkBuilder("Netfacts")
        .type(grafana.DashboardLinkType.Dashboards)
        .tags([tag])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(new grafana.DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"))
    .withVariable(new grafana.TextBoxVariableBuilder("runbooks").label("Address of the runbooks").defaultValue(runbooks))
    .withVariable(variable("namespace", "Namespace", "label_values(netfacts_process_info, namespace)"));
  if (JSON.stringify(rows).includes("$instance"))
    builder.withVariable(variable("instance", "Instance", 'label_values(netfacts_process_info{namespace=~"$namespace"}, instance)'));
  let y = 0;
  for (const row of rows) {
    builder.withRow(new grafana.RowBuilder(row.title).gridPos({ x: 0, y, w: columns, h: rowHeight }));
    y += rowHeight;
    for (const line of linesOf(row.panels)) {
      const height = Math.max(...line.map(({ kind }) => sizes[kind].height));
      const widths = widthsOf(line);
      let x = 0;
      for (const [index, panel] of line.entries()) {
        const w = widths[index] ?? columns;
        builder.withPanel(panelOf(panel).gridPos({ x, y, w, h: height }));
        x += w;
      }
      y += height;
    }
  }
  return JSON.parse(JSON.stringify(builder.build())) as object;
}

/** Panels beside each other, in their order, as many as fit. */
function linesOf(panels: readonly Panel[]): Panel[][] {
  const found: Panel[][] = [];
  let free = 0;
  for (const panel of panels) {
    const { span } = sizes[panel.kind];
    if (span > free) {
      found.push([]);
      free = columns;
    }
    found.at(-1)?.push(panel);
    free -= span;
  }
  return found;
}

/** The last panel takes the columns that the others leave. */
function widthsOf(line: readonly Panel[]): number[] {
  const spans: number[] = line.map(({ kind }) => sizes[kind].span);
  const left = columns - spans.reduce((sum, span) => sum + span, 0);
  return spans.map((span, index) => (index === spans.length - 1 ? span + left : span));
}

/** All of them at first; a label that is absent is one of all. */
function variable(name: string, label: string, query: string): grafana.QueryVariableBuilder {
  return new grafana.QueryVariableBuilder(name)
    .label(label)
    .datasource(source)
    .query(query)
    .refresh(grafana.VariableRefresh.OnTimeRangeChanged)
    .sort(grafana.VariableSort.AlphabeticalAsc)
    .includeAll(true)
    .multi(true)
    .allValue(".*")
    .current({ selected: true, text: "All", value: "$__all" });
}

function panelOf(panel: Panel): stat.PanelBuilder | timeseries.PanelBuilder {
  const { kind, title, description, unit, queries, thresholds, alerts = [] } = panel;
  const builder = kind === "number" ? new stat.PanelBuilder() : linesBuilder(thresholds !== undefined);
  const pages = alerts.map((alert) =>
    new grafana.DashboardLinkBuilder(alert).type(grafana.DashboardLinkType.Link).url(`\${runbooks}${alert}.md`).targetBlank(true),
  );
  builder.title(title).description(description).links(pages).datasource(source).unit(unit);
  if (panel.mayBeNegative !== true) builder.min(0);
  if (thresholds !== undefined) builder.thresholds(steps(thresholds));
  for (const [index, { expr, legend }] of queries.entries())
    builder.withTarget(
      new DataqueryBuilder()
        .refId(String.fromCharCode("A".charCodeAt(0) + index))
        .datasource(source)
        .expr(expr)
        .legendFormat(legend)
        .range(),
    );
  return builder;
}

function linesBuilder(hasThresholds: boolean): timeseries.PanelBuilder {
  const builder = new timeseries.PanelBuilder()
    .fillOpacity(8)
    .legend(
      new common.VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom),
    )
    .tooltip(new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending));
  return hasThresholds
    ? builder.thresholdsStyle(new common.GraphThresholdsStyleConfigBuilder().mode(common.GraphThresholdsStyleMode.Dashed))
    : builder;
}

function steps([warning, critical]: NonNullable<Panel["thresholds"]>): grafana.ThresholdsConfigBuilder {
  return new grafana.ThresholdsConfigBuilder()
    .mode(grafana.ThresholdsMode.Absolute)
    .steps([
      { value: null, color: "green" },
      ...(warning === null ? [] : [{ value: warning, color: "yellow" }]),
      { value: critical, color: "red" },
    ]);
}
