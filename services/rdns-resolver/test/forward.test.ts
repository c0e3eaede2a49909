/** Forward confirmation: each name is looked up, within one budget of time and one of queries. */

import { afterEach, expect, test } from "@jest/globals";
import { startRunningTime } from "../../../test/support/running-time.ts";
import { address, type Behaviour, cname, type DnsServer, ptr, type Query, questionEnd, soa, startDnsServer } from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function both(behaviour: Behaviour, env: NodeJS.ProcessEnv = {}): Promise<{ server: DnsServer; service: Service }> {
  const server = await startDnsServer(behaviour);
  running.push(server);
  const service = await startService({ RESOLVERS: server.address, RDNS_FORWARD_NAMES_MAX: "20", ...env });
  running.push(service);
  return { server, service };
}

/** These names for every address, and what is said about each of them. */
const named =
  (names: readonly string[], forward: Behaviour): Behaviour =>
  (query) =>
    query.type === "PTR" ? { answers: names.map((name) => ptr(query.name, name)) } : forward(query);

const asked = ({ queries }: DnsServer) => queries.map(({ type, name }: Query) => `${type} ${name}`);

test("a name that leads back to the address is confirmed, and the answer lives as long as what is found first", async () => {
  const { server, service } = await both(
    named(["www.ripe.net"], ({ name }) => ({ answers: [address(name, "193.0.6.139", 60), address(name, "193.0.6.138", 300)] })),
  );
  const { record, reply } = await service.ask("193.0.6.139");
  expect(record).toMatchObject({
    names: [
      { name: "www.ripe.net", ttl_seconds: 3600, forward: { status: "ok", confirmed: true, addresses: ["193.0.6.138", "193.0.6.139"] } },
    ],
    forward_confirmed: true,
    resolver: { attempts: 2 },
    cache: { expires_at: "2026-11-21T09:01:02Z" },
    meta: { warnings: [] },
  });
  expect(reply.maxAgeSeconds).toBe(60);
  expect(asked(server)).toEqual(["PTR 139.6.0.193.in-addr.arpa", "A www.ripe.net"]);
  expect((await service.ask("193.0.6.139")).record).toMatchObject({ forward_confirmed: true, resolver: { attempts: 0 } });
  expect(await service.metric("netfacts_rdns_queries_per_lookup_sum")).toBe(2);
});

test("asks for AAAA records of the names of an IPv6 address, whatever form they come in", async () => {
  const { server, service } = await both(
    named(["www.ripe.net"], ({ name }) => ({ answers: [address(name, "2001:67c:2e8:22:0:0:c100:68b")] })),
  );
  const { record } = await service.ask("2001:67c:2e8:22::c100:68b");
  expect(record).toMatchObject({ forward_confirmed: true, names: [{ forward: { addresses: ["2001:67c:2e8:22::c100:68b"] } }] });
  expect(asked(server)[1]).toBe("AAAA www.ripe.net");
});

test("each name has its own result, and one that leads back is enough", async () => {
  const names = ["absent.example", "back.example", "bare.example", "else.example", "failing.example", "refused.example"];
  const { service } = await both(
    named(names, ({ name }) => {
      if (name === "absent.example") return { rcode: 3, authorities: [soa("example", 60, 60)] };
      if (name === "bare.example") return { authorities: [soa("example", 60, 60)] };
      if (name === "failing.example") return { rcode: 2 };
      if (name === "refused.example") return { rcode: 5 };
      return { answers: [address(name, name === "back.example" ? "193.0.6.1" : "193.0.6.2")] };
    }),
  );
  const { record } = await service.ask("193.0.6.1");
  expect(record.names.map(({ name, forward }) => [name, forward?.status, forward?.confirmed])).toEqual([
    ["absent.example", "nxdomain", false],
    ["back.example", "ok", true],
    ["bare.example", "nodata", false],
    ["else.example", "ok", false],
    ["failing.example", "servfail", null],
    ["refused.example", "refused", null],
  ]);
  expect(record.forward_confirmed).toBe(true);
  // As long as a failure.
  expect(record.cache?.expires_at).toBe("2026-11-21T09:00:07Z");
  // Elsewhere none leads back, and two may.
  expect((await service.ask("193.0.6.9")).record.forward_confirmed).toBeNull();
});

test("none of the names leads back", async () => {
  const { service } = await both(named(["a.example", "b.example"], ({ name }) => ({ answers: [address(name, "193.0.6.2")] })));
  expect((await service.ask("193.0.6.1")).record.forward_confirmed).toBe(false);
});

test("follows the aliases of a name, in one answer and over several", async () => {
  const { server, service } = await both(
    named(["a.example"], ({ name }) => {
      if (name === "a.example") return { answers: [cname(name, "b.example", 30), cname("b.example", "c.example")] };
      return { answers: [address(name, "193.0.6.1")] };
    }),
  );
  const { record } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({ forward_confirmed: true, cache: { expires_at: "2026-11-21T09:00:32Z" } });
  expect(asked(server).slice(1)).toEqual(["A a.example", "A c.example"]);
});

test("aliases in a circle confirm nothing and end", async () => {
  const { server, service } = await both(named(["a.example"], ({ name }) => ({ answers: [cname(name, `x${name.length}.example`)] })));
  const { record } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({ status: "ok", forward_confirmed: null, names: [{ forward: { status: "servfail", confirmed: null } }] });
  expect(server.queries.length).toBeLessThan(12);
});

test("never takes the addresses of another name, or of another type", async () => {
  const { service } = await both(
    named(["a.example"], ({ name }) => ({
      answers: [address("b.example", "193.0.6.1"), address(name, "2001:67c::1"), { ...address(name, "193.0.6.1"), class: "CH" } as never],
    })),
  );
  expect((await service.ask("193.0.6.1")).record.names).toMatchObject([{ forward: { status: "nodata", confirmed: false } }]);
});

test("looks up a name with odd labels as it is", async () => {
  const label = Buffer.from([0x61, 0x2e, 0xb5]);
  const name = Buffer.concat([Buffer.from([label.length]), label, Buffer.from([7]), Buffer.from("example"), Buffer.from([0])]);
  const { server, service } = await both((query) => {
    if (query.type !== "PTR") return { raw: ({ bytes }) => withRecord(bytes, 1, Buffer.from([193, 0, 6, 1])) };
    return { raw: ({ bytes }) => withRecord(bytes, 12, name) };
  });
  const { record } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({ names: [{ name: "a\\.\\181.example" }], forward_confirmed: true });
  expect(server.queries[1]!.bytes.toString("latin1", 12, 12 + name.length).toLowerCase()).toBe(name.toString("latin1"));
});

test("a name of ours in a strange zone does not show what the house calls it inside", async () => {
  const forward: Behaviour = ({ name }) => ({ answers: [address(name, "10.1.2.3"), address(name, "193.0.6.2")] });
  const { server, service } = await both(named(["vault.house.example"], forward));
  expect((await service.ask("193.0.6.1")).record.names).toMatchObject([{ forward: { confirmed: false, addresses: ["193.0.6.2"] } }]);

  const open = await startService({ RESOLVERS: server.address, RDNS_FORWARD_NAMES_MAX: "20", RDNS_OPEN_PREFIXES: "10.0.0.0/8" });
  running.push(open);
  expect((await open.ask("10.1.2.3")).record).toMatchObject({
    forward_confirmed: true,
    names: [{ forward: { addresses: ["10.1.2.3", "193.0.6.2"] } }],
  });
});

test("addresses of the house inside IPv6 addresses are not shown, nor site-local ones", async () => {
  const inside = ["64:ff9b::a01:203", "2002:a01:203::1", "::ffff:10.1.2.3", "fec0::1"];
  const outside = ["64:ff9b::c100:602", "2002:c100:602::1"];
  const forward: Behaviour = ({ name }) => ({ answers: [...inside, ...outside].map((one) => address(name, one)) });
  const { service, server } = await both(named(["vault.house.example"], forward));
  const shown = async (from: Service) => (await from.ask("2001:67c:2e8::1")).record.names[0]?.forward?.addresses;
  expect(await shown(service)).toEqual(outside);

  const env = { RDNS_FORWARD_NAMES_MAX: "20", RDNS_OPEN_PREFIXES: "10.0.0.0/8,fec0::/10" };
  const open = await startService({ RESOLVERS: server.address, ...env });
  running.push(open);
  expect(await shown(open)).toEqual(expect.arrayContaining(["64:ff9b::a01:203", "2002:a01:203::1", "fec0::1"]));
});

test("of many names some are looked up, and the answer says so", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `n${10 + index}.example`);
  const cut =
    (behaviour: Behaviour): Behaviour =>
    (query) =>
      query.transport === "udp" && query.type === "PTR" ? { truncated: true } : behaviour(query);
  const { server, service } = await both(cut(named(names, ({ name }) => ({ answers: [address(name, "193.0.6.2")] }))));
  const { record } = await service.ask("193.0.6.1");
  expect(record.names.filter(({ forward }) => forward !== null)).toHaveLength(20);
  expect(record.forward_confirmed).toBeNull();
  expect(record.meta.warnings).toEqual([{ code: "truncated", detail: "Forward lookups were made for 20 of 50 names" }]);
  expect(record.resolver?.attempts).toBe(22);
  expect(server.queries).toHaveLength(22);
});

test("a name that is not shown may lead back", async () => {
  const names = ["a.example", "b.example", "c.example"];
  const { service } = await both(
    named(names, ({ name }) => ({ answers: [address(name, "193.0.6.2")] })),
    { RDNS_NAMES_MAX: "2" },
  );
  expect((await service.ask("193.0.6.1")).record.forward_confirmed).toBeNull();
});

test("the last query of a lookup is not followed by one over TCP", async () => {
  const cut: Behaviour = (query) => (query.transport === "udp" ? { truncated: true } : { rcode: 5 });
  const { server, service } = await both(
    named(["a.example", "b.example", "c.example"], (query) => cut(query)),
    { RDNS_QUERIES_MAX: "4" },
  );
  const { record } = await service.ask("193.0.6.1");
  expect(record).toMatchObject({ status: "ok", resolver: { attempts: 4 } });
  expect(server.queries).toHaveLength(4);
});

test("answers to the last queries that are allowed still count when they are slow", async () => {
  const names = ["a.example", "b.example", "c.example"];
  const slow: Behaviour = ({ name }) => ({ answers: [address(name, "193.0.6.1")], delayMs: 400 });
  const { server, service } = await both(named(names, slow), { RDNS_QUERIES_MAX: "4", RDNS_TIMEOUT_MS: "300" });
  const { record } = await service.ask("193.0.6.1");
  expect(record.names.map(({ forward }) => forward?.confirmed)).toEqual([true, true, true]);
  expect(server.queries.filter(({ name }) => !name.startsWith("1.0.0.127."))).toHaveLength(4);
});

test("no lookup sends more queries than allowed, whatever the nameserver does", async () => {
  const names = Array.from({ length: 5 }, (_, index) => `n${index}.example`);
  const behaviours: Behaviour[] = [
    // Everything is cut, and TCP leads to aliases without an end.
    (query) =>
      query.transport === "udp" ? { truncated: true } : named(names, ({ name }) => ({ answers: [cname(name, `x.${name}`)] }))(query),
    // Knows no EDNS.
    (query) => (query.edns ? { rcode: 1 } : named(names, ({ name }) => ({ answers: [address(name, "193.0.6.2")] }))(query)),
    // Answers no question about names.
    named(names, () => null),
    named(names, () => ({ rcode: 2 })),
  ];
  for (const behaviour of behaviours) {
    const { server, service } = await both(behaviour, { RDNS_QUERIES_MAX: "12", RDNS_TIMEOUT_MS: "50" });
    const { record } = await service.ask("193.0.6.1");
    expect(record.status).toBe("ok");
    expect(record.forward_confirmed).not.toBe(true);
    expect(record.resolver?.attempts).toBeLessThanOrEqual(12);
    // A nameserver that is silent about a name is probed. An attempt that is given up before it is connected sends nothing.
    const received = server.queries.filter(({ name }) => !name.startsWith("1.0.0.127."));
    expect(received.length).toBeGreaterThan(1);
    expect(received.length).toBeLessThanOrEqual(record.resolver?.attempts ?? 0);
  }
});

test("names that nobody answers about leave the answer within one budget, and are asked about again soon", async () => {
  const { server, service } = await both(
    named(["a.example", "b.example"], ({ name }) => (name === "a.example" ? null : { answers: [address(name, "193.0.6.1")] })),
    { RDNS_BUDGET_MS: "400" },
  );
  const ran = startRunningTime();
  const { record } = await service.ask("193.0.6.1", 10_000);
  expect(ran()).toBeLessThan(2_000);
  expect(record).toMatchObject({
    status: "ok",
    names: [{ forward: { status: "timeout", confirmed: null, addresses: [] } }, { forward: { confirmed: true } }],
    forward_confirmed: true,
    cache: { expires_at: "2026-11-21T09:00:07Z" },
  });
  // Who asks meanwhile does not wait again.
  const forwardQueries = () => server.queries.filter(({ type }) => type === "A").length;
  const queries = forwardQueries();
  await service.ask("193.0.6.1");
  expect(forwardQueries()).toBe(queries);
});

test("who has little time does not leave others with names that were not looked up", async () => {
  const delayMs = ({ type }: Query) => (type === "A" ? 3_500 : 0);
  const addresses = ["193.0.6.1", "193.0.6.2", "193.0.6.3", "193.0.6.4"];
  const { service } = await both(
    (query) => {
      const reaction = named(["a.example"], ({ name }) => ({ answers: addresses.map((ip) => address(name, ip)) }))(query);
      return [reaction].flat().map((one) => ({ ...one, delayMs: delayMs(query) }));
    },
    { RDNS_TIMEOUT_MS: "8000", RDNS_BUDGET_MS: "20000" },
  );
  let last = 1;
  const hasty = () => service.ask(`193.0.6.${last}`, 2_500).catch(() => null);
  // Another address where the machine stood still until the time was over.
  let asked = await hasty();
  for (; asked === null; asked = await hasty()) last += 1;
  expect(asked.record).toMatchObject({ status: "ok", forward_confirmed: null });
  expect((await service.ask(`193.0.6.${last}`, 20_000)).record).toMatchObject({ status: "ok", forward_confirmed: true });
});

/** The query turned into an answer with one record of these bytes. */
function withRecord(query: Buffer, type: number, rdata: Buffer): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt16BE(0, 10);
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 14, 16, rdata.length >> 8, rdata.length & 255]);
  return Buffer.concat([header, query.subarray(12, questionEnd(query)), head, rdata]);
}
