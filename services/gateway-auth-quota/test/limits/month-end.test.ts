/** The end of a month under load, by the clocks of real stores: three gateways, each with a handle of its own. */

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type LimitRepository, openSqliteStore, type Store } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { type Mongodb, startMongodb } from "../../../../test/support/mongodb.ts";
import { createLimiter } from "../../src/limits/index.ts";
import { UsageMeter } from "../../src/usage/usage-meter.ts";
import { limitedKey } from "../support/limited-keys.ts";

const monthEnd = Date.UTC(2027, 0, 1);
const gateways = 3;
/** Far less than is asked for before the month ends. */
const limit = 300;

const database = `month_end_${randomUUID().slice(0, 8)}`;
let mongodb: Mongodb;
let folder: string;
beforeAll(async () => {
  mongodb = await startMongodb();
  folder = mkdtempSync(join(tmpdir(), "netfacts-month-end-"));
});
afterAll(async () => {
  await mongodb.stop();
  rmSync(folder, { recursive: true });
});

/** The same counters in a store whose clock is ahead by so much. */
function ahead(limits: LimitRepository, ms: number): LimitRepository {
  const moved = <T extends object>(reply: T): T => ("at" in reply ? { ...reply, at: Number(reply.at) + ms } : reply);
  return {
    take: async (...args) => moved(await limits.take(...args)),
    giveBack: async (...args) => moved(await limits.giveBack(...args)),
    recover: async (...args) => moved(await limits.recover(...args)),
    read: async (...args) => moved(await limits.read(...args)),
    time: async () => (await limits.time()) + ms,
  };
}

const stores: Record<string, () => Promise<Store>> = {
  SQLite: () => openSqliteStore(join(folder, "store.sqlite")),
  MongoDB: () => openMongoStore(mongodb.database(database), { patience: 30 }),
};

test.each(Object.entries(stores))(
  "%s: both months are admitted and counted exactly, whatever is under way as one ends",
  async (name, open) => {
    const handles = await Promise.all(Array.from({ length: gateways }, open));
    const offset = monthEnd - 1_500 - (await (handles[0] as Store).limits.time());
    const key = limitedKey({ rate: 1_000_000, month: limit }, name);
    const tell = (fields: object, message: string): void => console.log(message, fields);
    const meters = handles.map(({ usage }) => new UsageMeter({ usage, log: { info: tell, warn: tell }, flushMs: 100 }));
    const gates = handles.map(({ limits }, i) =>
      createLimiter({
        store: { limits: ahead(limits, offset) },
        settings: { askAgainMs: 20, waitMs: 60_000 },
        onSettled: (admission, counted, uncounted) => meters[i]?.count(admission, counted, uncounted),
      }),
    );
    const admitted = new Map<number, number>();

    /** Asks without pause: every third request ends without an answer, each a few turns after its admission. */
    const load = async (gate: (typeof gates)[number], isOver: () => boolean): Promise<void> => {
      for (let i = 0; !isOver(); i++) {
        const decision = await gate.admit(key, { month: 1 });
        await immediate();
        if (!decision.admitted) continue;
        const answered = i % 3 > 0;
        gate.settle(decision, answered);
        const { monthWindowStart } = decision.charge;
        if (answered) admitted.set(monthWindowStart, (admitted.get(monthWindowStart) ?? 0) + 1);
      }
    };
    const months = [Date.UTC(2026, 11, 1) / 1_000, monthEnd / 1_000] as const;
    const deadline = performance.now() + 60_000;
    const isDone = (): boolean => (admitted.get(months[1]) ?? 0) >= limit || performance.now() > deadline;
    await Promise.all(gates.map((gate) => load(gate, isDone)));
    await Promise.all(gates.map((gate) => gate.stop()));
    await Promise.all(meters.map((meter) => meter.stop()));

    // A machine that stalls for a second and a half sees the new month only.
    expect([...months]).toEqual(expect.arrayContaining([...admitted.keys()]));
    const leased = async (start: number): Promise<number> =>
      (await (handles[0] as Store).limits.read({ bucket: name, policy: "month", start, expiresAt: Date.UTC(2100, 0, 1) })).leased;
    // The old month is never too much; what gateways held of it when it ended is lost with it.
    expect(admitted.get(months[0]) ?? 0).toBeLessThanOrEqual(await leased(months[0]));
    expect(await leased(months[0])).toBeLessThanOrEqual(limit);
    expect(admitted.get(months[1])).toBe(limit);
    expect(await leased(months[1])).toBe(limit);
    // Usage agrees with what was charged, month by month.
    const { usage } = handles[0] as Store;
    expect((await usage.monthTotal(name, "2026-12")).counted).toBe(admitted.get(months[0]) ?? 0);
    expect((await usage.monthTotal(name, "2027-01")).counted).toBe(limit);
    await Promise.all(handles.map((store) => store.close()));
  },
);
