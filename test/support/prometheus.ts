/** Prometheus and promtool (Debian package `prometheus`): unpacked into the tool cache, never installed. */

import { type FoundTool, findDebianTool } from "./debian.ts";

const packageName = "prometheus";

/** `PROMTOOL` in the environment, PATH, the cache, the registry. */
export function findPromtool(): Promise<FoundTool> {
  return findDebianTool({ name: "promtool", variable: "PROMTOOL", packageName, binary: "usr/bin/promtool" });
}

/** `PROMETHEUS` in the environment, PATH, the cache, the registry. */
export function findPrometheus(): Promise<FoundTool> {
  return findDebianTool({ name: "prometheus", variable: "PROMETHEUS", packageName, binary: "usr/bin/prometheus" });
}
