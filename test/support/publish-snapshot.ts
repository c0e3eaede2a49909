/** Copies a snapshot from a folder into JetStream and publishes it, without ingest. */

import { openStore } from "@netfacts/pod/jetstream";
import { openSnapshot, type SnapshotStore } from "@netfacts/snapshot";

/** A data folder, for its current snapshot, or a store and the id of a snapshot in it. */
export type SnapshotOrigin = string | { readonly store: SnapshotStore; readonly id: string };

/** @returns the snapshot's id, when the pointer names it. */
export async function publishSnapshot(natsUrl: string, bucket: string, origin: SnapshotOrigin): Promise<string> {
  const from = typeof origin === "string" ? await openSnapshot(origin) : origin;
  const manifest = "manifest" in from ? from.manifest : await from.store.getManifest(from.id);
  const to = await openStore({ bucket, connection: { servers: natsUrl, name: "publisher" } });
  try {
    // Copy one after the other: a section of a full table has hundreds of megabytes.
    for (const { object, bytes } of [...Object.values(manifest.sections), ...Object.values(manifest.ingest_objects)])
      await to.store.putObject(await from.store.getObject(object, bytes));
    await to.store.publish(manifest);
    await to.store.activate(manifest.id);
    return manifest.id;
  } finally {
    await to.close();
  }
}
