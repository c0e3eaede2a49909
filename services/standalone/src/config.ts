/** Settings of the one-process form, beside those of the gateway and the resolver: where it listens and keeps its state. */

import { fetchConfigSchema } from "@netfacts/ingest/app";
import { logLevels } from "@netfacts/runtime";
import { ipv4IndexConfig } from "@netfacts/snapshot";
import Type, { type Static } from "typebox";

export const standaloneConfigSchema = Type.Object({
  NETFACTS_HOME: Type.String({ default: ".netfacts", minLength: 1, description: "Folder of all state: snapshots, keys, limits" }),
  SOURCES: Type.String({
    default: "",
    description: "A sources.yaml to import at start, and at the intervals that it says; empty: the samples, once",
  }),
  ...fetchConfigSchema.properties,
  ...ipv4IndexConfig,
  TELEMETRY_PORT: Type.Integer({
    default: 9464,
    minimum: 0,
    maximum: 65_535,
    description: "Port of metrics and health, on loopback; 0: any free one",
  }),
  LOG_LEVEL: Type.Unsafe<(typeof logLevels)[number]>({
    type: "string",
    enum: [...logLevels],
    default: "info",
    description: "Least severe log line that is written",
  }),
});

export type StandaloneConfig = Static<typeof standaloneConfigSchema>;
