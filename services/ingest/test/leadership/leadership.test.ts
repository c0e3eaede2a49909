/** Who leads, until when, and how a process learns that it does no more. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { type LeaseRepository, openSqliteStore, type Store, StoreError } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import { Leadership, LeadershipLostError, leaseName, type Term } from "../../src/leadership/leadership.ts";
import { startService } from "../support/service.ts";

const ttlMs = 600;
/** So long at most until a process that does not lead asks for the lease again. */
const turnMs = ttlMs / 3;
const silent = { info() {}, warn() {} };

let folder: string;
let store: Store;
let started: Leadership[];
// Time passes when a test says so, however long the machine stands still.
beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "hrtime"] });
  folder = await mkdtemp(join(tmpdir(), "netfacts-lead-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
  started = [];
});
afterEach(async () => {
  for (const leadership of started) await leadership.stop();
  await store.close();
  await rm(folder, { recursive: true });
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const stepMs = 10;

/** @returns ms that passed until it was true. */
async function passUntil(wanted: () => boolean): Promise<number> {
  for (let ms = 0; ms <= 5 * ttlMs; ms += stepMs) {
    if (wanted()) return ms;
    await pass(stepMs);
  }
  throw new Error(`not within ${5 * ttlMs} ms`);
}

interface Candidate {
  readonly leadership: Leadership;
  readonly terms: Term[];
}

async function candidate(owner: string, leases: LeaseRepository = store.leases, monotonic?: () => number): Promise<Candidate> {
  const terms: Term[] = [];
  const onTerm = (term: Term) => void terms.push(term);
  const leadership = new Leadership({ leases, owner, ttlMs, log: silent, onTerm, ...(monotonic !== undefined && { monotonic }) });
  started.push(leadership);
  await leadership.start();
  return { leadership, terms };
}

/** The store, until it is switched off. */
function switchable(): { readonly leases: LeaseRepository; away: boolean } {
  const guarded = <Args extends unknown[], T>(method: (...args: Args) => Promise<T>) => {
    return (...args: Args): Promise<T> => (box.away ? Promise.reject(new StoreError("unavailable", "test", "is away")) : method(...args));
  };
  const { leases } = store;
  const box = {
    away: false,
    leases: {
      acquire: guarded(leases.acquire),
      renew: guarded(leases.renew),
      release: guarded(leases.release),
      read: guarded(leases.read),
    },
  };
  return box;
}

test("tells each time that the store does not answer, and once when it does again", async () => {
  const box = switchable();
  const told: (string | null)[] = [];
  const onStore = (fault: Error | null) => void told.push(fault?.message ?? null);
  const leadership = new Leadership({ leases: box.leases, owner: "a", ttlMs, log: silent, onTerm: () => undefined, onStore });
  started.push(leadership);
  await leadership.start();
  expect(told).toEqual([]);
  box.away = true;
  await passUntil(() => told.length > 1);
  box.away = false;
  await passUntil(() => leadership.term !== null && told.includes(null));
  await pass(ttlMs);
  const [first] = told;
  expect(first).toContain("is away");
  expect(told).toEqual([...told.slice(1).map(() => first), null]);
});

test("a service says at /readyz that its lease cannot be checked, until it can", async () => {
  jest.useRealTimers();
  const box = switchable();
  const reasons: (string | null)[] = [];
  const explain = (topic: string, reason: string | null) => void (topic === "store" && reasons.push(reason));
  const service = await startService({ ttlMs, deps: (deps) => ({ ...deps, store: { ...deps.store, leases: box.leases }, explain }) });
  box.away = true;
  await until(async () => reasons.length > 0);
  box.away = false;
  await until(async () => reasons.at(-1) === null);
  expect(reasons[0]).toMatch(/^the lease of the leader cannot be checked: .*is away/);
  await service.stop();
});

test("of several one leads, for longer than the lease lasts", async () => {
  const all = await Promise.all(["a", "b", "c"].map((owner) => candidate(owner)));
  const leaders = () => all.filter(({ leadership }) => leadership.term !== null);
  expect(leaders()).toHaveLength(1);
  const [leader] = leaders();
  for (let i = 0; i < 30; i++) {
    await pass(ttlMs / 10);
    expect(leaders()).toEqual([leader]);
  }
  expect(leader?.terms).toHaveLength(1);
  expect(await leader?.leadership.leader()).toMatch(/^[abc]$/);
});

test("a leader that withholds itself is followed within a third of the lease's length, and leads again only after it resumed", async () => {
  const first = await candidate("a");
  const second = await candidate("b");
  await first.leadership.withhold("its disk is full");
  expect(first.leadership.term).toBeNull();
  expect(first.terms[0]?.signal.reason).toEqual(new LeadershipLostError("its disk is full; nothing was published"));
  expect(await passUntil(() => second.leadership.term !== null)).toBeLessThanOrEqual(turnMs);
  await second.leadership.stop();
  await pass(ttlMs);
  expect([first.leadership.term, await first.leadership.leader()]).toEqual([null, null]);
  first.leadership.resume();
  await passUntil(() => first.leadership.term !== null);
  expect(first.terms).toHaveLength(2);
});

test("a lease that arrives while a process withholds itself is freed", async () => {
  let answer = (): void => undefined;
  const slow: LeaseRepository = {
    ...store.leases,
    acquire: async (...args) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return store.leases.acquire(...args);
    },
  };
  const terms: Term[] = [];
  const leadership = new Leadership({ leases: slow, owner: "a", ttlMs, log: silent, onTerm: (term) => void terms.push(term) });
  started.push(leadership);
  const starting = leadership.start();
  await passUntil(() => answer.name !== "answer");
  const withheld = leadership.withhold("its disk is full");
  answer();
  await Promise.all([starting, withheld]);
  expect([terms, await leadership.leader()]).toEqual([[], null]);
});

test("a leader that stops is followed within a third of the lease's length", async () => {
  const [first, second] = [await candidate("a"), await candidate("b")];
  await first.leadership.stop();
  expect(first.terms[0]?.signal.reason).toBeInstanceOf(LeadershipLostError);
  expect(await passUntil(() => second.leadership.term !== null)).toBeLessThanOrEqual(turnMs);
});

test("a leader that cannot renew leads no more before another can", async () => {
  const box = switchable();
  const first = await candidate("a", box.leases);
  const second = await candidate("b");
  box.away = true;
  let overlapped = false;
  await passUntil(() => {
    overlapped ||= first.leadership.term !== null && second.leadership.term !== null;
    return second.leadership.term !== null;
  });
  expect(overlapped).toBe(false);
  expect(first.terms[0]?.signal.aborted).toBe(true);
  await expect(first.terms[0]?.confirm()).rejects.toBeInstanceOf(LeadershipLostError);
});

test("a store that is away for less than the lease lasts ends no term", async () => {
  const box = switchable();
  const { leadership, terms } = await candidate("a", box.leases);
  box.away = true;
  await pass(turnMs);
  box.away = false;
  await pass(ttlMs);
  expect(leadership.term).toBe(terms[0]);
});

test("when the store is back after long a process leads again, in another term", async () => {
  const box = switchable();
  const { leadership, terms } = await candidate("a", box.leases);
  box.away = true;
  await passUntil(() => leadership.term === null);
  box.away = false;
  await passUntil(() => leadership.term !== null);
  expect([terms.length, terms[0]?.signal.aborted, terms[1]?.signal.aborted]).toEqual([2, true, false]);
});

test("who was frozen learns at the next confirmation that another leads, whatever its own clock says", async () => {
  // A clock that stands still: this process never sees its lease end.
  const first = await candidate("a", store.leases, () => 0);
  await store.leases.release(leaseName, "a");
  await store.leases.acquire(leaseName, "b", 60_000);
  await expect(first.terms[0]?.confirm()).rejects.toBeInstanceOf(LeadershipLostError);
  expect(first.terms[0]?.signal.aborted).toBe(true);
  expect(first.leadership.term).toBeNull();
});

test("a confirmation fails when the store does not answer", async () => {
  const box = switchable();
  const { terms } = await candidate("a", box.leases);
  box.away = true;
  await expect(terms[0]?.confirm()).rejects.toThrow("may no longer be the leader");
});
