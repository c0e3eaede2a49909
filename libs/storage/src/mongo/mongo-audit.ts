/** The audit in MongoDB. */

import type { AuditEntry, AuditRepository } from "@netfacts/keys";
import type { Filter } from "mongodb";
import { auditEntry } from "../audit-entry.ts";
import type { MongoConnection } from "./mongo-connection.ts";
import type { AuditDocument } from "./mongo-schema.ts";

export function mongoAudit(connection: MongoConnection): AuditRepository {
  const audit = () => connection.db.collection<AuditDocument>("audit");

  return {
    async append(wanted) {
      const entry = auditEntry(wanted);
      const { id, details, ...members } = entry;
      await connection.asked(() => audit().insertOne({ _id: id, ...members, details: JSON.stringify(details) }));
      return entry;
    },

    async list({ limit, from, to, before, actor, action, target }) {
      if (limit < 1) return [];
      const filter: Filter<AuditDocument> = {
        at: { $gte: from ?? 0, $lt: to ?? Number.MAX_SAFE_INTEGER },
        ...(actor !== undefined && { actor }),
        ...(action !== undefined && { action }),
        ...(target !== undefined && { target }),
        ...(before !== undefined && { $or: [{ at: { $lt: before.at } }, { at: before.at, _id: { $lt: before.id } }] }),
      };
      const documents = await connection.asked(() => audit().find(filter).sort({ at: -1, _id: -1 }).limit(limit).toArray());
      return documents.map(toEntry);
    },
  };
}

function toEntry({ _id, at, actor, action, target, address, keyId, details }: AuditDocument): AuditEntry {
  return { id: _id, at, actor, action, target, address, keyId, details: JSON.parse(details) as unknown };
}
