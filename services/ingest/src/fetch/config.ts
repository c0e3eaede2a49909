/** Settings of fetching, the same for the service, the one-process form and the command line. */

import { createRequire } from "node:module";
import { resolve } from "node:path";
import { loadConfig } from "@netfacts/runtime";
import Type, { type Static } from "typebox";
import type { FetchContext } from "./fetch-source.ts";

export const fetchConfigSchema = Type.Object({
  FETCH_CONTACT: Type.String({
    default: "",
    maxLength: 200,
    pattern: "^[ -~]*$",
    description: "URL or mail address that servers of sources are told in User-Agent: whom to ask when something is wrong",
  }),
  FETCH_CA_FILE: Type.String({
    default: "",
    description: "File of certificates (PEM) that are trusted beside the usual ones when sources are fetched",
  }),
});

export type FetchConfig = Static<typeof fetchConfigSchema>;

/** @throws ConfigError */
export function loadFetchConfig(env: NodeJS.ProcessEnv = process.env): FetchConfig {
  return loadConfig(fetchConfigSchema, env);
}

export function fetchContext({ FETCH_CONTACT: contact, FETCH_CA_FILE: caFile }: FetchConfig): Pick<FetchContext, "userAgent" | "caFile"> {
  // Of the package, from its sources as from its build.
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  const userAgent = `netfacts/${version}${contact === "" ? "" : ` (+${contact})`}`;
  return { userAgent, caFile: caFile === "" ? "" : resolve(caFile) };
}
