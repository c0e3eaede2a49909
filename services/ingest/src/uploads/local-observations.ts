/** Stored observations without a service, for the command line next to a store. */

import type { Prefix } from "@netfacts/address";
import type { Store } from "@netfacts/storage";
import { defaultObservationHalfLifeSeconds } from "../sources/defaults.ts";
import { observationsConfigSchema, uploadBounds } from "./config-schema.ts";
import { type ObservationSource, openObservations } from "./open-observations.ts";
import { exportedLines } from "./stored-rows.ts";
import { Uploads } from "./uploads.ts";

export interface LocalObservations {
  readonly uploads: Uploads;
  /** Lines as the operator API exports them. */
  exported(prefix: Prefix): AsyncGenerator<string, void>;
  close(): Promise<void>;
}

/** @throws StoreError */
export async function openLocalObservations(
  source: ObservationSource,
  audit: Store["audit"],
  clock: { now(): number },
): Promise<LocalObservations> {
  const repository = await openObservations(source);
  // A user with access to the store may send as long and as much as the disk takes; the service's retention limits the rows.
  const defaults = Object.fromEntries(
    Object.entries(observationsConfigSchema.properties).map(([name, schema]) => [name, (schema as { default?: unknown }).default]),
  ) as Parameters<typeof uploadBounds>[0];
  const bounds = { ...uploadBounds(defaults), bytesMax: Number.MAX_SAFE_INTEGER, secondsMax: 30 * 86_400 };
  return {
    uploads: new Uploads({ ...bounds, repository, audit, clock }),
    exported: (prefix) => exportedLines(repository, prefix, defaultObservationHalfLifeSeconds),
    close: () => repository.close(),
  };
}
