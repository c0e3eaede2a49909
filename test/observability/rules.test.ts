/** The alerts, in situations made of series: each fires where it must, says so in its words, and none other does (`promtool test rules`). */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { alerts, runbooks } from "../../observability/alerts/index.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { findPromtool } from "../support/prometheus.ts";
import { healthy, type Scenario, scenarios } from "./scenarios.ts";

/** What is looked at after hours has rules that hold for hours. */
const longMinutes = 100;
const rulePath = resolve(import.meta.dirname, "../../observability/rules/netfacts.yaml");
const folder = mkdtempSync(join(tmpdir(), "netfacts-rules-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Rule {
  readonly alert?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups } = parse(readFileSync(rulePath, "utf8")) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap(({ rules: list }) => list).filter(({ alert }) => alert !== undefined);

test("every alert has a situation in which it fires", () => {
  const firing = new Set(scenarios.flatMap(({ fires }) => Object.keys(fires)));
  expect([...firing].sort()).toEqual(
    alerts()
      .map(({ name }) => name)
      .sort(),
  );
});

test("each situation causes its alerts and no other", async () => {
  const tool = toolOrNotRun(await findPromtool(), "promtool", scenarios.length);
  if (tool === null) return;
  const isLong = ({ atMinutes }: Scenario) => atMinutes >= longMinutes;
  const paths = [
    write(
      "short.yaml",
      "1m",
      scenarios.filter((scenario) => !isLong(scenario)),
    ),
    write("long.yaml", "5m", scenarios.filter(isLong)),
  ];
  // A run allocates much and ends soon: it collects garbage less often.
  const options = { maxBuffer: 64 << 20, env: { PATH: process.env.PATH, GOGC: "1000", ...tool.env } };
  const { stdout, stderr } = await promisify(execFile)(tool.command, ["test", "rules", ...paths], options).catch(
    (failure: { stdout: string; stderr: string }) => failure,
  );
  expect(`${stdout}${stderr}`.replaceAll(/^Unit Testing: .*$|^ {2}SUCCESS$/gm, "").trim()).toBe("");
}, 240_000);

/** @returns the path of a file of tests whose rules are evaluated that often. */
function write(name: string, interval: string, situations: readonly Scenario[]): string {
  const path = join(folder, name);
  // What is recorded comes before the alerts that read it.
  const order = { evaluation_interval: interval, group_eval_order: groups.map((group) => group.name) };
  const tests = [...Map.groupBy(situations, ({ atMinutes }) => atMinutes)].map(([atMinutes, list]) => promtoolTest(atMinutes, list));
  writeFileSync(path, stringify({ rule_files: [rulePath], ...order, tests }));
  return path;
}

/** Situations that are looked at after the same time are installations beside one another, each in a namespace of its name. */
function promtoolTest(atMinutes: number, situations: readonly Scenario[]): object {
  return {
    name: `after ${atMinutes} minutes`,
    interval: "1m",
    input_series: situations.flatMap(({ name, changes }) =>
      Object.entries({ ...healthy, ...changes }).flatMap(([series, values]) =>
        values === null ? [] : [{ series: inNamespace(series, name), values: values.replace("x440", `x${atMinutes + 1}`) }],
      ),
    ),
    alert_rule_test: rules.map(({ alert = "", labels, annotations }) => ({
      alertname: alert,
      eval_time: `${atMinutes}m`,
      exp_alerts: situations.flatMap(({ name, fires }) => {
        const [own, summary] = fires[alert] ?? [];
        if (summary === undefined) return [];
        return [{ exp_labels: { namespace: name, ...own, ...labels }, exp_annotations: { ...annotations, summary } }];
      }),
    })),
  };
}

function inNamespace(series: string, namespace: string): string {
  const named = series.replace('namespace="n"', `namespace=${JSON.stringify(namespace)}`);
  if (named === series) throw new Error(`${series} is in no namespace`);
  return named;
}

test("an alert names its page", () => {
  for (const { alert, annotations } of rules) expect(annotations.runbook_url).toBe(`${runbooks}${alert}.md`);
});
