/** The telemetry port: its three pages, what it refuses, and a port that is taken. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createMetrics, createRegistry, type OperationsServer, startOperationsServer } from "../src/index.ts";

let ready: boolean;
let reasons: string[];
let server: OperationsServer;

function start(port = 0): Promise<OperationsServer> {
  const metrics = createMetrics("one", createRegistry());
  metrics.counter({ name: "netfacts_asked_total", help: "Questions" }).inc();
  return startOperationsServer({ host: "127.0.0.1", port, ready: () => ready, reasons: () => reasons, metrics });
}

beforeEach(async () => {
  ready = true;
  reasons = [];
  server = await start();
});

afterEach(() => server.close());

test("tells that the process answers", async () => {
  ready = false;
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test("tells readiness as it is now", async () => {
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  ready = false;
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
});

test("says what the process waits for while it is not ready, and what it lacks while it is", async () => {
  expect(await (await fetch(`${server.url}/readyz`)).text()).toBe("ready\n");
  reasons = ["no connection to NATS: 127.0.0.1:4222 refuses the connection"];
  expect(await (await fetch(`${server.url}/readyz`)).text()).toBe(`ready\n${reasons[0]}\n`);
  ready = false;
  expect(await (await fetch(`${server.url}/readyz`)).text()).toBe(`not ready\n${reasons[0]}\n`);
});

test("shows the metrics as Prometheus text", async () => {
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get("content-type")).toContain("text/plain");
  expect(await response.text()).toContain('netfacts_asked_total{service="one"} 1');
});

test("answers 404 for any other page", async () => {
  expect((await fetch(`${server.url}/admin`)).status).toBe(404);
});

test("answers 405 for any other method", async () => {
  const response = await fetch(`${server.url}/metrics`, { method: "POST" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("says which port is taken and what to do", async () => {
  const port = Number(new URL(server.url).port);
  await expect(start(port)).rejects.toThrow(`port ${port} of 127.0.0.1 is in use; choose another with TELEMETRY_PORT=`);
});
