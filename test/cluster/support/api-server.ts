/** A Kubernetes API server without a node, for what it says of manifests: of the cluster tool, on ports of its own. */

import { access, mkdir, mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProgram } from "../../support/debian.ts";
import { freePort, freePortsFrom } from "../../support/free-ports.ts";
import { toolCache, withLock } from "../../support/tool-cache.ts";
import { clusterFolder, clusterTool, runTool } from "./running-cluster.ts";

/** Names the folder in which API servers of this run keep what they store. Whoever sets it calls `endApiServer` when the run is over. */
export const apiServersVariable = "NETFACTS_TEST_API_SERVERS";
/** Kubernetes is built in this time on a machine that does little else. */
const buildMsMax = 30 * 60_000;

export interface ApiServer {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** Builds Kubernetes, which takes some ten minutes the first time, where the cluster tool is here and has not done so yet. */
export async function buildApiServer(): Promise<void> {
  if (!(await isProgram(join(clusterTool, "up.sh"))) || (await isProgram(join(clusterFolder, "bin/kube")))) return;
  console.error("the API server that charts are tested with is being built: once, for some ten minutes");
  const server = await startApiServer();
  await server?.stop();
}

/** @returns null, and a line that says so, where the cluster tool is not here. @throws Error when it fails. */
export async function startApiServer(): Promise<ApiServer | null> {
  if (!(await isProgram(join(clusterTool, "up.sh")))) {
    console.log(`not run: no cluster tool in ${clusterTool}`);
    return null;
  }
  const programs = join(clusterFolder, "bin");
  await mkdir(programs, { recursive: true });
  const folder = await mkdtemp(join(process.env[apiServersVariable] ?? tmpdir(), "api-server-"));
  await symlink(programs, join(folder, "bin"));
  // etcd's and the next three belong to its peers, to controllers and to the scheduler.
  const env = { CLUSTER_PORT: `${await freePort()}`, CLUSTER_ETCD_PORT: `${await freePortsFrom(4)}` };
  const up = () => runTool("up.sh", folder, { options: ["--control-plane"], env });
  await withLock(join(toolCache(), "cluster.lock"), up, buildMsMax);
  return { kubeconfig: join(folder, "kubeconfig"), stop: () => endApiServer(folder) };
}

/** Ends the server of the folder, if there is one, and removes what it stored. */
export async function endApiServer(folder: string): Promise<void> {
  const wasStarted = await access(join(folder, "env")).then(
    () => true,
    () => false,
  );
  if (wasStarted) await runTool("down.sh", folder, { options: ["--delete"] });
}
