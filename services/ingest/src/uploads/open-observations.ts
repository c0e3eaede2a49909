/** Opens the store of observations from a description that can be sent to threads. */

import { type ObservationStore, openSqliteObservations } from "@netfacts/storage";

export type ObservationSource = { readonly kind: "sqlite"; readonly path: string } | { readonly kind: "mongo"; readonly uri: string };

/** @throws StoreError */
export async function openObservations(source: ObservationSource): Promise<ObservationStore> {
  if (source.kind === "sqlite") return openSqliteObservations(source.path);
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  const store = await openMongoStore(source.uri, { appName: "ingest-run" });
  return { ...store.observations, close: () => store.close() };
}
