/** The operator's AS profiles in MongoDB. */

import type { Long } from "mongodb";
import type { ProfileRecord, ProfileRepository } from "../profile-repository.ts";
import type { MongoConnection } from "./mongo-connection.ts";
import type { ProfileDocument } from "./mongo-schema.ts";

export function mongoProfiles(connection: MongoConnection): ProfileRepository {
  const profiles = () => connection.db.collection<ProfileDocument>("profiles");

  return {
    async put({ asn, profile, source, updatedAt }) {
      const document = { profile: JSON.stringify(profile), source, updatedAt };
      await connection.asked(() => profiles().replaceOne({ _id: asn }, document, { upsert: true }));
    },

    async get(asn) {
      const document = await connection.asked(() => profiles().findOne({ _id: asn }));
      return document === null ? null : toRecord(document);
    },

    async list(limit, after = -1) {
      if (limit < 1) return [];
      const documents = await connection.asked(() =>
        profiles()
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(toRecord);
    },

    async state() {
      // Times are doubles; the sum of some thousand of them would lose precision. A value that is not a number counts as 0.
      const sums = {
        _id: null,
        count: { $sum: 1 },
        last: { $max: "$updatedAt" },
        sum: { $sum: { $convert: { input: "$updatedAt", to: "long", onError: 0, onNull: 0 } } },
      };
      const [found] = await connection.asked(() =>
        profiles()
          .aggregate<{ count: number; last: number; sum: number | Long }>([{ $group: sums }])
          .toArray(),
      );
      const { count = 0, last = 0, sum = 0 } = found ?? {};
      return { count, version: [count, last, sum].join(" ") };
    },

    async delete(asn) {
      return (await connection.asked(() => profiles().deleteOne({ _id: asn }))).deletedCount === 1;
    },
  };
}

function toRecord({ _id, profile, source, updatedAt }: ProfileDocument): ProfileRecord {
  return { asn: _id, profile: JSON.parse(profile) as ProfileRecord["profile"], source, updatedAt };
}
