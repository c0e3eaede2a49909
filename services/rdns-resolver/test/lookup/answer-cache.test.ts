/** What is kept of answers, against a list in the order of use that is searched from end to end. */

import { expect, test } from "@jest/globals";
import type { Address } from "@netfacts/address";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import type { Entry } from "../../src/domain/resolution.ts";
import { AnswerCache, type AnswerCacheOptions, type Place } from "../../src/lookup/answer-cache.ts";

const options: AnswerCacheOptions = {
  cacheEntriesMax: 8,
  cacheBytesMax: 10_000,
  staleMaxSeconds: 100,
  failureTtlSeconds: 5,
  refreshPercent: 10,
};

const addressOf = (number: number): Address => ({ version: 4, w0: 0xc000_0200 + number, w1: 0, w2: 0, w3: 0 });

function entryOf(status: Entry["status"], names: number, now: number, seconds: number): Entry {
  const one = { name: "host.example", ttl: seconds, forward: null };
  const dnssec = status === "ok" || status === "nxdomain" ? "indeterminate" : null;
  const shown = status === "ok" ? Array.from({ length: names }, () => one) : [];
  const negative = status === "nxdomain";
  return { status, names: shown, namesTotal: shown.length, dnssec, negative, storedAt: now, expiresAt: now + seconds * 1_000 };
}

/** What the entry takes of the bound, as the cache has it. */
function bytesOf(entry: Entry): number {
  const alone = new AnswerCache<string>({ ...options, cacheBytesMax: 1 << 30 });
  alone.store(alone.open(addressOf(0)), entry, entry.storedAt);
  return alone.bytes;
}

interface Known {
  readonly number: number;
  readonly entry: Entry;
}

/** Oldest first. */
class SlowCache {
  kept: Known[] = [];

  entry(number: number): Entry | null {
    return this.kept.find((one) => one.number === number)?.entry ?? null;
  }

  keep(number: number, entry: Entry): void {
    this.forget(number);
    if (bytesOf(entry) > options.cacheBytesMax) return;
    this.kept.push({ number, entry });
    while (this.kept.length > options.cacheEntriesMax || this.bytes > options.cacheBytesMax) this.kept.shift();
  }

  forget(number: number): void {
    this.kept = this.kept.filter((one) => one.number !== number);
  }

  touch(number: number): void {
    const known = this.kept.find((one) => one.number === number);
    if (known === undefined) return;
    this.forget(number);
    this.kept.push(known);
  }

  get bytes(): number {
    return this.kept.reduce((sum, { entry }) => sum + bytesOf(entry), 0);
  }
}

const isAnswer = ({ status }: Entry) => status === "ok" || status === "nxdomain";
const isShown = (entry: Entry, now: number) => isAnswer(entry) && now < entry.expiresAt + options.staleMaxSeconds * 1_000;

type Step =
  | { readonly do: "ask"; readonly number: number }
  | { readonly do: "end"; readonly number: number; readonly status: Entry["status"]; readonly names: number; readonly seconds: number };

const number = fc.nat(15);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant("ask" as const), number }),
  fc.record({
    do: fc.constant("end" as const),
    number,
    status: fc.constantFrom("ok", "ok", "ok", "nxdomain", "servfail", "timeout"),
    names: fc.constantFrom(1, 2, 20, 200),
    seconds: fc.constantFrom(0, 1, 60),
  }),
);

test("keeps the answers that were used last, within its bounds, and each flight until it has ended", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(20_000)), { maxLength: 300 }), (steps) => {
      const cache = new AnswerCache<string>(options);
      const slow = new SlowCache();
      const flights = new Map<number, Place<string>>();
      let now = 1_000_000;
      for (const [asked, passed] of steps) {
        now += passed;
        const place = cache.find(addressOf(asked.number));
        const entry = slow.entry(asked.number);
        expect(place?.entry ?? null).toBe(entry);
        expect(place?.flight ?? null).toBe(flights.has(asked.number) ? `${asked.number}` : null);
        const open = flights.get(asked.number);
        if (asked.do === "ask") {
          slow.touch(asked.number);
          const isUsed = entry !== null && (entry.expiresAt > now || isShown(entry, now));
          expect(place === null ? null : cache.use(place, now)).toBe(isUsed ? entry : null);
          if (open !== undefined) continue;
          const flying = place ?? cache.open(addressOf(asked.number));
          flying.flight = `${asked.number}`;
          flights.set(asked.number, flying);
        } else if (open !== undefined) {
          const found = entryOf(asked.status, asked.names, now, asked.seconds);
          const isStale = !isAnswer(found) && entry !== null && isShown(entry, now);
          expect(cache.store(open, found, now)).toBe(!isAnswer(found));
          if (isStale) {
            slow.touch(asked.number);
            expect(open.retryAt).toBe(now + options.failureTtlSeconds * 1_000);
          } else if (asked.seconds > 0) {
            slow.keep(asked.number, found);
            expect(open.retryAt).toBe(0);
          } else if (isAnswer(found)) slow.forget(asked.number);
          cache.land(open);
          flights.delete(asked.number);
        }
        expect([cache.entries, cache.bytes]).toEqual([slow.kept.length, slow.bytes]);
      }
      for (const [one, place] of flights) {
        expect(cache.find(addressOf(one))).toBe(place);
        cache.land(place);
      }
      for (let one = 0; one < 16; one++) expect(cache.find(addressOf(one))?.entry ?? null).toBe(slow.entry(one));
    }),
    { seed: seed(8767), numRuns: runs(1_000) },
  );
});

test("an answer that is larger than the bound pushes out no other, and ends the one before", () => {
  const cache = new AnswerCache<string>(options);
  const [first, second] = [cache.open(addressOf(1)), cache.open(addressOf(2))];
  cache.store(first, entryOf("ok", 1, 0, 60), 0);
  cache.store(second, entryOf("ok", 1, 0, 60), 0);
  cache.store(second, entryOf("ok", 1_000, 1, 60), 1);
  expect([cache.entries, first.entry?.status, second.entry]).toEqual([1, "ok", null]);
});

test("an answer is popular after two hits within its life, and renewed in its last tenth", () => {
  const cache = new AnswerCache<string>(options);
  const place = cache.open(addressOf(1));
  cache.store(place, entryOf("ok", 1, 0, 60), 0);
  cache.land(place);
  cache.use(place, 1_000);
  expect(cache.isDue(place, 59_000)).toBe(false);
  cache.use(place, 2_000);
  expect([cache.isDue(place, 50_000), cache.isDue(place, 59_000)]).toEqual([false, true]);
  cache.store(place, entryOf("ok", 1, 59_000, 60), 59_000);
  expect(cache.isDue(place, 118_000)).toBe(false);
});

test("another replica's answer takes the place of one that was stored while the clock was ahead, and of no other newer one", () => {
  const cache = new AnswerCache<string>(options);
  const [ahead, newer] = [cache.open(addressOf(1)), cache.open(addressOf(2))];
  cache.store(ahead, entryOf("ok", 1, 3_600_000, 60), 3_600_000);
  cache.store(newer, entryOf("ok", 1, 2_000, 60), 2_000);
  const other = entryOf("ok", 1, 1_000, 60);
  expect([cache.adopt(ahead, other, 2_000), cache.adopt(newer, other, 2_000)]).toEqual([true, false]);
  expect([ahead.entry?.storedAt, newer.entry?.storedAt]).toEqual([1_000, 2_000]);
});
