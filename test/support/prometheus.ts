/** Prometheus and promtool (Debian package `prometheus`): unpacked into the tool cache, never installed. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import { type FoundTool, findDebianTool } from "./debian.ts";
import { freePort } from "./free-ports.ts";

const packageName = "prometheus";

/** Looks at `PROMTOOL` in the environment, then in PATH, the cache and the registry. */
export function findPromtool(): Promise<FoundTool> {
  return findDebianTool({ name: "promtool", variable: "PROMTOOL", packageName, binary: "usr/bin/promtool" });
}

/** Looks at `PROMETHEUS` in the environment, then in PATH, the cache and the registry. */
export function findPrometheus(): Promise<FoundTool> {
  return findDebianTool({ name: "prometheus", variable: "PROMETHEUS", packageName, binary: "usr/bin/prometheus" });
}

export interface Target {
  /** `127.0.0.1:9464`. */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface PrometheusOptions {
  /** A scrape job without service discovery: the targets replace it, and may have the labels that it would set. */
  readonly job?: object;
  readonly targets: readonly Target[];
  /** Content of a rule file. */
  readonly rules: object;
  readonly scrapeInterval: string;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface SampleRange {
  readonly metric: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [time: number, value: number])[];
}

export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Prometheus {
  /** The current value of each series. Rejects with the error of a wrong query. */
  query(expr: string): Promise<Sample[]>;
  /** The values of each series at each step from one Unix time to another, in seconds. */
  range(expr: string, from: number, to: number, step: number): Promise<SampleRange[]>;
  firing(): Promise<FiringAlert[]>;
  /** Rules whose last evaluation failed, with the reason. */
  failedRules(): Promise<string[]>;
  stop(): Promise<void>;
}

const readyMsMax = 60_000;

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly lastError?: string }[] }[];
}

/** Resolves when it is ready. It listens only on loopback, at a free port. */
export async function startPrometheus({ job, targets, rules, scrapeInterval }: PrometheusOptions): Promise<Prometheus> {
  const tool = await findPrometheus();
  if (!tool.found) throw new Error(`prometheus is needed: ${tool.remedy}`);
  const folder = await mkdtemp(join(tmpdir(), "netfacts-prometheus-"));
  const port = await freePort();
  const config = {
    global: { scrape_interval: scrapeInterval, scrape_timeout: scrapeInterval },
    rule_files: ["rules.yaml"],
    scrape_configs: [
      { job_name: "netfacts", ...job, static_configs: targets.map(({ address, labels }) => ({ targets: [address], labels })) },
    ],
  };
  await writeFile(join(folder, "rules.yaml"), stringify(rules));
  await writeFile(join(folder, "prometheus.yaml"), stringify(config));
  const child = spawn(
    tool.command,
    [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=warn",
    ],
    { cwd: folder, env: { PATH: process.env.PATH, GOMAXPROCS: "1", GOGC: "400", ...tool.env }, stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "close");
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const read = async <T>(path: string, params: Readonly<Record<string, string>> = {}): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(params)}`);
    const answer = (await response.json()) as { status: string; data: T; error?: string };
    if (answer.status !== "success") throw new Error(`${answer.error}: ${params.query ?? path}`);
    return answer.data;
  };
  const deadline = performance.now() + readyMsMax;
  while (!(await fetch(`${url}/-/ready`).catch(() => null))?.ok) {
    if (child.exitCode === null && performance.now() < deadline) await sleep(50);
    else {
      await stop();
      throw new Error(`prometheus did not start:\n${log}`);
    }
  }
  return {
    async query(expr) {
      const { result } = await read<{ result: { metric: Sample["metric"]; value: [number, string] }[] }>("query", { query: expr });
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    async range(expr, from, to, step) {
      const params = { query: expr, start: `${from}`, end: `${to}`, step: `${step}` };
      const { result } = await read<{ result: { metric: Sample["metric"]; values: [number, string][] }[] }>("query_range", params);
      return result.map(({ metric, values }) => ({ metric, points: values.map(([time, value]) => [time, Number(value)] as const) }));
    },
    async firing() {
      const { alerts } = await read<{ alerts: (FiringAlert & { state: string })[] }>("alerts");
      return alerts.filter(({ state }) => state === "firing");
    },
    async failedRules() {
      const { groups } = await read<Rules>("rules");
      return groups.flatMap((group) =>
        group.rules.filter(({ lastError }) => lastError).map(({ name, lastError }) => `${name}: ${lastError}`),
      );
    },
    stop,
  };
}
