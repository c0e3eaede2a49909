/** Readiness of a gateway: not before pods have data, and not while it is cut off from NATS. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { sampleFolder } from "../support/sample-snapshot.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

let distributed: Distributed;
let nats: TcpProxy;
beforeAll(async () => {
  distributed = await startDistributed({
    snapshot: null,
    async route({ natsUrl, mongoUrl }) {
      nats = await startTcpProxy(natsUrl);
      return { natsUrl: nats.url, mongoUrl };
    },
  });
});
afterAll(async () => {
  await distributed?.stop();
  await nats?.stop();
  removeFolders();
});

async function status(): Promise<number> {
  const answer = await fetch(`${distributed.gateways[0]?.operationsUrl}/readyz`);
  await answer.body?.cancel();
  return answer.status;
}

async function untilStatus(wanted: number, msMax: number): Promise<void> {
  const end = performance.now() + msMax;
  while ((await status()) !== wanted && performance.now() < end) await sleep(50);
  expect(await status()).toBe(wanted);
}

test("a gateway is not ready while no pod has data", async () => {
  // It listens: health answers since the start, and so does its own port.
  const end = performance.now() + 20_000;
  const listens = () =>
    fetch(`${distributed.gateways[0]?.url}/robots.txt`).then(
      (answer) => answer.ok,
      () => false,
    );
  while (!(await listens()) && performance.now() < end) await sleep(50);
  expect(await status()).toBe(503);
  await distributed.publish(await sampleFolder(`${temporaryFolder()}/samples`));
  await untilStatus(200, 30_000);
});

test("a gateway that is cut off from NATS is not ready, and is ready again when NATS is back", async () => {
  await nats.cut();
  await untilStatus(503, 3_000);
  await nats.restore();
  await untilStatus(200, 20_000);
});

test("a gateway whose connection to NATS hangs is not ready within seconds", async () => {
  nats.freeze();
  await untilStatus(503, 3_000);
  await nats.restore();
  await untilStatus(200, 20_000);
});
