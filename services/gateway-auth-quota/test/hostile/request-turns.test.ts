/** Requests that come in at once: one connection does not hold up the others, and each keeps its order. */

import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { Connections } from "../../src/edge/connections.ts";
import { RequestTurns } from "../../src/edge/request-turns.ts";
import { createGatewayMetrics } from "../../src/metrics.ts";

/** More than requests may be begun for in one turn. */
function work(): void {
  const end = performance.now() + 6;
  while (performance.now() < end);
}

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

test("what comes after a turn's time waits for later turns, connection by connection", async () => {
  const turns = new RequestTurns();
  const [a, b] = [{}, {}];
  const begun: string[] = [];
  const turnOf: number[] = [];
  let turn = 0;
  const count = () => {
    turn += 1;
    if (begun.length < 7) setImmediate(count);
  };
  setImmediate(count);
  const all = new Promise<void>((resolve) => {
    const start = (name: string) => () => {
      begun.push(name);
      turnOf.push(turn);
      work();
      if (begun.length === 7) resolve();
    };
    for (const name of ["a1", "a2", "a3", "a4"]) turns.begin(a, start(name));
    for (const name of ["b1", "b2", "b3"]) turns.begin(b, start(name));
  });
  await all;
  expect(begun).toEqual(["a1", "a2", "b1", "a3", "b2", "a4", "b3"]);
  expect(new Set(turnOf).size).toBe(7);
});

test("what fits into a turn begins at once", () => {
  const turns = new RequestTurns();
  let begun = 0;
  for (let count = 0; count < 10; count++) turns.begin({}, () => begun++);
  expect(begun).toBe(10);
});

test("a connection that sends many requests at once is answered in turn with others", async () => {
  const begun: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    begun.push(url);
    work();
    response.end();
  });
  const log = { info() {}, warn() {}, error() {} };
  const connections = new Connections({
    resource: "connections",
    connectionsMax: 10,
    pipelineMax: 10,
    writeStallMs: 60_000,
    isShared: () => false,
    keyless: null,
    errorDocsBase: "",
    metrics: createGatewayMetrics(createMetrics("test", createRegistry())),
    log,
    clock: { now: () => Date.now() },
  });
  connections.watch(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(socket);
    socket.resume();
    await once(socket, "connect");
    return socket;
  };
  const [greedy, polite] = [await open(), await open()];
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  greedy.write(["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"].map(ask).join(""));
  polite.write(ask("/polite"));
  while (begun.length < 9) await new Promise(setImmediate);
  expect(begun.filter((path) => path !== "/polite")).toEqual(["/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"]);
  expect(begun.indexOf("/polite")).toBeLessThan(8);
  // Who goes away is not answered.
  greedy.write(["/9", "/10", "/11"].map(ask).join(""));
  while (!begun.includes("/9")) await new Promise(setImmediate);
  greedy.destroy();
  connections.stop(0);
  server.close();
  await once(server, "close");
  expect(begun).not.toContain("/11");
});
