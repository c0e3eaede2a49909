/**
 * What the API server says of the charts: it checks each object's schema, names, references and, in a namespace that enforces it, the
 * restricted Pod Security Standard, and creates nothing.
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { everything, joined, minimal, switches } from "../charts/netfacts-cases.ts";
import { findHelm, helm, type Manifest } from "../support/helm.ts";
import { type Cluster, openCluster } from "./support/cluster.ts";
import { charts, evaluation, makeNamespace, removeNamespaces } from "./support/release.ts";
import { unboundImage } from "./support/server-images.ts";

const root = resolve(import.meta.dirname, "../..");
const namespace = "nf-renderings";

let cluster: Cluster;

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  await makeNamespace(cluster, namespace);
});

afterAll(() => removeNamespaces(cluster));

/** What the API server has against the objects: it refuses them, or warns. Null: nothing. */
async function objectionTo(objects: readonly Manifest[]): Promise<string | null> {
  // Kinds of operators that are not installed.
  const known = objects.filter(({ apiVersion }) => !/monitoring\.coreos\.com|gateway\.networking\.k8s\.io/.test(apiVersion));
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: known });
  return await cluster.kubectlWith(list, "-n", namespace, "apply", "--dry-run=server", "-f", "-").then(
    (printed) => (/warning/i.test(printed) ? printed : null),
    ({ message }: Error) => message,
  );
}

async function rendered(chart: string, values: object): Promise<readonly Manifest[]> {
  const tool = await findHelm();
  if (!tool.found) throw new Error(`Helm is needed: ${tool.remedy}`);
  return (await helm(tool).render(resolve(root, chart), values)).objects;
}

test("the API server accepts every rendering", async () => {
  const cases = [
    { name: "minimal", chart: charts.netfacts, values: minimal },
    { name: "everything", chart: charts.netfacts, values: everything },
    { name: "evaluation", chart: charts.netfacts, values: parse(readFileSync(evaluation, "utf8")) },
    ...switches.map(({ name, values }) => ({ name, chart: charts.netfacts, values: joined(minimal, values) })),
    { name: "backing", chart: charts.backing, values: {} },
    { name: "whole backing", chart: charts.backing, values: { nats: { replicas: 3 }, unbound: { enabled: true, image: unboundImage } } },
  ];
  const objections: string[] = [];
  for (const { name, chart, values } of cases) {
    const objection = await objectionTo(await rendered(chart, values));
    if (objection !== null) objections.push(`${name}: ${objection}`);
  }
  expect(objections).toEqual([]);
});

test("it would tell of a field that does not exist, a value that cannot be, and a container that is not restricted", async () => {
  const deployment = (await rendered(charts.netfacts, minimal)).find(({ kind }) => kind === "Deployment");
  const changed = (change: (container: Manifest) => void): Manifest[] => {
    const copy = structuredClone(deployment) as Manifest;
    change(copy.spec.template.spec.containers[0]);
    return [copy];
  };
  expect(await objectionTo(changed(() => {}))).toBeNull();
  const unknownField = changed((container) => Object.assign(container, { readyProbe: container.readinessProbe }));
  expect(await objectionTo(unknownField)).toContain('unknown field "readyProbe"');
  const impossible = changed((container) => Object.assign(container.readinessProbe, { periodSeconds: -1 }));
  expect(await objectionTo(impossible)).toContain("readinessProbe.periodSeconds: Invalid value: -1");
  const privileged = changed((container) => Object.assign(container.securityContext, { allowPrivilegeEscalation: true }));
  expect(await objectionTo(privileged)).toContain("allowPrivilegeEscalation != false");
});
