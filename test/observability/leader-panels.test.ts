/** Panels of what only the leader of ingest keeps up to date, after another process became the leader (`promtool test rules`). */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { dashboards } from "../../observability/panels/dashboards.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { findPromtool } from "../support/prometheus.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-panels-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Gauges that a process keeps when its term ends, each with the labels of one series. */
const gauges: readonly (readonly [name: string, labels: string])[] = [
  ["netfacts_ingest_source_failures_in_a_row", ',source="s"'],
  ["netfacts_ingest_source_refused", ',source="s"'],
  ["netfacts_ingest_list_faults", ""],
  ["netfacts_ingest_section_refused", ',section="routes"'],
  ["netfacts_ingest_source_records", ',source="s",outcome="accepted"'],
  ["netfacts_ingest_source_records", ',source="s",outcome="skipped"'],
  ["netfacts_ingest_pods", ',outcome="loaded"'],
  ["netfacts_ingest_rtr_synchronised", ',source="s",cache="c"'],
  ["netfacts_ingest_rtr_vrps", ',source="s",cache="c"'],
];

function seriesOf([name, labels]: (typeof gauges)[number], values: { readonly before: number; readonly leader: number }): object[] {
  return Object.entries(values).map(([instance, value]) => ({
    series: `${name}{namespace="n",job="j",instance="${instance}"${labels}}`,
    values: `${value}x5`,
  }));
}

test("they show what the leader says, and not what the leader before it said last", async () => {
  const queries = dashboards
    .flatMap(({ rows }) => rows.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr))))
    .filter((expr) => gauges.some(([name]) => expr.includes(`${name}{`)));
  expect(queries).toHaveLength(gauges.length);
  const tool = toolOrNotRun(await findPromtool(), "promtool", queries.length);
  if (tool === null) return;
  const path = join(folder, "tests.yaml");
  const input_series = [
    ...seriesOf(["netfacts_ingest_leads", ""], { before: 0, leader: 1 }),
    ...gauges.flatMap((gauge) => seriesOf(gauge, { before: 7, leader: 1 })),
  ];
  const promql_expr_test = queries.map((expr) => ({
    expr: `sum(${expr.replaceAll("$namespace", ".*")})`,
    eval_time: "5m",
    exp_samples: [{ labels: "{}", value: 1 }],
  }));
  writeFileSync(path, stringify({ rule_files: [], tests: [{ interval: "1m", input_series, promql_expr_test }] }));
  const { stdout, stderr } = await promisify(execFile)(tool.command, ["test", "rules", path]).catch(
    (failure: { stdout: string; stderr: string }) => failure,
  );
  expect(`${stdout}${stderr}`).toContain("SUCCESS");
}, 120_000);
