/** Settings of the process of `ip-routing`, which are those of all services that answer from snapshots. */

import { type PodConfig, podConfigSchema } from "@netfacts/pod/open-pod";
import { loadConfig } from "@netfacts/runtime";

/** @throws ConfigError that lists every fault. */
export function loadPodConfig(env: NodeJS.ProcessEnv = process.env): PodConfig {
  return loadConfig(podConfigSchema, env);
}
