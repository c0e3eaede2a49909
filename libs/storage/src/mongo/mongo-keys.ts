/** Keys in MongoDB. */

import type { KeyRecord, KeyRepository } from "@netfacts/keys";
import type { Filter } from "mongodb";
import { keyReadTimeoutMs, type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { documents, keyRule } from "./mongo-documents.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { KeyDocument } from "./mongo-schema.ts";

/** @param changed  called after each of our own writes. */
export function mongoKeys(connection: MongoConnection, changed: () => void): KeyRepository {
  const keys = () => connection.db.collection<KeyDocument>("keys");
  const { checked, valid } = documents<KeyDocument>(connection, "keys", keyRule);
  const find = async (id: string, timeoutMs: number): Promise<KeyRecord | null> => {
    const document = await connection.asked(() => keys().findOne({ _id: id }), timeoutMs);
    return document === null ? null : toRecord(checked(document));
  };

  return {
    async insert({ id, ...members }) {
      try {
        await connection.asked(() => keys().insertOne({ _id: id, ...members }));
      } catch (error) {
        if (isDuplicateKey(error)) return "exists";
        throw error;
      }
      changed();
      return "inserted";
    },

    find: (id) => find(id, keyReadTimeoutMs),

    async list() {
      const found = await connection.asked(() => keys().find().sort({ createdAt: 1, _id: 1 }).toArray());
      return valid(found).map(toRecord);
    },

    async page({ limit, after, plan, scope, state }) {
      if (limit < 1) return [];
      const filter: Filter<KeyDocument> = {
        ...(plan !== undefined && { plan }),
        // A value matches an array that contains it.
        ...(scope !== undefined && { scopes: scope }),
        ...(state !== undefined && { state }),
        ...(after !== undefined && {
          $or: [{ createdAt: { $gt: after.createdAt } }, { createdAt: after.createdAt, _id: { $gt: after.id } }],
        }),
      };
      // A page with fewer keys than requested counts as the last one, so more are read in place of invalid keys.
      for (let leftOut = 0; ; ) {
        const wanted = limit + leftOut;
        const found = await connection.asked(() => keys().find(filter).sort({ createdAt: 1, _id: 1 }).limit(wanted).toArray());
        const whole = valid(found);
        if (whole.length >= limit || found.length < wanted) return whole.slice(0, limit).map(toRecord);
        leftOut = found.length - whole.length;
      }
    },

    async rehash(id, from, { hash, hashAlgorithm, pepperId }) {
      const update = { $set: { hash, hashAlgorithm, pepperId } };
      return (await connection.within(operationTimeoutMs, () => keys().updateOne({ _id: id, hash: from }, update))).matchedCount === 1;
    },

    async update(id, version, change) {
      const update = { ...(Object.keys(change).length > 0 && { $set: change }), $inc: { version: 1 } };
      const document = await connection.asked(() => keys().findOneAndUpdate({ _id: id, version }, update, { returnDocument: "after" }));
      if (document !== null) {
        changed();
        return { outcome: "updated", key: toRecord(checked(document)) };
      }
      const key = await find(id, operationTimeoutMs);
      return key === null ? { outcome: "absent" } : { outcome: "conflict", key };
    },
  };
}

function toRecord({ _id, ...members }: KeyDocument): KeyRecord {
  const { concurrency, rotatedAt, steppingDown } = members as Partial<typeof members>;
  // Documents of earlier versions lack these members.
  return { id: _id, ...members, concurrency: concurrency ?? null, rotatedAt: rotatedAt ?? null, steppingDown: steppingDown ?? false };
}
