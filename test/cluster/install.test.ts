/** Both charts in an empty cluster: from two commands to the first answer, a second installation beside it, and what uninstalling leaves. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Manifest } from "../support/helm.ts";
import { request, until } from "../support/http.ts";
import { type Cluster, openCluster } from "./support/cluster.ts";
import { lookups } from "./support/questions.ts";
import {
  charts,
  evaluation,
  helmRelease,
  imageValues,
  makeKey,
  makeNamespace,
  patiently,
  removeNamespaces,
  serviceUrls,
  smallRequests,
  untilAnswered,
} from "./support/release.ts";
import { unboundImage } from "./support/server-images.ts";

const first = "nf-first";
const second = "nf-second";

let cluster: Cluster;
let key: string;
let urls: { cluster: string; node: string };

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
});

afterAll(() => removeNamespaces(cluster));

/** Objects of a namespace that Kubernetes and Helm do not put into every one of them, as `Kind name`. */
async function objectsOf(namespace: string): Promise<string[]> {
  const kinds = (await cluster.kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name")).trim().split("\n");
  const listed = kinds.filter((kind) => !kind.startsWith("events") && !kind.endsWith("metrics.k8s.io"));
  const items = await cluster.get(namespace, listed.join(","));
  return items
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => !["ServiceAccount default", "ConfigMap kube-root-ca.crt"].includes(name))
    .sort();
}

const pods = (namespace: string) => cluster.get(namespace, "pods");
const restartsOf = ({ status }: Manifest) =>
  (status.containerStatuses ?? []).reduce((sum: number, { restartCount }: Manifest) => sum + restartCount, 0);

describe("an evaluation by two commands", () => {
  test("answers truly", async () => {
    await makeNamespace(cluster, first);
    const began = performance.now();
    await helmRelease(cluster, { namespace: first, release: "backing", chart: charts.backing, values: imageValues, flags: [] });
    const notes = await helmRelease(cluster, {
      namespace: first,
      release: "netfacts",
      chart: charts.netfacts,
      files: [evaluation],
      values: { ...imageValues, gateway: { service: { type: "NodePort" } } },
    });
    const ready = performance.now() - began;
    expect(notes).toContain("helm -n nf-first test netfacts --logs");
    ({ secret: key } = await makeKey(cluster, first, "deployment/netfacts-gateway-auth-quota", "--rate", "100000/60s"));
    urls = await serviceUrls(cluster, first, "netfacts");
    const answered = await untilAnswered(urls.cluster, key, began);
    console.log(
      `from an empty namespace: installed after ${(ready / 60_000).toFixed(1)} min, first answer after ${(answered / 60_000).toFixed(1)} min`,
    );
  });

  test("the Job of the first import ends well", async () => {
    await cluster.kubectl("-n", first, "wait", "--for=condition=complete", "job", "--all", "--timeout=120s");
  });

  test("helm test asks a real question", async () => {
    const printed = await cluster.helm("-n", first, "test", "netfacts", "--logs");
    expect(printed).toContain("193.0.6.139 is in 193.0.0.0/21");
  });

  test.each(["cluster", "node"] as const)("questions are answered through the Service by its %s address", async (by) => {
    for (const { path, facts } of lookups) {
      const answer = await patiently(() => request(`${urls[by]}${path}`, { key }));
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.json).toMatchObject(facts);
    }
  });

  test("a caller without a key is refused, and probes and operators' routes are not behind the Service for callers", async () => {
    expect((await patiently(() => request(`${urls.node}/api/v1/ip/193.0.6.139`))).status).toBe(401);
    for (const path of ["/metrics", "/readyz", "/admin/v1/keys"]) expect((await request(`${urls.node}${path}`, { key })).status).toBe(404);
  });

  test("nothing was restarted, and every pod that serves is ready", async () => {
    for (const pod of await pods(first)) {
      expect([pod.metadata.name, restartsOf(pod)]).toEqual([pod.metadata.name, 0]);
      if (pod.status.phase === "Running") expect(pod.status.containerStatuses.every(({ ready }: Manifest) => ready)).toBe(true);
    }
  });
});

describe("a second installation, with three NATS servers and a nameserver", () => {
  test("collides with nothing", async () => {
    await makeNamespace(cluster, second);
    const backing = { ...imageValues, nats: { replicas: 3 }, unbound: { enabled: true, image: unboundImage } };
    await helmRelease(cluster, { namespace: second, release: "servers", chart: charts.backing, values: backing });
    await helmRelease(cluster, {
      namespace: second,
      release: "other",
      chart: charts.netfacts,
      values: {
        ...imageValues,
        nats: { url: "nats://servers-nats:4222", auth: { existingSecret: "servers-nats-users" }, snapshotReplicas: 3 },
        mongodb: { existingSecret: "servers-mongodb-uri" },
        proxyToken: { existingSecret: "servers-proxy-token" },
        networkPolicy: { resolvers: { ports: [53, 5353] } },
        ...smallRequests,
        rdnsResolver: { ...smallRequests.rdnsResolver, resolvers: ["servers-unbound"] },
        gateway: { ...smallRequests.gateway, service: { type: "NodePort" } },
      },
    });
    const made = await makeKey(cluster, second, "deployment/other-netfacts-gateway-auth-quota");
    const { node } = await serviceUrls(cluster, second, "other-netfacts");
    await untilAnswered(node, made.secret, performance.now());
    // Of another database.
    expect((await patiently(() => request(`${urls.node}/api/v1/me`, { key: made.secret }))).status).toBe(401);
    expect((await patiently(() => request(`${urls.node}/api/v1/ip/193.0.6.139`, { key }))).status).toBe(200);
    expect((await pods(second)).map(restartsOf)).toEqual((await pods(second)).map(() => 0));
  });

  test("is gone after helm uninstall but for claims and the pod of helm test", async () => {
    await cluster.helm("-n", second, "test", "other");
    await cluster.helm("-n", second, "uninstall", "other", "--wait");
    await cluster.helm("-n", second, "uninstall", "servers", "--wait");
    // Pods that were told to stop are still there for their grace period.
    await until(async () => (await pods(second)).length === 1, { timeoutMs: 120_000 });
    expect(await objectsOf(second)).toEqual([
      "PersistentVolumeClaim data-servers-mongodb-0",
      ...[0, 1, 2].map((index) => `PersistentVolumeClaim data-servers-nats-${index}`),
      "PersistentVolumeClaim other-netfacts-ingest",
      "Pod other-netfacts-test",
    ]);
    expect((await patiently(() => request(`${urls.node}/api/v1/ip/193.0.6.139`, { key }))).status).toBe(200);
  });
});
