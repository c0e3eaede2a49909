/** The scrape job of docs/operations/monitoring.md, as operators copy it, and the labels with which Kubernetes finds our pods. */

import { join } from "node:path";
import { parse } from "yaml";
import { type CodeBlock, codeBlocks } from "../../scripts/docs-site/code-blocks.ts";

export interface PrometheusConfig {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly ScrapeJob[];
}

export interface ScrapeJob {
  readonly honor_labels?: boolean;
  readonly kubernetes_sd_configs: readonly object[];
  readonly relabel_configs: readonly object[];
}

/** The blocks with `yaml of Prometheus`. */
export function prometheusBlocks(): CodeBlock[] {
  return codeBlocks(join(import.meta.dirname, "../..")).filter(({ language, info }) => language === "yaml" && info === "of Prometheus");
}

export function documentedJob(): ScrapeJob {
  const jobs = prometheusBlocks().flatMap(({ text }) => (parse(text) as PrometheusConfig).scrape_configs);
  if (jobs[0] === undefined || jobs.length > 1) throw new Error(`the documentation has ${jobs.length} scrape jobs, and not one`);
  return jobs[0];
}

/** As service discovery sets them, and `service` as the usual relabelling does: by the name of the Kubernetes Service. */
export function discoveredLabels(pod: string): Record<string, string> {
  return {
    __meta_kubernetes_namespace: "netfacts",
    __meta_kubernetes_pod_name: pod,
    __meta_kubernetes_pod_phase: "Running",
    __meta_kubernetes_pod_container_port_name: "metrics",
    __meta_kubernetes_pod_label_app_kubernetes_io_part_of: "netfacts",
    service: "netfacts-metrics",
  };
}
