/** The chart `netfacts-backing`, rendered: its servers accept their configuration, and the values for evaluation fit it. */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { natsAuthorization, natsUsers } from "../../libs/messaging/src/nats/rights.ts";
import { readValues, type Value } from "../../scripts/charts/values.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { findHelm, helm, type Manifest, type Rendering } from "../support/helm.ts";
import { findNatsServer } from "../support/nats-server.ts";
import { findUnbound } from "../support/unbound.ts";

const charts = resolve(import.meta.dirname, "../../charts");
const chart = join(charts, "netfacts-backing");
const tool = toolOrNotRun(await findHelm(), "Helm", 6);
const testWithHelm = tool === null ? test.skip : test;
const { render, notes, refusal } = helm(tool ?? { found: true, command: "helm", env: {}, origin: "path" });
const natsServer = toolOrNotRun(await findNatsServer(), "nats-server", 2);
const unbound = toolOrNotRun(await findUnbound(), "unbound", 2);

/** Every value, different from its default. */
const everything = {
  global: { imageRegistry: "registry.example.com", imagePullSecrets: [{ name: "pull" }] },
  fullnameOverride: "servers",
  nats: {
    image: { repository: "mirror/nats", tag: "2.11.4-scratch" },
    replicas: 3,
    bucket: "facts",
    resources: { limits: { memory: "2Gi" } },
    size: "10Gi",
    storageClass: "fast",
  },
  mongodb: {
    enabled: true,
    image: { repository: "mirror/mongo", tag: "8.0.1" },
    uid: 1001,
    resources: { limits: { memory: "2Gi" } },
    size: "10Gi",
    storageClass: "fast",
  },
  unbound: {
    enabled: true,
    image: { repository: "mirror/unbound", tag: "1.22", command: "/opt/unbound" },
    replicas: 2,
    resources: { limits: { memory: "1Gi" } },
  },
  networkPolicy: { enabled: true },
};

let standard: Rendering;
let whole: Rendering;
const folder = mkdtempSync(join(tmpdir(), "netfacts-backing-"));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  if (tool === null) return;
  standard = await render(chart, {}, "backing");
  whole = await render(chart, everything, "backing");
}, 60_000);

const find = ({ objects }: Rendering, kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) as Manifest;
const names = ({ objects }: Rendering) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();

testWithHelm("brings NATS and MongoDB, and with everything on unbound too", () => {
  expect(names(standard)).toEqual([
    "NetworkPolicy backing-servers",
    "Secret backing-mongodb-uri",
    "Secret backing-nats-config",
    "Secret backing-nats-users",
    "Secret backing-proxy-token",
    "Service backing-mongodb",
    "Service backing-nats",
    "Service backing-nats-servers",
    "StatefulSet backing-mongodb",
    "StatefulSet backing-nats",
  ]);
  const more = names(whole).filter((name) => !names(standard).includes(name.replace(" servers-", " backing-")));
  expect(more).toEqual(["ConfigMap servers-unbound", "Deployment servers-unbound", "Service servers-unbound"]);
});

testWithHelm("without MongoDB and network policies, nothing of them is left", async () => {
  const { text } = await render(chart, { mongodb: { enabled: false }, networkPolicy: { enabled: false } }, "backing");
  expect(text).not.toMatch(/mongodb|NetworkPolicy/);
});

testWithHelm("every value is set by the rendering with everything", () => {
  const leaves = (values: readonly Value[]): Value[] =>
    values.flatMap((value) => (value.children.length === 0 ? [value] : leaves(value.children)));
  const valueAt = (path: readonly string[]) => path.reduce<unknown>((each, part) => (each as Manifest | undefined)?.[part], everything);
  const unset = leaves(readValues(readFileSync(join(chart, "values.yaml"), "utf8"))).filter(({ path }) => valueAt(path) === undefined);
  expect(unset.map(({ path }) => path.join("."))).toEqual([]);
});

testWithHelm("every pod satisfies the restricted Pod Security Standard", () => {
  for (const { objects } of [standard, whole]) {
    for (const { spec } of objects.filter(({ kind }) => kind === "StatefulSet" || kind === "Deployment")) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      expect(pod.securityContext.seccompProfile).toEqual({ type: "RuntimeDefault" });
      for (const { securityContext } of pod.containers)
        expect(securityContext).toEqual({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
        });
    }
  }
});

testWithHelm.each([
  ["one server", () => standard, "backing", "netfacts-snapshots"],
  ["three servers", () => whole, "servers", "facts"],
] as const)(
  "nats-server accepts its configuration, with the rights that services need and the stored passwords: %s",
  async (_name, of, fullname, bucket) => {
    const { route, ...passwords } = find(of(), "Secret", `${fullname}-nats-users`).stringData;
    expect(Object.keys(passwords).sort()).toEqual([...natsUsers].sort());
    for (const text of [route, ...Object.values(passwords)]) expect(text).toMatch(/^p[A-Za-z0-9]{39}$/);
    expect(new Set(Object.values(passwords)).size).toBe(natsUsers.length);

    const config: string = find(of(), "Secret", `${fullname}-nats-config`).stringData["nats.conf"];
    expect(config).toContain(natsAuthorization({ bucket, passwordOf: (user) => `"${passwords[user]}"` }));
    const path = join(folder, `${fullname}.conf`);
    writeFileSync(path, config.replace('"/data"', JSON.stringify(folder)));
    if (natsServer === null) return;
    const { stderr } = await promisify(execFile)(natsServer.command, ["-t", "-c", path], { env: { ...process.env, ...natsServer.env } });
    expect(stderr).toContain("is valid");
  },
);

testWithHelm("unbound accepts its configuration", async () => {
  const path = join(folder, "unbound.conf");
  writeFileSync(path, find(whole, "ConfigMap", "servers-unbound").data["unbound.conf"]);
  if (unbound === null) return;
  const env = { ...process.env, ...unbound.env };
  const { stdout } = await promisify(execFile)(join(dirname(unbound.command), "unbound-checkconf"), [path], { env });
  expect(stdout).toContain("no errors");
});

testWithHelm("MongoDB and unbound serve pods that have IPv6 addresses only, too", async () => {
  const { containers } = find(standard, "StatefulSet", "backing-mongodb").spec.template.spec;
  expect(containers[0].args).toEqual(["--bind_ip_all", "--ipv6"]);
  if (unbound === null) return;
  const path = join(folder, "unbound-families.conf");
  writeFileSync(path, find(whole, "ConfigMap", "servers-unbound").data["unbound.conf"]);
  const env = { ...process.env, ...unbound.env };
  const valuesOf = async (option: string) => {
    const { stdout } = await promisify(execFile)(join(dirname(unbound.command), "unbound-checkconf"), ["-o", option, path], { env });
    return stdout.trim().split("\n").sort();
  };
  expect(await valuesOf("interface")).toEqual(["0.0.0.0@5353", "::0@5353"]);
  expect(await valuesOf("access-control")).toEqual(["0.0.0.0/0 allow", "::0/0 allow"]);
});

testWithHelm("the values for evaluation name servers, Secrets and keys that are there", () => {
  const values = parse(readFileSync(join(charts, "netfacts/values-evaluation.yaml"), "utf8"));
  const { hostname, port } = new URL(values.nats.url);
  expect(find(standard, "Service", hostname).spec.ports[0].port).toBe(Number(port));
  expect(Object.keys(find(standard, "Secret", values.nats.auth.existingSecret).stringData)).toEqual(expect.arrayContaining([...natsUsers]));
  const { uri } = find(standard, "Secret", values.mongodb.existingSecret).stringData;
  expect(find(standard, "Service", new URL(uri).hostname).spec.ports[0].port).toBe(Number(new URL(uri).port));
  expect(find(standard, "Secret", values.proxyToken.existingSecret).stringData.token.length).toBeGreaterThanOrEqual(32);
});

testWithHelm("both charts as for evaluation fit on a node with two processors, beside what a cluster runs itself", async () => {
  const values = parse(readFileSync(join(charts, "netfacts/values-evaluation.yaml"), "utf8"));
  const { objects } = await render(join(charts, "netfacts"), values);
  const requested = [...standard.objects, ...objects].flatMap(({ spec }) => {
    const copies = spec?.replicas ?? 1;
    const containers = (spec?.template?.spec?.containers ?? []) as Manifest[];
    return containers.map(({ resources }) => copies * Number(/^(\d+)m$/.exec(resources.requests.cpu)?.[1]));
  });
  expect(requested.length).toBe(8);
  expect(requested.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1_000);
});

testWithHelm("what Helm prints are the values for evaluation, and with everything on those that fit", async () => {
  const valuesOf = async (values: object) =>
    parse((await notes(chart, values, "backing")).replace(/^.*Values of the chart netfacts:/s, ""));
  const evaluation = parse(readFileSync(join(charts, "netfacts/values-evaluation.yaml"), "utf8"));
  const printed = await valuesOf({});
  expect(Object.keys(printed)).toEqual(["nats", "mongodb", "proxyToken"]);
  expect(evaluation).toMatchObject(printed);
  expect(await valuesOf(everything)).toMatchObject({
    nats: { url: "nats://servers-nats:4222", snapshotReplicas: 3, bucket: "facts" },
    rdnsResolver: { resolvers: ["servers-unbound"] },
  });
});

testWithHelm("refuses names that Kubernetes refuses for a Service", async () => {
  expect(await refusal(chart, { fullnameOverride: "Bad Name" })).toMatch(/fullnameOverride/);
  await expect(render(chart, {}, "1facts")).rejects.toThrow(/begin with 1facts, .*: set fullnameOverride to/);
});

testWithHelm("refuses two servers of NATS, and unbound without an image", async () => {
  expect(await refusal(chart, { nats: { replicas: 2 } })).toMatch(/nats[./]replicas/);
  expect(await refusal(chart, { unbound: { enabled: true } })).toMatch(/unbound\.image\.repository is empty: write the repository/);
});
