/** What a forger has to guess besides the id and the port: the case of the name (0x20) and the DNS cookie (RFC 7873). */

import { afterEach, expect, test } from "@jest/globals";
import {
  type Behaviour,
  type DnsServer,
  type DnsServerOptions,
  honest,
  nameOf,
  ptr,
  questionEnd,
  type Reaction,
  startDnsServer,
} from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

interface Both {
  readonly server: DnsServer;
  readonly service: Service;
}

async function both(behaviour: Behaviour, env: NodeJS.ProcessEnv = {}, options: DnsServerOptions = {}): Promise<Both> {
  const server = await startDnsServer(behaviour, options);
  running.push(server);
  const service = await startService({ RESOLVERS: server.address, ...env });
  running.push(service);
  return { server, service };
}

const question = "1.6.0.193.in-addr.arpa";
const one = (reaction: ReturnType<Behaviour>): Reaction => [reaction].flat()[0] as Reaction;
const evil = (name: string) => ({ answers: [ptr(name, "evil.example")] });
const dropped = (service: Service, reason: string) => service.metric("netfacts_rdns_dropped_messages_total", `reason="${reason}"`);
const transports = ({ queries }: DnsServer) => queries.map(({ transport }) => transport).join(" ");

test("names are asked in random case, and shown as they are", async () => {
  const { server, service } = await both(honest);
  for (let last = 0; last < 20; last += 1) {
    const { record } = await service.ask(`193.0.6.${last}`);
    expect(record.names.map(({ name }) => name)).toEqual([nameOf(record.query_name)]);
  }
  expect(new Set(server.queries.map(({ askedName }) => askedName.replace(/^[\d.]+/, ""))).size).toBeGreaterThan(15);
  // Both cases of each letter.
  const letters = server.queries.map(({ askedName }) => askedName.replace(/[^a-z]/gi, ""));
  for (let at = 0; at < "inaddrarpa".length; at += 1) expect(new Set(letters.map((text) => text[at])).size).toBe(2);
});

test("a name that points into the question is shown in the case that it has", async () => {
  const { service } = await both(() => ({ raw: ({ bytes }) => pointingAnswer(bytes) }));
  expect((await service.ask("193.0.6.1")).record.names).toMatchObject([{ name: "host.in-addr.arpa" }]);
});

test("an answer in another case is dropped, and the true one is taken", async () => {
  const { server, service } = await both((query) => [
    { ...evil(query.name), echo: query.name },
    { ...evil(query.name), echo: query.name.toUpperCase() },
    query.transport === "udp" ? { ...one(honest(query)), delayMs: 50 } : { rcode: 5, delayMs: 5_000 },
  ]);
  const { record } = await service.ask("193.0.6.1");
  expect(record.names).toMatchObject([{ name: nameOf(question) }]);
  expect(await dropped(service, "other_case")).toBe(2);
  expect(server.queries.filter(({ transport }) => transport === "tcp").length).toBeLessThanOrEqual(1);
  expect(service.log.join()).not.toContain("case");
});

test("a nameserver that changes the case is asked over TCP once, and in plain case from then on", async () => {
  const { server, service } = await both((query) => ({ ...one(honest(query)), echo: query.name }));
  for (const last of [1, 2, 3]) expect((await service.ask(`193.0.6.${last}`)).record.status).toBe("ok");
  expect(transports(server)).toBe("udp tcp udp udp");
  expect(server.queries.slice(2).map(({ askedName }) => askedName)).toEqual(["2.6.0.193.in-addr.arpa", "3.6.0.193.in-addr.arpa"]);
  expect(service.log.filter((line) => line.includes("changes the case"))).toHaveLength(1);
});

test("a nameserver that changes the case and has no TCP is not believed, unless a setting says so", async () => {
  const lowering: Behaviour = (query) => ({ ...one(honest(query)), echo: query.name });
  const { service } = await both(lowering, { RDNS_TIMEOUT_MS: "50" }, { noTcp: true });
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "timeout", names: [] });
  const plain = await both(lowering, { RDNS_RANDOM_CASE: "false" }, { noTcp: true });
  expect((await plain.service.ask("193.0.6.1")).record.status).toBe("ok");
});

/** Gives and wants cookies. */
const baking =
  (given: Buffer): Behaviour =>
  (query) => ({ ...one(honest(query)), cookie: Buffer.concat([query.cookie!.subarray(0, 8), given]) });

const given = Buffer.alloc(16, 5);

test("sends its cookie, and from then on with what the nameserver gave", async () => {
  const { server, service } = await both(baking(given));
  await service.ask("193.0.6.1");
  await service.ask("193.0.6.2");
  const [first, second] = server.queries.map(({ cookie }) => cookie!);
  expect(first).toHaveLength(8);
  expect(second).toEqual(Buffer.concat([first!, given]));
  expect(transports(server)).toBe("udp udp");
});

test("without the cookie of a nameserver that gives one, or with another, an answer is dropped", async () => {
  const { server, service } = await both(baking(given));
  await service.ask("193.0.6.2");
  server.behave((query) => [
    { ...evil(query.name), cookie: Buffer.alloc(24, 1) },
    { ...evil(query.name), cookie: query.cookie!.subarray(0, 5) },
    evil(query.name),
    query.transport === "udp" ? { ...one(baking(given)(query)), delayMs: 50 } : { rcode: 5, delayMs: 5_000 },
  ]);
  const { record } = await service.ask("193.0.6.1");
  expect(record.names).toMatchObject([{ name: expect.stringMatching(/^(host-1-6-0-193|evil)\.example$/) }]);
  expect(await dropped(service, "foreign_cookie")).toBeGreaterThanOrEqual(2);
  expect(await dropped(service, "no_cookie")).toBe(1);
});

test("a nameserver that gives cookies no more is asked over TCP once", async () => {
  const { server, service } = await both(baking(given));
  await service.ask("193.0.6.1");
  server.behave(honest);
  for (const last of [2, 3, 4]) expect((await service.ask(`193.0.6.${last}`)).record.status).toBe("ok");
  expect(transports(server)).toBe("udp udp tcp udp udp");
  expect(server.queries.at(-1)?.cookie).toHaveLength(8);
});

test("a nameserver that wants a new cookie gets it", async () => {
  const { server, service } = await both(baking(given));
  await service.ask("193.0.6.1");
  const fresh = Buffer.alloc(16, 6);
  server.behave((query) => {
    const cookie = Buffer.concat([query.cookie!.subarray(0, 8), fresh]);
    if (query.transport === "udp" && !query.cookie!.subarray(8).equals(fresh)) return { rcode: 7, extendedRcode: 1, cookie };
    return { ...one(honest(query)), cookie };
  });
  for (const last of [2, 3]) expect((await service.ask(`193.0.6.${last}`)).record.status).toBe("ok");
  expect(transports(server)).toBe("udp udp tcp udp");
});

test("a setting keeps cookies at home", async () => {
  const { server, service } = await both(honest, { RDNS_COOKIES: "false" });
  await service.ask("193.0.6.1");
  expect(server.queries[0]).toMatchObject({ cookie: null, edns: true });
});

/** One PTR record whose name ends with a pointer to `in-addr.arpa` in the question. */
function pointingAnswer(query: Buffer): Buffer {
  const at = query.toString("latin1").toLowerCase().indexOf("in-addr") - 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt16BE(0, 10);
  const rdata = Buffer.concat([Buffer.from([4]), Buffer.from("host"), Buffer.from([0xc0, at])]);
  const head = Buffer.from([0xc0, 12, 0, 12, 0, 1, 0, 0, 14, 16, 0, rdata.length]);
  return Buffer.concat([header, query.subarray(12, questionEnd(query)), head, rdata]);
}
