/** Reads the settings of fetching, and makes of them the context of fetches. */

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { loadConfig, readAuthorities } from "@netfacts/runtime";
import { type FetchConfig, fetchConfigSchema } from "./config-schema.ts";
import type { FetchContext } from "./fetch-source.ts";

/** @throws ConfigError */
export function loadFetchConfig(env: NodeJS.ProcessEnv = process.env): FetchConfig {
  return loadConfig(fetchConfigSchema, env);
}

/** @throws ConfigError if the file of certificates cannot be read, or holds none */
export function fetchContext({ FETCH_CONTACT: contact, FETCH_CA_FILE: caFile }: FetchConfig): Pick<FetchContext, "userAgent" | "caFile"> {
  // The path to the package is the same from its sources and from its build.
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  const userAgent = `netfacts/${version}${contact === "" ? "" : ` (+${contact})`}`;
  if (caFile === "") return { userAgent, caFile };
  const path = resolve(caFile);
  readAuthorities("FETCH_CA_FILE", path);
  return { userAgent, caFile: path };
}
