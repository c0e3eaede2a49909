/** What a service says of a connection to NATS that does not come about: in its log, and at `/readyz`. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, afterEach, expect, test } from "@jest/globals";
import { freePort } from "../../../test/support/free-ports.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { busConfigSchema, openBus } from "../src/bus.ts";
import { BusState } from "../src/bus-state.ts";
import { ConfigError, createLogger, createMetrics, createRegistry, loadConfig, type ServiceContext } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-bus-"));
const ends: (() => Promise<void> | void)[] = [];
let server: NatsServer | undefined;
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  readonly context: ServiceContext<unknown>;
  readonly reasons: Map<string, string>;
  readonly lines: { msg: string }[];
}

function seen(): Seen {
  const lines: { msg: string }[] = [];
  const reasons = new Map<string, string>();
  const to = new Writable({
    write(chunk: Buffer, _, done) {
      for (const line of chunk.toString().trim().split("\n")) lines.push(JSON.parse(line));
      done();
    },
  });
  const context: ServiceContext<unknown> = {
    config: {},
    log: createLogger({ service: "x", level: "info", to }),
    metrics: createMetrics("x", createRegistry()),
    tracing: null,
    stopping: new AbortController().signal,
    explain: (topic, reason) => void (reason === null ? reasons.delete(topic) : reasons.set(topic, reason)),
    onStop: (close) => void ends.push(close),
  };
  return { context, reasons, lines };
}

async function until(what: () => boolean): Promise<void> {
  for (const end = performance.now() + 15_000; !what() && performance.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 10));
  expect(what()).toBe(true);
}

test("a wrong password is named in the log once and while it lasts in the readiness, and a right one in the file ends it", async () => {
  server = await startNatsServer({ own: true, config: 'authorization { user: "x", password: "right" }' });
  const path = join(folder, "password");
  writeFileSync(path, "wrong");
  const { context, reasons, lines } = seen();
  const config = loadConfig(busConfigSchema, { NATS_URL: server.url, NATS_USER: "x", NATS_PASSWORD_FILE: path });
  const opening = openBus("x", config, context);
  await until(() => reasons.get("nats")?.includes("refuses") === true);
  const reason = `127.0.0.1:${server.port} refuses user "x" or the password (NATS_USER, NATS_PASSWORD_FILE ${path})`;
  expect(reasons.get("nats")).toBe(`no connection to NATS: ${reason}`);
  // Some more attempts.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(lines.map(({ msg }) => msg)).toEqual([`no connection to NATS: ${reason}`]);
  writeFileSync(path, "right");
  await opening;
  expect(reasons.size).toBe(0);
});

test("a server that is away is named in the readiness from the start, and no more once it is there", async () => {
  const port = await freePort();
  const { context, reasons } = seen();
  const connected = async () => /^netfacts_nats_connected\S* (\d)$/m.exec(await context.metrics.registry.text())?.[1];
  const opening = openBus("x", loadConfig(busConfigSchema, { NATS_URL: `nats://127.0.0.1:${port}` }), context);
  expect(await connected()).toBe("0");
  expect(reasons.get("nats")).toBe("no connection to NATS yet");
  await until(() => reasons.get("nats")?.startsWith(`no connection to NATS: 127.0.0.1:${port} refuses the connection`) === true);
  const late = await startNatsServer({ port });
  ends.push(() => late.stop());
  const messaging = await opening;
  expect(await connected()).toBe("1");
  expect(reasons.size).toBe(0);
  // From 0, so that a rate sees the first one.
  messaging.subscribe("a.subject", () => {});
  const text = await context.metrics.registry.text();
  for (const series of [
    'frames_refused_total{lane="single"',
    'frames_refused_total{lane="batch"',
    'broadcasts_refused_total{subject="a.subject"',
  ])
    expect(text).toContain(`netfacts_${series},service="x"} 0\n`);
});

test("a connection that does not come back is named in the log again and again, with the latest reason, until it does", async () => {
  const { context, reasons, lines } = seen();
  const state = new BusState(context.log, context.explain, 50);
  ends.push(() => state.stop());
  state.changed(false);
  state.refused({ server: "a", reason: "a refuses the connection" });
  state.refused({ server: "a", reason: "a refuses the connection" });
  const reminders = () => lines.filter(({ msg }) => msg === "still no connection to NATS: a refuses the connection").length;
  await until(() => reminders() >= 2);
  expect(lines.filter(({ msg }) => msg === "no connection to NATS: a refuses the connection")).toHaveLength(1);
  expect(reasons.get("nats")).toBe("no connection to NATS: a refuses the connection");
  state.changed(true);
  const before = reminders();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(reminders()).toBe(before);
  expect(reasons.size).toBe(0);
});

test("settings that make no sense together end the service with their sentences", async () => {
  const config = loadConfig(busConfigSchema, { NATS_USER: "x", NATS_KEY_FILE: "/k", NATS_URL: "tls://127.0.0.1:1" });
  const opening = openBus("x", config, seen().context);
  await expect(opening).rejects.toThrow(ConfigError);
  await expect(opening).rejects.toMatchObject({
    faults: ["NATS_USER needs NATS_PASSWORD or NATS_PASSWORD_FILE", "NATS_KEY_FILE needs NATS_CERT_FILE, the certificate of the key"],
  });
});
