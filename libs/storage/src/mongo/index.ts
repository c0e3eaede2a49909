/** @netfacts/storage/mongo: the store in MongoDB. A module of its own, as loading its driver takes as long as everything else of a small command. */

export { backUpMongoObservations, backUpMongoStore, type RestoreOptions, type RestoreOutcome, restoreMongoStore } from "./mongo-backup.ts";
export { type MongoStore, type MongoStoreOptions, openMongoStore } from "./mongo-store.ts";
