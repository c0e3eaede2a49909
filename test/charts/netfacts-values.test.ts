/** Values of the chart `netfacts`: which it refuses and with what sentence, and how unusual ones are rendered. */

import { resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { parse } from "yaml";
import type { Value } from "../../scripts/charts/values.ts";
import { codeBlocks } from "../../scripts/docs-site/code-blocks.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { findHelm, helm, type Manifest } from "../support/helm.ts";
import { allValues, everything, isMap, joined, minimal, named, ofKind } from "./netfacts-cases.ts";

const chart = resolve(import.meta.dirname, "../../charts/netfacts");
const tool = toolOrNotRun(await findHelm(), "Helm", 8);
const testWithHelm = tool === null ? test.skip : test;
const { render, refusal } = helm(tool ?? { found: true, command: "helm", env: {}, origin: "path" });

const faults: readonly (readonly [string, object, RegExp])[] = [
  [
    "nothing",
    {},
    /nats\.url is empty: write .*\n.*nats\.auth\.existingSecret is empty: write .*\n.*mongodb\.existingSecret.*\n.*proxyToken\.existingSecret/,
  ],
  [
    "a Secret without a login",
    joined(minimal, { nats: { auth: { method: "none" } } }),
    /nats\.auth\.method is none, but .* leave the Secret out/,
  ],
  ["two lists", joined(minimal, { ingest: { sources: { content: "a", existingConfigMap: "b" } } }), /are both set: set one of them/],
  [
    "a list that is no YAML",
    joined(minimal, { ingest: { sources: { content: "sources: [" } } }),
    /ingest\.sources\.content is not a mapping in YAML: /,
  ],
  [
    "a text that is no list",
    joined(minimal, { ingest: { sources: { content: "source: []" } } }),
    /ingest\.sources\.content has no list `sources`: write the text of a sources\.yaml/,
  ],
  ["no claim", joined(minimal, { ingest: { volume: { type: "existingClaim" } } }), /existingClaim is empty: write the name of your claim/],
  [
    "a claim that is not used",
    joined(minimal, { ingest: { volume: { existingClaim: "data" } } }),
    /ingest\.volume\.existingClaim is data, but ingest\.volume\.type is claim, .*: set the type to existingClaim, or leave/,
  ],
  [
    "an authority without TLS",
    joined(minimal, { nats: { url: "nats://nats:4222", tls: { caSecret: "authority" } } }),
    /nats\.tls names a Secret, but nats\.url does not ask for TLS: write tls:\/\/ instead of nats:\/\/ in nats:\/\/nats:4222, or leave/,
  ],
  [
    "two copies at one volume",
    joined(minimal, { ingest: { replicas: 2 } }),
    /ingest\.replicas is 2, but its volume is ReadWriteOnce: set /,
  ],
  ["no host", joined(minimal, { ingress: { enabled: true } }), /ingress\.hosts is empty: write/],
  ["no gateway", joined(minimal, { httpRoute: { enabled: true } }), /httpRoute\.parentRefs is empty: write/],
  [
    "bounds crossed",
    joined(minimal, { gateway: { autoscaling: { enabled: true, minReplicas: 11 } } }),
    /gateway\.autoscaling\.minReplicas is 11, but maxReplicas is 10: write/,
  ],
  ["a misspelt value", joined(minimal, { gateway: { replica: 3 } }), /replica/],
  ["a wrong type", joined(minimal, { defaults: { replicas: "three" } }), /replicas/],
  ["a setting of another service", joined(minimal, { gateway: { settings: { RDNS_SOCKETS: 4 } } }), /RDNS_SOCKETS/],
  ["a setting that the chart sets", joined(minimal, { gateway: { settings: { DRAIN_SECONDS: 4 } } }), /DRAIN_SECONDS/],
  ["a setting out of bounds", joined(minimal, { rdnsResolver: { settings: { RDNS_SOCKETS: 99 } } }), /RDNS_SOCKETS/],
  ["a URL with a port that is none", joined(minimal, { nats: { url: "nats://a:4222,nats://nats:99999" } }), /nats[./]url/],
  ["a URL with a password", joined(minimal, { nats: { url: "nats://me:secret@nats:4222" } }), /nats[./]url/],
  ["a length that no prefix has", joined(minimal, { gateway: { trustedProxies: ["10.0.0.0/99"] } }), /gateway[./]trustedProxies/],
  ["a length that no IPv6 prefix has", joined(minimal, { gateway: { trustedProxies: ["fd00::/129"] } }), /gateway[./]trustedProxies/],
  ["a name that no object may have", joined(minimal, { nameOverride: "Foo_Bar" }), /nameOverride/],
  ["a whole name that no object may have", joined(minimal, { fullnameOverride: "-facts" }), /fullnameOverride/],
  [
    "two copies at one claim of yours",
    joined(minimal, { ingest: { replicas: 2, volume: { type: "existingClaim", existingClaim: "data" } } }),
    /ingest\.replicas is 2, but its volume is ReadWriteOnce: set /,
  ],
  ["a tag in the repository", joined(minimal, { image: { repository: "netfacts:v1" } }), /image[./]repository/],
  ["a tag that no image has", joined(minimal, { image: { tag: "a b" } }), /image[./]tag/],
  ["a URL as a host", joined(minimal, { ingress: { enabled: true, hosts: ["https://a.example"] } }), /ingress[./]hosts/],
  ["a port of a host", joined(minimal, { httpRoute: { hostnames: ["a.example:8443"] } }), /httpRoute[./]hostnames/],
  ["a variable that is a number", joined(minimal, { gateway: { extraEnv: [{ name: "A", value: 5 }] } }), /gateway[./]extraEnv/],
  ["another part-of", joined(minimal, { commonLabels: { "app.kubernetes.io/part-of": "platform" } }), /part-of/],
  ["another component", joined(minimal, { gateway: { podLabels: { "app.kubernetes.io/component": "web" } } }), /component/],
  [
    "a variable twice",
    joined(minimal, {
      gateway: {
        extraEnv: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
    }),
    /extraEnv of gateway names A twice: write it once/,
  ],
  [
    "a setting that is a variable too",
    joined(minimal, { gateway: { settings: { CONSOLE: false }, extraEnv: [{ name: "CONSOLE", value: "true" }] } }),
    /gateway\.settings and extraEnv both set CONSOLE: write it in one of them/,
  ],
  [
    "a volume of the chart's own",
    joined(minimal, { ingest: { extraVolumes: [{ name: "data", emptyDir: {} }] } }),
    /extraVolumes of ingest has the name data, .*: choose another name/,
  ],
  [
    "a mount of no volume",
    joined(minimal, { gateway: { extraVolumeMounts: [{ name: "data", mountPath: "/more" }] } }),
    /extraVolumeMounts of gateway names the volume data, .*: add the volume, or correct the name/,
  ],
  [
    "a mount at the chart's own secrets, and two at one path",
    joined(minimal, {
      defaults: { extraVolumes: [{ name: "more", emptyDir: {} }] },
      gateway: { extraVolumeMounts: [{ name: "more", mountPath: "/etc/netfacts/" }] },
      ipRouting: {
        extraVolumeMounts: [
          { name: "more", mountPath: "/more" },
          { name: "more", mountPath: "/more" },
        ],
      },
    }),
    /extraVolumeMounts of gateway has the path \/etc\/netfacts, .*: choose .*\n.*extraVolumeMounts of ipRouting has the path \/more, /,
  ],
  ["a registry with a scheme", joined(minimal, { global: { imageRegistry: "https://registry.example.com" } }), /global[./]imageRegistry/],
  ["a value that no label has", joined(minimal, { commonLabels: { team: "network operations" } }), /commonLabels[./]team/],
  [
    "policies that would allow every port",
    joined(minimal, { networkPolicy: { mongodb: { ports: [] }, resolvers: { ports: [] } } }),
    /networkPolicy\.mongodb\.ports is empty, which .* write at least one\n.*networkPolicy\.resolvers\.ports and .* write at least one port/,
  ],
  ["misspelt resources", joined(minimal, { gateway: { resources: { limit: { memory: "2Gi" } } } }), /gateway[./]resources.*limit/s],
  [
    "a quantity that is none",
    joined(minimal, { ingest: { resources: { limits: { memory: "4GB" } } } }),
    /ingest[./]resources[./]limits[./]memory/,
  ],
  ["another advertised host", joined(minimal, { ingest: { settings: { INGEST_ADVERTISED_HOST: "a.example" } } }), /INGEST_ADVERTISED_HOST/],
  ["autoscaling of ingest", joined(minimal, { ingest: { autoscaling: { enabled: true } } }), /autoscaling/],
];

testWithHelm("names, labels and keys that YAML would read as a number or a boolean stay texts", async () => {
  const names = { existingSecret: "7", key: "2026" };
  const { objects } = await render(
    chart,
    joined(everything, {
      nameOverride: "1e3",
      fullnameOverride: "true",
      nats: { auth: names, tls: { caSecret: "8", caKey: "9", clientSecret: "10" } },
      mongodb: { ...names, caSecret: "8", caKey: "9" },
      proxyToken: names,
      adminKey: names,
      peppers: names,
      telemetry: { headersSecret: "7", headersKey: "null" },
      defaults: { priorityClassName: "1", topologySpread: [{ topologyKey: "2" }] },
      ingest: { sources: { content: "", existingConfigMap: "3" }, volume: { type: "existingClaim", existingClaim: "4" } },
      ingress: { className: "5" },
    }),
    "123",
  );
  const texts = /^(name|key|secretName|claimName|priorityClassName|topologyKey|ingressClassName|app\.kubernetes\.io\/.+)$/;
  const wrong: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (!isMap(value) && !Array.isArray(value)) return;
    for (const [key, each] of Object.entries(value)) {
      if (texts.test(key) && typeof each !== "string") wrong.push(`${path}.${key}: ${each}`);
      look(each, `${path}.${key}`);
    }
  };
  for (const { kind, ...rest } of objects) look(rest, kind);
  expect(wrong).toEqual([]);
});

testWithHelm("a label or annotation that is set twice is there once, with the value for the more special place", async () => {
  const labels = { team: "special" };
  const { objects } = await render(
    chart,
    joined(minimal, {
      commonLabels: { team: "common" },
      gateway: { podLabels: labels, podAnnotations: { "kubectl.kubernetes.io/default-container": "sidecar" } },
      serviceMonitor: { enabled: true, labels },
      prometheusRule: { enabled: true, labels },
      dashboards: { enabled: true, labels },
    }),
  );
  const pod = named(objects, "Deployment", "gateway-auth-quota").spec.template.metadata;
  expect(pod.annotations["kubectl.kubernetes.io/default-container"]).toBe("sidecar");
  const [monitor] = ofKind(objects, "ServiceMonitor");
  const [rule] = ofKind(objects, "PrometheusRule");
  const dashboard = named(objects, "ConfigMap", "-dashboard-overview");
  for (const { labels: found } of [pod, monitor?.metadata, rule?.metadata, dashboard.metadata]) expect(found).toMatchObject(labels);
  expect(named(objects, "Deployment", "ip-routing").spec.template.metadata.labels.team).toBe("common");
});

testWithHelm("a variable of extraEnv replaces that of the chart, and stands alone", async () => {
  const { objects } = await render(chart, joined(minimal, { gateway: { extraEnv: [{ name: "LOG_LEVEL", value: "debug" }] } }));
  const levelsOf = (component: string) =>
    named(objects, "Deployment", component)
      .spec.template.spec.containers[0].env.filter(({ name }: Manifest) => name === "LOG_LEVEL")
      .map(({ value }: Manifest) => value);
  expect(levelsOf("gateway-auth-quota")).toEqual(["debug"]);
  expect(levelsOf("ip-routing")).toEqual(["info"]);
});

testWithHelm("null for a section or a value that is needed is refused by its name, and elsewhere it is an empty value", async () => {
  const withNull = (paths: readonly (readonly string[])[]): object =>
    paths.map((path) => path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), null) as object).reduce(joined, {});
  const isEmpty = ({ default: standard }: Value) => ['""', "[]", "{}"].includes(JSON.stringify(standard));
  const { text } = await render(chart, joined(withNull(allValues.filter(isEmpty).map(({ path }) => path)), minimal));
  expect(text === (await render(chart, minimal)).text).toBe(true);
  const needed = [
    ["gateway"],
    ["nats", "tls"],
    ["networkPolicy", "nats"],
    ["logLevel"],
    ["image", "repository"],
    ["ingest", "volume", "size"],
  ];
  const refusals = await Promise.all(needed.map(async (path) => refusal(chart, joined(minimal, withNull([path])))));
  for (const [at, path] of needed.entries())
    expect(refusals[at]).toMatch(new RegExp(`\\b${path.at(-1)}\\b.* required|missing .*\\b${path.at(-1)}\\b`));
});

testWithHelm.each(["1facts", "my.facts"])("a release %s has names that Kubernetes refuses, unless they are overridden", async (release) => {
  await expect(render(chart, minimal, release)).rejects.toThrow(/begin with .*facts-netfacts, .*: set fullnameOverride to/);
  const { objects } = await render(chart, joined(minimal, { fullnameOverride: "facts" }), release);
  expect(objects.length).toBeGreaterThan(20);
});

testWithHelm("images of registries with a port, and hosts with a wildcard, are accepted", async () => {
  const repositories = ["registry.example:5000/team/net_facts", "ghcr.io/a/b-c"];
  for (const repository of repositories) {
    const values = { image: { repository, tag: `1.0@sha256:${"0".repeat(64)}` }, ingress: { enabled: true, hosts: ["*.example.com"] } };
    const { objects } = await render(chart, joined(minimal, values));
    expect(named(objects, "Deployment", "ingest").spec.template.spec.containers[0].image).toMatch(`${repository}:1.0@sha256:`);
  }
});

testWithHelm.each(faults)("refuses %s, and says what to write", async (_name, values, sentence) => {
  expect(await refusal(chart, values)).toMatch(sentence);
});

const examples = codeBlocks(resolve(chart, "../..")).filter(({ language, info }) => language === "yaml" && info === "of a chart");

testWithHelm.each(examples)("the values of $page, line $line, are accepted", async ({ text }) => {
  expect((await render(chart, joined(minimal, parse(text)))).objects.length).toBeGreaterThan(20);
});
