/** Settings of the one-process form that the gateway and the resolver do not have: state folder, sources, metrics and log. */

import { fetchConfigSchema, observationsConfigSchema } from "@netfacts/ingest/app";
import { logLevels } from "@netfacts/runtime";
import { ipv4IndexConfig, pastConfigSchema, retentionConfigSchema } from "@netfacts/snapshot";
import Type, { type Static } from "typebox";

export const standaloneConfigSchema = Type.Object({
  NETFACTS_HOME: Type.String({ default: ".netfacts", minLength: 1, description: "Folder for all state: snapshots, keys, limits" }),
  SOURCES: Type.String({
    default: "",
    description:
      "Path of a sources.yaml to import at start and at the intervals that it sets; if empty, the sample dataset is imported once",
  }),
  ...fetchConfigSchema.properties,
  ...observationsConfigSchema.properties,
  ...ipv4IndexConfig,
  ...retentionConfigSchema.properties,
  ...pastConfigSchema.properties,
  TELEMETRY_HOST: Type.String({
    default: "127.0.0.1",
    minLength: 1,
    description: "Address for metrics and health: loopback or the pod's own, never public",
  }),
  TELEMETRY_PORT: Type.Integer({
    default: 9464,
    minimum: 0,
    maximum: 65_535,
    description: "Port for metrics and health; 0 selects any free port",
  }),
  LOG_LEVEL: Type.Unsafe<(typeof logLevels)[number]>({
    type: "string",
    enum: [...logLevels],
    default: "info",
    description: "Minimum level of log lines",
  }),
  LOG_BYTES_MAX: Type.Integer({
    default: 16_777_216,
    minimum: 65_536,
    maximum: 17_179_869_184,
    description: "Size in bytes at which `netfacts.log` is rotated to `netfacts.log.1`; one older file is kept",
  }),
  LOG_AGE_HOURS_MAX: Type.Integer({
    default: 168,
    minimum: 1,
    maximum: 87_600,
    description: "Age in hours at which `netfacts.log` is rotated; a `netfacts.log.1` of this age is deleted",
  }),
});

export type StandaloneConfig = Static<typeof standaloneConfigSchema>;
