/** Answers around the end of their life: renewed before it where many ask, and shown after it where DNS gives no newer one. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { address, type Behaviour, type DnsServer, ptr, soa, startDnsServer } from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

/** No query is repeated or given up because the machine is busy. */
const patient = { RDNS_TIMEOUT_MS: "10000", RDNS_BUDGET_MS: "20000" };

async function both(behaviour: Behaviour, env: NodeJS.ProcessEnv = {}): Promise<{ server: DnsServer; service: Service }> {
  const server = await startDnsServer(behaviour, { root: { authentic: true, answers: [soa(".", 60, 60)] } });
  running.push(server);
  const service = await startService({ RESOLVERS: server.address, ...patient, ...env });
  running.push(service);
  return { server, service };
}

const ip = "193.0.6.1";
const named: Behaviour = ({ name }) => ({ answers: [ptr(name, "a.example", 100)] });
/** Answers probes only. */
const silent: Behaviour = (query) => (query.name.startsWith("1.0.0.127.") ? named(query) : null);

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !condition(); turn += 1) await sleep(10);
  expect(condition()).toBe(true);
}

test.each<[string, Behaviour, NodeJS.ProcessEnv]>([
  ["servfail", () => ({ rcode: 2 }), {}],
  ["refused", () => ({ rcode: 5 }), {}],
  ["timeout", silent, { RDNS_TIMEOUT_MS: "1000", RDNS_BUDGET_MS: "2000" }],
])("an expired answer is shown instead of %s, and says so", async (failure, behaviour, env) => {
  const { server, service } = await both(named, env);
  const first = await service.ask(ip);
  server.behave(behaviour);
  service.advance(101);
  const { record, reply } = await service.ask(ip);
  expect(record).toMatchObject({
    status: "ok",
    names: [{ name: "a.example" }],
    cache: { hit: true, stale: true, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T09:01:42Z", negative: false },
    meta: { warnings: [{ code: "dns_stale", detail: "The answer expired at 2026-11-21T09:01:42Z, and DNS gives no newer one" }] },
  });
  expect(record.resolver?.attempts).toBeGreaterThan(0);
  expect(reply).toMatchObject({ status: 200, cacheable: true, maxAgeSeconds: 5 });
  expect(reply.etag).not.toBe(first.reply.etag);
  expect(await service.metric("netfacts_rdns_stale_answers_total")).toBe(1);
  expect(await service.metric("netfacts_rdns_lookups_total", `outcome="${failure}"`)).toBe(1);
});

test("an answer that was kept by a clock which was ahead ends when the clock is set back", async () => {
  const { server, service } = await both(named);
  service.advance(3_600);
  await service.ask(ip);
  service.advance(-3_600);
  server.behave(({ name }) => ({ answers: [ptr(name, "b.example", 100)] }));
  const { record, reply } = await service.ask(ip);
  expect(record).toMatchObject({
    names: [{ name: "b.example" }],
    cache: { hit: false, stale: false, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T09:01:42Z" },
  });
  expect(reply.maxAgeSeconds).toBeLessThanOrEqual(100);
});

test("the pause after a failure is no longer when the clock is set back in it", async () => {
  const { server, service } = await both(named);
  await service.ask(ip);
  server.behave(() => ({ rcode: 2 }));
  service.advance(3_600);
  expect((await service.ask(ip)).record.cache).toMatchObject({ hit: true, stale: true });
  service.advance(-3_400);
  server.behave(({ name }) => ({ answers: [ptr(name, "b.example", 100)] }));
  expect((await service.ask(ip)).record).toMatchObject({ names: [{ name: "b.example" }], cache: { stale: false } });
});

test("after a failure it is tried again in a moment, not with each request, and a new answer ends it", async () => {
  const { server, service } = await both(named);
  await service.ask(ip);
  server.behave(() => ({ rcode: 2 }));
  service.advance(101);
  await service.ask(ip);
  // The resolver validates, so that a failure takes a second query.
  expect(server.queries).toHaveLength(3);
  service.advance(4);
  expect((await service.ask(ip)).record).toMatchObject({ cache: { stale: true }, resolver: { attempts: 0, duration_ms: 0 } });
  expect(server.queries).toHaveLength(3);
  server.behave(named);
  service.advance(1);
  expect((await service.ask(ip)).record).toMatchObject({ cache: { hit: false, stale: false }, meta: { warnings: [] } });
});

test("an expired absence is shown too, and an expired failure is not", async () => {
  const { server, service } = await both(({ name }) =>
    name.startsWith("1.") ? { rcode: 3, authorities: [soa("193.in-addr.arpa", 60, 60)] } : { rcode: 5 },
  );
  await service.ask("193.0.6.1");
  await service.ask("193.0.6.2");
  server.behave(() => ({ rcode: 2 }));
  service.advance(61);
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "nxdomain", cache: { stale: true, negative: true } });
  expect((await service.ask("193.0.6.2")).record).toMatchObject({ status: "servfail", cache: { stale: false } });
});

test("an answer that fails validation is not hidden by an expired one", async () => {
  const { server, service } = await both(named);
  await service.ask(ip);
  server.behave((query) => (query.checkingDisabled ? named(query) : { rcode: 2 }));
  service.advance(101);
  expect((await service.ask(ip)).record).toMatchObject({ status: "servfail", dnssec: "bogus", names: [], cache: { stale: false } });
  server.behave(() => ({ rcode: 2 }));
  service.advance(6);
  expect((await service.ask(ip)).record).toMatchObject({ status: "servfail", dnssec: null, names: [] });
});

test.each<[string, Behaviour, string]>([
  ["that may not be kept", ({ name }) => ({ answers: [ptr(name, "new.example", 0)] }), "ok"],
  ["that the name is gone, without a time", () => ({ rcode: 3 }), "nxdomain"],
])("a newer answer %s ends the expired one", async (_, newer, status) => {
  const { server, service } = await both(named);
  await service.ask(ip);
  service.advance(101);
  server.behave(newer);
  expect((await service.ask(ip)).record).toMatchObject({ status, cache: { stored_at: null, stale: false } });
  server.behave(() => ({ rcode: 2 }));
  expect((await service.ask(ip)).record).toMatchObject({ status: "servfail", names: [], cache: { stale: false } });
});

test("an expired answer is shown no longer than the setting allows", async () => {
  const { server, service } = await both(named, { RDNS_STALE_MAX_SECONDS: "60" });
  await service.ask(ip);
  server.behave(() => ({ rcode: 2 }));
  service.advance(159);
  expect((await service.ask(ip)).record.cache?.stale).toBe(true);
  service.advance(2);
  expect((await service.ask(ip)).record).toMatchObject({ status: "servfail", cache: { stale: false } });

  const never = await both(named, { RDNS_STALE_MAX_SECONDS: "0" });
  await never.service.ask(ip);
  never.server.behave(() => ({ rcode: 2 }));
  never.service.advance(100);
  expect((await never.service.ask(ip)).record.status).toBe("servfail");
});

test("without a nameserver, and with too many lookups, expired answers are shown", async () => {
  const { server, service } = await both(named, { RDNS_IN_FLIGHT_MAX: "1" });
  await service.ask("193.0.6.1");
  await service.ask("193.0.6.2");
  service.advance(101);
  server.behave((query) => [{ ...named(query), delayMs: 200 } as never].flat());
  const waiting = service.ask("193.0.6.1");
  expect((await service.ask("193.0.6.2")).record).toMatchObject({ status: "ok", cache: { stale: true } });
  expect(await service.metric("netfacts_rdns_lookups_total", 'outcome="overloaded"')).toBe(1);
  await waiting;
  await server.stop();
  service.advance(101);
  const { record, reply } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({ status: "ok", cache: { stale: true } });
  expect(reply.maxAgeSeconds).toBe(5);
});

test("an answer that many ask for is renewed before its end, and nobody waits for it", async () => {
  const { server, service } = await both(named);
  for (let hit = 0; hit < 3; hit += 1) await service.ask(ip);
  service.advance(89);
  await service.ask(ip);
  expect(server.queries).toHaveLength(1);
  service.advance(2);
  expect((await service.ask(ip)).record).toMatchObject({ cache: { hit: true }, resolver: { attempts: 0 } });
  await until(() => server.queries.length === 2);
  await sleep(50);
  service.advance(10);
  expect((await service.ask(ip)).record.cache).toMatchObject({ hit: true, stale: false, stored_at: "2026-11-21T09:01:33Z" });
  expect(server.queries).toHaveLength(2);
  expect(await service.metric("netfacts_rdns_refreshes_total")).toBe(1);
});

test("an answer that hardly anybody asks for is not renewed", async () => {
  const { server, service } = await both(named);
  await service.ask(ip);
  service.advance(95);
  await service.ask(ip);
  await sleep(50);
  expect(server.queries).toHaveLength(1);
});

test("a renewal that fails leaves the answer as it is, and is not repeated with each request", async () => {
  const { server, service } = await both(named);
  for (let hit = 0; hit < 3; hit += 1) await service.ask(ip);
  server.behave(() => ({ rcode: 5 }));
  service.advance(91);
  await service.ask(ip);
  await until(() => server.queries.length === 2);
  await sleep(50);
  for (let hit = 0; hit < 3; hit += 1) expect((await service.ask(ip)).record.cache).toMatchObject({ hit: true, stale: false });
  await sleep(50);
  expect(server.queries).toHaveLength(2);
});

test("a renewal whose forward lookups fail leaves the answer as it is", async () => {
  const forward =
    (answer: Behaviour): Behaviour =>
    (query) =>
      query.type === "PTR" ? named(query) : answer(query);
  const { server, service } = await both(
    forward(({ name }) => ({ answers: [address(name, ip)] })),
    { RDNS_FORWARD_NAMES_MAX: "1" },
  );
  for (let hit = 0; hit < 3; hit += 1) await service.ask(ip);
  server.behave(forward(() => ({ rcode: 2 })));
  service.advance(91);
  await service.ask(ip);
  await until(() => server.queries.length === 4);
  await sleep(50);
  for (let hit = 0; hit < 3; hit += 1) {
    expect((await service.ask(ip)).record).toMatchObject({ forward_confirmed: true, cache: { stored_at: "2026-11-21T09:00:02Z" } });
  }
  await sleep(50);
  expect(server.queries).toHaveLength(4);
  service.advance(10);
  expect((await service.ask(ip)).record).toMatchObject({ forward_confirmed: null, cache: { hit: false } });
});

test("a minimum bounds short lives, and what has no TTL is still not kept", async () => {
  const { service } = await both(({ name }) => (name.startsWith("1.") ? { answers: [ptr(name, "a.example", 0)] } : { rcode: 3 }), {
    RDNS_TTL_MIN_SECONDS: "30",
  });
  expect((await service.ask("193.0.6.1")).record).toMatchObject({
    names: [{ ttl_seconds: 0 }],
    cache: { expires_at: "2026-11-21T09:00:32Z" },
  });
  expect((await service.ask("193.0.6.2")).record.cache).toMatchObject({ stored_at: null });
});

test("what is kept is counted in bytes", async () => {
  const { service } = await both((query) => (query.type === "PTR" ? named(query) : { answers: [address(query.name, ip)] }), {
    RDNS_FORWARD_NAMES_MAX: "1",
  });
  expect(await service.metric("netfacts_rdns_cache_bytes")).toBe(0);
  await service.ask(ip);
  const one = await service.metric("netfacts_rdns_cache_bytes");
  expect(one).toBeGreaterThan(500);
  await service.ask("193.0.6.2");
  expect(await service.metric("netfacts_rdns_cache_bytes")).toBe(2 * one);
});
