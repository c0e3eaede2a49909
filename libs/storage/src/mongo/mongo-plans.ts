/** Plans in MongoDB. */

import type { PlanRecord, PlanRepository } from "@netfacts/keys";
import { keyReadTimeoutMs, type MongoConnection } from "./mongo-connection.ts";
import { documents, planRule } from "./mongo-documents.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { PlanDocument } from "./mongo-schema.ts";

/** @param changed  called after each of our own writes. */
export function mongoPlans(connection: MongoConnection, changed: () => void): PlanRepository {
  const plans = () => connection.db.collection<PlanDocument>("plans");
  const { checked, valid } = documents<PlanDocument>(connection, "plans", planRule);

  return {
    async put({ name, ...members }) {
      const update = { $set: members, $inc: { version: 1 } };
      for (;;) {
        try {
          const document = await connection.asked(() =>
            plans().findOneAndUpdate({ _id: name }, update, { upsert: true, returnDocument: "after" }),
          );
          changed();
          // An upsert that returns the new document never returns null.
          return toRecord(checked(document as PlanDocument));
        } catch (error) {
          // Two callers created it at the same time: now it exists.
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },

    async find(name) {
      const document = await connection.asked(() => plans().findOne({ _id: name }), keyReadTimeoutMs);
      return document === null ? null : toRecord(checked(document));
    },

    async list() {
      return valid(await connection.asked(() => plans().find().sort({ _id: 1 }).toArray())).map(toRecord);
    },

    async delete(name) {
      const deleted = (await connection.asked(() => plans().deleteOne({ _id: name }))).deletedCount === 1;
      if (deleted) changed();
      return deleted;
    },
  };
}

/** Documents of earlier versions lack `concurrency`. */
function toRecord({ _id, rate, month, concurrency = null, updatedAt, version }: PlanDocument): PlanRecord {
  return { name: _id, rate, month, concurrency, updatedAt, version };
}
