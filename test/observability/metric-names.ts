/** The names of the metrics that our sources define, and those that a text uses. Whether they have values is seen in a running system. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createMetrics } from "@netfacts/runtime";
import { createRtrMetrics } from "../../services/ingest/src/rtr/rtr-metrics.ts";

const root = join(import.meta.dirname, "../..");
/** What Prometheus adds to each target. */
const ofPrometheus = ["up"];

/** With the suffixes of histograms. */
export async function knownMetrics(): Promise<Set<string>> {
  const sources = globSync("{libs,services}/*/src/**/*.ts", { cwd: root }).map((path) => readFileSync(join(root, path), "utf8"));
  const literal = sources.flatMap((text) => [...text.matchAll(/"(netfacts_[a-z_]+)"/g)].map(([, name = ""]) => name));
  const { registry } = createMetrics("x");
  // Their names are put together.
  createRtrMetrics(createMetrics("x"));
  const registered = [...(await registry.text()).matchAll(/^# HELP (\S+)/gm)].map(([, name = ""]) => name);
  const names = [...literal, ...registered, ...ofPrometheus];
  return new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]));
}

/** Names of metrics and of recorded series in a query or a page. */
export function metricsIn(text: string): Set<string> {
  const found = text.matchAll(/(?<![\w/])(?:netfacts[_:]|nodejs_|process_)[a-z][\w:]*|\bup(?=\{| ==)/g);
  return new Set([...found].map(([name]) => name));
}
