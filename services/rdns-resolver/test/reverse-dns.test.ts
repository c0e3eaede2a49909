/** The service against a nameserver of ours: every status, aliases, bounds and lies. */

import { afterEach, expect, test } from "@jest/globals";
import {
  type Behaviour,
  cname,
  type DnsServer,
  type DnsServerOptions,
  honest,
  nameOf,
  ptr,
  questionEnd,
  soa,
  startDnsServer,
} from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const ip = "193.0.6.139";
const question = "139.6.0.193.in-addr.arpa";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function serverOf(behaviour: Behaviour, options?: DnsServerOptions): Promise<DnsServer> {
  const server = await startDnsServer(behaviour, options);
  running.push(server);
  return server;
}

async function serviceOf(servers: readonly DnsServer[], env: NodeJS.ProcessEnv = {}): Promise<Service> {
  const service = await startService({ RESOLVERS: servers.map(({ address }) => address).join(), ...env });
  running.push(service);
  return service;
}

async function both(behaviour: Behaviour, env?: NodeJS.ProcessEnv): Promise<{ server: DnsServer; service: Service }> {
  const server = await serverOf(behaviour);
  return { server, service: await serviceOf([server], env) };
}

test("answers with the names, their TTL, and what is not known is null", async () => {
  const { service } = await both(({ name }) => ({ answers: [ptr(name, "www.ripe.net", 3600)] }));
  const { record, reply } = await service.ask(ip);
  expect(record).toEqual({
    ip,
    query_name: question,
    status: "ok",
    names: [{ name: "www.ripe.net", ttl_seconds: 3600, forward: null }],
    forward_confirmed: null,
    dnssec: "indeterminate",
    resolver: { duration_ms: expect.any(Number), attempts: 1 },
    cache: { hit: false, stored_at: "2026-11-21T09:00:02Z", expires_at: "2026-11-21T10:00:02Z", negative: false, stale: false },
    meta: { request_id: "test-1", generated_at: "2026-11-21T09:00:02Z", data: {}, warnings: [] },
  });
  expect(reply).toMatchObject({ status: 200, contentType: "json", counted: true, cacheable: true, maxAgeSeconds: 300 });
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(1);
  expect(await service.metric("netfacts_rdns_lookups_total", 'outcome="ok"')).toBe(1);
});

test("asks for IPv6 addresses under ip6.arpa, and a nameserver with an IPv6 address", async () => {
  const server = await serverOf(honest, { host: "::1" });
  const service = await serviceOf([server]);
  const { record } = await service.ask("2001:67c:2e8:22::c100:68b");
  expect(record.query_name).toBe("b.8.6.0.0.0.1.c.0.0.0.0.0.0.0.0.2.2.0.0.8.e.2.0.c.7.6.0.1.0.0.2.ip6.arpa");
  expect(record.names.map(({ name }) => name)).toEqual([nameOf(record.query_name)]);
});

test("asks with recursion and validation desired and EDNS for 1,232 bytes, from several ports and under many ids", async () => {
  const { server, service } = await both(honest);
  await Promise.all(Array.from({ length: 200 }, (_, index) => service.ask(`193.0.6.${index}`)));
  const ids = new Set(server.queries.map(({ bytes }) => bytes.readUInt16BE(0)));
  expect(ids.size).toBeGreaterThan(190);
  expect(server.sources.size).toBe(4);
  const { bytes, edns } = server.queries[0]!;
  expect(edns).toBe(true);
  expect(bytes.readUInt16BE(2)).toBe(0x0120);
  // OPT: root, type 41, then the payload size in place of a class.
  expect(bytes.readUInt16BE(questionEnd(bytes) + 3)).toBe(1232);
});

test("tells names in one order, each once, however the nameserver turns them", async () => {
  const names = ["b.example", "A.example", "c.example", "a.example"];
  const { service } = await both(({ name, earlier }) => ({
    answers: names.map((_, index) => ptr(name, names[(index + earlier) % names.length]!, index === 0 ? 0 : 60)),
  }));
  const first = await service.ask(ip);
  const second = await service.ask(ip);
  expect(first.record.names.map(({ name }) => name)).toEqual(["A.example", "b.example", "c.example"]);
  expect(second.record.names.map(({ name }) => name)).toEqual(["A.example", "b.example", "c.example"]);
  expect(second.record.cache?.hit).toBe(false);
});

test("shows a bounded number of names and says how many there are", async () => {
  const { service } = await both(({ name, transport }) =>
    transport === "udp" ? { truncated: true } : { answers: Array.from({ length: 250 }, (_, index) => ptr(name, `n${index}.example`)) },
  );
  const { record } = await service.ask(ip);
  expect(record.names).toHaveLength(100);
  expect(record.meta.warnings).toEqual([{ code: "truncated", detail: "100 of 250 names are shown" }]);
  expect(record.resolver?.attempts).toBe(2);
});

test("writes labels with dots, spaces and bytes beyond ASCII as RFC 1035 has it", async () => {
  const label = Buffer.from([0x61, 0x2e, 0x20, 0x5c, 0xff, 0x22, 0x00]);
  const rdata = Buffer.concat([Buffer.from([label.length]), label, Buffer.from([7]), Buffer.from("example"), Buffer.from([0])]);
  const { service } = await both(() => ({ raw: ({ bytes }) => answerWith(bytes, rdata) }));
  const { record } = await service.ask(ip);
  expect(record.names.map(({ name }) => name)).toEqual(['a\\.\\032\\\\\\255\\"\\000.example']);
});

test("follows the aliases of a classless delegation inside the answer", async () => {
  const target = "139.128/25.6.0.193.in-addr.arpa";
  const { server, service } = await both(({ name }) => ({ answers: [cname(name, target, 120), ptr(target, "host.example", 600)] }));
  const { record } = await service.ask(ip);
  expect(record).toMatchObject({ status: "ok", names: [{ name: "host.example", ttl_seconds: 600 }] });
  expect(record.cache?.expires_at).toBe("2026-11-21T09:02:02Z");
  expect(server.queries).toHaveLength(1);
});

test("asks on where a nameserver leaves the alias to us", async () => {
  const target = "139.rev.customer.example";
  const { server, service } = await both(({ name }) =>
    name === question ? { answers: [cname(name, target, 120)] } : { answers: [ptr(name, "host.example", 60)] },
  );
  const { record } = await service.ask(ip);
  expect(record).toMatchObject({ status: "ok", names: [{ name: "host.example" }], resolver: { attempts: 2 } });
  expect(server.queries.map(({ name }) => name)).toEqual([question, target]);
});

test("an alias to a name that nobody has is nxdomain, to one without PTR nodata", async () => {
  const { service } = await both(({ name }) => {
    if (name.startsWith("1.")) return { rcode: 3, answers: [cname(name, "gone.example", 30)], authorities: [soa("example", 600, 600)] };
    return name.endsWith("arpa") ? { answers: [cname(name, "bare.example", 30)] } : {};
  });
  const gone = await service.ask("193.0.6.1");
  expect(gone.record).toMatchObject({ status: "nxdomain", cache: { negative: true, expires_at: "2026-11-21T09:00:32Z" } });
  expect((await service.ask("193.0.6.2")).record.status).toBe("nodata");
});

test("aliases in a circle end as servfail, inside an answer and across answers", async () => {
  const { server, service } = await both(({ name }) => {
    if (name.startsWith("1."))
      return { answers: [cname(name, "a.example"), cname("a.example", "b.example"), cname("b.example", "a.example")] };
    return { answers: [cname(name, `x${name.length}.example`)] };
  });
  expect((await service.ask("193.0.6.1")).record.status).toBe("servfail");
  expect((await service.ask("193.0.6.2")).record.status).toBe("servfail");
  expect(server.queries.length).toBeLessThan(12);
});

test("never shows the PTR records of another name", async () => {
  const { service } = await both(({ name }) => ({
    answers: [
      ptr("140.6.0.193.in-addr.arpa", "other.example"),
      ptr(name.toUpperCase(), "mine.example"),
      { ...ptr(name, "chaos.example"), class: "CH" } as never,
    ],
  }));
  expect((await service.ask(ip)).record.names.map(({ name }) => name)).toEqual(["mine.example"]);
});

test("tells absence of the name from absence of its PTR record, each for the time that its SOA record gives", async () => {
  const { service } = await both(({ name }) => ({
    rcode: name.startsWith("1.") ? 3 : 0,
    authorities: [soa("6.0.193.in-addr.arpa", 900, 300)],
  }));
  const absent = await service.ask("193.0.6.1");
  expect(absent.record).toMatchObject({ status: "nxdomain", names: [], cache: { negative: true, expires_at: "2026-11-21T09:05:02Z" } });
  expect((await service.ask("193.0.6.2")).record).toMatchObject({
    status: "nodata",
    cache: { negative: true, expires_at: "2026-11-21T09:05:02Z" },
  });
});

test("tells servfail and refused, and asks the next nameserver first", async () => {
  const failing = await serverOf(({ name }) => ({ rcode: name.startsWith("1.") ? 2 : 5 }));
  const service = await serviceOf([failing]);
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "servfail", resolver: { attempts: 1 } });
  expect((await service.ask("193.0.6.2")).record.status).toBe("refused");

  const second = await serviceOf([failing, await serverOf(honest)]);
  expect((await second.ask("193.0.6.1")).record).toMatchObject({ status: "ok", resolver: { attempts: 2 } });
});

test("takes a referral for what it is: a server that does not resolve for us", async () => {
  const { service } = await both(() => ({ authorities: [{ type: "NS", name: "0.193.in-addr.arpa", data: "ns.example", ttl: 60 }] }));
  expect((await service.ask(ip)).record.status).toBe("servfail");
});

test("reads the upper bits of the response code from EDNS", async () => {
  const opt = {
    type: "OPT",
    name: ".",
    udpPayloadSize: 1232,
    extendedRcode: 1,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  } as const;
  const { service } = await both(() => ({ additionals: [opt as never] }));
  expect((await service.ask(ip)).record.status).toBe("servfail");
});

test("asks again without EDNS where a nameserver is older than it", async () => {
  const { server, service } = await both(({ name, edns, earlier }) =>
    edns ? { rcode: 1, noQuestion: earlier === 0 } : honest({ name } as never),
  );
  expect((await service.ask(ip)).record).toMatchObject({ status: "ok", resolver: { attempts: 2 } });
  expect(server.queries.map(({ edns }) => edns)).toEqual([true, false]);
});

test("takes an answer that did not fit from TCP", async () => {
  const { server, service } = await both(({ name, transport }) =>
    transport === "udp" ? { truncated: true } : { answers: [ptr(name, "tcp.example")] },
  );
  expect((await service.ask(ip)).record.names.map(({ name }) => name)).toEqual(["tcp.example"]);
  expect(server.queries.map(({ transport }) => transport)).toEqual(["udp", "tcp"]);
});

test("a nameserver that cuts its answer and refuses TCP is passed over", async () => {
  const cutting = await serverOf(() => ({ truncated: true }), { noTcp: true });
  expect((await (await serviceOf([cutting])).ask(ip)).record.status).toBe("servfail");
  expect((await (await serviceOf([cutting, await serverOf(honest)])).ask(ip)).record.status).toBe("ok");
});

test("an answer over TCP to another question is none", async () => {
  const { service } = await both(({ transport, name }) =>
    transport === "udp" ? { truncated: true } : { echo: "1.2.3.4.in-addr.arpa", answers: [ptr(name, "evil.example")] },
  );
  expect((await service.ask(ip)).record).toMatchObject({ status: "servfail", names: [] });
});

test("drops and counts lies, and takes the true answer that follows them", async () => {
  const evil = (name: string) => ({ answers: [ptr(name, "evil.example")] });
  const { service } = await both(({ name }) => [
    { ...evil(name), idOffset: 1 },
    { ...evil("140.6.0.193.in-addr.arpa"), echo: "140.6.0.193.in-addr.arpa" },
    { ...evil(name), noQuestion: true },
    { ...evil(name), fromElsewhere: true },
    { raw: () => Buffer.from([0]) },
    { raw: () => Buffer.alloc(40, 0xff) },
    // The question itself, come back.
    { raw: ({ bytes }) => Buffer.from(bytes) },
    // An honest beginning, and a record that is cut off.
    { raw: ({ bytes }) => answerWith(bytes, Buffer.from([0])).subarray(0, -3) },
    { ...honest({ name } as never), delayMs: 30 },
  ]);
  expect((await service.ask(ip)).record.names.map(({ name }) => name)).toEqual([nameOf(question)]);
  const dropped = (reason: string) => service.metric("netfacts_rdns_dropped_messages_total", `reason="${reason}"`);
  expect(await dropped("unexpected")).toBe(1);
  expect(await dropped("other_question")).toBe(4);
  expect(await dropped("too_short")).toBe(1);
  expect(await dropped("malformed")).toBe(1);
});

test("asks the next nameserver while the first is silent, and still takes the first one's late answer", async () => {
  const silent = await serverOf(() => null);
  const quick = await serverOf(honest);
  const service = await serviceOf([silent, quick], { RDNS_TIMEOUT_MS: "100" });
  expect((await service.ask(ip)).record.status).toBe("ok");
  expect(silent.queries.some(({ name }) => name === question)).toBe(true);

  const isAsked = Promise.withResolvers<void>();
  const late = await serverOf(({ name, earlier }) =>
    earlier === 0 ? { answers: [ptr(name, "late.example")], when: isAsked.promise } : null,
  );
  const other = await serverOf((query) => {
    if (query.name !== question) return honest(query);
    isAsked.resolve();
    return null;
  });
  const waiting = await serviceOf([late, other], { RDNS_TIMEOUT_MS: "1000" });
  expect((await waiting.ask(ip)).record.names).toMatchObject([{ name: "late.example" }]);
});

test("an answer that is there counts, however late the event loop gets to it", async () => {
  const { service } = await both(
    (query) => {
      // In the turn in which the answer was sent: timers come next, before it is read.
      const standStill = () => {
        for (const since = performance.now(); performance.now() - since < 400; );
      };
      if (query.name === question) setImmediate(standStill);
      return honest(query);
    },
    { RDNS_TIMEOUT_MS: "300", RDNS_ATTEMPTS: "1" },
  );
  expect((await service.ask(ip)).record).toMatchObject({ status: "ok", resolver: { attempts: 1 } });
});

test("a question that nothing answers is a timeout while its nameserver answers others, and is answered within its budget", async () => {
  const { service } = await both((query) => (query.name === question ? null : honest(query)), { RDNS_TIMEOUT_MS: "100" });
  const started = performance.now();
  const { record, reply } = await service.ask(ip, 4_000);
  expect(performance.now() - started).toBeLessThan(4_000);
  expect(record).toMatchObject({
    status: "timeout",
    resolver: { attempts: 2 },
    cache: { hit: false, stored_at: null, expires_at: null, negative: false },
  });
  expect(reply).toMatchObject({ status: 200, counted: true, cacheable: false, maxAgeSeconds: 0, etag: "" });
  expect((await service.ask("193.0.6.1")).record.status).toBe("ok");
});

test("never asks about space that is not globally reachable, unless a setting opens it", async () => {
  const { server, service } = await both(honest);
  for (const address of ["10.1.2.3", "127.0.0.1", "192.0.2.1", "fd00::1", "2001:db8::1", "fec0::1", "::ffff:193.0.6.139"]) {
    const { record, reply } = await service.ask(address);
    expect(record).toMatchObject({ status: "special_purpose", names: [], resolver: null, cache: null });
    expect(reply).toMatchObject({ status: 200, counted: true, maxAgeSeconds: 300, etag: "special_purpose" });
  }
  expect(server.queries).toEqual([]);
  // Reachable, or not said: asked.
  for (const address of ["192.0.0.9", "192.88.99.1", "2002:c000:204::1"]) expect((await service.ask(address)).record.status).toBe("ok");

  const open = await serviceOf([server], { RDNS_OPEN_PREFIXES: "10.0.0.0/8, fd00::/8" });
  expect((await open.ask("10.1.2.3")).record.status).toBe("ok");
  expect((await open.ask("fd00::1")).record.status).toBe("ok");
  expect((await open.ask("192.168.0.1")).record.status).toBe("special_purpose");
});

test("refuses more than it may resolve at a time with a problem", async () => {
  const { service } = await both((query) => ({ ...honest(query), delayMs: 100 }), { RDNS_IN_FLIGHT_MAX: "2" });
  const replies = await Promise.all(["193.0.6.1", "193.0.6.2", "193.0.6.3"].map((address) => service.reply(address)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 503]);
  expect(JSON.parse(Buffer.from(replies[2]!.body).toString())).toMatchObject({ code: "temporarily_overloaded" });
});

/** The query turned into an answer with one PTR record of these bytes. */
function answerWith(query: Buffer, rdata: Buffer): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt16BE(0, 10);
  const head = Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 14, 16, rdata.length >> 8, rdata.length & 255]);
  return Buffer.concat([header, query.subarray(12, questionEnd(query)), head, rdata]);
}
