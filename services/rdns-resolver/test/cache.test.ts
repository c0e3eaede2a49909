/** What is kept, for how long, and what each asker is told of it. */

import { afterEach, expect, test } from "@jest/globals";
import { type Behaviour, type DnsServer, honest, ptr, soa, startDnsServer } from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function both(behaviour: Behaviour, env: NodeJS.ProcessEnv = {}): Promise<{ server: DnsServer; service: Service }> {
  const server = await startDnsServer(behaviour);
  running.push(server);
  const service = await startService({ RESOLVERS: server.address, ...env });
  running.push(service);
  return { server, service };
}

test("keeps an answer until its TTL has passed, and max-age is what is left of it", async () => {
  const { server, service } = await both(({ name }) => ({ answers: [ptr(name, "a.example", 400), ptr(name, "b.example", 120)] }));
  expect((await service.ask("193.0.6.1")).reply.maxAgeSeconds).toBe(120);
  service.advance(30);
  const { record, reply } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({
    names: [
      { name: "a.example", ttl_seconds: 400 },
      { name: "b.example", ttl_seconds: 120 },
    ],
    resolver: { duration_ms: 0, attempts: 0 },
    cache: { hit: true, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T09:02:02Z", negative: false, stale: false },
    meta: { generated_at: "2026-11-21T09:00:32Z" },
  });
  expect(reply.maxAgeSeconds).toBe(90);
  service.advance(89.9);
  expect((await service.ask("193.0.6.1")).record.cache?.hit).toBe(true);
  expect(server.queries).toHaveLength(1);
  service.advance(0.1);
  expect((await service.ask("193.0.6.1")).record.cache).toMatchObject({ hit: false, stored_at: "2026-11-21T09:02:02Z" });
  expect(server.queries).toHaveLength(2);
});

test("the ETag stays with what is kept, and changes with what is stored", async () => {
  const { service } = await both(({ name }) => ({ answers: [ptr(name, "a.example", 60)] }));
  const first = await service.ask("193.0.6.1");
  service.advance(59);
  const second = await service.ask("193.0.6.1");
  service.advance(2);
  const third = await service.ask("193.0.6.1");
  expect(first.reply.etag).not.toBe("");
  expect(second.reply.etag).toBe(first.reply.etag);
  expect(third.reply.etag).not.toBe(first.reply.etag);
});

test("keeps an absence no longer than its SOA record's TTL and minimum, and none without one", async () => {
  const { server, service } = await both(({ name }) => {
    if (name.startsWith("1.")) return { rcode: 3, authorities: [soa("193.in-addr.arpa", 60, 900)] };
    return name.startsWith("2.") ? { rcode: 3 } : { authorities: [soa("193.in-addr.arpa", 90_000, 90_000)] };
  });
  await service.ask("193.0.6.1");
  service.advance(59);
  expect((await service.ask("193.0.6.1")).record.cache).toMatchObject({ hit: true, negative: true, stale: false });
  service.advance(1);
  expect((await service.ask("193.0.6.1")).record.cache).toMatchObject({ hit: false, negative: true, stale: false });

  expect((await service.ask("193.0.6.2")).record.cache).toEqual({
    hit: false,
    stored_at: null,
    expires_at: null,
    negative: true,
    stale: false,
  });
  await service.ask("193.0.6.2");
  expect(server.queries.filter(({ name }) => name.startsWith("2."))).toHaveLength(2);

  // An hour at most.
  const { cache } = (await service.ask("193.0.6.3")).record;
  expect(Date.parse(cache!.expires_at!) - Date.parse(cache!.stored_at!)).toBe(3_600_000);
});

test("bounds long TTLs, and keeps nothing whose TTL is zero or beyond 31 bits", async () => {
  const ttls = [1_000_000, 0, 0x8000_0000];
  const { service } = await both(({ name }) => ({ answers: [ptr(name, "a.example", ttls[Number(name[0])]!)] }), {
    RDNS_TTL_MAX_SECONDS: "7200",
  });
  expect((await service.ask("193.0.6.0")).record.cache?.expires_at).toBe("2026-11-21T11:00:02Z");
  for (const ip of ["193.0.6.1", "193.0.6.2"]) {
    const { record, reply } = await service.ask(ip);
    expect(record).toMatchObject({ names: [{ ttl_seconds: 0 }], cache: { stored_at: null, expires_at: null } });
    expect(reply).toMatchObject({ cacheable: false, maxAgeSeconds: 0 });
  }
});

test("keeps failures for a moment", async () => {
  const { server, service } = await both(({ name }) => ({ rcode: name.startsWith("1.") ? 2 : 5 }));
  for (const ip of ["193.0.6.1", "193.0.6.2"]) {
    await service.ask(ip);
    service.advance(4);
    expect((await service.ask(ip)).record.cache).toMatchObject({ hit: true, negative: false, stale: false });
    service.advance(1);
    expect((await service.ask(ip)).record.cache).toMatchObject({ hit: false });
  }
  expect(server.queries).toHaveLength(4);
});

test("many who ask at the same time share one question", async () => {
  const { server, service } = await both((query) => ({ ...honest(query), delayMs: 50 }));
  const answers = await Promise.all(Array.from({ length: 100 }, () => service.ask("193.0.6.1")));
  expect(new Set(answers.map(({ record }) => JSON.stringify([record.names, record.cache]))).size).toBe(1);
  expect(server.queries).toHaveLength(1);
});

test("who has little time gets a timeout without taking the answer from who has more", async () => {
  // Not so the probes, which would find it down.
  const delayMs = (name: string) => (name.endsWith("6.0.193.in-addr.arpa") ? 3_500 : 0);
  const { server, service } = await both((query) => ({ ...honest(query), delayMs: delayMs(query.name) }), {
    RDNS_TIMEOUT_MS: "8000",
    RDNS_BUDGET_MS: "20000",
  });
  // Of one name the patient one asks first, of the other the hasty one.
  const asked = [
    service.ask("193.0.6.1", 20_000),
    service.ask("193.0.6.1", 2_500),
    service.ask("193.0.6.2", 2_500),
    service.ask("193.0.6.2", 20_000),
  ];
  // A machine that stands still may let the time of the request pass before that of the lookup, which is a time-out too.
  const statuses = asked.map((one) =>
    one.then(
      ({ record }) => record.status,
      ({ code }: { code: string }) => code,
    ),
  );
  expect(await Promise.all(statuses)).toEqual(["ok", "timeout", "timeout", "ok"]);
  expect(server.queries.filter(({ name }) => name.startsWith("1.6."))).toHaveLength(1);
});

test("the least recently asked answer goes first when the cache is full", async () => {
  const { service } = await both(honest, { RDNS_CACHE_ENTRIES: "2" });
  await service.ask("193.0.6.1");
  await service.ask("193.0.6.2");
  await service.ask("193.0.6.1");
  await service.ask("193.0.6.3");
  expect((await service.ask("193.0.6.1")).record.cache?.hit).toBe(true);
  expect((await service.ask("193.0.6.2")).record.cache?.hit).toBe(false);
  expect(await service.metric("netfacts_rdns_cache_entries")).toBe(2);
});

test("large answers do not fill the memory", async () => {
  const long = Array.from({ length: 3 }, () => "x".repeat(60)).join(".");
  const { service } = await both(
    ({ name, transport }) =>
      transport === "udp" ? { truncated: true } : { answers: Array.from({ length: 100 }, (_, index) => ptr(name, `n${index}.${long}`)) },
    { RDNS_CACHE_BYTES: "1048576" },
  );
  for (let last = 0; last < 60; last += 1) await service.ask(`193.0.6.${last}`);
  expect(await service.metric("netfacts_rdns_cache_entries")).toBeLessThan(40);
});
