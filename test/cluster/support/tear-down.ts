/** After the tests: no namespace of them is left. The cluster keeps running. */

import { openCluster } from "./cluster.ts";
import { removeNamespaces } from "./release.ts";

export default async function tidy(): Promise<void> {
  if (process.env.KUBECONFIG) await removeNamespaces(await openCluster(process.env.KUBECONFIG));
}
