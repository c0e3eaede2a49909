/**
 * Leases in MongoDB. The server stamps and tells every time; a change is written only over the state that was read.
 *
 * A server whose clock was set back would keep a dead owner's lease for as long as it was set back: whoever meets a stamp of the future lets
 * the lease's time begin again.
 */

import type { Collection } from "mongodb";
import type { Lease, LeaseOutcome, LeaseRepository } from "../lease-repository.ts";
import { checkLeaseTime } from "../lease-time.ts";
import { type MongoConnection, operationTimeoutMs } from "./mongo-connection.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { LeaseDocument } from "./mongo-schema.ts";

const after = { returnDocument: "after" } as const;

export function mongoLeases(connection: MongoConnection): LeaseRepository {
  const leases = () => connection.db.collection<LeaseDocument>("leases");
  const within = <T>(work: () => Promise<T>): Promise<T> => connection.within(operationTimeoutMs, work);

  const acquire = async (name: string, owner: string, ttlMs: number): Promise<LeaseOutcome> => {
    for (;;) {
      const found = await within(() => look(leases(), name));
      if (found.owner !== null && found.owner !== owner && untilOf(found) > found.seen.getTime()) {
        const at = new Date(Math.min(found.at.getTime(), found.seen.getTime()));
        if (at < found.at) await within(() => beginAgain(leases(), found));
        return { outcome: "taken", lease: toLease({ ...found, at }, found.owner) };
      }
      const fence = found.fence + (found.owner === owner ? 0 : 1);
      const taken = await within(() =>
        leases().findOneAndUpdate(
          { _id: name, version: found.version },
          { $set: { owner, ttlMs, fence }, $inc: { version: 1 }, $currentDate: { at: true } },
          after,
        ),
      );
      if (taken !== null) return { outcome: "held", lease: toLease(taken, owner) };
      // Somebody was quicker: whoever changed it has it now, or has released it.
    }
  };

  return {
    async acquire(name, owner, ttlMs) {
      checkLeaseTime(ttlMs);
      return await acquire(name, owner, ttlMs);
    },

    async renew(name, owner, ttlMs) {
      checkLeaseTime(ttlMs);
      const update = { $set: { ttlMs }, $inc: { version: 1 }, $currentDate: { at: true } } as const;
      const renewed = await within(() => leases().findOneAndUpdate({ _id: name, owner }, update, after));
      return renewed === null ? { outcome: "lost" } : { outcome: "held", lease: toLease(renewed, owner) };
    },

    async release(name, owner) {
      await within(() => leases().updateOne({ _id: name, owner }, { $set: { owner: null }, $inc: { version: 1 } }));
    },

    async read(name) {
      const found = await within(() => look(leases(), name));
      return found.owner === null || untilOf(found) <= found.seen.getTime() ? null : toLease(found, found.owner);
    },
  };
}

/** The document with the server's time; makes one that nobody owns where there is none. */
async function look(leases: Collection<LeaseDocument>, name: string): Promise<LeaseDocument> {
  const nobody = { owner: null, fence: 0, version: 0, ttlMs: 0, at: new Date(0) };
  const update = { $currentDate: { seen: true }, $setOnInsert: nobody } as const;
  for (;;) {
    try {
      // An upsert that returns what it wrote returns a document.
      return (await leases.findOneAndUpdate({ _id: name }, update, { upsert: true, ...after })) as LeaseDocument;
    } catch (error) {
      // Two made it at the same moment: it is there now.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** Its owner keeps it: what it has renewed meanwhile stays as it is. */
async function beginAgain(leases: Collection<LeaseDocument>, { _id, version }: LeaseDocument): Promise<void> {
  await leases.updateOne({ _id, version }, { $inc: { version: 1 }, $currentDate: { at: true } });
}

function untilOf({ at, ttlMs }: LeaseDocument): number {
  return at.getTime() + ttlMs;
}

function toLease(document: LeaseDocument, owner: string): Lease {
  return { name: document._id, owner, fence: document.fence, until: untilOf(document) };
}
