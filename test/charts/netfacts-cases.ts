/** Values for which tests render the chart `netfacts`, and what they look up in the renderings. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readValues, type Value } from "../../scripts/charts/values.ts";
import type { Manifest } from "../support/helm.ts";

export const services = ["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest"];
export const policies = [
  "callers-to-gateway",
  "cluster-dns",
  "default-deny",
  "first-import-to-ingest",
  "from-ingest",
  "gateway-to-ingest",
  "metrics",
  "operators-to-gateway",
  "test-to-gateway",
  "to-ingest",
  "to-mongodb",
  "to-nats",
  "to-resolvers",
];

/** What has no default. */
export const minimal = {
  nats: { url: "nats://nats.example:4222", auth: { existingSecret: "nats-users" } },
  mongodb: { existingSecret: "database" },
  proxyToken: { existingSecret: "proxy" },
};

const peer = { namespaceSelector: { matchLabels: { team: "network" } } };
const autoscaled = { enabled: true, minReplicas: 3, maxReplicas: 6 };

/** Every value of values.yaml that is not decided by another one, different from its default. */
export const everything = {
  global: { imageRegistry: "registry.example.com/", imagePullSecrets: [{ name: "pull" }] },
  nameOverride: "facts",
  fullnameOverride: "facts-of-ours",
  commonLabels: { team: "network" },
  image: { repository: "netfacts/all", tag: "0.1.0-rc1", digest: `sha256:${"ab".repeat(32)}`, pullPolicy: "Always" },
  logLevel: "debug",
  listenHost: "::",
  nats: {
    url: "tls://nats-0.example:4222,tls://nats-1.example:4222",
    auth: { method: "password", existingSecret: "nats-users", key: "password", user: "netfacts" },
    tls: { caSecret: "nats-ca", caKey: "root.pem", clientSecret: "nats-client" },
    bucket: "facts",
    snapshotReplicas: 3,
  },
  mongodb: { existingSecret: "database", key: "connection", caSecret: "database-ca", caKey: "root.pem" },
  proxyToken: { existingSecret: "proxy", key: "text" },
  adminKey: { existingSecret: "admin", key: "text" },
  peppers: { existingSecret: "peppers", key: "text" },
  telemetry: {
    otlpEndpoint: "http://collector.example:4318",
    sampler: "traceidratio",
    ratio: 0.5,
    headersSecret: "collector",
    headersKey: "text",
  },
  defaults: {
    replicas: 4,
    resources: { limits: { "ephemeral-storage": "1Gi" } },
    autoscaling: { ...autoscaled, targetCpuPercent: 70, metrics: [], behavior: { scaleUp: { stabilizationWindowSeconds: 10 } } },
    disruptionBudget: { enabled: true, maxUnavailable: "25%" },
    livenessProbe: { enabled: false },
    extraEnv: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=200" }],
    extraVolumes: [{ name: "more", emptyDir: {} }],
    extraVolumeMounts: [{ name: "more", mountPath: "/more" }],
    podAnnotations: { "example.com/scan": "yes" },
    podLabels: { "example.com/tier": "facts" },
    serviceAccountAnnotations: { "example.com/role": "reader" },
    nodeSelector: { "kubernetes.io/arch": "amd64" },
    tolerations: [{ key: "facts", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    topologySpread: [{ topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule", maxSkew: 2 }],
    priorityClassName: "important",
  },
  gateway: {
    resources: { limits: { memory: "2Gi" } },
    autoscaling: {
      metrics: [{ type: "Pods", pods: { metric: { name: "requests" }, target: { type: "AverageValue", averageValue: "1k" } } }],
    },
    drainSeconds: 25,
    trustedProxies: ["10.0.0.0/8", "fd00::/8"],
    service: {
      type: "NodePort",
      port: 8000,
      nodePort: 30_080,
      externalTrafficPolicy: "Local",
      ipFamilyPolicy: "PreferDualStack",
      annotations: { "example.com/pool": "public" },
    },
    operator: { enabled: true, port: 9081 },
    whois: {
      enabled: true,
      type: "LoadBalancer",
      port: 4343,
      ipFamilyPolicy: "PreferDualStack",
      annotations: { "example.com/pool": "whois" },
    },
    settings: { DEFAULT_RATE_LIMIT: 10_000_000, CORS_ORIGINS: "https://app.example.com" },
  },
  ipRouting: { resources: { limits: { memory: "3Gi" } }, settings: { IPV4_INDEX: "compact" } },
  asnPrefix: { resources: { limits: { memory: "3Gi" } }, settings: { SNAPSHOT_KEEP_MS: 90_000 } },
  rdnsResolver: {
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "300Mi" } },
    resolvers: ["192.0.2.53", "[2001:db8::53]:5353"],
    settings: { RDNS_CACHE_BYTES: 134_217_728 },
  },
  ingest: {
    replicas: 2,
    resources: { limits: { memory: "4Gi" } },
    sources: { content: "sources:\n  - name: rrc00\n", path: "/app/services/ingest/sources.default.yaml" },
    volume: { type: "claim", size: "30Gi", storageClass: "fast", accessMode: "ReadWriteMany" },
    sourcePorts: [443, 8282],
    settings: { INGEST_SCHEDULE: false, FETCH_CONTACT: "noc@example.com" },
  },
  firstImport: { enabled: true, type: "hook", timeoutSeconds: 600 },
  ingress: {
    enabled: true,
    className: "nginx",
    annotations: { "example.com/timeout": "30" },
    hosts: ["facts.example.com"],
    tls: [{ secretName: "facts-tls", hosts: ["facts.example.com"] }],
  },
  httpRoute: {
    enabled: true,
    parentRefs: [{ name: "edge", namespace: "edge" }],
    hostnames: ["facts.example.com"],
    annotations: { "example.com/team": "network" },
  },
  networkPolicy: {
    enabled: true,
    callers: [peer],
    operators: [peer],
    metrics: [peer],
    nats: { ports: [4333], to: [peer] },
    mongodb: { ports: [27_018], to: [peer] },
    resolvers: { ports: [5300], to: [peer] },
    telemetryPorts: [4319],
  },
  serviceMonitor: { enabled: true, interval: "15s", labels: { release: "prometheus" } },
  prometheusRule: { enabled: true, labels: { release: "prometheus" }, runbookBase: "https://docs.example.com/netfacts" },
  dashboards: { enabled: true, labels: { dashboards: "yes" }, annotations: { grafana_folder: "Netfacts" } },
  test: { ip: "192.0.2.1" },
  extraObjects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-more" } }],
};

/** One switch each: what the objects of the minimal rendering become more, or less, by it. Names without that of the release. */
export const switches: readonly { readonly name: string; readonly values: object; readonly more?: string[]; readonly less?: string[] }[] = [
  {
    name: "no operator listener",
    values: { gateway: { operator: { enabled: false } } },
    less: ["NetworkPolicy gateway-to-ingest", "NetworkPolicy operators-to-gateway", "Service operator"],
  },
  {
    name: "a whois listener",
    values: { gateway: { whois: { enabled: true } } },
    more: ["Service whois"],
  },
  {
    name: "autoscaling of one service",
    values: { ipRouting: { autoscaling: { enabled: true } } },
    more: ["HorizontalPodAutoscaler ip-routing"],
  },
  {
    name: "no disruption budget of one service",
    values: { gateway: { disruptionBudget: { enabled: false } } },
    less: ["PodDisruptionBudget gateway-auth-quota"],
  },
  {
    name: "no disruption budget",
    values: { defaults: { disruptionBudget: { enabled: false } } },
    less: services.map((each) => `PodDisruptionBudget ${each}`),
  },
  {
    name: "autoscaling of all services by a metric",
    values: {
      defaults: {
        autoscaling: {
          enabled: true,
          metrics: [{ type: "Pods", pods: { metric: { name: "items" }, target: { type: "AverageValue", averageValue: "1k" } } }],
        },
      },
    },
    more: services.filter((each) => each !== "ingest").map((each) => `HorizontalPodAutoscaler ${each}`),
  },
  { name: "more copies", values: { defaults: { replicas: 3 } } },
  { name: "another tag", values: { image: { tag: "0.1.0-rc1" } } },
  { name: "another list of the image", values: { ingest: { sources: { path: "/app/services/ingest/sources.default.yaml" } } } },
  { name: "no first import", values: { firstImport: { enabled: false } } },
  {
    name: "no network policies",
    values: { networkPolicy: { enabled: false } },
    less: policies.map((each) => `NetworkPolicy ${each}`),
  },
  { name: "no volume", values: { ingest: { volume: { type: "emptyDir" } } }, less: ["PersistentVolumeClaim ingest"] },
  {
    name: "a claim of one's own",
    values: { ingest: { volume: { type: "existingClaim", existingClaim: "downloads" } } },
    less: ["PersistentVolumeClaim ingest"],
  },
  { name: "a list of sources", values: { ingest: { sources: { content: "sources: []\n" } } }, more: ["ConfigMap sources"] },
  { name: "a list of sources of one's own", values: { ingest: { sources: { existingConfigMap: "list" } } } },
  { name: "an ingress", values: { ingress: { enabled: true, hosts: ["a.example"] } }, more: ["Ingress "] },
  { name: "a route", values: { httpRoute: { enabled: true, parentRefs: [{ name: "edge" }] } }, more: ["HTTPRoute "] },
  { name: "a monitor", values: { serviceMonitor: { enabled: true } }, more: ["ServiceMonitor "] },
  { name: "rules", values: { prometheusRule: { enabled: true } }, more: ["PrometheusRule "] },
  {
    name: "dashboards",
    values: { dashboards: { enabled: true } },
    more: ["data", "gateway", "ingest", "lookups", "overview", "reverse-dns", "runtime"].map((each) => `ConfigMap dashboard-${each}`),
  },
  { name: "traces", values: { telemetry: { otlpEndpoint: "http://c.example:4318" } }, more: ["NetworkPolicy to-telemetry"] },
  { name: "a token at NATS", values: { nats: { auth: { method: "token", key: "token" } } } },
  { name: "NKeys at NATS", values: { nats: { auth: { method: "nkey" } } } },
  { name: "credentials at NATS", values: { nats: { auth: { method: "creds" } } } },
  { name: "no login at NATS", values: { nats: { auth: { method: "none", existingSecret: "" } } } },
  { name: "a load balancer", values: { gateway: { service: { type: "LoadBalancer" } } } },
];

/** Maps are joined, anything else replaced: as Helm does with values. */
export function joined(base: object, over: object): object {
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = result[name];
    result[name] = isMap(below) && isMap(value) ? joined(below, value) : value;
  }
  return result;
}

export function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const ofKind = (objects: readonly Manifest[], kind: string) => objects.filter((object) => object.kind === kind);
export const named = (objects: readonly Manifest[], kind: string, end: string) =>
  ofKind(objects, kind).find(({ metadata }) => metadata.name.endsWith(end)) as Manifest;

const leaves = (values: readonly Value[]): Value[] =>
  values.flatMap((value) => (value.children.length === 0 ? [value] : leaves(value.children)));
/** All values of the chart, without the sections that hold them. */
export const allValues = leaves(readValues(readFileSync(resolve(import.meta.dirname, "../../charts/netfacts/values.yaml"), "utf8")));
