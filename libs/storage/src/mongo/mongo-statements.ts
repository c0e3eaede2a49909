/** What sources say of ASes, in MongoDB. */

import type { AnyBulkWriteOperation } from "mongodb";
import { asnOfStatementKey, type StatedVersion, type StatementRepository, statementKey } from "../statement-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import type { StatementDocument, StatementVersionDocument } from "./mongo-schema.ts";

/** Written by one bulk write, which has the time of one operation. */
const documentsWritten = 200;

export function mongoStatements(connection: MongoConnection): StatementRepository {
  const statements = () => connection.db.collection<StatementDocument>("as_statements");
  const versions = () => connection.db.collection<StatementVersionDocument>("as_statement_versions");

  return {
    async list(section, limit, after = -1) {
      if (limit < 1) return [];
      const documents = await connection.asked(() =>
        statements()
          .find({ _id: { $gt: statementKey(section, after), $lt: statementKey(section, 2 ** 32) } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return documents.map(({ _id, statements: text }) => ({ asn: asnOfStatementKey(_id), text }));
    },

    async write(section, rows) {
      const operations = rows.map(({ asn, text }): AnyBulkWriteOperation<StatementDocument> => {
        const filter = { _id: statementKey(section, asn) };
        return text === null ? { deleteOne: { filter } } : { replaceOne: { filter, replacement: { statements: text }, upsert: true } };
      });
      for (let at = 0; at < operations.length; at += documentsWritten) {
        const some = operations.slice(at, at + documentsWritten);
        await connection.within(operationTimeoutMs, () => statements().bulkWrite(some, { ordered: false }));
      }
    },

    async version(section) {
      const found = await connection.asked(() => versions().findOne({ _id: section }));
      return found === null ? null : { version: found.version, asOf: JSON.parse(found.asOf) as StatedVersion["asOf"] };
    },

    async setVersion(section, { version, asOf }) {
      const document = { version, asOf: JSON.stringify(asOf) };
      await connection.within(operationTimeoutMs, () => versions().replaceOne({ _id: section }, document, { upsert: true }));
    },
  };
}
