/** Bodies that never end: neither a gateway that died without a word nor one that sends on and on holds the server up. */

import { connect } from "node:net";
import { expect, test } from "@jest/globals";
import { internalHeaders } from "@netfacts/contracts";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import type { FastifyInstance } from "fastify";
import { createServer } from "../../src/http/server.ts";
import { createIngestMetrics } from "../../src/metrics.ts";
import { proxyToken } from "../support/service.ts";

interface Half {
  send(text: string): void;
  /** Milliseconds until the connection was ended. */
  readonly ended: Promise<number>;
}

/** A server with one route, which must not be reached, and half of a body on its way to it. */
async function startWithHalf(idleMs: number): Promise<{ server: FastifyInstance; half: Half; reached: () => boolean }> {
  const metrics = createIngestMetrics(createMetrics("ingest", createRegistry()));
  const silent = { info: () => undefined, error: () => undefined };
  const server = createServer({ proxyToken, errorDocsBase: "/", metrics, log: silent, idleMs });
  let reached = false;
  server.post("/taken", async () => {
    reached = true;
    return "";
  });
  const socket = connect(Number(new URL(await server.listen({ host: "127.0.0.1", port: 0 })).port), "127.0.0.1");
  const since = performance.now();
  const ended = new Promise<number>((resolve) => socket.once("close", () => resolve(performance.now() - since)));
  socket.on("error", () => {});
  const head = `Host: x\r\n${internalHeaders.proxyToken}: ${proxyToken}\r\nContent-Type: application/json\r\nContent-Length: 1000`;
  socket.write(`POST /taken HTTP/1.1\r\n${head}\r\n\r\n{}`);
  return { server, half: { send: (text) => void socket.write(text), ended }, reached: () => reached };
}

test("a connection that falls silent in the middle of a body is ended, and the half is not taken", async () => {
  const { server, half, reached } = await startWithHalf(300);
  expect(await half.ended).toBeGreaterThan(250);
  expect(reached()).toBe(false);
  await server.close();
});

test("a stop waits for a body, and not for long", async () => {
  const { server, half, reached } = await startWithHalf(60_000);
  const trickle = setInterval(() => half.send(" "), 50);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await server.close();
  expect(await half.ended).toBeGreaterThan(4_000);
  expect(reached()).toBe(false);
  clearInterval(trickle);
});
