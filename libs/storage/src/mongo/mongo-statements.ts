/** Statements of sources about ASes in MongoDB: one document for each 64 consecutive AS numbers. */

import type { AnyBulkWriteOperation } from "mongodb";
import type { StatedSection, StatedVersion, StatementRepository, StatementRow } from "../statement-repository.ts";
import { statedSections } from "../statement-repository.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import type { StatementDocument, StatementVersionDocument } from "./mongo-schema.ts";

/** Bits of the AS numbers of one document. With a document for each AS, an import would be 200,000 changes of a database that callers wait for. */
const asnsBits = 6;
const blocksOfSection = 2 ** (32 - asnsBits);
/** Blocks of one write: some 60 kB. */
const blocksWritten = 8;

type Row = Parameters<StatementRepository["write"]>[1][number];

export function mongoStatements(connection: MongoConnection): StatementRepository {
  const blocks = () => connection.db.collection<StatementDocument>("as_statements");
  const versions = () => connection.db.collection<StatementVersionDocument>("as_statement_versions");

  /** Merges the rows into their blocks. */
  async function writeBlocks(changes: ReadonlyMap<number, readonly Row[]>): Promise<void> {
    const ids = [...changes.keys()];
    const found = await connection.asked(() =>
      blocks()
        .find({ _id: { $in: ids } })
        .toArray(),
    );
    const before = new Map(found.map(({ _id, rows }) => [_id, rows]));
    const operations = ids.map((_id): AnyBulkWriteOperation<StatementDocument> => {
      const rows = changed(before.get(_id) ?? [], changes.get(_id) ?? []);
      const filter = { _id };
      return rows.length === 0 ? { deleteOne: { filter } } : { replaceOne: { filter, replacement: { rows }, upsert: true } };
    });
    await connection.within(operationTimeoutMs, () => blocks().bulkWrite(operations, { ordered: false }));
  }

  return {
    async list(section, limit, after = -1) {
      if (limit < 1 || after >= 2 ** 32 - 1) return [];
      const asked = Math.ceil(limit / 2 ** asnsBits) + 1;
      const end = blockOf(section, 0) + blocksOfSection;
      const listed: StatementRow[] = [];
      for (let from = blockOf(section, after + 1); listed.length < limit; ) {
        const range = { _id: { $gte: from, $lt: end } };
        const found = await connection.asked(() => blocks().find(range).sort({ _id: 1 }).limit(asked).toArray());
        for (const { rows } of found) listed.push(...rows.filter(({ asn }) => asn > after));
        if (found.length < asked) break;
        from = (found.at(-1)?._id ?? end) + 1;
      }
      return listed.slice(0, limit);
    },

    async write(section, rows) {
      const ofBlocks = Map.groupBy(rows, ({ asn }) => blockOf(section, asn));
      const all = [...ofBlocks];
      for (let at = 0; at < all.length; at += blocksWritten) await writeBlocks(new Map(all.slice(at, at + blocksWritten)));
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

/** The blocks of a section are one range of ids, in the order of AS numbers. */
function blockOf(section: StatedSection, asn: number): number {
  return statedSections.indexOf(section) * blocksOfSection + (asn >>> asnsBits);
}

function changed(before: readonly StatementRow[], changes: readonly Row[]): StatementRow[] {
  const texts = new Map(before.map(({ asn, text }): [number, string | null] => [asn, text]));
  for (const { asn, text } of changes) texts.set(asn, text);
  const rows = [...texts].flatMap(([asn, text]) => (text === null ? [] : [{ asn, text }]));
  return rows.sort((a, b) => a.asn - b.asn);
}
