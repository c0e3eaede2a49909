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

/** How often a take is tried again that fits and yet met a duplicate key: another made the counter, or gave units back, meanwhile. */
const retriesMax = 3;

/** A reading changes nothing that a majority would have to keep. */
const unimportant = { writeConcern: { w: 1 } } as const;

export function mongoLimits(connection: MongoConnection): LimitRepository {
  const windows = () => connection.limitsDb.collection<WindowDocument>("limit_windows");
  const counters = documents<WindowDocument>(connection, "limit_windows", windowRule);
  const markers = () => connection.limitsDb.collection<ClockDocument>("markers");
  /** Runs operations one after the other, all within one time (`limitsWithin` multiplies by `patience`). */
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
          // So busy a counter that it never fits when we ask: what is told is less than what was left for a moment.
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
                $setOnInsert: { leased: Long.fromNumber(0), expiresAt: new Date(window.expiresAt) },
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

/** @returns null when it does not fit: the filter then matches nothing, and inserting meets the counter that is there. */
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
        // A counter that a shorter window of the same begin made lasts as long as the longest that is counted in it.
        $max: { expiresAt: new Date(window.expiresAt) },
        ...marking(mark),
      },
      { upsert: true, returnDocument: "after" },
    );
    // An upsert that returns what it wrote returns a document.
    return toReading(counters.checked(document as WindowDocument), mark?.owner);
  } catch (error) {
    if (isDuplicateKey(error)) return null;
    throw error;
  }
}

/** An update, because only updates tell the server's time on every server; it makes the counter that the next take will want. */
async function readCounter(
  windows: Collection<WindowDocument>,
  counters: Documents<WindowDocument>,
  window: LimitWindow,
  owner?: string,
): Promise<LimitReading> {
  const found = await orAgain(() =>
    windows.findOneAndUpdate(
      { _id: idOf(window) },
      { $currentDate: { at: true }, $setOnInsert: { leased: Long.fromNumber(0), expiresAt: new Date(window.expiresAt) } },
      { upsert: true, returnDocument: "after", ...unimportant },
    ),
  );
  const document = counters.checked(found as WindowDocument);
  const { expiresAt } = document;
  const reading = toReading(document, owner);
  return expiresAt.getTime() <= reading.at ? { leased: 0, at: reading.at } : reading;
}

/** Two upserts of one new document at a time: one meets the other's, and finds it at the second try. */
async function orAgain<T>(upsert: () => Promise<T>): Promise<T> {
  try {
    return await upsert();
  } catch (error) {
    if (isDuplicateKey(error)) return await upsert();
    throw error;
  }
}

/** The change is the first of its number, and nobody has given it up. */
function notMarked(mark: LimitMark | undefined): Record<string, unknown> {
  if (mark === undefined) return {};
  const { owner, number } = mark;
  return { [`marks.${owner}`]: { $not: { $gte: number } }, [`fences.${owner}`]: { $not: { $gt: number } } };
}

/** The time of the change, who made it, and what its owner says of its units. */
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

/** @param asker  what it said itself is left out. */
function toReading(document: WindowDocument, asker?: string): LimitReading {
  const reading = { leased: Number(document.leased), at: document.at.getTime() };
  if (asker === undefined) return reading;
  const ofOthers = (said: Record<string, number> = {}, saidAt: Record<string, Date> = {}): number =>
    Object.entries(said)
      .filter(([owner]) => owner !== asker && reading.at - (saidAt[owner]?.getTime() ?? 0) <= saidMs)
      .reduce((sum, [, units]) => sum + Number(units), 0);
  return { ...reading, reserved: ofOthers(document.reserved, document.reservedAt), held: ofOthers(document.held, document.heldAt) };
}

function idOf({ bucket, policy, start }: LimitWindow): string {
  return `${bucket}:${policy}:${start}`;
}
