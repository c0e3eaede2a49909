/** From the settings of fetching to what fetches need. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { ConfigError, loadConfig } from "@netfacts/runtime";
import { authorityFault } from "./authorities.ts";
import { type FetchConfig, fetchConfigSchema } from "./config-schema.ts";
import type { FetchContext } from "./fetch-source.ts";

/** @throws ConfigError */
export function loadFetchConfig(env: NodeJS.ProcessEnv = process.env): FetchConfig {
  return loadConfig(fetchConfigSchema, env);
}

/** @throws ConfigError  when the file of authorities cannot be read, or holds none. */
export function fetchContext({ FETCH_CONTACT: contact, FETCH_CA_FILE: caFile }: FetchConfig): Pick<FetchContext, "userAgent" | "caFile"> {
  // Of the package, from its sources as from its build.
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  const userAgent = `netfacts/${version}${contact === "" ? "" : ` (+${contact})`}`;
  if (caFile === "") return { userAgent, caFile };
  const path = resolve(caFile);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError([`FETCH_CA_FILE cannot be read: ${(cause as Error).message}`]);
  }
  const fault = authorityFault(text);
  if (fault !== null) throw new ConfigError([`FETCH_CA_FILE must hold PEM certificates: ${fault}`]);
  return { userAgent, caFile: path };
}
