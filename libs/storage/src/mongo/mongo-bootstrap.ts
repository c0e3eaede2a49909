/** The bootstrap marker in MongoDB. */

import type { BootstrapRepository } from "@netfacts/keys";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { BootstrapDocument } from "./mongo-schema.ts";

const marker = { _id: "bootstrap" } as const;

export function mongoBootstrap(connection: MongoConnection): BootstrapRepository {
  const markers = () => connection.db.collection<BootstrapDocument>("markers");
  const read = async (): Promise<string | null> =>
    (await connection.within(operationTimeoutMs, () => markers().findOne(marker)))?.keyId ?? null;

  return {
    async claim(keyId) {
      try {
        await connection.within(operationTimeoutMs, () => markers().insertOne({ ...marker, keyId }));
        return { keyId, created: true };
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return { keyId: (await read()) ?? keyId, created: false };
      }
    },

    read,
  };
}
