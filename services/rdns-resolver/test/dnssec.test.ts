/** What is shown of validation, for each thing that a nameserver may say of it. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import type { ReverseDnsRecord } from "@netfacts/contracts";
import {
  type Behaviour,
  cname,
  type DnsServer,
  type DnsServerOptions,
  honest,
  ptr,
  type Reaction,
  soa,
  startDnsServer,
} from "./support/dns-server.ts";
import { type Service, startService } from "./support/service.ts";

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

const signedRoot = { root: { authentic: true, answers: [soa(".", 60, 60)] } };

async function both(behaviour: Behaviour, options: DnsServerOptions = {}): Promise<{ server: DnsServer; service: Service }> {
  const server = await startDnsServer(behaviour, options);
  running.push(server);
  const service = await startService({ RESOLVERS: server.address });
  running.push(service);
  return { server, service };
}

async function stateOf(behaviour: Behaviour, options: DnsServerOptions = {}): Promise<ReverseDnsRecord["dnssec"]> {
  return (await (await both(behaviour, options)).service.ask("193.0.6.1")).record.dnssec;
}

test("validated is secure, an absence too", async () => {
  expect(await stateOf((query) => ({ ...honest(query), authentic: true }), signedRoot)).toBe("secure");
  expect(await stateOf(() => ({ rcode: 3, authorities: [soa("193.in-addr.arpa", 60, 60)], authentic: true }), signedRoot)).toBe("secure");
});

test("not validated, by a nameserver that validates the root, is insecure", async () => {
  expect(await stateOf(honest, signedRoot)).toBe("insecure");
  expect(await stateOf(() => ({ rcode: 3 }), signedRoot)).toBe("insecure");
});

test.each<[string, DnsServerOptions]>([
  ["refuses the root", {}],
  ["does not vouch for the root", { root: { answers: [soa(".", 60, 60)] } }],
  ["says nothing about the root", { root: null }],
  [
    "answers garbage about the root",
    {
      root: {
        raw: ({ bytes }) => Buffer.concat([bytes.subarray(0, 2), Buffer.from([0x81, 0x80]), bytes.subarray(4, 12), Buffer.from([255])]),
      },
    },
  ],
])("a nameserver that %s is not known to validate", async (_, options) => {
  expect(await stateOf(honest, options)).toBe("indeterminate");
});

test.each<[string, Reaction | null]>([
  ["is lost", null],
  ["is late", { ...signedRoot.root, delayMs: 3_000 }],
  ["is a failure", { rcode: 2 }],
])("a check of the root whose answer %s is repeated soon", async (_, rootAtFirst) => {
  const { service } = await both(
    ({ name, checkingDisabled }) => (checkingDisabled ? { answers: [ptr(name, "evil.example")] } : { rcode: 2 }),
    {
      ...signedRoot,
      rootAtFirst,
    },
  );
  expect((await service.ask("193.0.6.1")).record.dnssec).toBeNull();
  let state: ReverseDnsRecord["dnssec"] = null;
  for (let last = 2; last < 100 && state === null; last += 1) {
    await sleep(100);
    state = (await service.ask(`193.0.6.${last}`)).record.dnssec;
  }
  expect(state).toBe("bogus");
});

test("a nameserver shows by any answer that it validates", async () => {
  const { service } = await both((query) => ({ ...honest(query), authentic: query.name.startsWith("1.") }));
  const states = [];
  for (const ip of ["193.0.6.2", "193.0.6.1", "193.0.6.3"]) states.push((await service.ask(ip)).record.dnssec);
  expect(states).toEqual(["indeterminate", "secure", "insecure"]);
});

test("an answer over several questions is as secure as the weakest of them", async () => {
  const target = "1.rev.customer.example";
  const leading =
    (first: boolean, second: boolean): Behaviour =>
    ({ name }) =>
      name === target ? { answers: [ptr(name, "host.example")], authentic: second } : { answers: [cname(name, target)], authentic: first };
  expect(await stateOf(leading(true, true), signedRoot)).toBe("secure");
  expect(await stateOf(leading(false, true), signedRoot)).toBe("insecure");
  expect(await stateOf(leading(true, false), signedRoot)).toBe("insecure");
});

test("a failure that goes away without checking is bogus, and nothing of it is shown", async () => {
  const { server, service } = await both(
    ({ name, checkingDisabled }) => (checkingDisabled ? { answers: [ptr(name, "evil.example")] } : { rcode: 2 }),
    signedRoot,
  );
  expect((await service.ask("193.0.6.1")).record).toMatchObject({
    status: "servfail",
    names: [],
    forward_confirmed: null,
    dnssec: "bogus",
    resolver: { attempts: 3 },
    cache: { negative: false, expires_at: "2026-11-21T09:00:07Z" },
  });
  expect(server.queries.map(({ checkingDisabled }) => checkingDisabled)).toEqual([false, true, false]);
});

test("a failure that goes away by itself is not called bogus, and the answer is shown", async () => {
  const { server, service } = await both(
    (query) => (query.earlier === 0 ? { rcode: 2 } : { answers: [ptr(query.name, "a.example")] }),
    signedRoot,
  );
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "ok", names: [{ name: "a.example" }], dnssec: "insecure" });
  expect(server.queries.map(({ checkingDisabled }) => checkingDisabled)).toEqual([false, true, false]);
});

test("the answer of another nameserver does not make a failure bogus", async () => {
  const validating = await startDnsServer(() => ({ rcode: 2 }), signedRoot);
  // It answers probes, so that it is not down.
  const other = await startDnsServer(({ name, checkingDisabled }) =>
    checkingDisabled || name.startsWith("1.0.0.127.") ? { answers: [ptr(name, "a.example")] } : null,
  );
  running.push(validating, other);
  const env = { RDNS_TIMEOUT_MS: "100", RDNS_BUDGET_MS: "1000" };
  const service = await startService({ RESOLVERS: `${validating.address},${other.address}`, ...env });
  running.push(service);
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "servfail", dnssec: null });
  expect(other.queries.some(({ checkingDisabled }) => checkingDisabled)).toBe(false);
});

test("a failure that stays is a failure", async () => {
  const { server, service } = await both(() => ({ rcode: 2 }), signedRoot);
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "servfail", dnssec: null });
  expect(server.queries).toHaveLength(2);
});

test("the failure of a nameserver that does not validate is not called bogus, and costs no second query", async () => {
  const { server, service } = await both(({ name, checkingDisabled }) =>
    checkingDisabled ? { answers: [ptr(name, "a.example")] } : { rcode: 2 },
  );
  expect((await service.ask("193.0.6.1")).record).toMatchObject({ status: "servfail", dnssec: null });
  expect(server.queries).toHaveLength(1);
});

test("nothing is said where nothing was answered", async () => {
  expect(await stateOf(() => ({ rcode: 5 }), signedRoot)).toBeNull();
  const { service } = await both(() => null, signedRoot);
  expect((await service.ask("10.0.0.1")).record.dnssec).toBeNull();
});

test("lookups do not wait again for a nameserver that said nothing about the root", async () => {
  const server = await startDnsServer(honest, { rootAtFirst: { rcode: 2 }, root: null });
  running.push(server);
  const service = await startService({ RESOLVERS: server.address, RDNS_PROBE_INTERVAL_MS: "100" });
  running.push(service);
  await service.ask("193.0.6.1");
  const durations: number[] = [];
  for (const last of [2, 3, 4]) {
    // Then it is asked about the root once more.
    await sleep(1_150);
    durations.push((await service.ask(`193.0.6.${last}`)).record.resolver?.duration_ms ?? Number.NaN);
  }
  // A busy machine may be slow once; who waits for the root takes that long each time.
  expect(Math.min(...durations)).toBeLessThan(100);
});
