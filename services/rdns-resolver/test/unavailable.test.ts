/** No nameserver: told at once as a problem, told apart from a slow name, and over by itself. */

import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import type { ReplyItem } from "@netfacts/messaging";
import { startRunningTime } from "../../../test/support/running-time.ts";
import { honest, startDnsServer } from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function serviceOf(env: NodeJS.ProcessEnv): Promise<Service> {
  const service = await startService(env);
  running.push(service);
  return service;
}

/** A port of loopback that nothing listens on. */
async function deadPort(): Promise<number> {
  const server = await startDnsServer(honest);
  await server.stop();
  return server.port;
}

function outcome(reply: ReplyItem): string {
  const body = JSON.parse(Buffer.from(reply.body).toString()) as { code?: string; status?: string };
  return body.code ?? body.status ?? "";
}

async function until(service: Service, wanted: string, ip: string): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (let last = ""; performance.now() < deadline; await sleep(20)) {
    last = outcome(await service.reply(ip, 2_000));
    if (last === wanted) return;
  }
  throw new Error(`never ${wanted}`);
}

test("a nameserver that is not there is a problem at once, and no more when it comes back", async () => {
  const port = await deadPort();
  const service = await serviceOf({ RESOLVERS: `127.0.0.1:${port}` });
  const ran = startRunningTime();
  const reply = await service.reply("193.0.6.1", 10_000);
  // One attempt alone may wait for two seconds.
  expect(ran()).toBeLessThan(2_000);
  expect(reply).toMatchObject({ status: 503, contentType: "problem", counted: false, cacheable: false });
  expect(outcome(reply)).toBe("resolver_unavailable");
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(0);

  const server = await startDnsServer(honest, { port });
  running.push(server);
  await until(service, "ok", "193.0.6.2");
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(1);
  expect(service.log.map((line) => line.split(" {")[0])).toEqual([
    "nameserver does not answer and is probed until it does. Check that it runs and can be reached",
    "nameserver answers",
  ]);
});

test("a nameserver that falls silent is found out within the first question, and later ones do not wait", async () => {
  const server = await startDnsServer(() => null);
  running.push(server);
  const service = await serviceOf({ RESOLVERS: server.address, RDNS_TIMEOUT_MS: "1000" });
  expect(outcome(await service.reply("193.0.6.1", 10_000))).toBe("resolver_unavailable");
  expect(outcome(await service.reply("193.0.6.2"))).toBe("resolver_unavailable");
  // Without an attempt there is nothing to wait for.
  expect(server.queries.map(({ name }) => name)).not.toContain("2.6.0.193.in-addr.arpa");

  server.behave(honest);
  await until(service, "ok", "193.0.6.3");
});

test("many slow names do not make an answering nameserver unavailable", async () => {
  const server = await startDnsServer((query) => (query.name.endsWith("6.0.193.in-addr.arpa") ? null : honest(query)));
  running.push(server);
  // Probes have longer than a busy machine holds up this process, which is the nameserver too.
  const service = await serviceOf({ RESOLVERS: server.address, RDNS_TIMEOUT_MS: "100", RDNS_PROBE_INTERVAL_MS: "5000" });
  for (let round = 0; round < 3; round += 1) {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => service.reply(`193.0.6.${20 * round + index}`)));
    expect(new Set(replies.map(outcome))).toEqual(new Set(["timeout"]));
  }
  expect(outcome(await service.reply("193.0.7.1"))).toBe("ok");
});

test("a nameserver that is down is passed over until it answers", async () => {
  const port = await deadPort();
  const second = await startDnsServer(honest);
  running.push(second);
  const service = await serviceOf({ RESOLVERS: `127.0.0.1:${port},${second.address}` });
  expect(outcome(await service.reply("193.0.6.1"))).toBe("ok");
  expect(outcome(await service.reply("193.0.6.2"))).toBe("ok");
  expect(await service.metric("netfacts_rdns_nameserver_up", `server="127.0.0.1:${port}"`)).toBe(0);
});

test("an answer that cannot be read shows that the nameserver is there", async () => {
  const server = await startDnsServer(() => ({
    raw: ({ bytes }) => Buffer.concat([Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, 9]), bytes.subarray(8)]),
  }));
  running.push(server);
  const service = await serviceOf({ RESOLVERS: server.address, RDNS_TIMEOUT_MS: "50" });
  expect(outcome(await service.reply("193.0.6.1"))).toBe("timeout");
  expect(outcome(await service.reply("193.0.6.2"))).toBe("timeout");
});

test("a host name that has no address is a nameserver that is down", async () => {
  const service = await serviceOf({ RESOLVERS: "nameserver.invalid" });
  expect(outcome(await service.reply("193.0.6.1"))).toBe("resolver_unavailable");
});

test("a nameserver may be named by a host name", async () => {
  const server = await startDnsServer(honest);
  running.push(server);
  const service = await serviceOf({ RESOLVERS: `localhost:${server.port}` });
  await until(service, "ok", "193.0.6.1");
});

test("reads resolv.conf again while no nameserver answers", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rdns-"));
  running.push({ stop: () => rm(folder, { recursive: true }) });
  const file = join(folder, "resolv.conf");
  // Nothing listens on port 53 of these addresses of loopback.
  await writeFile(file, "nameserver 127.0.0.253\n");
  const service = await serviceOf({ RESOLV_CONF: file });
  await until(service, "resolver_unavailable", "193.0.6.1");
  // At once, as no reader may see the file half written.
  await writeFile(`${file}.new`, "nameserver 127.0.0.254\n");
  await rename(`${file}.new`, file);
  for (let turn = 0; turn < 100 && !service.log.some((line) => line.includes("127.0.0.254")); turn += 1) {
    await service.reply("193.0.6.1", 2_000);
    await sleep(20);
  }
  expect(
    service.log.map((line) =>
      line.replace("nameserver does not answer and is probed until it does. Check that it runs and can be reached ", ""),
    ),
  ).toEqual(['{"server":"127.0.0.253:53"}', '{"server":"127.0.0.254:53"}']);
});

test("stops while a nameserver is down, and while questions are open", async () => {
  const down = await startService({ RESOLVERS: `127.0.0.1:${await deadPort()}` });
  await down.reply("193.0.6.1");
  await down.stop();

  const server = await startDnsServer(() => null);
  running.push(server);
  const waiting = await startService({ RESOLVERS: server.address, RDNS_TIMEOUT_MS: "300" });
  const open = waiting.reply("193.0.6.1");
  await sleep(50);
  const [reply] = await Promise.all([open, waiting.stop()]);
  expect(outcome(reply)).toBe("resolver_unavailable");
});

test("leaves no socket and no timer behind", async () => {
  const left = () =>
    process
      .getActiveResourcesInfo()
      .filter((kind) => /UDP|TCP|Timeout/.test(kind))
      .sort();
  // Handles close at the end of a turn, those of earlier tests too.
  await sleep(20);
  const before = left();
  const servers = [
    await startDnsServer((query) => (query.transport === "udp" ? { truncated: true } : honest(query))),
    await startDnsServer(() => null),
  ];
  const service = await startService({
    RESOLVERS: [`127.0.0.1:${await deadPort()}`, ...servers.map(({ address }) => address)].join(),
    RDNS_TIMEOUT_MS: "100",
  });
  await Promise.all(Array.from({ length: 20 }, (_, index) => service.reply(`193.0.6.${index}`)));
  expect(left().length).toBeGreaterThan(before.length);
  await service.stop();
  for (const server of servers) await server.stop();
  // Closed handles are gone in a later turn, and a busy machine takes its time for those.
  for (let turn = 0; turn < 100 && left().length > before.length; turn += 1) await sleep(20);
  expect(left()).toEqual(before);
});
