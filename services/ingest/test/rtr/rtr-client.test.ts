/** The client against caches on loopback: whose data are used, when they change, and when they are given up. */

import { afterEach, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { vrpsOf } from "@netfacts/rpki/rtr";
import { type CacheStatus, type RtrChange, RtrClient, readCacheList } from "../../src/rtr/index.ts";
import type { RtrClientOptions } from "../../src/rtr/rtr-client.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { bytesOf, type ScriptedCache, startScriptedCache, vrpPdu } from "../support/scripted-cache.ts";

const hour = 3_600_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function cacheOf(...args: Parameters<typeof startScriptedCache>): Promise<ScriptedCache> {
  const cache = await startScriptedCache(...args);
  stops.push(() => cache.stop());
  return cache;
}

interface Watched {
  readonly client: RtrClient;
  readonly changes: RtrChange[];
  readonly log: { level: string; message: string; fields: object }[];
  content(): string[] | null;
  status(): CacheStatus[];
  /** Resolves when this holds; looked at at every change of state. */
  until(holds: () => boolean): Promise<void>;
}

function watch(caches: readonly ScriptedCache[], clock?: ManualClock, more: Partial<RtrClientOptions> = {}): Watched {
  const changes: RtrChange[] = [];
  const log: Watched["log"] = [];
  const waiting = new Set<() => void>();
  const look = () => {
    for (const each of waiting) each();
  };
  const write = (level: string) => (fields: object, message: string) => void log.push({ level, message, fields });
  const client = new RtrClient({
    caches: readCacheList(caches.map(({ url }) => url).join()) ?? [],
    log: { info: write("info"), warn: write("warn"), error: write("error") },
    onChange(change) {
      changes.push(change);
      look();
    },
    onStatus: look,
    ...(clock !== undefined && { clock }),
    settings: { retryMsMin: 20, retryMsMax: 50 },
    ...more,
  });
  stops.push(() => client.stop());
  client.start();
  return {
    client,
    changes,
    log,
    status: () => client.status(),
    content: () => {
      const data = client.current();
      return data === null
        ? null
        : [...vrpsOf(data.records)].map(({ prefix, maxLength, asn }) => `${formatPrefix(prefix)}-${maxLength} ${asn}`).sort();
    },
    until: (holds) =>
      new Promise((resolve) => {
        const each = () => {
          if (!holds()) return;
          waiting.delete(each);
          resolve();
        };
        waiting.add(each);
        // What the other side does is no change of ours.
        const timer = setInterval(() => (waiting.has(each) ? each() : clearInterval(timer)), 10);
        each();
      }),
  };
}

const a = "192.0.2.0/24-24 1";
const b = "2001:db8::/32-48 2";
const c = "198.51.100.0/24-25 3";

test("has the whole set, then follows its changes by notifies, and tells how much changed", async () => {
  const cache = await cacheOf([a, b]);
  const rtr = watch([cache], undefined, { session: { notifiedQueryMsMin: 0 } });
  await rtr.until(() => rtr.changes.length === 1);
  expect(rtr.changes[0]).toEqual({ kind: "updated", cache: cache.url, sessionId: 4_711, serial: 1, vrps: 2, added: null, withdrawn: null });
  expect(rtr.content()).toEqual([a, b]);
  cache.set([b, c], true);
  await rtr.until(() => rtr.changes.length === 2);
  expect(rtr.changes[1]).toMatchObject({ serial: 2, vrps: 2, added: 1, withdrawn: 1 });
  expect(rtr.content()).toEqual([c, b]);
  expect(cache.heard.map(({ kind }) => kind)).toEqual(["reset-query", "serial-query"]);
});

test("tells no change where an answer has none, and keeps the data fresh", async () => {
  const clock = manualClock();
  const cache = await cacheOf([a]);
  const rtr = watch([cache], clock);
  await rtr.until(() => rtr.changes.length === 1);
  clock.pass(hour);
  await cache.hears("serial-query");
  await rtr.until(() => rtr.status()[0]?.updatedAt === clock.now());
  expect(rtr.changes).toHaveLength(1);
  expect(rtr.status()).toEqual([
    {
      cache: cache.url,
      state: "synchronised",
      active: true,
      version: 1,
      sessionId: 4_711,
      serial: 1,
      vrps: 1,
      routerKeys: 0,
      updatedAt: clock.now(),
      expiresAt: clock.now() + 2 * hour,
      error: null,
      failures: 0,
      checkedAt: clock.now(),
    },
  ]);
});

test("goes on with changes after the connection broke, and with the whole set after the cache began anew", async () => {
  const cache = await cacheOf([a]);
  const rtr = watch([cache]);
  await rtr.until(() => rtr.changes.length === 1);
  await cache.down();
  cache.set([a, b]);
  await cache.listen();
  await rtr.until(() => rtr.changes.length === 2);
  expect(rtr.changes[1]).toMatchObject({ added: 1, withdrawn: 0, vrps: 2 });
  await cache.down();
  cache.sessionId = 99;
  cache.serial = 0;
  cache.set([c]);
  await cache.listen();
  await rtr.until(() => rtr.changes.length === 3);
  expect(rtr.changes[2]).toMatchObject({ sessionId: 99, added: 1, withdrawn: 2, vrps: 1 });
  expect(rtr.content()).toEqual([c]);
});

test("falls back to the next cache when the preferred one cannot be reached, and returns to it", async () => {
  const first = await cacheOf([a]);
  const second = await cacheOf([b]);
  const third = await cacheOf([c]);
  await first.down();
  const rtr = watch([first, second, third]);
  await rtr.until(() => rtr.changes.length === 1);
  expect(rtr.content()).toEqual([b]);
  expect(third.connections).toBe(0);
  await first.listen();
  await rtr.until(() => rtr.content()?.[0] === a && second.open.size === 0);
  expect(rtr.status().map(({ state, active }) => [state, active])).toEqual([
    ["synchronised", true],
    ["stopped", false],
    ["stopped", false],
  ]);
  expect(rtr.log.map(({ message }) => message)).toEqual(
    expect.arrayContaining(["RTR cache cannot be used; retrying", "back to the preferred RTR cache"]),
  );
});

test("uses what the preferred cache told until the next one is synchronised, then that one's", async () => {
  const first = await cacheOf([a]);
  const second = await cacheOf([b], () => true);
  const rtr = watch([first, second]);
  await rtr.until(() => rtr.changes.length === 1);
  expect(second.connections).toBe(0);
  await first.down();
  await second.hears("reset-query");
  expect(rtr.content()).toEqual([a]);
  second.answer = null;
  for (const socket of second.open) socket.destroy();
  await rtr.until(() => rtr.changes.length === 2);
  expect(rtr.content()).toEqual([b]);
  expect(rtr.changes[1]).toMatchObject({ cache: second.url, added: null });
  expect(rtr.log.map(({ message }) => message)).toContain("fell back to another RTR cache; still trying the preferred one");
});

test("does not wait for a preferred cache that drips", async () => {
  const clock = manualClock();
  const first = await cacheOf([a], (_, socket) => void socket.write(Uint8Array.of(1)));
  const second = await cacheOf([b]);
  const rtr = watch([first, second], clock, { session: { silenceMsMax: hour } });
  await first.hears("reset-query");
  clock.pass(30_000);
  await rtr.until(() => rtr.changes.length === 1);
  expect(rtr.content()).toEqual([b]);
});

test("falls back while the preferred cache has no data yet", async () => {
  const none = { kind: "error-report", version: 1, code: 2, pdu: new Uint8Array(), text: "still validating" } as const;
  const { encodePdu } = await import("@netfacts/rpki/rtr");
  const first = await cacheOf([a], (_, socket) => void socket.write(encodePdu(none)));
  const second = await cacheOf([b]);
  const rtr = watch([first, second]);
  await rtr.until(() => rtr.changes.length === 1);
  expect(rtr.content()).toEqual([b]);
  expect(rtr.status()[0]).toMatchObject({ state: "no-data", error: "the cache reports No Data Available: still validating" });
});

test("gives the data up at the Expire Interval when no cache answers, and has them again when one does", async () => {
  const clock = manualClock();
  const cache = await cacheOf([a]);
  const rtr = watch([cache], clock);
  await rtr.until(() => rtr.changes.length === 1);
  await cache.down();
  await rtr.until(() => rtr.status()[0]?.state === "waiting");
  clock.pass(2 * hour - 1);
  expect(rtr.content()).toEqual([a]);
  clock.pass(1);
  expect(rtr.changes.slice(1)).toEqual([{ kind: "discarded", reason: "the cache sent nothing for the Expire Interval of 7200 s" }]);
  expect(rtr.content()).toBeNull();
  expect(rtr.log.at(-1)).toMatchObject({ level: "error", message: expect.stringContaining("validity is unknown") });
  await cache.listen();
  // Attempts that fail meanwhile make the next one wait: time goes on until one stands.
  while (rtr.changes.length < 3) {
    clock.pass(100);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(rtr.content()).toEqual([a]);
  expect(cache.heard.at(-1)?.kind).toBe("reset-query");
});

test("gives the data up when a cache changes its session in the same piece that completes its answer", async () => {
  const cache = await cacheOf([a]);
  const rtr = watch([cache], undefined, { session: { notifiedQueryMsMin: 0 } });
  await rtr.until(() => rtr.changes.length === 1);
  cache.answer = ({ kind }, socket) => {
    // What was had goes with that session; nothing more comes until the cache is well again.
    if (kind !== "serial-query") return;
    const [version, sessionId, serial] = [1, cache.sessionId, cache.serial];
    socket.write(
      bytesOf(
        { kind: "cache-response", version, sessionId },
        vrpPdu(b),
        { kind: "end-of-data", version, sessionId, serial, intervals: cache.intervals },
        { kind: "serial-notify", version, sessionId: 99, serial: 1 },
      ),
    );
  };
  cache.set([a, b], true);
  await rtr.until(() => rtr.changes.length === 2);
  expect(rtr.changes[1]).toEqual({ kind: "discarded", reason: "the cache changed its session without starting over" });
  expect(rtr.content()).toBeNull();
  expect(rtr.log.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^RPKI data discarded/));
  await cache.down();
  cache.answer = null;
  await cache.listen();
  await rtr.until(() => rtr.changes.length === 3);
  expect(rtr.content()).toEqual([a, b]);
});

test("tells the same failure once, not at every attempt", async () => {
  const cache = await cacheOf([a]);
  await cache.down();
  let attempts = 0;
  const rtr = watch([cache], undefined, { random: () => attempts++ * 0 });
  await rtr.until(() => attempts >= 5);
  expect(rtr.log).toHaveLength(1);
  expect(rtr.log[0]).toMatchObject({ level: "warn", fields: { cache: cache.url, data_expire_in_s: null } });
});

test("waits longer after each failure, less up to a half by chance", async () => {
  const clock = manualClock();
  const cache = await cacheOf([a], (_, socket) => socket.destroy());
  const waits: number[] = [];
  const rtr = watch([cache], clock, { settings: { retryMsMin: 1_000, retryMsMax: 8_000 }, random: () => 0.5 });
  for (let attempt = 1; attempt <= 6; attempt++) {
    await rtr.until(() => rtr.status()[0]?.state === "waiting" && cache.connections === attempt);
    let waited = 0;
    for (; rtr.status()[0]?.state === "waiting"; waited += 250) clock.pass(250);
    waits.push(waited);
  }
  expect(waits).toEqual([750, 1_500, 3_000, 6_000, 6_000, 6_000]);
});

test("waits longer for a cache that fails after each answer, until one connection has lasted", async () => {
  const clock = manualClock();
  const cache = await cacheOf([a]);
  const rtr = watch([cache], clock, { settings: { retryMsMin: 1_000, retryMsMax: 8_000 }, random: () => 0 });
  const waits: number[] = [];
  for (const lastsMs of [0, 0, 0, 7_999, 8_000]) {
    await rtr.until(() => rtr.status()[0]?.state === "synchronised");
    clock.pass(lastsMs);
    for (const socket of cache.open) socket.destroy();
    await rtr.until(() => rtr.status()[0]?.state === "waiting");
    let waited = 0;
    for (; rtr.status()[0]?.state === "waiting"; waited += 500) clock.pass(500);
    waits.push(waited);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 1_000]);
});
