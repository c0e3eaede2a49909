/** Where ingest listens for gateways, from its settings. */

import type { ListenPlace } from "@netfacts/runtime";
import type { IngestConfig } from "../config.ts";

export function listenPlace({ INGEST_HOST, INGEST_PORT }: Pick<IngestConfig, "INGEST_HOST" | "INGEST_PORT">): ListenPlace {
  return { host: INGEST_HOST, port: INGEST_PORT, hostSetting: "INGEST_HOST", portSetting: "INGEST_PORT" };
}
