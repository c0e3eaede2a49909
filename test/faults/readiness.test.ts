/**
 * Readiness: no service starts without NATS, and no gateway is ready before pods have data, nor while it is cut off from NATS or from the
 * store. A process that lacks something says so, and metrics show it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { freePorts } from "../support/free-ports.ts";
import { until } from "../support/http.ts";
import { madeOrigin } from "../support/made-origin.ts";
import { startNatsServer } from "../support/nats-server.ts";
import { removeFolders, temporaryFolder } from "../support/processes.ts";
import { type ServiceName, ServiceProcess } from "../support/service-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const services: readonly ServiceName[] = ["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest"];

let distributed: Distributed;
let nats: TcpProxy;
let mongo: TcpProxy;
beforeAll(async () => {
  distributed = await startDistributed({
    snapshot: null,
    async route({ natsUrl, mongoUrl }) {
      nats = await startTcpProxy(natsUrl);
      const { origin, pathname } = new URL(mongoUrl);
      mongo = await startTcpProxy(origin === "null" ? mongoUrl.slice(0, -pathname.length) : origin);
      return { natsUrl: nats.url, mongoUrl: `${mongo.url}${pathname}` };
    },
  });
});
afterAll(async () => {
  await distributed?.stop();
  await nats?.stop();
  await mongo?.stop();
  removeFolders();
});

/** Status and text of `/readyz`, of the gateway by default. */
async function readiness(of = distributed.gateways[0]): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${of?.operationsUrl}/readyz`);
  return { status: answer.status, text: await answer.text() };
}

/** The value of a metric without further labels. */
async function metric(name: string, of = distributed.gateways[0]): Promise<string | undefined> {
  const text = await (await fetch(`${of?.operationsUrl}/metrics`)).text();
  return new RegExp(`^${name}\\{service="[\\w-]+"\\} (\\S+)$`, "m").exec(text)?.[1];
}

async function status(): Promise<number> {
  return (await readiness()).status;
}

async function untilStatus(wanted: number, timeoutMs = 30_000): Promise<void> {
  await until(async () => (await status()) === wanted, { timeoutMs });
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
  const waits = "neither ip-routing nor asn-prefix has answered yet: they answer once they have a snapshot";
  expect(await readiness()).toEqual({ status: 503, text: `not ready\n${waits}\n` });
  const [pod] = distributed.services["ip-routing"];
  await until(async () => /^not ready\nno snapshot yet: /.test((await readiness(pod)).text));
  expect([await metric("netfacts_ready"), await metric("netfacts_ready", pod)]).toEqual(["0", "0"]);
  await distributed.publish(await madeOrigin(temporaryFolder()));
  await untilStatus(200);
});

test("a gateway that is cut off from NATS is not ready, other services stay so and say what they lack, and it is over when NATS is back", async () => {
  const others = (["ip-routing", "asn-prefix", "rdns-resolver"] as const).map((service) => distributed.services[service][0]);
  for (const process of others) await until(async () => (await readiness(process)).text === "ready\n");
  expect(await metric("netfacts_ready")).toBe("1");
  await nats.cut();
  await untilStatus(503, 9_000);
  expect(await metric("netfacts_ready")).toBe("0");
  for (const process of others) {
    const reason = /^ready\nno connection to NATS: 127\.0\.0\.1:\d+ .+\n$/;
    await until(async () => reason.test((await readiness(process)).text));
    expect((await readiness(process)).status).toBe(200);
    expect(await metric("netfacts_ready", process)).toBe("1");
  }
  await nats.restore();
  await untilStatus(200);
  for (const process of others) await until(async () => (await readiness(process)).text === "ready\n");
});

test("a gateway whose connection to NATS hangs is not ready within seconds", async () => {
  nats.freeze();
  // With the default interval of pings, 5 s, it would take ten.
  await untilStatus(503, 9_000);
  await nats.restore();
  await untilStatus(200);
});

test("a gateway whose store refuses everything is not ready once leased units are over, says why, and is ready again", async () => {
  expect(await metric("netfacts_store_available")).toBe("1");
  await mongo.cut();
  await until(async () => (await metric("netfacts_store_available")) === "0");
  // Long before the gateway is not ready.
  expect(await status()).toBe(200);
  const named = /^not ready\nstore mongodb:\/\/127\.0\.0\.1:\d+\/\w+: .+\n$/;
  const ms = await until(async () => named.test((await readiness()).text), { timeoutMs: 60_000 });
  // Until then it answers by cached keys and units that it holds.
  expect(ms).toBeGreaterThan(10_000);
  await mongo.restore();
  await untilStatus(200);
  expect(await metric("netfacts_store_available")).toBe("1");
});

test("each service that starts without NATS is not ready, names the server, and goes on when it is there", async () => {
  const [natsPort, ...ports] = await freePorts(1 + 3 * services.length);
  const started = services.map((service, index) => {
    const [http = 0, operations = 0, operator = 0] = ports.slice(3 * index);
    const env = {
      NATS_URL: `nats://127.0.0.1:${natsPort}`,
      MONGODB_URI: distributed.mongoUrl,
      RESOLVERS: "127.0.0.1:9",
      PROXY_TOKEN: "x".repeat(32),
      INGEST_STATE_DIR: temporaryFolder(),
    };
    const process = new ServiceProcess({ service, index: 9, env, ports: { http, operations, operator } });
    process.launch();
    return process;
  });
  try {
    for (const process of started) {
      await process.untilReady("/healthz");
      await until(async () => (await readiness(process)).text.includes("refuses"));
      // Nobody has asked the database, so it is not reported as unavailable.
      expect(await metric("netfacts_store_available", process)).toBeUndefined();
      expect(await readiness(process)).toEqual({
        status: 503,
        text: `not ready\nno connection to NATS: 127.0.0.1:${natsPort} refuses the connection: nats-server does not listen there (NATS_URL)\n`,
      });
    }
    const late = await startNatsServer({ port: natsPort as number });
    try {
      // It needs nothing else.
      await started.find(({ service }) => service === "rdns-resolver")?.untilReady();
    } finally {
      await late.stop();
    }
  } finally {
    await Promise.all(started.map((process) => process.end("SIGKILL")));
  }
});
