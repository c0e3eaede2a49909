/** The chart `netfacts`, rendered: what each set of values brings, that all parts fit together, and that services accept their settings. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { podConfigSchema } from "@netfacts/pod/open-pod";
import { loadConfig } from "@netfacts/runtime";
import { busConfigSchema } from "@netfacts/runtime/bus";
import { parse } from "yaml";
import type { Value } from "../../scripts/charts/values.ts";
import { codeBlocks } from "../../scripts/docs-site/code-blocks.ts";
import { gatewayConfigSchema, loadGatewayConfig, storeConfigSchema } from "../../services/gateway-auth-quota/src/config.ts";
import { ingestConfigSchema, loadIngestConfig } from "../../services/ingest/src/config.ts";
import { loadRdnsConfig, rdnsConfigSchema } from "../../services/rdns-resolver/src/config.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { findHelm, helm, type Manifest, type Rendering } from "../support/helm.ts";
import { isLong } from "../support/runs.ts";
import {
  allValues,
  services as components,
  everything,
  isMap,
  joined,
  minimal,
  named,
  ofKind,
  policies,
  switches,
} from "./netfacts-cases.ts";

const chart = resolve(import.meta.dirname, "../../charts/netfacts");
const tool = toolOrNotRun(await findHelm(), "Helm", 32);
const testWithHelm = tool === null ? test.skip : test;
const { render, notes } = helm(tool ?? { found: true, command: "helm", env: {}, origin: "path" });

const renderings = new Map<string, Rendering>();
beforeAll(async () => {
  if (tool === null) return;
  const cases = [
    { name: "minimal", values: minimal },
    { name: "everything", values: everything },
    { name: "evaluation", values: parse(readFileSync(join(chart, "values-evaluation.yaml"), "utf8")) },
    ...switches.map(({ name, values }) => ({ name, values: joined(minimal, values) })),
  ];
  for (const { name, values } of cases) renderings.set(name, await render(chart, values));
}, 120_000);

const objectsOf = (name: string) => renderings.get(name)?.objects ?? [];
/** Pods of all kinds, with the labels that select them. */
const podsOf = (objects: readonly Manifest[]) =>
  objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === "Pod") return [{ name: metadata.name, labels: metadata.labels, spec }];
    return spec?.template?.spec ? [{ name: metadata.name, labels: spec.template.metadata.labels, spec: spec.template.spec }] : [];
  });
const short = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name.replace(/^netfacts-?/, "")}`;

testWithHelm("the least values bring five services, each with an account and a disruption budget, and default deny", () => {
  const found = objectsOf("minimal").map((object) => short(object).replace(/-[0-9a-f]{8}$/, ""));
  expect(found.sort()).toEqual(
    [
      ...components.flatMap((each) => [`Deployment ${each}`, `PodDisruptionBudget ${each}`, `ServiceAccount ${each}`]),
      ...["", "ingest", "metrics", "operator"].map((each) => `Service ${each}`),
      ...policies.map((each) => `NetworkPolicy ${each}`),
      "ConfigMap scripts",
      "Job first-import",
      "PersistentVolumeClaim ingest",
      "Pod test",
    ].sort(),
  );
});

testWithHelm.each(switches)("$name: adds and removes what it should", ({ name, more = [], less = [] }) => {
  const before = objectsOf("minimal").map(short);
  const after = objectsOf(name).map(short);
  // The Job of the first import has a name that follows from the list of sources.
  const withoutJob = (names: string[]) => names.filter((each) => !each.startsWith("Job ")).sort();
  expect(withoutJob(after.filter((each) => !before.includes(each)))).toEqual(more.sort());
  expect(withoutJob(before.filter((each) => !after.includes(each)))).toEqual(less.sort());
});

testWithHelm("with network policies, the first import and autoscaling off, nothing of them is left", async () => {
  const { objects } = await render(chart, joined(minimal, { networkPolicy: { enabled: false }, firstImport: { enabled: false } }));
  const kinds = new Set(objects.map(({ kind }) => kind));
  for (const kind of ["NetworkPolicy", "Job", "HorizontalPodAutoscaler", "Ingress"]) expect(kinds).not.toContain(kind);
});

const cases: readonly object[] = [everything, ...switches.map(({ values }) => joined(minimal, values))];
const valueAt = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((each, part) => (isMap(each) ? (each as Manifest)[part] : undefined), values);

testWithHelm("every value is set to another than its default, by the rendering with everything or by a switch", () => {
  const isSet = ({ path, default: standard }: Value) =>
    cases.map((values) => valueAt(values, path)).some((value) => value !== undefined && JSON.stringify(value) !== JSON.stringify(standard));
  expect(allValues.filter((value) => !isSet(value)).map(({ path }) => path.join("."))).toEqual([]);
});

testWithHelm(
  "every value changes what is rendered; an ordinary run tries a tenth of them",
  async () => {
    const without = (values: object, [key = "", ...rest]: readonly string[]): object => {
      const { [key]: below, ...others } = values as Record<string, unknown>;
      return rest.length === 0 ? others : { ...others, [key]: without(below as object, rest) };
    };
    const texts = new Map<object, string>();
    const textOf = async (values: object): Promise<string> =>
      render(chart, values).then(
        ({ text }) => text,
        (error: unknown) => `refused: ${error}`,
      );
    const unused: string[] = [];
    for (const { path } of allValues.filter((_, index) => isLong || index % 10 === 0)) {
      let isUsed = false;
      for (const values of cases.filter((each) => valueAt(each, path) !== undefined)) {
        if (!texts.has(values)) texts.set(values, await textOf(values));
        isUsed ||= (await textOf(without(values, path))) !== texts.get(values);
        if (isUsed) break;
      }
      if (!isUsed) unused.push(path.join("."));
    }
    expect(unused).toEqual([]);
  },
  240_000,
);

testWithHelm("no object appears twice, and all are of the release", () => {
  for (const [name, { objects }] of renderings) {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of objects.filter(({ metadata: { name: own } }) => own !== "netfacts-more")) {
      expect(metadata.name).toMatch(name === "everything" ? /^facts-of-ours/ : /^netfacts/);
      expect(metadata.labels).toMatchObject({ "app.kubernetes.io/instance": "netfacts", "app.kubernetes.io/managed-by": "Helm" });
      expect(metadata.namespace).toBeUndefined();
    }
  }
});

testWithHelm("every pod satisfies the restricted Pod Security Standard, has no token, and knows no other Services", () => {
  for (const { objects } of renderings.values()) {
    for (const { spec } of podsOf(objects)) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65_532, fsGroup: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      });
      expect(spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC).toBeUndefined();
      for (const container of spec.containers) {
        expect(container).toMatchObject({
          securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
          resources: { requests: { cpu: expect.any(String), memory: expect.any(String) }, limits: { memory: expect.any(String) } },
        });
        expect(container.resources.limits.cpu).toBeUndefined();
      }
    }
  }
});

testWithHelm("what pods mount and name exists, or is a Secret, claim or list of the values", () => {
  const given = /^(nats-users|nats-ca|nats-client|database|database-ca|proxy|admin|peppers|backing-.+|downloads|list)$/;
  for (const { objects } of renderings.values()) {
    const has = (kind: string, name: string) => given.test(name) || ofKind(objects, kind).some(({ metadata }) => metadata.name === name);
    for (const { spec } of podsOf(objects)) {
      if (spec.serviceAccountName) expect(has("ServiceAccount", spec.serviceAccountName)).toBe(true);
      const volumes = new Set(spec.volumes.map(({ name }: Manifest) => name));
      for (const { volumeMounts } of spec.containers) for (const { name } of volumeMounts) expect(volumes).toContain(name);
      for (const { configMap, persistentVolumeClaim, projected } of spec.volumes) {
        if (configMap) expect(has("ConfigMap", configMap.name)).toBe(true);
        if (persistentVolumeClaim) expect(has("PersistentVolumeClaim", persistentVolumeClaim.claimName)).toBe(true);
        for (const { secret } of projected?.sources ?? []) expect(secret.name).toMatch(given);
      }
    }
  }
});

testWithHelm("every selector selects a pod, and every port of a Service is one of those pods", () => {
  for (const { objects } of renderings.values()) {
    const pods = podsOf(objects);
    const selected = (labels: Manifest) => pods.filter((pod) => Object.entries(labels).every(([key, value]) => pod.labels[key] === value));
    for (const { kind, spec, metadata } of objects) {
      const labels = kind === "Service" ? spec.selector : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels);
      if (labels === undefined || kind === "ServiceMonitor") continue;
      // The Job may be switched off, and its policy does no harm.
      if (!metadata.name.includes("first-import")) expect(selected(labels)).not.toEqual([]);
      if (kind !== "Service") continue;
      const ports = selected(labels).flatMap((pod) => pod.spec.containers.flatMap((container: Manifest) => container.ports ?? []));
      for (const { targetPort } of spec.ports) expect(ports.map(({ name }: Manifest) => name)).toContain(targetPort);
    }
  }
});

/** As a pod has it: files are what the Secrets hold. */
function environmentOf(container: Manifest): { names: string[]; env: Record<string, string> } {
  const env: Record<string, string> = {};
  const secrets: Record<string, string> = {
    MONGODB_URI_FILE: "mongodb://database.example/netfacts",
    PROXY_TOKEN_FILE: "t".repeat(32),
    KEY_PEPPERS_FILE: `2026-11:${"p".repeat(32)}`,
  };
  for (const { name, value = "10.0.0.7" } of container.env) {
    const content = secrets[name];
    if (content !== undefined) env[name.slice(0, -"_FILE".length)] = content;
    else if (name !== "ADMIN_KEY_FILE") env[name] = value.replace("$(POD_IP)", "10.0.0.7");
  }
  return { names: container.env.map(({ name }: Manifest) => name), env };
}

const ofEveryProcess = ["LOG_LEVEL", "TELEMETRY_HOST", "TELEMETRY_PORT"];
const services: Record<string, { settings: string[]; load(env: Record<string, string>): unknown }> = {
  "gateway-auth-quota": {
    settings: [gatewayConfigSchema, busConfigSchema, storeConfigSchema].flatMap(({ properties }) => Object.keys(properties)),
    load: (env) => [loadGatewayConfig(env), loadConfig(busConfigSchema, env), loadConfig(storeConfigSchema, env)],
  },
  "ip-routing": { settings: Object.keys(podConfigSchema.properties), load: (env) => loadConfig(podConfigSchema, env) },
  "asn-prefix": { settings: Object.keys(podConfigSchema.properties), load: (env) => loadConfig(podConfigSchema, env) },
  "rdns-resolver": {
    settings: [rdnsConfigSchema, busConfigSchema].flatMap(({ properties }) => Object.keys(properties)),
    load: (env) => [loadRdnsConfig(env), loadConfig(busConfigSchema, env)],
  },
  ingest: { settings: Object.keys(ingestConfigSchema.properties), load: (env) => loadIngestConfig(env) },
};

testWithHelm("each service knows every setting that it gets, gets those that it needs, and accepts their values", () => {
  const loaded = new Set<string>();
  for (const { objects } of renderings.values()) {
    for (const { spec } of ofKind(objects, "Deployment")) {
      const [container] = spec.template.spec.containers;
      const { settings, load } = services[container.args[0]] as (typeof services)[string];
      const { names, env } = environmentOf(container);
      expect(new Set(names).size).toBe(names.length);
      const known = [...settings, ...ofEveryProcess].flatMap((name) => [name, `${name}_FILE`]);
      const ofOthers = /^(OTEL_\w+|NODE_OPTIONS|POD_IP|POD_NAME)$/;
      expect(names.filter((name) => !known.includes(name) && !ofOthers.test(name))).toEqual([]);
      const text = JSON.stringify([container.args, env]);
      if (!loaded.has(text)) expect(() => load(env)).not.toThrow();
      loaded.add(text);
    }
  }
});

testWithHelm("services listen where probes and other pods reach them", () => {
  for (const { spec } of ofKind(objectsOf("minimal"), "Deployment")) {
    const [container] = spec.template.spec.containers;
    const { env } = environmentOf(container);
    expect(env.TELEMETRY_HOST).toBe("0.0.0.0");
    expect(container.startupProbe.httpGet).toEqual({ path: "/healthz", port: "metrics" });
    expect(container.livenessProbe.httpGet).toEqual({ path: "/healthz", port: "metrics" });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "metrics" });
    expect(container.ports).toContainEqual({ name: "metrics", containerPort: 9464 });
  }
  const [gateway] = named(objectsOf("minimal"), "Deployment", "gateway-auth-quota").spec.template.spec.containers;
  expect(environmentOf(gateway).env).toMatchObject({ HOST: "0.0.0.0", OPERATOR_HOST: "0.0.0.0", OPERATOR_PORT: "8081" });
  const [ingest] = named(objectsOf("minimal"), "Deployment", "ingest").spec.template.spec.containers;
  expect(environmentOf(ingest).env).toMatchObject({ INGEST_HOST: "0.0.0.0", INGEST_ADVERTISED_HOST: "10.0.0.7" });
});

testWithHelm("every listener follows listenHost, so that pods with IPv6 addresses only can be reached", () => {
  const hosts = (objects: readonly Manifest[]) =>
    ofKind(objects, "Deployment").flatMap(({ spec }) =>
      Object.entries(environmentOf(spec.template.spec.containers[0]).env).flatMap(([name, value]) =>
        /^(?:\w+_)?HOST$/.test(name) && name !== "INGEST_ADVERTISED_HOST" ? [value] : [],
      ),
    );
  expect(new Set(hosts(objectsOf("minimal")))).toEqual(new Set(["0.0.0.0"]));
  expect(new Set(hosts(objectsOf("everything")))).toEqual(new Set(["::"]));
});

testWithHelm("the Service of callers has the IP versions of its value, or those of the cluster", () => {
  const policyOf = (rendering: string, service: string) => {
    const found = ofKind(objectsOf(rendering), "Service").find(({ metadata }) => metadata.name === service);
    expect(found).toBeDefined();
    return found?.spec.ipFamilyPolicy;
  };
  expect(policyOf("everything", "facts-of-ours")).toBe("PreferDualStack");
  expect(policyOf("minimal", "netfacts")).toBeUndefined();
});

testWithHelm("the whois listener, its Service and the policy of callers have one port, and client addresses stay", () => {
  const [gateway] = named(objectsOf("everything"), "Deployment", "gateway-auth-quota").spec.template.spec.containers;
  expect(environmentOf(gateway).env).toMatchObject({ WHOIS_HOST: "::", WHOIS_PORT: "8043" });
  expect(gateway.ports).toContainEqual({ name: "whois", containerPort: 8043 });
  expect(named(objectsOf("everything"), "Service", "whois").spec).toMatchObject({
    type: "LoadBalancer",
    externalTrafficPolicy: "Local",
    ipFamilyPolicy: "PreferDualStack",
    ports: [{ name: "whois", port: 4343, targetPort: "whois" }],
  });
  const [{ ports }] = named(objectsOf("everything"), "NetworkPolicy", "callers-to-gateway").spec.ingress;
  expect(ports).toEqual([{ port: 8080 }, { port: 8043 }]);
  expect(named(objectsOf("minimal"), "NetworkPolicy", "callers-to-gateway").spec.ingress[0].ports).toEqual([{ port: 8080 }]);
});

testWithHelm("policies let pods reach the ports that other values name, besides those of their own", async () => {
  const portsOf = async (policy: string, values: object): Promise<number[]> => {
    const { objects } = await render(chart, joined(minimal, values));
    const [{ ports }] = named(objects, "NetworkPolicy", policy).spec.egress;
    return [...new Set<number>(ports.map(({ port }: Manifest) => port))];
  };
  const resolvers = (...list: string[]) => portsOf("to-resolvers", { rdnsResolver: { resolvers: list } });
  expect(await resolvers()).toEqual([53]);
  expect(await resolvers("tls://9.9.9.9#dns.quad9.net")).toEqual([53, 853]);
  expect(await resolvers("1.1.1.1:5353", "[2001:db8::53]:5354", "tls://[2001:db8::53]:8853#a.example")).toEqual([53, 5353, 5354, 8853]);
  expect(await resolvers("2001:db8::53", "[2001:db8::53]", "ns.example")).toEqual([53]);
  expect(await portsOf("to-nats", { nats: { url: "tls://n:4443,nats://m,tls://[2001:db8::1]:4444" } })).toEqual([4222, 4443, 4444]);
  expect(await portsOf("to-nats", { nats: { url: "tls://n:4443" }, networkPolicy: { nats: { ports: [14222] } } })).toEqual([14222, 4443]);
  const telemetry = (otlpEndpoint: string) => portsOf("to-telemetry", { telemetry: { otlpEndpoint } });
  expect(await telemetry("http://collector:4317")).toEqual([4318, 4317]);
  expect(await telemetry("http://collector/v1")).toEqual([4318, 80]);
  expect(await telemetry("https://[2001:db8::1]")).toEqual([4318, 443]);
});

testWithHelm("without its liveness probe a container is never restarted for a probe, and its readiness still counts", () => {
  for (const { spec } of ofKind(objectsOf("everything"), "Deployment")) {
    const [container] = spec.template.spec.containers;
    expect([container.startupProbe, container.livenessProbe]).toEqual([undefined, undefined]);
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "metrics" });
  }
});

testWithHelm("a pod gets only the secrets that its service needs", () => {
  const files = Object.fromEntries(
    podsOf(objectsOf("everything")).map(({ labels, spec }) => {
      const { projected } = spec.volumes.find(({ name }: Manifest) => name === "secrets");
      const paths = projected.sources.flatMap(({ secret }: Manifest) => secret.items.map(({ path }: Manifest) => path));
      return [labels["app.kubernetes.io/component"], paths];
    }),
  );
  const nats = ["nats-password", "nats-ca.crt", "nats-client.crt", "nats-client.key"];
  const database = ["mongodb-uri", "mongodb-ca.crt"];
  expect(files).toEqual({
    "gateway-auth-quota": [...nats, ...database, "proxy-token", "admin-key", "peppers"],
    "ip-routing": nats,
    "asn-prefix": nats,
    "rdns-resolver": nats,
    ingest: [...nats, ...database, "proxy-token"],
    "first-import": ["proxy-token"],
    test: [...nats, ...database, "peppers"],
  });
  expect(renderings.get("everything")?.text).not.toMatch(/^kind: Secret$/m);
});

testWithHelm("each service has a user of its own at NATS", () => {
  const users = ofKind(objectsOf("minimal"), "Deployment").map(({ spec }) => {
    const { volumes, containers } = spec.template.spec;
    const { secret } = volumes.find(({ name }: Manifest) => name === "secrets").projected.sources[0];
    return [environmentOf(containers[0]).env.NATS_USER, secret.items[0].key];
  });
  expect(users.sort()).toEqual(components.map((each) => [each, each]).sort());
});

testWithHelm("rollouts take no copy away, and a gateway's grace period is longer than its drain", () => {
  for (const { metadata, spec } of ofKind(objectsOf("everything"), "Deployment")) {
    expect(spec.strategy).toEqual({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    const isGateway = metadata.name.endsWith("gateway-auth-quota");
    expect(spec.template.spec.terminationGracePeriodSeconds).toBe(isGateway ? 45 : 30);
  }
  expect(named(objectsOf("minimal"), "Deployment", "ingest").spec.strategy).toEqual({ type: "Recreate" });
  expect(named(objectsOf("no volume"), "Deployment", "ingest").spec.strategy.type).toBe("RollingUpdate");
});

testWithHelm("a limit that is null is none, and what a service does not have comes from the defaults", async () => {
  const { objects } = await render(
    chart,
    joined(minimal, {
      defaults: { resources: { limits: { cpu: "2" } } },
      ipRouting: { resources: { limits: { memory: null } } },
      gateway: { resources: null },
      rdnsResolver: { resources: { requests: null } },
    }),
  );
  const resourcesOf = (name: string) => named(objects, "Deployment", name).spec.template.spec.containers[0].resources;
  expect(resourcesOf("ip-routing")).toEqual({ requests: { cpu: "500m", memory: "512Mi" }, limits: { cpu: "2" } });
  expect(resourcesOf("gateway-auth-quota")).toEqual({ limits: { cpu: "2" } });
  expect(resourcesOf("rdns-resolver")).toEqual({ limits: { cpu: "2", memory: "512Mi" } });
});

testWithHelm("a service's own values replace the defaults, also by false, 0 and fewer members", async () => {
  const { objects } = await render(
    chart,
    joined(minimal, {
      defaults: { autoscaling: { enabled: true } },
      rdnsResolver: { autoscaling: { enabled: false }, replicas: 0, topologySpread: [], resources: { limits: { memory: "1Gi" } } },
    }),
  );
  const { spec } = named(objects, "Deployment", "rdns-resolver");
  expect(spec.replicas).toBe(0);
  expect(spec.template.spec.topologySpreadConstraints).toBeUndefined();
  expect(spec.template.spec.containers[0].resources).toEqual({ requests: { cpu: "250m", memory: "256Mi" }, limits: { memory: "1Gi" } });
  expect(named(objects, "Deployment", "ip-routing").spec.replicas).toBeUndefined();
  expect(
    ofKind(objects, "HorizontalPodAutoscaler")
      .map(({ metadata }) => metadata.name.slice("netfacts-".length))
      .sort(),
  ).toEqual(["asn-prefix", "gateway-auth-quota", "ip-routing"]);
});

testWithHelm("without a copy of ingest no Job waits for it, and the notes say that nothing is imported", async () => {
  const values = joined(minimal, { ingest: { replicas: 0 } });
  expect(ofKind((await render(chart, values)).objects, "Job")).toEqual([]);
  expect(await notes(chart, values)).toContain("Nothing is imported, as ingest.replicas is 0.");
  expect(await notes(chart, minimal)).not.toContain("Nothing is imported");
});

testWithHelm("large numbers in settings stay whole numbers", () => {
  const [gateway] = named(objectsOf("everything"), "Deployment", "gateway-auth-quota").spec.template.spec.containers;
  expect(environmentOf(gateway).env).toMatchObject({ DEFAULT_RATE_LIMIT: "10000000", TRUSTED_PROXIES: "10.0.0.0/8,fd00::/8" });
  const [resolver] = named(objectsOf("everything"), "Deployment", "rdns-resolver").spec.template.spec.containers;
  expect(environmentOf(resolver).env).toMatchObject({ RDNS_CACHE_BYTES: "134217728", RESOLVERS: "192.0.2.53,[2001:db8::53]:5353" });
});

testWithHelm("the rules are those of observability, with the address of the runbooks", () => {
  const rules = parse(readFileSync(resolve(chart, "../../observability/rules/netfacts.yaml"), "utf8"));
  expect(ofKind(objectsOf("rules"), "PrometheusRule")[0]?.spec).toEqual(rules);
  const text = JSON.stringify(ofKind(objectsOf("everything"), "PrometheusRule")[0]?.spec);
  const urls = [...text.matchAll(/"runbook_url":"([^"]+)"/g)].map(([, url]) => url);
  expect(urls.length).toBeGreaterThan(10);
  for (const url of urls) expect(url).toMatch(/^https:\/\/docs\.example\.com\/netfacts\/docs\/operations\/runbooks\/[A-Za-z]+\.md$/);
  expect(ofKind(objectsOf("everything"), "ServiceMonitor")[0]?.spec.endpoints[0]).toMatchObject({ port: "metrics", honorLabels: true });
});

testWithHelm("the dashboards are those of observability, where Grafana's sidecar looks", () => {
  const folder = resolve(chart, "../../observability/dashboards");
  const maps = ofKind(objectsOf("dashboards"), "ConfigMap").filter(({ metadata }) => metadata.name.includes("-dashboard-"));
  expect(maps.length).toBe(readdirSync(folder).length);
  for (const { metadata, data } of maps) {
    const name = `${metadata.name.slice("netfacts-dashboard-".length)}.json`;
    expect(JSON.parse(data[`netfacts-${name}`])).toEqual(JSON.parse(readFileSync(join(folder, name), "utf8")));
    expect(metadata.labels).toMatchObject({ grafana_dashboard: "1" });
  }
});

testWithHelm("another list of sources restarts ingest, and its Job is another one", async () => {
  const other = await render(chart, joined(minimal, { ingest: { sources: { content: "sources:\n  - name: other\n" } } }));
  const annotations = (objects: readonly Manifest[]) => named(objects, "Deployment", "ingest").spec.template.metadata.annotations;
  expect(annotations(other.objects)["netfacts/sources"]).not.toBe(annotations(objectsOf("a list of sources"))["netfacts/sources"]);
  expect(ofKind(other.objects, "Job")[0]?.metadata.name).not.toBe(ofKind(objectsOf("minimal"), "Job")[0]?.metadata.name);
});

testWithHelm("the list of sources arrives as it was written, also with spaces at its begin", async () => {
  const content = "  # ours\nsources: []\n";
  const { objects } = await render(chart, joined(minimal, { ingest: { sources: { content } } }));
  expect(named(objects, "ConfigMap", "-sources").data["sources.yaml"]).toBe(content);
});

testWithHelm("the Job of the first import has the list that ingest has, and another text is another Job", async () => {
  const jobOf = async (sources: object, more: object = {}) =>
    ofKind((await render(chart, joined(minimal, { ingest: { sources, ...more } }))).objects, "Job")[0] as Manifest;
  const settingsOf = (job: Manifest) => environmentOf(job.spec.template.spec.containers[0]).env;
  const mapOf = (job: Manifest) => job.spec.template.spec.volumes.find(({ name }: Manifest) => name === "sources")?.configMap.name;
  const [first, second] = [await jobOf({ content: "sources: [{name: a}]\n" }), await jobOf({ content: "sources: [{name: b}]\n" })];
  expect(first.metadata.name).not.toBe(second.metadata.name);
  expect([settingsOf(first).SOURCES, mapOf(first)]).toEqual(["/sources/sources.yaml", "netfacts-sources"]);
  expect(mapOf(await jobOf({ existingConfigMap: "list" }))).toBe("list");
  const ofImage = await jobOf({ path: "/app/services/ingest/sources.default.yaml" }, { settings: { INGEST_SCHEDULE: false } });
  expect([settingsOf(ofImage).SOURCES, mapOf(ofImage)]).toEqual(["/app/services/ingest/sources.default.yaml", undefined]);
  expect([settingsOf(first).SCHEDULED, settingsOf(ofImage).SCHEDULED]).toEqual(["true", "false"]);
});

testWithHelm("a Job that differs has another name, as Kubernetes refuses changes of it", async () => {
  const changes = [
    {},
    { proxyToken: { existingSecret: "next" } },
    { image: { tag: "next" } },
    { commonLabels: { team: "x" } },
    { firstImport: { timeoutSeconds: 99 } },
  ];
  const jobs = await Promise.all(changes.map(async (change) => ofKind((await render(chart, joined(minimal, change))).objects, "Job")[0]));
  expect(new Set(jobs.map((job) => job?.metadata.name)).size).toBe(changes.length);
  expect(new Set(jobs.map((job) => JSON.stringify(job?.spec))).size).toBe(changes.length);
});

testWithHelm("a second release has no name of the first, however long its name", async () => {
  const long = "a-second-installation-with-a-long-name-of-53-letters";
  const { objects } = await render(chart, minimal, long);
  const names = new Set(objectsOf("minimal").map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  expect(objects.filter(({ kind, metadata }) => names.has(`${kind} ${metadata.name}`))).toEqual([]);
  for (const { metadata } of objects) expect(metadata.name.length).toBeLessThanOrEqual(63);
});

testWithHelm.each([
  ["minimal", minimal],
  ["everything", everything],
])("what Helm prints names objects that are there: %s", async (name, values) => {
  const text = await notes(chart, values);
  const objects = objectsOf(name).map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  const found = text.match(/\b(deployment|service)\/[\w-]+/g) ?? [];
  expect(found.length).toBeGreaterThan(2);
  for (const each of found) expect(objects).toContain(each);
  expect(text.includes("There is no admin key yet")).toBe(name === "minimal");
  expect(text.includes("https://facts.example.com/api/v1/ip/192.0.2.1")).toBe(name === "everything");
});

testWithHelm("commands of the documentation name objects that are there", () => {
  const objects = new Set(
    [...objectsOf("minimal"), ...objectsOf("a list of sources")].map(({ kind, metadata }) => `${kind} ${metadata.name}`),
  );
  const kinds: Record<string, string> = { deployment: "Deployment", service: "Service", pvc: "PersistentVolumeClaim", pod: "Pod" };
  const commands = codeBlocks(resolve(chart, "../..")).filter(({ language, text }) => language === "sh" && text.includes("kubectl"));
  const named = commands.flatMap(({ page, line, text }) =>
    [...text.matchAll(/\b(deployment|service|pvc|pod)[/ ](netfacts[\w-]*)/g)].map(([, kind = "", name]) => ({
      page,
      line,
      object: `${kinds[kind]} ${name}`,
    })),
  );
  expect(named.length).toBeGreaterThan(25);
  expect(named.filter(({ object }) => !objects.has(object))).toEqual([]);
  const known = new Set([...components, "first-import"]);
  const selected = commands.flatMap(({ text }) =>
    [...text.matchAll(/app\.kubernetes\.io\/component=([\w-]+)/g)].map(([, name = ""]) => name),
  );
  expect(selected.filter((name) => !known.has(name))).toEqual([]);
});

testWithHelm("the rendering for evaluation is its golden file", () => {
  const path = join(import.meta.dirname, "golden/netfacts-evaluation.yaml");
  const { text = "" } = renderings.get("evaluation") ?? {};
  expectGolden(path, text);
});

function expectGolden(path: string, text: string): void {
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}
