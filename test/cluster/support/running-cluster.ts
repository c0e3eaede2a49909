/** The cluster of the cluster tool that runs on this machine, and its end: there can be one at a time. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readdir, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { toolCache } from "../../support/tool-cache.ts";

/** Where `up.sh`, `load.sh` and `mkimage.sh` are. */
export const clusterTool = process.env.NETFACTS_CLUSTER_TOOL ?? resolve(import.meta.dirname, "../../../../shared/tools/cluster");
/** Below the cache of any user. */
const ownPath = "netfacts/cluster";
/** What a cluster of ours consists of. */
export const clusterFolder = join(toolCache(), "cluster");
/** More than all files claim in one run: a volume whose claim was deleted is offered again only when the cluster starts. */
const volumes = "60";
/** Programs take ten minutes to build, and logs are read after the end. */
const kept: readonly string[] = ["bin", "logs"];

/** Its end, and not that of its output: what it starts may keep that open. @throws Error that says where its logs are. */
export async function runTool(name: "up.sh" | "down.sh", state: string): Promise<void> {
  const child = spawn(join(clusterTool, name), [state], {
    env: { ...process.env, CLUSTER_VOLUMES: volumes },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = (await once(child, "exit")) as [number | null];
  if (status !== 0) throw new Error(`${name} failed with status ${status}; its logs are in ${join(state, "logs")}`);
}

/** Ends the cluster of the folder, if it runs, and removes what it stored. Programs that were built stay. */
export async function endCluster(folder = clusterFolder): Promise<void> {
  const wasStarted = await access(join(folder, "env")).then(
    () => true,
    () => false,
  );
  if (!wasStarted) return;
  await runTool("down.sh", folder);
  const stored = (await readdir(folder)).filter((name) => !kept.includes(name));
  await Promise.all(stored.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

/**
 * Makes room for a cluster in our folder. With `CI` set, nothing that an earlier run left or stored remains, whosever cache it is in.
 *
 * @throws Error that says how to end a cluster that is not of these tests, or not to be ended.
 */
export async function makeRoom(): Promise<void> {
  const other = await runningFolder();
  const isOther = other !== null && other !== clusterFolder;
  if (isOther && !(process.env.CI && other.endsWith(ownPath)))
    throw new Error(`another cluster runs on this machine, and there can be one at a time: end it with ${clusterTool}/down.sh ${other}`);
  if (isOther) await endCluster(other);
  if (process.env.CI) await endCluster();
}

/** The folder of the cluster that has the tool's port of etcd; null: none has it. */
async function runningFolder(): Promise<string | null> {
  const port = process.env.CLUSTER_ETCD_PORT ?? "12379";
  for (const name of (await readdir("/proc")).filter((each) => /^\d+$/.test(each))) {
    // A process may end meanwhile.
    const args = (await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")).split("\0");
    if (!args.includes("etcd") || !args.includes(`--listen-client-urls=http://127.0.0.1:${port}`)) continue;
    const folder = args.map((arg) => /^--data-dir=(.+)\/etcd$/.exec(arg)?.[1]).find((found) => found !== undefined);
    if (folder !== undefined) return folder;
  }
  return null;
}
