/** Settings of the process of `asn-prefix`: only those of every service that answers from snapshots. */

import { loadConfig } from "@netfacts/runtime";
import { type PodConfig, podConfigSchema } from "@netfacts/runtime/pod";

/** @throws ConfigError that lists every fault. */
export function loadPodConfig(env: NodeJS.ProcessEnv = process.env): PodConfig {
  return loadConfig(podConfigSchema, env);
}
