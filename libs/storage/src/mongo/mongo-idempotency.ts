/** Idempotency-Keys in MongoDB. */

import type { IdempotencyRepository } from "@netfacts/keys";
import type { MongoConnection } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { IdempotencyDocument } from "./mongo-schema.ts";

export function mongoIdempotency(connection: MongoConnection): IdempotencyRepository {
  const claims = () => connection.db.collection<IdempotencyDocument>("idempotency");

  return {
    async claim({ id, bodyHash, target, expiresAt }, now) {
      const members = { bodyHash, target, expiresAt: new Date(expiresAt) };
      for (;;) {
        try {
          // Takes over an expired claim and inserts a missing one. A valid one makes the upsert fail with a duplicate key.
          await connection.asked(() =>
            claims().updateOne({ _id: id, expiresAt: { $lte: new Date(now) } }, { $set: members }, { upsert: true }),
          );
          return { outcome: "claimed" };
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
        }
        const known = await connection.asked(() => claims().findOne({ _id: id }));
        if (known !== null) return { outcome: "known", bodyHash: known.bodyHash, target: known.target };
        // It expired and was removed just now: try again.
      }
    },

    async settle({ id, bodyHash, target }) {
      await connection.asked(() => claims().updateOne({ _id: id, bodyHash }, { $set: { target } }));
    },

    async release({ id, bodyHash }) {
      await connection.asked(() => claims().deleteOne({ _id: id, bodyHash }));
    },
  };
}
