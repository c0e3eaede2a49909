/** The Kubernetes cluster of the test: the one of `KUBECONFIG`, else one of the cluster tool, which keeps running between runs. */

import { type ExecFileOptions, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { isProgram } from "../../support/debian.ts";
import { findHelm, type Manifest } from "../../support/helm.ts";
import { clusterFolder, clusterTool, makeRoom, runTool } from "./running-cluster.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../..");
const outputBytesMax = 1 << 26;
const addressesOfNodes = 'jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';

/** What a command printed. @throws Error with what it printed, when it fails. */
async function output(command: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const { stdout } = await run(command, args, { maxBuffer: outputBytesMax, ...options, encoding: "utf8" });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error(`${command} ${args.join(" ")}: ${[stderr.trim(), stdout.trim()].filter(Boolean).join("\n") || message}`);
  }
}

export interface Cluster {
  readonly kubeconfig: string;
  /** Address of a node, for NodePorts; empty where there is none. */
  readonly nodeAddress: string;
  /** `kubectl`, for what goes on while something else is done. */
  readonly program: string;
  kubectl(...args: string[]): Promise<string>;
  /** Objects of `kubectl get … -o json`. */
  get(namespace: string, ...args: string[]): Promise<Manifest[]>;
  /** Standard input of the command. */
  kubectlWith(input: string, ...args: string[]): Promise<string>;
  helm(...args: string[]): Promise<string>;
}

/** The address of this machine that the node sees: nodes and, where nothing replaces it, pods see callers here under it. */
export async function ownAddress({ kubectl }: Cluster): Promise<string> {
  const server = new URL(await kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}"));
  const socket = connect(Number(server.port || 443), server.hostname);
  try {
    await once(socket, "connect");
    return socket.localAddress ?? "";
  } finally {
    socket.destroy();
  }
}

/** What a machine lacks for a cluster of its own, one sentence each. */
async function missingForCluster(): Promise<string[]> {
  const missing: string[] = [];
  if (process.platform !== "linux" || process.arch !== "x64")
    missing.push(`it runs on linux/amd64 only, not ${process.platform}/${process.arch}`);
  if (process.getuid?.() !== 0) missing.push("a node needs root");
  if (!(await isProgram(join(clusterTool, "up.sh"))))
    missing.push(`there is no up.sh in ${clusterTool}: set NETFACTS_CLUSTER_TOOL to the folder of the cluster tool`);
  if (!(await output("go", ["version"]).catch(() => ""))) missing.push("Go 1.25 or newer is needed to build it");
  return missing;
}

/**
 * Starts the cluster if none runs; with `CI` set, always an empty one. The first time, its programs are built for some ten minutes.
 *
 * @returns the path of its kubeconfig. @throws Error that says what is missing.
 */
export async function bringUpCluster(): Promise<string> {
  if (process.env.KUBECONFIG) return process.env.KUBECONFIG;
  const missing = await missingForCluster();
  if (missing.length > 0)
    throw new Error(`there is no cluster: set KUBECONFIG to that of one, or make one possible here: ${missing.join("; ")}`);
  await makeRoom();
  await mkdir(clusterFolder, { recursive: true });
  await runTool("up.sh", clusterFolder);
  return join(clusterFolder, "kubeconfig");
}

/** Ends all processes of a cluster of the cluster tool, as a power cut does, and starts them again. */
export async function restartCluster({ kubeconfig }: Cluster): Promise<void> {
  await runTool("down.sh", dirname(kubeconfig));
  await runTool("up.sh", dirname(kubeconfig));
}

/** Gives the node the images. A cluster that the cluster tool did not make is expected to have them. */
export async function loadImages(kubeconfig: string, archives: readonly string[]): Promise<void> {
  const state = dirname(kubeconfig);
  const isOurs = await access(join(state, "run/containerd.sock")).then(
    () => true,
    () => false,
  );
  if (!isOurs) return console.log(`the images are not loaded, as ${kubeconfig} is not of the cluster tool`);
  for (const archive of archives) await output(join(clusterTool, "load.sh"), [archive, state]);
}

/** @param kubeconfig  as `bringUpCluster` gives it. */
export async function openCluster(kubeconfig: string): Promise<Cluster> {
  const tool = await findHelm();
  if (!tool.found) throw new Error(`Helm is needed: ${tool.remedy}`);
  const own = join(dirname(kubeconfig), "bin/kubectl");
  const program = (await isProgram(own)) ? own : "kubectl";
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, KUBECONFIG: kubeconfig };
  const kubectl = (...args: string[]) => output(program, args, { env });
  return {
    kubeconfig,
    program,
    nodeAddress: /^\S*/.exec(await kubectl("get", "nodes", "-o", addressesOfNodes))?.[0] ?? "",
    kubectl,
    async get(namespace, ...args) {
      const { items } = JSON.parse(await kubectl("-n", namespace, "get", ...args, "-o", "json"));
      return items;
    },
    kubectlWith: async (input, ...args) => {
      const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "pipe"] });
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          printed += text;
        });
      }
      child.stdin.end(input);
      const [status] = (await once(child, "close")) as [number | null];
      if (status !== 0) throw new Error(`kubectl ${args.join(" ")}: ${printed}`);
      return printed;
    },
    helm: (...args) => output(tool.command, args, { env, cwd: root }),
  };
}
