/** skaffold.yaml in a cluster: the commands that it stands for build, install, forward and copy, in the profiles `dev`, `debug` and `full`. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Manifest } from "../support/helm.ts";
import { request, until } from "../support/http.ts";
import {
  copyArguments,
  forwardArguments,
  type Image,
  imageName,
  installArguments,
  type PortForward,
  readSkaffold,
  type SkaffoldConfig,
  syncDestination,
} from "../support/skaffold.ts";
import { type Cluster, loadImages, openCluster } from "./support/cluster.ts";
import { buildDevelopmentImage } from "./support/development-image.ts";
import { makeKey, makeNamespace, removeNamespaces, serviceUrls, untilAnswered } from "./support/release.ts";
import { clusterFolder } from "./support/running-cluster.ts";
import { registry } from "./support/server-images.ts";

const root = resolve(import.meta.dirname, "../..");
const development: Image = { repository: `${registry}/netfacts`, tag: "development" };
const gateway = "netfacts-gateway-auth-quota";
const dev = "nf-dev";
const full = "nf-full";
const forwards: ChildProcess[] = [];
let cluster: Cluster;

beforeAll(async () => {
  cluster = await openCluster(process.env.KUBECONFIG ?? "");
  const [artifact] = readSkaffold(root, "dev").build.artifacts;
  if (artifact === undefined) throw new Error("skaffold.yaml builds nothing");
  await loadImages(cluster.kubeconfig, [await buildDevelopmentImage(artifact, development, join(clusterFolder, "images"))]);
  await makeNamespace(cluster, dev);
  await deploy(dev, readSkaffold(root, "dev"), development);
});

afterAll(async () => {
  for (const forward of forwards) forward.kill();
  await removeNamespaces(cluster);
});

/** As `skaffold run` does, with the registry of the test for the servers. */
async function deploy(namespace: string, { deploy: { helm } }: SkaffoldConfig, image: Image): Promise<void> {
  for (const release of helm.releases) {
    const [, ...args] = installArguments(release, { netfacts: image });
    const registryOfServers = release.name === "backing" ? ["--set", `global.imageRegistry=${registry}`] : [];
    await cluster.helm("upgrade", "--install", ...args, ...registryOfServers, "--namespace", namespace);
  }
  for (const { metadata } of await cluster.get(namespace, "deployments"))
    await cluster.kubectl("-n", namespace, "rollout", "status", `deployment/${metadata.name}`, "--timeout=600s");
}

/** @returns the address by which the forwarded port is reached; the local one of the file may be taken here. */
async function forward(namespace: string, { portForward }: SkaffoldConfig, { resourceName, port }: Partial<PortForward>): Promise<string> {
  const entry = portForward.find((each) => each.resourceName === resourceName && each.port === port);
  if (entry === undefined) throw new Error(`skaffold.yaml forwards no port ${port} of ${resourceName}`);
  const args = forwardArguments({ ...entry, localPort: 0 }, namespace);
  const child = spawn(cluster.program, ["--kubeconfig", cluster.kubeconfig, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  forwards.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(line.toString())?.[1]}`;
}

const servicePods = async (namespace: string) =>
  (await cluster.get(namespace, "pods", "-l", "app.kubernetes.io/name=netfacts", "--field-selector=status.phase=Running")).filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );

/** As skaffold does, into every container of the image. */
async function copy(path: string, text: string): Promise<void> {
  const [artifact] = readSkaffold(root, "dev").build.artifacts;
  const destination = artifact && syncDestination(artifact, path);
  if (!destination) throw new Error(`${path} is not copied`);
  const folder = await mkdtemp(join(tmpdir(), "netfacts-copy-"));
  try {
    await mkdir(dirname(join(folder, destination)), { recursive: true });
    await writeFile(join(folder, destination), text);
    const input = execFileSync("tar", ["cf", "-", "-C", folder, destination.slice(1)]);
    for (const { metadata, spec } of await servicePods(dev))
      for (const { name, image } of spec.containers as Manifest[])
        if (image === imageName(development))
          execFileSync(cluster.program, ["--kubeconfig", cluster.kubeconfig, ...copyArguments(metadata.name, dev, name)], { input });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("dev: the sources answer through the forwarded port, and a changed file is in use without a new pod or container", async () => {
  const url = await forward(dev, readSkaffold(root, "dev"), { resourceName: "netfacts", port: 80 });
  const { secret } = await makeKey(cluster, dev, `deployment/${gateway}`);
  await untilAnswered(url, secret, performance.now());
  const before = (await servicePods(dev)).map(({ metadata }) => metadata.name);

  const path = "services/gateway-auth-quota/src/edge/security-headers.ts";
  const text = await readFile(join(root, path), "utf8");
  // A service that starts again ends the forward, which skaffold then opens anew.
  const { cluster: service } = await serviceUrls(cluster, dev, "netfacts");
  const headerOf = async () => (await fetch(`${service}/api/v1/status`).catch(() => null))?.headers.get("x-content-type-options");
  await until(async () => (await headerOf()) === "nosniff");
  for (const value of ["nosniff-1", "nosniff-2"]) {
    await copy(path, text.replace('"nosniff"', JSON.stringify(value)));
    await until(async () => (await headerOf()) === value, { timeoutMs: 120_000 });
  }
  await copy(path, text);

  const after = await servicePods(dev);
  expect(after.map(({ metadata }) => metadata.name)).toEqual(before);
  expect(after.map(({ status }) => status.containerStatuses[0].restartCount)).toEqual(before.map(() => 0));
});

test("debug: the inspector of each service is reached by its forwarded port, and by nobody else", async () => {
  const config = readSkaffold(root, "debug");
  await deploy(dev, config, development);
  for (const { resourceName } of config.portForward.filter(({ port }) => port === 9229)) {
    const url = await forward(dev, config, { resourceName, port: 9229 });
    expect((await request(`${url}/json/version`)).json.Browser).toBe(`node.js/${process.version}`);
  }
  for (const { status } of await servicePods(dev)) await expect(fetch(`http://${status.podIP}:9229/json/version`)).rejects.toThrow();
});

test("full: two copies of each service answer", async () => {
  await cluster.helm("-n", dev, "uninstall", "netfacts", "backing", "--wait");
  await makeNamespace(cluster, full);
  const config = readSkaffold(root, "run", ["full"]);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  await deploy(full, config, { repository: `${registry}/netfacts`, tag: version });
  const ready = (await cluster.get(full, "deployments")).map(({ metadata, status }) => [metadata.name, status.readyReplicas]);
  expect(ready).toEqual(ready.map(([name]) => [name, 2]));
  const { secret } = await makeKey(cluster, full, `deployment/${gateway}`);
  await untilAnswered(await forward(full, config, { resourceName: "netfacts", port: 80 }), secret, performance.now());
});
