/** A client that the driver has lost is replaced: without that, keys and limits would be away until the process is started anew. */

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Mongodb, startMongodb } from "../../../test/support/mongodb.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { openMongoStore } from "../src/mongo/index.ts";
import type { Store } from "../src/store.ts";

/** Heartbeats that cease are noticed after 5 s. */
const recoverMsMax = 30_000;
const storesCount = 4;

let mongo: Mongodb;
let proxy: TcpProxy;
let stores: Store[] = [];

beforeAll(async () => {
  mongo = await startMongodb();
  proxy = await startTcpProxy(mongo.url);
  const database = `lost_${process.pid}_${Date.now()}`;
  stores = await Promise.all(Array.from({ length: storesCount }, () => openMongoStore(`${proxy.url}/${database}`)));
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await proxy?.stop();
  await mongo?.stop();
});

const readKey = async (store: Store): Promise<boolean> =>
  await store.keys.find("ABCDEFGH").then(
    () => true,
    () => false,
  );

const take = async ({ limits }: Store): Promise<boolean> => {
  const window = { bucket: "lost", policy: "rate", start: 0, expiresAt: Date.now() + 60_000 } as const;
  return (await limits.take(window, 1_000_000, 1)).outcome === "granted";
};

test("connections that the server ends while they are written to are no loss for longer than half a minute", async () => {
  let isAsking = true;
  const asking = stores.flatMap((store) =>
    [readKey, take].map(async (ask) => {
      // Each in a turn of its own: what is refused at once would leave timers and connections none.
      for (; isAsking; await nextTurn()) await ask(store);
    }),
  );
  // With answers under way an end meets many connections in one moment, and the driver writes to one in the next.
  proxy.delay(100);
  await sleep(500);
  proxy.halfClose();
  await sleep(200);
  await proxy.restore();
  isAsking = false;
  await Promise.all(asking);

  const since = performance.now();
  const recover = async (ask: (store: Store) => Promise<boolean>, store: Store): Promise<number> => {
    while (!(await ask(store)) && performance.now() - since < recoverMsMax) await sleep(50);
    return performance.now() - since;
  };
  const times = await Promise.all(stores.flatMap((store) => [recover(readKey, store), recover(take, store)]));
  console.log(`well again after ${times.map((ms) => (ms / 1_000).toFixed(1)).join(", ")} s`);
  expect(Math.max(...times)).toBeLessThan(recoverMsMax);
});
