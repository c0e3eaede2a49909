/** @netfacts/pod/jetstream: snapshots in JetStream, behind the interface of @netfacts/snapshot. */

export { connectJetStreamStore, type JetStreamSourceOptions, jetStreamSource, openStore } from "./loader-store.ts";
export { type JetStreamStoreOptions, openJetStreamStore, snapshotsBucketDefault } from "./snapshot-store.ts";
