/** Before the tests: the cluster, the images of all services and of the servers beside them, and no namespace of an earlier run. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { bringUpCluster, loadImages, openCluster } from "./cluster.ts";
import { installBuilders } from "./development-image.ts";
import { removeNamespaces } from "./release.ts";
import { clusterFolder, clusterTool } from "./running-cluster.ts";
import { packServerImages, registry } from "./server-images.ts";

const root = resolve(import.meta.dirname, "../../..");

export default async function prepare(): Promise<void> {
  const began = performance.now();
  const say = (text: string) => process.stderr.write(`${Math.round((performance.now() - began) / 1_000)} s: ${text}\n`);
  const isOwn = !process.env.KUBECONFIG;
  const kubeconfig = await bringUpCluster();
  // A machine whose cluster is another one is left as it is.
  if (isOwn) await installBuilders();
  say("the cluster is up");
  await removeNamespaces(await openCluster(kubeconfig));
  await makeImages();
  const servers = await packServerImages({ mkimage: join(clusterTool, "mkimage.sh"), to: join(clusterFolder, "images") });
  say("the images are packed");
  await loadImages(kubeconfig, [join(root, "dist/images/netfacts.tar"), ...servers]);
  say("the images are loaded");
  process.env.KUBECONFIG = kubeconfig;
}

/** `make images`, under the name that the chart looks for. Unless base images are named, it is packed: buildah would pull the default ones. */
async function makeImages(): Promise<void> {
  const { BUILD_BASE, BUILDAH = "buildah" } = process.env;
  const { version } = (await import(join(root, "package.json"), { with: { type: "json" } })).default;
  const child = spawn(process.execPath, ["--conditions=source", "scripts/images.ts"], {
    cwd: root,
    env: {
      ...process.env,
      BUILDAH: BUILD_BASE ? BUILDAH : "no buildah",
      IMAGE: `${registry}/netfacts:${version}`,
      NETFACTS_CLUSTER_TOOL: clusterTool,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`scripts/images.ts ended with status ${status}`);
}
