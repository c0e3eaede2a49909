/** Connections that the client gives up are at an end, whatever their server does later: it holds one at a time. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { ConnectionOptions, NatsConnection } from "nats";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { startTcpProxy, type TcpProxy } from "../../../../test/support/tcp-proxy.ts";
import { planAccess } from "../../src/nats/access.ts";
import { Handshake } from "../../src/nats/handshake.ts";
import { connectThrough } from "../../src/nats/transport.ts";
import { pause, until } from "./support.ts";

let server: NatsServer;
let proxies: TcpProxy[];
let connection: NatsConnection | undefined;
beforeEach(async () => {
  server = await startNatsServer({ own: true });
  proxies = [await startTcpProxy(server.url), await startTcpProxy(server.url)];
});
afterEach(async () => {
  await connection?.close();
  connection = undefined;
  for (const proxy of proxies) await proxy.stop();
  await server.stop();
});

/** With shorter times than ours, so that what goes wrong does so soon. */
async function open(options: ConnectionOptions): Promise<{ readonly statuses: string[]; readonly nc: NatsConnection }> {
  const handshake = new Handshake(planAccess("127.0.0.1", {}), () => undefined);
  const nc = await connectThrough(handshake, {
    waitOnFirstConnect: true,
    noRandomize: true,
    timeout: 300,
    reconnectTimeWait: 100,
    maxReconnectAttempts: -1,
    ...options,
  });
  connection = nc;
  const statuses: string[] = [];
  void (async () => {
    for await (const { type } of nc.status()) statuses.push(type);
  })();
  return { statuses, nc };
}

test("a server that answers connections too late leaves one, which gets each message once", async () => {
  const [proxy] = proxies as [TcpProxy];
  const { statuses, nc } = await open({ servers: `127.0.0.1:${proxy.port}` });
  await proxy.cut();
  server.freeze();
  // The server's kernel takes connections while it says nothing.
  await proxy.restore();
  await until(() => statuses.filter((type) => type === "reconnecting").length >= 4);
  server.thaw();
  await until(() => statuses.includes("reconnect"));

  const heard: string[] = [];
  nc.subscribe("tick", { callback: (_error, message) => void heard.push(message.string()) });
  // Time for the server to have its say on all of them.
  await pause(500);
  for (const tick of ["1", "2", "3"]) nc.publish("tick", tick);
  await nc.flush();
  await pause(200);
  expect(heard).toEqual(["1", "2", "3"]);
  expect(proxy.connections).toBe(1);
  expect(statuses.filter((type) => type === "disconnect")).toHaveLength(1);
});

test("a server that reads no more is left for another one, although much was written to it", async () => {
  const [first, second] = proxies as [TcpProxy, TcpProxy];
  const { statuses, nc } = await open({ servers: [first, second].map(({ port }) => `127.0.0.1:${port}`), pingInterval: 300 });
  first.freeze();
  // More than systems and the proxy hold.
  const message = new Uint8Array(512 * 1_024);
  for (let sent = 0; sent < 64; sent++) nc.publish("much", message);
  await until(() => statuses.includes("reconnect"));
  expect(second.connections).toBe(1);
});
