/** The MongoDB store: what only a server over a network can suffer. */

import { setImmediate as nextImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { MongoClient, MongoServerError } from "mongodb";
import { until } from "../../../test/support/http.ts";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { type MongodbProxy, startMongodbProxy } from "../../../test/support/mongodb-proxy.ts";
import { type LimitWindow, type Store, StoreError } from "../src/index.ts";
import { openMongoStore } from "../src/mongo/index.ts";
import { limitsTimeoutMs, MongoConnection } from "../src/mongo/mongo-connection.ts";
import { asStoreError } from "../src/mongo/mongo-faults.ts";
import { rejection } from "./store-faults.ts";

let server: Mongodb;
let proxy: MongodbProxy;
let raw: MongoClient;
const stores: Store[] = [];

beforeAll(async () => {
  server = await startMongodb({ durable: true });
  proxy = await startMongodbProxy(Number(new URL(server.url).port));
  raw = await MongoClient.connect(server.url);
});
afterEach(async () => {
  jest.restoreAllMocks();
  proxy.passReplies();
  server.thaw();
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  await raw.close();
  await proxy.stop();
  await server.stop();
});

let databases = 0;

/** @param options  with patience, no answer is late because the machine is busy. */
async function open(url = server.url, options: Parameters<typeof openMongoStore>[1] = {}): Promise<Store> {
  const store = await openMongoStore(`${url}/store-${++databases}`, options);
  stores.push(store);
  return store;
}

function database() {
  return raw.db(`store-${databases}`);
}

/** Asks until it is answered. @returns after how long. */
async function recovery(ask: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (;;) {
    try {
      await ask();
      return performance.now() - started;
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() - started > 20_000) throw error;
      await sleep(50);
    }
  }
}

const spec = { label: "a", scopes: ["ip"] as const };
const month: LimitWindow = { bucket: "7Q9M3W8K", policy: "month", start: 1_793_491_200, expiresAt: Date.UTC(2100, 0, 1) };

describe("a server that is killed", () => {
  // Other tests that kill this server stand on it, so it comes first.
  test("has every write that it acknowledged", async () => {
    const store = await open();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const before = acknowledged.length;
      let isKilled = false;
      const killed = until(() => acknowledged.length >= before + 2).then(() => {
        isKilled = true;
        return server.kill();
      });
      while (!isKilled) {
        try {
          acknowledged.push((await createKey(store, spec)).key.id);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
        }
      }
      await killed;
      await server.restart();
      await recovery(() => store.keys.list());
    }
    expect(acknowledged.length).toBeGreaterThan(3);
    const kept = new Set((await store.keys.list()).map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  });

  test("never has given out more than the limit, however often it was killed", async () => {
    const store = await open();
    let granted = 0;
    let unknown = 0;
    const killing = (async () => {
      for (let round = 0; round < 2; round++) {
        await sleep(200);
        await server.kill();
        await server.restart();
      }
    })();
    for (let ended = false; !ended; ) {
      const take = await store.limits.take(month, 2_000, 3);
      if (take.outcome === "granted") granted += 3;
      else if (take.outcome === "unknown") unknown += 3;
      else ended = true;
      if (take.outcome === "unknown") await sleep(20);
    }
    await killing;
    await recovery(() => store.limits.time());
    const { leased } = await store.limits.read(month);
    expect(granted).toBeLessThanOrEqual(leased);
    expect(leased).toBeLessThanOrEqual(Math.min(2_000, granted + unknown));
  });
});

describe("a server that answers nothing", () => {
  test("is used again as soon as it answers", async () => {
    const store = await open();
    server.freeze();
    await store.limits.take(month, 10, 1);
    await rejection(store.keys.find("00000000"));
    server.thaw();
    expect(await recovery(() => store.limits.time())).toBeLessThan(5_000);
    expect(await recovery(() => store.keys.list())).toBeLessThan(5_000);
  });
});

describe("a server that was stopped and started", () => {
  test("is found again by every repository, with what it knew", async () => {
    const store = await open();
    const { key } = await createKey(store, spec);
    await store.limits.take(month, 10, 5);
    await store.leases.acquire("ingest", "a", 60_000);
    await server.halt();
    expect(await store.limits.take(month, 10, 1)).toMatchObject({ outcome: "unknown" });
    expect((await rejection(store.keys.find(key.id))).fault).toBe("unavailable");
    await server.restart();
    expect(await recovery(() => store.keys.find(key.id))).toBeLessThan(5_000);
    expect(await recovery(() => store.limits.time())).toBeLessThan(5_000);
    expect(await store.keys.find(key.id)).toEqual(key);
    const patient = await openMongoStore(`${server.url}/store-${databases}`, { patience: 30 });
    stores.push(patient);
    expect(await patient.limits.read(month)).toMatchObject({ leased: 5 });
    expect(await store.leases.read("ingest")).toMatchObject({ owner: "a" });
  });
});

describe("a reply that is lost", () => {
  test("leaves units taken once, and the take is not sent again", async () => {
    const store = await open(proxy.url);
    await store.limits.take(month, 10, 1);
    const sentBefore = takes().length;
    proxy.loseReplies();
    expect(await store.limits.take(month, 10, 2)).toMatchObject({ outcome: "unknown" });
    expect(takes().length - sentBefore).toBe(1);
    proxy.passReplies();
    await recovery(() => store.limits.time());
    await sleep(600);
    expect(takes().length - sentBefore).toBe(1);
    const patient = await openMongoStore(`${server.url}/store-${databases}`, { patience: 30 });
    stores.push(patient);
    expect(await patient.limits.read(month)).toMatchObject({ leased: 3 });
  });

  test("does not count usage twice when the batch is repeated", async () => {
    const store = await open(proxy.url);
    const row = { keyId: "A", bucket: "A", day: "2026-11-21", routeClass: "ip", counted: 1, uncounted: 0 };
    const batch = { writer: "one", sequence: 1, increments: [row, { ...row, keyId: "B" }] };
    proxy.loseReplies();
    await rejection(store.usage.add(batch));
    proxy.passReplies();
    await recovery(() => store.usage.add(batch));
    expect(await store.usage.list({ from: "2026-11-21", to: "2026-11-21" })).toEqual(batch.increments);
  });

  function takes() {
    return proxy.commands.filter(({ findAndModify, update }) => findAndModify === "limit_windows" && update?.$inc?.leased > 0);
  }
});

test("the lease of a dead owner ends in its time when the server's clock was set back, and not that of one who lives", async () => {
  const store = await open();
  const leases = raw.db(`store-${databases}`).collection<{ _id: string; at: Date }>("leases");
  const ahead = () => leases.updateOne({ _id: "ingest" }, { $set: { at: new Date(Date.now() + 3_600_000) } });
  const { lease } = await store.leases.acquire("ingest", "dead", 200);
  await ahead();
  const met = await store.leases.acquire("ingest", "next", 60_000);
  expect(met).toMatchObject({ outcome: "taken", lease: { owner: "dead", fence: lease.fence } });
  expect(met.lease.until).toBeLessThan(lease.until + 1_800_000);
  const since = performance.now();
  let held = await store.leases.acquire("ingest", "next", 60_000);
  for (; held.outcome === "taken" && performance.now() - since < 30_000; await sleep(20))
    held = await store.leases.acquire("ingest", "next", 60_000);
  expect(held).toMatchObject({ outcome: "held", lease: { owner: "next", fence: lease.fence + 1 } });

  await ahead();
  expect(await store.leases.acquire("ingest", "third", 60_000)).toMatchObject({ outcome: "taken", lease: { owner: "next" } });
  expect(await store.leases.renew("ingest", "next", 60_000)).toMatchObject({ outcome: "held", lease: { owner: "next" } });
  expect(await store.leases.acquire("ingest", "third", 60_000)).toMatchObject({ outcome: "taken", lease: { owner: "next" } });
});

describe("what is sent", () => {
  test("asks for a majority's journal, and for no repetition by the driver", async () => {
    const store = await open(proxy.url);
    const from = proxy.commands.length;
    await createKey(store, spec);
    await store.limits.take(month, 10, 1);
    await store.limits.giveBack(month, 1);
    const writes = proxy.commands.slice(from);
    expect(writes.map((command) => Object.keys(command)[0])).toEqual(["insert", "findAndModify", "findAndModify"]);
    for (const { writeConcern, txnNumber } of writes) {
      expect(writeConcern).toEqual({ w: "majority", j: true });
      expect(txnNumber).toBeUndefined();
    }
  });

  test("a reply that arrived while this process could do nothing is no late reply", async () => {
    const connection = new MongoConnection(`${server.url}/late`, "test");
    await connection.connect();
    const ping = () => connection.limitsDb.command({ ping: 1 });
    try {
      await connection.limitsWithin(limitsTimeoutMs, ping);
      const late = connection.limitsWithin(limitsTimeoutMs, ping);
      // It has been sent, and timers come before what there is to read.
      await sleep(1);
      await nextImmediate();
      const until = performance.now() + 1.5 * limitsTimeoutMs;
      while (performance.now() < until);
      expect(await late).toMatchObject({ ok: 1 });
    } finally {
      await connection.close();
    }
  });

  test("tells the server the time by no clock of ours", async () => {
    const store = await open(server.url, { patience: 30 });
    const now = Date.now();
    await store.leases.acquire("ingest", "a", 60_000);
    jest.spyOn(Date, "now").mockReturnValue(now + 3_600_000);
    const take = await store.limits.take(month, 10, 1);
    expect(take.outcome === "granted" && Math.abs(take.at - now) < 60_000).toBe(true);
    expect(Math.abs((await store.limits.time()) - now)).toBeLessThan(60_000);
    expect(await store.leases.acquire("ingest", "b", 60_000)).toMatchObject({ outcome: "taken" });
  });

  test("has indexes: expired counters go by themselves, and one row of usage is one", async () => {
    await open();
    const [counters, usage] = await Promise.all(["limit_windows", "usage"].map((name) => database().collection(name).indexes()));
    expect(counters).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    expect(usage).toContainEqual(expect.objectContaining({ key: { keyId: 1, day: 1, routeClass: 1 }, unique: true }));
  });

  test("keeps the counter of a month for two months after its end, in case the clock is ahead, and it reads as 0", async () => {
    const store = await open();
    const twoMonths = 61 * 86_400_000;
    const [ended, rate] = [
      { ...month, bucket: "ended", expiresAt: Date.now() - 1_000 },
      { ...month, policy: "rate", expiresAt: Date.UTC(2099, 0, 1) },
    ];
    for (const window of [ended, month, rate]) await store.limits.take(window, 10, 3);
    await store.limits.recover({ ...month, bucket: "recovered" }, { owner: "a", number: 1 });
    await store.limits.read({ ...month, bucket: "read" });
    const removals = new Map(
      (await database().collection("limit_windows").find().toArray()).map((each) => [String(each._id), each.expiresAt.getTime()]),
    );
    const ofMonth = (bucket: string) => removals.get(`${bucket}:month:${month.start}`);
    for (const bucket of [month.bucket, "recovered", "read"]) expect(ofMonth(bucket)).toBeGreaterThan(month.expiresAt + twoMonths);
    expect(ofMonth("ended")).toBeGreaterThan(ended.expiresAt + twoMonths);
    expect(removals.get(`${month.bucket}:rate:${month.start}`)).toBe(rate.expiresAt);
    expect([(await store.limits.read(ended)).leased, (await store.limits.read(month)).leased]).toEqual([0, 3]);
  });

  test("holds no secret", async () => {
    const store = await open();
    const { secret } = await createKey(store, spec);
    expect(JSON.stringify(await database().collection("keys").find().toArray())).not.toContain(secret.slice(17, 49));
  });
});

test("a run whose report is damaged says so, and hides no other run", async () => {
  const { runs } = await open();
  for (const id of ["first", "second"]) await runs.save({ id, startedAt: 0, endedAt: 1, state: "succeeded", report: { snapshot: id } });
  await database()
    .collection<{ _id: string }>("runs")
    .updateOne({ _id: "first" }, { $set: { report: "{not json" } });
  const error = "the report of this run is damaged in the store";
  expect((await runs.list(9)).map(({ id, report }) => [id, report])).toEqual([
    ["second", { snapshot: "second" }],
    ["first", { error }],
  ]);
  expect((await runs.find("first"))?.report).toEqual({ error });
});

describe("faults", () => {
  test("of a closed store: leases are unknown, all else rejects", async () => {
    const store = await open();
    await store.close();
    expect((await rejection(store.keys.list())).fault).toBe("closed");
    expect(await store.limits.take(month, 5, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "closed" } });
    expect(await store.limits.giveBack(month, 1)).toMatchObject({ outcome: "unknown", cause: { fault: "closed" } });
    expect((await rejection(store.leases.acquire("ingest", "a", 1))).fault).toBe("closed");
  });

  test("that the server names are told apart", () => {
    const faults = [13, 18, 14_031, 91].map((code) => asStoreError("mongodb://db/netfacts", new MongoServerError({ code, message: "no" })));
    expect(faults.map((error) => (error as StoreError).fault)).toEqual(["readonly", "readonly", "full", "unavailable"]);
  });

  test.each([
    ["bad auth : Authentication failed.", "readonly", "check user and password"],
    ["you are over your space quota, using 513 MB of 512 MB", "full", "disk space"],
  ])("that Atlas names by one code are told apart by its words: %s", (message, fault, remedy) => {
    const error = asStoreError("mongodb://db/netfacts", new MongoServerError({ code: 8_000, message }));
    expect(error).toMatchObject({ fault, message: expect.stringContaining(remedy) });
  });
});
