/** Counters of leased units in MongoDB (docs/design/protocols.md#limits-by-leases): each change is one atomic operation on one document, sent once. */

import { type Collection, Long } from "mongodb";
import {
  type GiveBackOutcome,
  type LimitMark,
  type LimitReading,
  type LimitRepository,
  type LimitWindow,
  type RecoverOutcome,
  saidMs,
  type TakeOutcome,
} from "../limit-repository.ts";
import { StoreError } from "../store-error.ts";
import { limitsTimeoutMs, type MongoConnection } from "./mongo-connection.ts";
import { type Documents, documents, windowRule } from "./mongo-documents.ts";
import { isDuplicateKey } from "./mongo-faults.ts";
import type { ClockDocument, WindowDocument } from "./mongo-schema.ts";

/** Retries of a take that fits but met a duplicate key: another process created the counter or returned units meanwhile. */
const retriesMax = 3;

/** Time that the counter of a month stays after it expired, 62 days, because a clock may be a month ahead and be corrected later. */
const expiredMonthMs = 62 * 86_400_000;

/** For reads: they change nothing that a majority must keep. */
const unimportant = { writeConcern: { w: 1 } } as const;

export function mongoLimits(connection: MongoConnection): LimitRepository {
  const windows = () => connection.limitsDb.collection<WindowDocument>("limit_windows");
  const counters = documents<WindowDocument>(connection, "limit_windows", windowRule);
  const markers = () => connection.limitsDb.collection<ClockDocument>("markers");
  /** Runs operations one after the other within one common time limit (`limitsWithin` multiplies by `patience`). */
  const timed = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
    const deadline = performance.now() + limitsTimeoutMs * connection.patience;
    return (work) => connection.limitsWithin((deadline - performance.now()) / connection.patience, work);
  };

  return {
    async take(window, limit, units, mark): Promise<TakeOutcome> {
      if (!Number.isInteger(units) || !Number.isInteger(limit) || units < 1 || units > limit) {
        throw new RangeError(`cannot take ${units} of ${limit} units`);
      }
      const within = timed();
      try {
        for (let retries = 0; ; retries++) {
          const taken = await within(() => takeOnce(windows(), counters, window, limit, units, mark));
          if (taken !== null) return { outcome: "granted", ...taken };
          const reading = await within(() => readCounter(windows(), counters, window, mark?.owner));
          const { leased } = reading;
          const left = Math.max(0, limit - leased);
          // The counter is so busy that the take never fits when it is tried. `left` is then lower than what was free for a moment.
          if (left < units || retries === retriesMax) return { outcome: "does-not-fit", left: Math.min(left, units - 1), ...reading };
        }
      } catch (cause) {
        if (cause instanceof StoreError) return { outcome: "unknown", cause };
        throw cause;
      }
    },

    async giveBack(window, units, mark): Promise<GiveBackOutcome> {
      if (!Number.isInteger(units) || units < 1) throw new RangeError(`cannot give back ${units} units`);
      try {
        const document = await timed()(() =>
          windows().findOneAndUpdate(
            { _id: idOf(window), leased: { $gte: units }, ...notMarked(mark) },
            { $inc: { leased: Long.fromNumber(-units) }, ...marking(mark) },
            { returnDocument: "after" },
          ),
        );
        return document === null ? { outcome: "refused" } : { outcome: "returned", ...toReading(counters.checked(document), mark?.owner) };
      } catch (cause) {
        if (cause instanceof StoreError) return { outcome: "unknown", cause };
        throw cause;
      }
    },

    async recover(window, { owner, number }): Promise<RecoverOutcome> {
      try {
        const document = (await timed()(() =>
          orAgain(() =>
            windows().findOneAndUpdate(
              { _id: idOf(window) },
              {
                $max: { [`fences.${owner}`]: number + 1 },
                $currentDate: { at: true },
                $setOnInsert: { leased: Long.fromNumber(0), expiresAt: removalOf(window) },
              },
              { upsert: true, returnDocument: "after" },
            ),
          ),
        )) as WindowDocument;
        return { outcome: document.marks?.[owner] === number ? "done" : "not-done", ...toReading(counters.checked(document), owner) };
      } catch (cause) {
        if (cause instanceof StoreError) return { outcome: "unknown", cause };
        throw cause;
      }
    },

    async read(window, owner) {
      return await timed()(() => readCounter(windows(), counters, window, owner));
    },

    async time() {
      const { at } = (await timed()(() =>
        orAgain(() =>
          markers().findOneAndUpdate(
            { _id: "clock" },
            { $currentDate: { at: true } },
            { upsert: true, returnDocument: "after", ...unimportant },
          ),
        ),
      )) as ClockDocument;
      return at.getTime();
    },
  };
}

/** @returns null when it does not fit: the filter then matches nothing, and the insert meets the existing counter. */
async function takeOnce(
  windows: Collection<WindowDocument>,
  counters: Documents<WindowDocument>,
  window: LimitWindow,
  limit: number,
  units: number,
  mark: LimitMark | undefined,
): Promise<LimitReading | null> {
  try {
    const document = await windows.findOneAndUpdate(
      { _id: idOf(window), leased: { $lte: limit - units }, ...notMarked(mark) },
      {
        $inc: { leased: Long.fromNumber(units) },
        // A counter that a shorter window with the same start created must last as long as the longest window that it counts.
        $max: { expiresAt: removalOf(window) },
        ...marking(mark),
      },
      { upsert: true, returnDocument: "after" },
    );
    // An upsert that returns the new document never returns null.
    return toReading(counters.checked(document as WindowDocument), mark?.owner);
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}

/** An update, because only updates return the server's time on every server. It also creates the counter for the next take. */
async function readCounter(
  windows: Collection<WindowDocument>,
  counters: Documents<WindowDocument>,
  window: LimitWindow,
  owner?: string,
): Promise<LimitReading> {
  const found = await orAgain(() =>
    windows.findOneAndUpdate(
      { _id: idOf(window) },
      { $currentDate: { at: true }, $setOnInsert: { leased: Long.fromNumber(0), expiresAt: removalOf(window) } },
      { upsert: true, returnDocument: "after", ...unimportant },
    ),
  );
  const document = counters.checked(found as WindowDocument);
  const reading = toReading(document, owner);
  return window.expiresAt <= reading.at ? { leased: 0, at: reading.at } : reading;
}

/** The time from which the server removes the counter. */
function removalOf({ policy, expiresAt }: LimitWindow): Date {
  return new Date(policy === "month" ? expiresAt + expiredMonthMs : expiresAt);
}

/** If two upserts create one document at the same time, one of them fails, and finds the document at its second attempt. */
async function orAgain<T>(upsert: () => Promise<T>): Promise<T> {
  try {
    return await upsert();
  } catch (error) {
    if (isDuplicateKey(error)) return await upsert();
    throw error;
  }
}

/** Filter: no change with this or a later number was done, and `recover` has not given this number up. */
function notMarked(mark: LimitMark | undefined): Record<string, unknown> {
  if (mark === undefined) return {};
  const { owner, number } = mark;
  return { [`marks.${owner}`]: { $not: { $gte: number } }, [`fences.${owner}`]: { $not: { $gt: number } } };
}

/** Sets the time of the change, its mark, and the owner's report about its units. */
function marking(mark: LimitMark | undefined): { $currentDate: Record<string, true>; $set?: Record<string, number> } {
  if (mark === undefined) return { $currentDate: { at: true } };
  const { owner, number, reserved, held } = mark;
  return {
    $currentDate: {
      at: true,
      ...(reserved !== undefined && { [`reservedAt.${owner}`]: true }),
      ...(held !== undefined && { [`heldAt.${owner}`]: true }),
    },
    $set: {
      [`marks.${owner}`]: number,
      ...(reserved !== undefined && { [`reserved.${owner}`]: reserved }),
      ...(held !== undefined && { [`held.${owner}`]: held }),
    },
  };
}

/** @param asker  its own reports are left out. */
function toReading(document: WindowDocument, asker?: string): LimitReading {
  const reading = { leased: Number(document.leased), at: document.at.getTime() };
  if (asker === undefined) return reading;
  const ofOthers = (said: Record<string, number> = {}, saidAt: Record<string, Date> = {}): number =>
    Object.entries(said)
      // A report of the future is from before the server's clock was set back: its age is not known.
      .filter(([owner]) => owner !== asker && Math.abs(reading.at - (saidAt[owner]?.getTime() ?? 0)) <= saidMs)
      .reduce((sum, [, units]) => sum + Number(units), 0);
  return { ...reading, reserved: ofOthers(document.reserved, document.reservedAt), held: ofOthers(document.held, document.heldAt) };
}

function idOf({ bucket, policy, start }: LimitWindow): string {
  return `${bucket}:${policy}:${start}`;
}
