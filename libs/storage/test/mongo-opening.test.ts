/** Opening the MongoDB store: servers that are away, URIs that are wrong, databases that are not ours to use. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, jest, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { Collection, MongoClient, MongoServerError } from "mongodb";
import { freePort } from "../../../test/support/free-ports.ts";
import { until } from "../../../test/support/http.ts";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { startRunningTime } from "../../../test/support/running-time.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import type { Store } from "../src/index.ts";
import { openMongoStore } from "../src/mongo/index.ts";
import { rejection } from "./store-faults.ts";

const servers: { stop(): Promise<void> }[] = [];
const stores: Store[] = [];
const spec = { label: "a", scopes: ["ip"] as const };

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(): Promise<Mongodb> {
  const server = await startMongodb({ own: true });
  servers.push(server);
  return server;
}

// Side by side with the other one that finds nobody: both wait for seconds.
test.concurrent("opening fails within six seconds when nobody is there, in one line without the password", async () => {
  const uri = `mongodb://netfacts:hunter2@127.0.0.1:${await freePort()}/netfacts?authSource=admin`;
  const ran = startRunningTime();
  const result = await rejection(openMongoStore(uri));
  expect(ran()).toBeLessThan(6_000);
  expect(result).toMatchObject({ fault: "unavailable", path: expect.stringMatching(/^mongodb:\/\/127\.0\.0\.1:\d+\/netfacts$/) });
  expect(`${result.message} ${result.stack} ${JSON.stringify(result)}`).not.toContain("hunter2");
});

test("opening waits when it is asked to, tells each time why, and goes on when the server is there", async () => {
  const port = await freePort();
  const lines: string[] = [];
  const opening = openMongoStore(`mongodb://127.0.0.1:${port}/netfacts`, { onWaiting: ({ message }) => lines.push(message) });
  while (lines.length === 0) await sleep(100);
  servers.push(await startMongodb({ port }));
  const store = await opening;
  stores.push(store);
  expect((await createKey(store, spec)).key.version).toBe(1);
  expect(lines[0]).toMatch(/^store mongodb:\/\/127\.0\.0\.1:\d+\/netfacts: .*ECONNREFUSED.*; check that the MongoDB server runs/);
});

test("limits are to be had after a first connection that took longer than a lease may", async () => {
  const server = await start();
  const proxy = await startTcpProxy(server.url);
  servers.push(proxy);
  // There and back longer than the 500 ms that limits have, and shorter than what everything else has.
  proxy.delay(300);
  const opening = openMongoStore(`${proxy.url}/slow`, { onWaiting: () => undefined });
  await sleep(2_500);
  proxy.delay(0);
  const store = await opening;
  stores.push(store);
  await until(() =>
    store.limits.time().then(
      (at) => at > 0,
      () => false,
    ),
  );
});

test.concurrent("opening stops waiting when it is told to", async () => {
  const stop = new AbortController();
  const uri = `mongodb://127.0.0.1:${await freePort()}`;
  const opening = openMongoStore(uri, { onWaiting: () => setTimeout(() => stop.abort(), 50), signal: stop.signal });
  expect((await rejection(opening)).fault).toBe("unavailable");
});

test("opening waits for no URI that cannot be right, and shows nothing of it", async () => {
  const onWaiting = () => {
    throw new Error("waited");
  };
  for (const uri of [
    "",
    "localhost",
    "http://netfacts:hunter2@db/",
    "mongodb://netfacts:hunter2/x@db",
    "mongodb://netfacts:hunter2?x@db",
    "mongodb://netfacts:hunter2#x@db",
    "mongodb://netfacts:hunter2@db/?hunter=1",
  ]) {
    const error = await rejection(openMongoStore(uri, { onWaiting }));
    expect(error.message).toMatch(/; (?:write mongodb:\/\/USER:PASSWORD@HOST|correct MONGODB_URI)/);
    expect(error.message).not.toContain("hunter2");
  }
});

test("opening refuses a database of a later version", async () => {
  const server = await start();
  const uri = server.database("newer");
  await (await openMongoStore(uri)).close();
  const raw = await MongoClient.connect(server.url);
  const markers = raw.db("newer").collection<{ _id: string; version: number }>("markers");
  await markers.updateOne({ _id: "schema" }, { $set: { version: 99 } });
  await raw.close();
  const error = await rejection(openMongoStore(uri));
  expect(error).toMatchObject({ fault: "newer", message: expect.stringContaining("schema version 99") });
});

test("a full database can be opened, read and copied", async () => {
  const server = await start();
  const uri = server.database("full");
  const before = await openMongoStore(uri);
  const { key } = await createKey(before, spec);
  await before.close();
  const full = new MongoServerError({ code: 14_031, message: "available disk space is less than required" });
  const refusing = [
    jest.spyOn(Collection.prototype, "createIndexes").mockRejectedValue(full),
    jest.spyOn(Collection.prototype, "updateOne").mockRejectedValue(full),
  ];
  try {
    const store = await openMongoStore(uri);
    stores.push(store);
    expect(await store.keys.find(key.id)).toMatchObject({ id: key.id });
    expect(await rejection(openMongoStore(server.database("new")))).toMatchObject({ fault: "full" });
  } finally {
    for (const spy of refusing) spy.mockRestore();
  }
});

test("opening is done by many at once on a new database", async () => {
  const server = await start();
  const opened = await Promise.all(Array.from({ length: 6 }, () => openMongoStore(server.database("many"))));
  stores.push(...opened);
  await createKey(opened[2] as Store, spec);
  expect(await opened[5]?.keys.list()).toHaveLength(1);
});

test("a refused login is what operations report that wait for the server afterwards", async () => {
  const server = await start();
  const store = await openMongoStore(server.database("refused"));
  stores.push(store);
  const asked = jest.spyOn(Collection.prototype, "findOneAndUpdate");
  try {
    asked.mockRejectedValueOnce(new MongoServerError({ message: "Authentication failed.", code: 18 }));
    asked.mockReturnValueOnce(new Promise(() => undefined) as never);
    for (const _ of ["refused", "late"])
      expect(await rejection(store.limits.time())).toMatchObject({ fault: "readonly", explanation: "Authentication failed." });
  } finally {
    asked.mockRestore();
  }
  expect(await store.limits.time()).toBeGreaterThan(0);
});
