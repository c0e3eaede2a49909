/** Settings of the service. No other file of it reads the environment. */

import { isIPv6 } from "node:net";
import { errorDocsBaseFault } from "@netfacts/contracts";
import { ConfigError, configFaults, loadConfig, urlHost } from "@netfacts/runtime";
import { busConfigSchema } from "@netfacts/runtime/bus";
import { retentionConfigSchema } from "@netfacts/snapshot";
import { mongoUriFault } from "@netfacts/storage";
import Type, { type Static } from "typebox";
import { fetchContext } from "./fetch/config.ts";
import { fetchConfigSchema } from "./fetch/config-schema.ts";
import { rtrDelayMsDefault } from "./rtr/index.ts";
import { observationsConfigSchema } from "./uploads/config-schema.ts";

/** Every setting with its default, by its name in the environment. */
export const ingestConfigSchema = Type.Object({
  ...busConfigSchema.properties,
  SNAPSHOT_BUCKET: Type.String({
    default: "netfacts-snapshots",
    pattern: "^[A-Za-z0-9_-]+$",
    allowed: "letters, digits, - and _",
    description: "Name of the Object Store and key-value bucket that hold snapshots",
  }),
  SNAPSHOT_REPLICAS: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 5,
    description: "Number of replicas of each snapshot in a NATS cluster, applied when the buckets are created",
  }),
  ...retentionConfigSchema.properties,
  MONGODB_URI: Type.String({
    default: "mongodb://127.0.0.1:27017/netfacts",
    minLength: 1,
    description: "MongoDB database of runs, audit log and lease: mongodb://user:password@host:27017/database",
  }),
  SOURCES: Type.String({
    default: "",
    description: "Path of the sources.yaml to import. If there is no snapshot, the first leader imports it at start",
  }),
  INGEST_STATE_DIR: Type.String({
    default: ".netfacts/ingest",
    minLength: 1,
    description: "Directory for fetched files and the schedule of the sources. If it is lost, all sources are fetched again",
  }),
  INGEST_SCHEDULE: Type.Boolean({
    default: true,
    description: "Whether sources are checked at their intervals; if false, only runs that are started explicitly import",
  }),
  INGEST_RTR_DELAY_MS: Type.Integer({
    default: rtrDelayMsDefault,
    minimum: 0,
    maximum: 3_600_000,
    description:
      "Delay between a change at an RTR cache and the run that publishes it, in ms; changes within the delay are published together",
  }),
  ...observationsConfigSchema.properties,
  ...fetchConfigSchema.properties,
  INGEST_HOST: Type.String({
    default: "127.0.0.1",
    minLength: 1,
    description: "Address of the operator API: loopback or the pod's own, never public",
  }),
  INGEST_PORT: Type.Integer({
    default: 8090,
    minimum: 0,
    maximum: 65_535,
    description: "Port of the operator API; 0 selects any free port",
  }),
  INGEST_ADVERTISED_URL: Type.String({
    default: "",
    description: "URL at which other ingest processes reach this one; if empty, `INGEST_ADVERTISED_HOST` or its own address, and its port",
  }),
  INGEST_ADVERTISED_HOST: Type.String({
    default: "",
    description: "Host name or address at which other ingest processes reach this one, on its own port; an IPv6 address needs no brackets",
  }),
  INGEST_LEASE_TTL_MS: Type.Integer({
    default: 15_000,
    minimum: 300,
    maximum: 600_000,
    description: "Time without a renewal after which another process becomes leader, in ms; the leader renews three times as often",
  }),
  PROXY_TOKEN: Type.String({
    minLength: 32,
    pattern: "^[!-~]+$",
    allowed: "printable ASCII characters, and no spaces",
    description: "Shared secret that authenticates gateways; at least 32 characters, the same as at the gateway",
  }),
  ERROR_DOCS_BASE: Type.String({
    default: "/docs/errors/",
    description: "URI prefix of the `type` of problems; the same as at the gateway",
  }),
});

export type IngestConfig = Static<typeof ingestConfigSchema>;

/** @throws ConfigError that lists every fault. */
export function loadIngestConfig(env: NodeJS.ProcessEnv = process.env): IngestConfig {
  const config = loadConfig(ingestConfigSchema, env);
  const { INGEST_ADVERTISED_URL: url, INGEST_ADVERTISED_HOST: host } = config;
  const faults: string[] = [];
  if (url !== "" && !(URL.canParse(url) && /^https?:\/\/[^/?#@]+$/.test(url)))
    faults.push("INGEST_ADVERTISED_URL must be an http or https URL with a host and a port, without a user, a path or a query");
  if (host !== "" && !isHost(host)) faults.push("INGEST_ADVERTISED_HOST must be a host name or an address, without a port");
  // Here, because the process waits for servers before it fetches.
  faults.push(...configFaults(() => fetchContext(config)));
  const docsFault = errorDocsBaseFault(config.ERROR_DOCS_BASE);
  if (docsFault !== null) faults.push(`ERROR_DOCS_BASE ${docsFault}`);
  const uriFault = mongoUriFault(config.MONGODB_URI);
  if (uriFault !== null) faults.push(`MONGODB_URI ${uriFault}`);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

function isHost(text: string): boolean {
  return /^[\w.:%-]+$/.test(text) && URL.canParse(`http://${urlHost(text)}:1`) && (isIPv6(text) || !text.includes(":"));
}
