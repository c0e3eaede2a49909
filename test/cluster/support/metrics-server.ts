/** metrics-server, by which a HorizontalPodAutoscaler knows the processor use of pods: built from its Go module, packed and installed here. */

import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isProgram } from "../../support/debian.ts";
import { until } from "../../support/http.ts";
import { toolCache } from "../../support/tool-cache.ts";
import { type Cluster, loadImages } from "./cluster.ts";
import { makeNamespace, ownLabel } from "./release.ts";
import { clusterFolder, clusterTool } from "./running-cluster.ts";
import { registry } from "./server-images.ts";

const run = promisify(execFile);
const version = "0.7.2";
const moduleName = "sigs.k8s.io/metrics-server/cmd/metrics-server";
const namespace = "nf-metrics-server";
const name = "metrics-server";
const image = `${registry}/${name}:${version}`;
const port = 10_250;

/** A cluster that has one keeps it. Otherwise one is built, the first time for some minutes, and `removeNamespaces` takes it away. */
export async function ensureMetricsServer(cluster: Cluster): Promise<void> {
  const apis = JSON.parse(await cluster.kubectl("get", "apiservices", "-o", "json"));
  const isThere = apis.items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === "v1beta1.metrics.k8s.io");
  if (isThere) return;
  await loadImages(cluster.kubeconfig, [await pack(await build())]);
  await makeNamespace(cluster, namespace);
  await cluster.kubectlWith(JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests() }), "apply", "-f", "-");
  await cluster.kubectl("-n", namespace, "rollout", "status", `deployment/${name}`, "--timeout=180s");
  const hasMetrics = async () => {
    const answer = await cluster.kubectl("get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes").catch(() => '{"items":[]}');
    return JSON.parse(answer).items.length > 0;
  };
  await until(hasMetrics, { timeoutMs: 120_000 });
}

/** @returns the path of the program. */
async function build(): Promise<string> {
  const folder = join(toolCache(), `${name}-${version}`);
  const program = join(folder, name);
  if (await isProgram(program)) return program;
  await mkdir(toolCache(), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  try {
    await run("go", ["install", "-trimpath", "-ldflags=-s -w", `${moduleName}@v${version}`], {
      env: { ...process.env, CGO_ENABLED: "0", GOBIN: work },
    });
    await rename(work, folder);
    return program;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @returns the path of the archive. */
async function pack(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-image-"));
  try {
    await copyFile(program, join(folder, name));
    await run("chmod", ["-R", "a+rX", folder]);
    const archive = join(clusterFolder, "images", `${name}.tar`);
    await mkdir(join(clusterFolder, "images"), { recursive: true });
    await run(join(clusterTool, "mkimage.sh"), [image, folder, archive, JSON.stringify({ Entrypoint: [`/${name}`] })]);
    return archive;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What its own manifests have, without what only large clusters need. */
function manifests(): object[] {
  const labels = { [ownLabel]: "true", app: name };
  const owned = { name, labels };
  const wide = { name: `nf-${name}`, labels };
  const subjects = [{ kind: "ServiceAccount", name, namespace }];
  const rbac = "rbac.authorization.k8s.io";
  const binding = (role: string, suffix: string) => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { ...wide, name: `${wide.name}${suffix}` },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects,
  });
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...owned, namespace } },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: wide,
      rules: [
        { apiGroups: [""], resources: ["nodes/metrics"], verbs: ["get"] },
        { apiGroups: [""], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] },
      ],
    },
    binding(wide.name, ""),
    binding("system:auth-delegator", "-callers"),
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: { ...wide, namespace: "kube-system" },
      roleRef: { apiGroup: rbac, kind: "Role", name: "extension-apiserver-authentication-reader" },
      subjects,
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...owned, namespace },
      spec: { selector: { app: name }, ports: [{ name: "https", port: 443, targetPort: "https" }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...owned, namespace },
      spec: {
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels }, spec: podSpec() },
      },
    },
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: "v1beta1.metrics.k8s.io", labels },
      spec: {
        group: "metrics.k8s.io",
        version: "v1beta1",
        service: { name, namespace },
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
      },
    },
  ];
}

function podSpec(): object {
  const probe = (path: string) => ({ httpGet: { path, port: "https", scheme: "HTTPS" }, periodSeconds: 5 });
  return {
    serviceAccountName: name,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name,
        image,
        imagePullPolicy: "IfNotPresent",
        args: [
          `--secure-port=${port}`,
          "--cert-dir=/tmp",
          "--kubelet-preferred-address-types=InternalIP",
          // The certificate of a kubelet here is signed by nobody.
          "--kubelet-insecure-tls",
          // The shortest that it takes, which must be longer than its time-out: the test waits for it.
          "--metric-resolution=10s",
          "--kubelet-request-timeout=8s",
        ],
        ports: [{ name: "https", containerPort: port }],
        readinessProbe: probe("/readyz"),
        livenessProbe: probe("/livez"),
        resources: { requests: { cpu: "20m", memory: "64Mi" } },
        securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
      },
    ],
    volumes: [{ name: "tmp", emptyDir: {} }],
  };
}
