/**
 * Leases in MongoDB. All times are the server's; a change is written only over the state that was read.
 *
 * If the server's clock is set back, a dead owner's lease would last longer by that time. So a reader that finds a stamp in the future starts the
 * time of the lease again.
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
      // Another caller was quicker: it has changed or released the lease. Read again.
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

/** The document with the server's time; creates one without an owner if there is none. */
async function look(leases: Collection<LeaseDocument>, name: string): Promise<LeaseDocument> {
  const nobody = { owner: null, fence: 0, version: 0, ttlMs: 0, at: new Date(0) };
  const update = { $currentDate: { seen: true }, $setOnInsert: nobody } as const;
  for (;;) {
    try {
      // An upsert that returns the new document never returns null.
      return (await leases.findOneAndUpdate({ _id: name }, update, { upsert: true, ...after })) as LeaseDocument;
    } catch (error) {
      // Two callers created it at the same time: now it exists.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** Starts the lease's time again for the same owner; does nothing if the lease was changed meanwhile. */
async function beginAgain(leases: Collection<LeaseDocument>, { _id, version }: LeaseDocument): Promise<void> {
  await leases.updateOne({ _id, version }, { $inc: { version: 1 }, $currentDate: { at: true } });
}

function untilOf({ at, ttlMs }: LeaseDocument): number {
  return at.getTime() + ttlMs;
}

function toLease(document: LeaseDocument, owner: string): Lease {
  return { name: document._id, owner, fence: document.fence, until: untilOf(document) };
}
