/** The configuration of Prometheus in the documentation: Prometheus accepts it, and it scrapes our pods and no others. */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { toolOrNotRun } from "../support/debian.ts";
import { until } from "../support/http.ts";
import { findPrometheus, findPromtool, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { discoveredLabels, documentedJob, type PrometheusConfig, prometheusBlocks } from "./scrape-job.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-scrape-"));
const rulePath = resolve(import.meta.dirname, "../../observability/rules/netfacts.yaml");
let server: Server;
let prometheus: Prometheus | undefined;
beforeAll(async () => {
  server = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end('netfacts_process_info{service="ip-routing"} 1\n');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  await prometheus?.stop();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

test("promtool accepts the configuration, with our rules", async () => {
  const tool = toolOrNotRun(await findPromtool(), "promtool", 1);
  if (tool === null) return;
  const blocks = prometheusBlocks();
  expect(blocks.length).toBeGreaterThan(0);
  for (const { text } of blocks) {
    const config = parse(text) as PrometheusConfig;
    expect(config.rule_files).toEqual(["/etc/prometheus/netfacts.yaml"]);
    const path = join(folder, "prometheus.yml");
    // Debian builds Prometheus without the discovery of Kubernetes.
    const jobs = config.scrape_configs.map(({ kubernetes_sd_configs: _, ...job }) => job);
    writeFileSync(path, stringify({ ...config, rule_files: [rulePath], scrape_configs: jobs }));
    const { stdout } = await promisify(execFile)(tool.command, ["check", "config", path], { env: { ...process.env, ...tool.env } });
    expect(stdout).toMatch(/is valid prometheus config file syntax[\s\S]*SUCCESS: \d+ rules found/);
  }
});

test("the label `service` stays that of the processes, `namespace` is set, and pods of others and ended ones are left out", async () => {
  if (toolOrNotRun(await findPrometheus(), "prometheus", 1) === null) return;
  const { kubernetes_sd_configs: discovery, ...job } = documentedJob();
  expect(discovery).toEqual([{ role: "pod" }]);
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pod = (name: string, more: Record<string, string> = {}) => ({
    address,
    labels: { ...discoveredLabels(name), instance: name, ...more },
  });
  prometheus = await startPrometheus({
    scrapeInterval: "200ms",
    rules: { groups: [] },
    job,
    targets: [
      pod("ours"),
      pod("ended", { __meta_kubernetes_pod_phase: "Failed" }),
      pod("another-port", { __meta_kubernetes_pod_container_port_name: "http" }),
      pod("of-others", { __meta_kubernetes_pod_label_app_kubernetes_io_part_of: "others" }),
    ],
  });
  const infos = () => prometheus?.query("netfacts_process_info") ?? Promise.resolve([]);
  await until(async () => (await infos()).length > 0);
  expect((await infos()).map(({ metric }) => metric)).toEqual([
    { __name__: "netfacts_process_info", service: "ip-routing", namespace: "netfacts", job: "netfacts", instance: "ours", pod: "ours" },
  ]);
  expect((await prometheus.query("up")).map(({ metric }) => metric.instance)).toEqual(["ours"]);
}, 120_000);
