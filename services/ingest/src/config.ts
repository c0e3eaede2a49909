/** Settings of the service: the only reader of the environment here. */

import { ConfigError, loadConfig } from "@netfacts/runtime";
import { busConfigSchema } from "@netfacts/runtime/bus";
import Type, { type Static } from "typebox";
import { fetchConfigSchema } from "./fetch/config-schema.ts";
import { rtrDelayMsDefault } from "./rtr/index.ts";

/** Every setting with its default; names as in the environment. */
export const ingestConfigSchema = Type.Object({
  ...busConfigSchema.properties,
  SNAPSHOT_BUCKET: Type.String({
    default: "netfacts-snapshots",
    pattern: "^[A-Za-z0-9_-]+$",
    description: "Name of the Object Store and of the key-value bucket of snapshots",
  }),
  SNAPSHOT_REPLICAS: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 5,
    description: "Copies of each snapshot in a cluster of NATS servers, when the buckets are made",
  }),
  MONGODB_URI: Type.String({
    default: "mongodb://127.0.0.1:27017/netfacts",
    minLength: 1,
    description: "Database of runs, audit and the lease: mongodb://user:password@host:27017/database",
  }),
  SOURCES: Type.String({
    default: "",
    description: "The sources.yaml that runs import; without a snapshot the first leader imports it at its start",
  }),
  INGEST_STATE_DIR: Type.String({
    default: ".netfacts/ingest",
    minLength: 1,
    description: "Folder of what was fetched, and of when each source is due; lost, all is fetched anew",
  }),
  INGEST_SCHEDULE: Type.Boolean({
    default: true,
    description: "Whether sources are asked for at their intervals; else only when a run is started",
  }),
  INGEST_RTR_DELAY_MS: Type.Integer({
    default: rtrDelayMsDefault,
    minimum: 0,
    maximum: 3_600_000,
    description: "Time from a change that an RTR cache tells to the run that publishes it; changes within are published together",
  }),
  ...fetchConfigSchema.properties,
  INGEST_HOST: Type.String({
    default: "127.0.0.1",
    minLength: 1,
    description: "Address of the operator API: loopback or the pod's, never public",
  }),
  INGEST_PORT: Type.Integer({ default: 8090, minimum: 0, maximum: 65_535, description: "Port of the operator API; 0: any free one" }),
  INGEST_ADVERTISED_URL: Type.String({
    default: "",
    description: "URL at which other ingest processes reach this one; empty: its address and port",
  }),
  INGEST_LEASE_TTL_MS: Type.Integer({
    default: 15_000,
    minimum: 300,
    maximum: 600_000,
    description: "Time after which another process leads when the leader is not heard of; it is heard of three times as often",
  }),
  PROXY_TOKEN: Type.String({
    minLength: 32,
    pattern: "^[!-~]+$",
    description: "What gateways prove themselves by; at least 32 characters, the same there",
  }),
  ERROR_DOCS_BASE: Type.String({
    default: "/docs/errors/",
    description: "What the `type` of problems begins with; the same as at the gateway",
  }),
});

export type IngestConfig = Static<typeof ingestConfigSchema>;

/** @throws ConfigError that lists every fault. */
export function loadIngestConfig(env: NodeJS.ProcessEnv = process.env): IngestConfig {
  const config = loadConfig(ingestConfigSchema, env);
  const { INGEST_ADVERTISED_URL: url } = config;
  if (url !== "" && !(URL.canParse(url) && /^https?:\/\/[^/]+$/.test(url)))
    throw new ConfigError(["INGEST_ADVERTISED_URL must be an http or https URL of a host and a port, without a path"]);
  return config;
}
