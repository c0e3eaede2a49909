/** Many limiters on one real SQLite store: admitted, refunded, idle, stopped and killed, with everything counted. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { type LimitRepository, openSqliteStore, type Store } from "@netfacts/storage";
import fc from "../../../../test/support/properties.ts";
import { createLimiter, type Decision, type Limiter } from "../../src/limits/index.ts";

export type Command =
  | { readonly kind: "requests"; readonly gateway: number; readonly count: number; readonly units: number; readonly answered: boolean }
  | { readonly kind: "idle" | "restart" | "kill"; readonly gateway: number };

export interface Scenario {
  /** Which limit is scarce: requests cost `units` of it. What was not answered gives back all units of the month, of the rate all but one. */
  readonly policy: "rate" | "month";
  readonly limit: number;
  readonly gateways: number;
  readonly commands: readonly Command[];
}

export interface Outcome {
  /** Units admitted and not refunded, over all gateways. */
  readonly admitted: number;
  /** Units that killed gateways held; by the store's own books. */
  readonly lost: number;
  /** The most that the killed gateways may have held by the rule of block sizes. */
  readonly lostMax: number;
  /** What the store says is leased after every living gateway has stopped. */
  readonly leased: number;
}

/** What a process of its own has: a handle, and a way to die without a word. */
interface Gateway {
  readonly limiter: Limiter;
  readonly store: Store;
  readonly die: () => void;
  admitted: number;
}

const start = Date.UTC(2026, 10, 21, 9);
const windowStarts = { rate: Date.UTC(2026, 10, 21) / 1_000, month: Date.UTC(2026, 10, 1) / 1_000 };
const plenty = 1_000_000;

export function scenarios(): fc.Arbitrary<Scenario> {
  const gateway = fc.nat(3);
  const requests = fc.record({
    kind: fc.constant("requests" as const),
    gateway,
    count: fc.integer({ min: 1, max: 40 }),
    units: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 30 }) }),
    answered: fc.boolean(),
  });
  const event = fc.record({ kind: fc.constantFrom("idle" as const, "restart" as const, "kill" as const), gateway });
  return fc.record({
    policy: fc.constantFrom("rate" as const, "month" as const),
    limit: fc.integer({ min: 1, max: 400 }),
    gateways: fc.integer({ min: 1, max: 4 }),
    commands: fc.array(fc.oneof({ weight: 5, arbitrary: requests }, { weight: 2, arbitrary: event }), { maxLength: 25 }),
  });
}

/** @param wrap  puts something between limiter and store, to plant a fault. */
export async function simulate(
  scenario: Scenario,
  wrap: (limits: LimitRepository) => LimitRepository = (limits) => limits,
): Promise<Outcome> {
  const { policy, limit } = scenario;
  const folder = mkdtempSync(join(tmpdir(), "netfacts-limits-"));
  const open = async (): Promise<Gateway> => {
    const store = await openSqliteStore(join(folder, "store.sqlite"), { now: () => start });
    const line = mortal(wrap(store.limits));
    const limiter = createLimiter({
      store: { limits: line.limits },
      // No request is refused because a busy machine takes long.
      settings: { askAgainMs: 0, idleReturnMs: 1, blockSeconds: 86_400, waitMs: 60_000 },
    });
    return { limiter, store, die: line.die, admitted: 0 };
  };
  const key = {
    id: "b",
    bucket: "b",
    limits: {
      rate: { limit: policy === "rate" ? limit : plenty, windowSeconds: 86_400 },
      month: { limit: policy === "month" ? limit : plenty },
      concurrency: null,
    },
  };
  const gateways = await Promise.all(Array.from({ length: scenario.gateways }, open));
  let admitted = 0;
  let lostMax = 0;
  const leasedNow = async (): Promise<number> =>
    (await (gateways[0] as Gateway).store.limits.read({ bucket: "b", policy, start: windowStarts[policy], expiresAt: 0 })).leased;

  const request = async (gateway: Gateway, count: number, units: number, answered: boolean): Promise<void> => {
    const decide = (): Decision | Promise<Decision> => gateway.limiter.admit(key, { month: 1, [policy]: units });
    for (const decision of await Promise.all(Array.from({ length: count }, decide))) {
      if (!decision.admitted) continue;
      gateway.limiter.settle(decision, answered);
      if (answered) gateway.admitted += units;
      else if (policy === "rate") {
        gateway.limiter.returnRate(decision, units - 1);
        gateway.admitted += 1;
      }
    }
    // A refund beyond the hold goes back at once: it is under way, and arrives before anything else happens.
    await immediate();
  };
  const end = async (index: number, how: (gateway: Gateway) => Promise<void> | void): Promise<void> => {
    const gateway = gateways[index] as Gateway;
    await how(gateway);
    admitted += gateway.admitted;
    gateways[index] = await open();
    await gateway.store.close();
  };

  try {
    for (const command of scenario.commands) {
      const index = command.gateway % gateways.length;
      const gateway = gateways[index] as Gateway;
      if (command.kind === "requests") await request(gateway, command.count, command.units, command.answered);
      else if (command.kind === "idle") await new Promise((resolve) => setTimeout(resolve, 25));
      else if (command.kind === "restart") await end(index, ({ limiter }) => limiter.stop());
      else {
        lostMax += Math.max(1, Math.floor(limit / 16));
        await end(index, async ({ limiter, die }) => {
          die();
          await limiter.stop();
        });
      }
    }
    // Everybody else stops; one living gateway then takes all that is left.
    for (let index = 1; index < gateways.length; index++) await end(index, ({ limiter }) => limiter.stop());
    const last = gateways[0] as Gateway;
    await request(last, limit + 1, 1, true);
    await last.limiter.stop();
    admitted += last.admitted;
    const leased = await leasedNow();
    return { admitted, lost: leased - admitted, lostMax, leased };
  } finally {
    for (const { limiter, store } of gateways) {
      await limiter.stop();
      await store.close();
    }
    rmSync(folder, { recursive: true });
  }
}

/** After `die` nothing reaches the store any more, as after kill -9. */
function mortal(limits: LimitRepository): { limits: LimitRepository; die: () => void } {
  let dead = false;
  return {
    die: () => {
      dead = true;
    },
    limits: {
      take: (window, limit, units) => limits.take(window, limit, units),
      giveBack: async (window, units) => (dead ? { outcome: "refused" } : limits.giveBack(window, units)),
      recover: (window, mark) => limits.recover(window, mark),
      read: (window) => limits.read(window),
      time: () => limits.time(),
    },
  };
}

/** The promise: never one unit too many; never fewer than the limit less what killed gateways held. */
export function keepsItsPromise({ limit }: Scenario, { admitted, lost, lostMax, leased }: Outcome): boolean {
  return admitted <= limit && leased <= limit && lost >= 0 && lost <= lostMax && admitted >= limit - lostMax;
}
