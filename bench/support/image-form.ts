/** Runs services like the container image: bundled, with Node's compile cache. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { environment, folders } from "../../scripts/images/config.ts";
import { assembleTree } from "../../scripts/images/tree.ts";
import type { Backing } from "./distributed.ts";
import { type ServiceProcess, startProcess } from "./service-process.ts";

/** Starts a service as a process with a name. */
export type StartAsImage = (service: string, name: string, more?: NodeJS.ProcessEnv) => ServiceProcess;

/** Makes the files of the image in the folder of the backing. It takes some seconds. */
export async function imageForm({ folder, env, own }: Backing): Promise<StartAsImage> {
  const tree = join(folder, "tree");
  await assembleTree({ root: fileURLToPath(new URL("../..", import.meta.url)), to: tree });
  const asInImage = { ...environment, NODE_COMPILE_CACHE: join(tree, folders.compiled), ...env };
  return (service, name, more = {}) =>
    own(
      startProcess(join(tree, folders.app, "netfacts.js"), {
        name,
        folder,
        args: [service],
        env: { ...asInImage, POD_NAME: name, ...more },
      }),
    );
}
