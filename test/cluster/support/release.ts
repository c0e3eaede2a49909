/** Both charts in a namespace of the test, as an operator installs them. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { request, until } from "../../support/http.ts";
import type { Cluster } from "./cluster.ts";
import { registry } from "./server-images.ts";

/** Label of what the test makes in no namespace, and of its namespaces. */
export const ownLabel = "netfacts-cluster-test";
const waitSeconds = 600;
/** Of a rollout, or of one restart of a set. */
export const rolloutSeconds = 300;
const readyMsMax = 120_000;

export const charts = { backing: "charts/netfacts-backing", netfacts: "charts/netfacts" } as const;
/** The file of values by which the second chart fits the first. */
export const evaluation = resolve(import.meta.dirname, "../../..", charts.netfacts, "values-evaluation.yaml");

/** What the images of the test need of every release: nothing can be pulled. */
export const imageValues = { global: { imageRegistry: registry } };

/** Small enough that several releases fit on one node with two processors. */
const requests = { resources: { requests: { cpu: "50m", memory: "128Mi" } } };
export const smallRequests = { gateway: requests, ipRouting: requests, asnPrefix: requests, rdnsResolver: requests, ingest: requests };

/** An empty namespace that enforces the restricted Pod Security Standard. */
export async function makeNamespace({ kubectl }: Cluster, name: string): Promise<void> {
  await kubectl("create", "namespace", name);
  await kubectl("label", "namespace", name, `${ownLabel}=true`, "pod-security.kubernetes.io/enforce=restricted");
}

/** Namespaces of this run and of earlier ones, with all that is in them. Each file does so at its end: a small node has room for few releases. */
export async function removeNamespaces({ kubectl }: Cluster): Promise<void> {
  // First: no namespace ends while the server of a registered API is away.
  await kubectl("delete", "apiservices,clusterroles,clusterrolebindings", "-l", ownLabel);
  await kubectl("-n", "kube-system", "delete", "rolebindings", "-l", ownLabel);
  await kubectl("delete", "namespace", "-l", ownLabel, "--wait=true", "--timeout=180s");
}

export interface HelmOptions {
  readonly namespace: string;
  readonly release: string;
  readonly chart: string;
  /** Files of values, before `values`. */
  readonly files?: readonly string[];
  readonly values?: object;
  /** Default: `install`. */
  readonly command?: "install" | "upgrade";
  /** Default: `--wait` with ten minutes. */
  readonly flags?: readonly string[];
}

export async function helmRelease({ helm }: Cluster, options: HelmOptions): Promise<string> {
  const { namespace, release, chart, files = [], values = {}, command = "install", flags } = options;
  const folder = await mkdtemp(join(tmpdir(), "netfacts-values-"));
  try {
    await writeFile(join(folder, "values.yaml"), JSON.stringify(values));
    const named = [...files, join(folder, "values.yaml")].flatMap((file) => ["-f", file]);
    return await helm(command, release, chart, "-n", namespace, ...named, ...(flags ?? ["--wait", `--timeout=${waitSeconds}s`]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface Workload {
  readonly namespace: string;
  /** Its name as of `app.kubernetes.io/component`. */
  readonly service: string;
  /** Default: `netfacts`. */
  readonly release?: string;
}

/** Resolves when the new pods of a Deployment are ready and the old ones have ended, after they drained. */
export async function untilRolledOut(cluster: Cluster, { namespace, service, release = "netfacts" }: Workload): Promise<void> {
  const deployment = `deployment/${release}-${service}`;
  await cluster.kubectl("-n", namespace, "rollout", "status", deployment, `--timeout=${rolloutSeconds}s`);
  const { spec } = JSON.parse(await cluster.kubectl("-n", namespace, "get", deployment, "-o", "json"));
  const pods = () => cluster.get(namespace, "pods", "-l", `app.kubernetes.io/component=${service}`);
  await until(async () => (await pods()).length === spec.replicas, { timeoutMs: 120_000 });
}

/** Where the Service of a gateway can be reached from outside the cluster. */
export async function serviceUrls(
  { kubectl, nodeAddress }: Cluster,
  namespace: string,
  service: string,
): Promise<{ cluster: string; node: string }> {
  const { spec } = JSON.parse(await kubectl("-n", namespace, "get", "service", service, "-o", "json"));
  return { cluster: `http://${spec.clusterIP}:${spec.ports[0].port}`, node: `http://${nodeAddress}:${spec.ports[0].nodePort}` };
}

export interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

/** As NOTES.txt says. @param options  of `netfacts keys create`. */
export async function makeKey({ kubectl }: Cluster, namespace: string, gateway: string, ...options: string[]): Promise<MadeKey> {
  const program = ["/usr/local/bin/node", "/app/netfacts.js", "cli"];
  const created = await kubectl(
    "-n",
    namespace,
    "exec",
    gateway,
    "--",
    ...program,
    "keys",
    "create",
    "--label",
    "cluster test",
    "--json",
    ...options,
  );
  return JSON.parse(created) as MadeKey;
}

/** Resolves when the API answers about an address from its data. @returns milliseconds from `since`. */
export async function untilAnswered(url: string, key: string, since: number): Promise<number> {
  const isAnswered = async () => {
    const answer = await request(`${url}/api/v1/ip/193.0.6.139`, { key }).catch(() => null);
    return answer?.status === 200 && answer.json.routing.prefix === "193.0.0.0/21";
  };
  return await until(isAnswered, { since, timeoutMs: readyMsMax + performance.now() - since });
}

/** Asks again, for up to 30 s, while the answer is 503 or 504: on a busy machine, the database and services can be later than a gateway waits. */
export async function patiently<A extends { readonly status: number }>(ask: () => Promise<A>): Promise<A> {
  const end = performance.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if ((answer.status !== 503 && answer.status !== 504) || performance.now() > end) return answer;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export interface Evaluation {
  /** Must exist (`makeNamespace`). */
  readonly namespace: string;
  /** Values of the second chart, beside the images and small requests. The gateway needs a Service that the node shows. */
  readonly values: object;
  /** Values of the first chart, beside the images. */
  readonly backing?: object;
  /** Options of `netfacts keys create`. Default: limits that no test reaches. */
  readonly limits?: readonly string[];
}

/** Both charts with the values for evaluation. Resolves when the key is answered from data, with the URLs of the gateway. */
export async function installForEvaluation(
  cluster: Cluster,
  { namespace, values, backing = {}, limits = ["--rate", "1000000/60s", "--month", "10000000"] }: Evaluation,
): Promise<{ readonly key: string; readonly urls: Awaited<ReturnType<typeof serviceUrls>> }> {
  await helmRelease(cluster, { namespace, release: "backing", chart: charts.backing, values: { ...imageValues, ...backing }, flags: [] });
  await helmRelease(cluster, {
    namespace,
    release: "netfacts",
    chart: charts.netfacts,
    files: [evaluation],
    values: { ...imageValues, ...smallRequests, ...values },
  });
  const { secret: key } = await makeKey(cluster, namespace, "deployment/netfacts-gateway-auth-quota", ...limits);
  const urls = await serviceUrls(cluster, namespace, "netfacts");
  await untilAnswered(urls.node, key, performance.now());
  return { key, urls };
}
