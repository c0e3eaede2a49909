/** The flows that network policies name, compared with the connections that pods open: the cluster's own network does not enforce them. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Manifest } from "../support/helm.ts";
import { request } from "../support/http.ts";
import { type Cluster, openCluster } from "./support/cluster.ts";
import { type Flow, type FlowRecording, recordFlows } from "./support/flows.ts";
import { judge, type Peer, rulesOf } from "./support/policies.ts";
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

const namespace = "nf-flows";
let cluster: Cluster;
let recording: FlowRecording;
let flows: Flow[] = [];
let policies: Manifest[] = [];
/** By address. */
const peers = new Map<string, Peer>();

beforeAll(async () => {
  const kubeconfig = process.env.KUBECONFIG ?? "";
  cluster = await openCluster(kubeconfig);
  recording = await recordFlows(kubeconfig);
  await makeNamespace(cluster, namespace);
  const backing = { ...imageValues, nats: { replicas: 3 }, unbound: { enabled: true, image: unboundImage } };
  await helmRelease(cluster, { namespace, release: "backing", chart: charts.backing, values: backing, flags: [] });
  const values = {
    ...imageValues,
    ...smallRequests,
    ingest: { ...smallRequests.ingest, replicas: 2, volume: { type: "emptyDir" } },
    rdnsResolver: { ...smallRequests.rdnsResolver, resolvers: ["backing-unbound"] },
    networkPolicy: { resolvers: { ports: [53, 5353] } },
    gateway: { ...smallRequests.gateway, service: { type: "NodePort" } },
  };
  await helmRelease(cluster, { namespace, release: "netfacts", chart: charts.netfacts, files: [evaluation], values });

  const gateway = "deployment/netfacts-gateway-auth-quota";
  const { secret: key } = await makeKey(cluster, namespace, gateway);
  const { secret: adminKey } = await makeKey(cluster, namespace, gateway, "--scopes", "admin");
  const { node } = await serviceUrls(cluster, namespace, "netfacts");
  await untilAnswered(node, key, performance.now());
  for (const { path } of lookups) await request(`${node}${path}`, { key });
  // Asks a nameserver, which can reach nobody.
  await request(`${node}/api/v1/reverse-dns/193.0.6.139`, { key });
  const { cluster: operator } = await serviceUrls(cluster, namespace, "netfacts-operator");
  await request(`${operator}/admin/v1/ingest/runs`, { key: adminKey });
  await askEachIngest();
  await cluster.helm("-n", namespace, "test", "netfacts");

  flows = await recording.stop();
  policies = await cluster.get(namespace, "networkpolicies");
  for (const { metadata, status } of await cluster.get(namespace, "pods"))
    peers.set(status.podIP, { name: metadata.name, namespace, labels: metadata.labels });
  // Here, cluster DNS is a process of the node in place of a pod.
  for (const { endpoints } of await cluster.get("kube-system", "endpointslices"))
    for (const { addresses } of endpoints)
      peers.set(addresses[0], { name: "cluster DNS", namespace: "kube-system", labels: { "k8s-app": "kube-dns" } });
});
afterAll(async () => {
  await recording?.stop();
  await removeNamespaces(cluster);
});

/** As gateways do, with connections that reach one copy or the other: the one that stands by hands the request on to the leader. */
async function askEachIngest(): Promise<void> {
  const secret = JSON.parse(await cluster.kubectl("-n", namespace, "get", "secret", "backing-proxy-token", "-o", "json"));
  const headers = { "x-netfacts-proxy-token": Buffer.from(secret.data.token, "base64").toString(), connection: "close" };
  const { cluster: ingest } = await serviceUrls(cluster, namespace, "netfacts-ingest");
  for (let turn = 0; turn < 20; turn++) {
    const { status } = await patiently(() => request(`${ingest}/admin/v1/ingest/runs`, { method: "POST", headers }));
    expect([202, 409]).toContain(status);
  }
}

const isOfPod = (address: string) => peers.get(address)?.namespace === namespace;
const nameOf = (address: string) => peers.get(address)?.name.replace(/-[0-9a-f]{6,10}(-\w{5})?$|-\d$/, "") ?? address;

test("every connection that a pod opens is permitted at both ends", () => {
  const opened = flows.filter(({ from }) => isOfPod(from));
  expect(opened.length).toBeGreaterThan(20);
  const refused = opened
    .filter((flow) => !judge(flow, policies, peers).permitted)
    .map(({ from, to, port, protocol }) => `${nameOf(from)} → ${nameOf(to)} ${protocol} ${port}`);
  expect([...new Set(refused)]).toEqual([]);
});

/** Rules for which nobody opens a connection here. */
const unused = {
  "names that are too long for UDP": [
    "backing-servers: Ingress TCP 5353",
    "netfacts-cluster-dns: Egress TCP 53",
    "netfacts-to-resolvers: Egress TCP 53",
    "netfacts-to-resolvers: Egress TCP 5353",
  ],
  "sources on other hosts": ["netfacts-from-ingest: Egress TCP 443", "netfacts-from-ingest: Egress TCP 80"],
  "pods of operators": ["netfacts-operators-to-gateway: Ingress TCP 8081"],
};

test("every flow that a policy names is one that a pod opens or accepts, but for those of other parties", () => {
  const used = new Set(flows.filter(({ from, to }) => isOfPod(from) || isOfPod(to)).flatMap((flow) => judge(flow, policies, peers).rules));
  const others = rulesOf(policies).filter((rule) => !used.has(rule));
  expect([...new Set(others)].sort()).toEqual(Object.values(unused).flat().sort());
});
