/** Several nameservers: who is asked first. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { type Behaviour, type DnsServer, honest, ptr, type Reaction, startDnsServer } from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function serverOf(behaviour: Behaviour): Promise<DnsServer> {
  const server = await startDnsServer(behaviour);
  running.push(server);
  return server;
}

async function serviceOf(servers: readonly DnsServer[], env: NodeJS.ProcessEnv = {}): Promise<Service> {
  const service = await startService({ RESOLVERS: servers.map(({ address }) => address).join(), RDNS_PROBE_INTERVAL_MS: "2000", ...env });
  running.push(service);
  return service;
}

const isProbe = ({ name }: { readonly name: string }) => name.startsWith("1.0.0.127.");
const questions = ({ queries }: DnsServer) => queries.filter((query) => !isProbe(query)).length;
const late =
  (delayMs: number): Behaviour =>
  (query) => ({ ...([honest(query)].flat()[0] as Reaction), delayMs });

/** Asks about new addresses, and counts how many questions of each round reach the server. */
let next = 0;
async function shareOf(server: DnsServer, service: Service, total: number): Promise<number> {
  const before = questions(server);
  for (let index = 0; index < total; index += 1) {
    next += 1;
    await service.ask(`193.1.${next >> 8}.${next & 255}`);
  }
  return (questions(server) - before) / total;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    if (await condition()) return;
    await sleep(50);
  }
  throw new Error("never");
}

test("the one that answers clearly sooner is asked first", async () => {
  const slow = await serverOf(late(100));
  const quick = await serverOf(honest);
  const service = await serviceOf([slow, quick], { RDNS_MEASURE_INTERVAL_MS: "100" });
  // Nothing is known yet.
  await service.ask("193.0.6.1");
  expect(questions(slow)).toBe(1);
  await until(async () => (await shareOf(slow, service, 5)) === 0);
  expect(await service.metric("netfacts_rdns_nameserver_latency_seconds", `server="${slow.address}"`)).toBeGreaterThan(0.08);
});

test("names that take long do not make their nameserver slow", async () => {
  const first = await serverOf((query) => (isProbe(query) ? honest(query) : late(60)(query)));
  const second = await serverOf(honest);
  const service = await serviceOf([first, second], { RDNS_MEASURE_INTERVAL_MS: "50" });
  await sleep(300);
  // On a busy machine a probe may be late by itself.
  await until(async () => (await shareOf(first, service, 10)) === 1);
});

test("one that fails all the time is asked after the other, and first again once it works", async () => {
  const failing = await serverOf((query) => (isProbe(query) ? honest(query) : { rcode: 2 }));
  const working = await serverOf(honest);
  const service = await serviceOf([failing, working]);
  expect(await shareOf(failing, service, 5)).toBe(1);
  await shareOf(failing, service, 20);
  // One question of fifty.
  const share = await shareOf(failing, service, 100);
  expect(share).toBeGreaterThan(0);
  expect(share).toBeLessThan(0.1);
  failing.behave(honest);
  await until(async () => (await shareOf(failing, service, 50)) === 1);
});

test("a lookup that runs out of queries says nothing about its nameserver", async () => {
  const names = ["a.example", "b.example", "c.example"];
  const cutting: Behaviour = ({ name, type }) => (type === "PTR" ? { answers: names.map((one) => ptr(name, one)) } : { truncated: true });
  const first = await serverOf(cutting);
  const second = await serverOf(honest);
  const service = await serviceOf([first, second], { RDNS_FORWARD_NAMES_MAX: "20", RDNS_QUERIES_MAX: "4" });
  for (let last = 0; last < 10; last += 1) await service.ask(`193.0.6.${last}`);
  expect(questions(first)).toBe(40);
  expect(questions(second)).toBe(0);
});

test("lookups that wait for a slow zone over TCP do not fail those of others", async () => {
  const isSlow = ({ name }: { readonly name: string }) => name.endsWith(".7.0.193.in-addr.arpa");
  const server = await serverOf((query) => {
    if (isProbe(query)) return honest(query);
    if (query.transport === "udp") return { truncated: true };
    return isSlow(query) ? late(1_000)(query) : honest(query);
  });
  const service = await serviceOf([server], { RDNS_TIMEOUT_MS: "8000", RDNS_BUDGET_MS: "8000" });
  const slow = Array.from({ length: 64 }, (_, last) => service.ask(`193.0.7.${last}`, 10_000));
  const tcp = () => server.queries.filter(({ transport }) => transport === "tcp").length;
  await until(async () => tcp() === 64);
  expect((await service.ask("193.0.6.1", 10_000)).record.status).toBe("ok");
  expect(new Set((await Promise.all(slow)).map(({ record }) => record.status))).toEqual(new Set(["ok"]));
});

test("one nameserver alone is not measured", async () => {
  const server = await serverOf(honest);
  const service = await serviceOf([server], { RDNS_MEASURE_INTERVAL_MS: "50" });
  await sleep(200);
  await service.ask("193.0.6.1");
  expect(server.queries).toHaveLength(1);
});
