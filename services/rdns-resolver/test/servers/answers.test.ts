/** What real servers answer: unbound, which asks nsd, and nsd itself. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { DnsProcess } from "../../../../test/support/dns-process.ts";
import { manyNames, recordTtl, soaMinimum, testZones } from "../../../../test/support/dns-zones.ts";
import { startNsd } from "../../../../test/support/nsd.ts";
import { startUnbound } from "../../../../test/support/unbound.ts";
import { type Asked, type Service, startService } from "../support/service.ts";

/** The servers' packages may have to be had first. */
const startMsMax = 180_000;

let nsd: DnsProcess;
let unbound: DnsProcess;
let service: Service;

beforeAll(async () => {
  nsd = await startNsd({ zones: testZones });
  unbound = await startUnbound({ authorities: Object.fromEntries(Object.keys(testZones).map((zone) => [zone, nsd.port])) });
}, startMsMax);

afterAll(async () => {
  await unbound?.stop();
  await nsd?.stop();
});

afterEach(async () => {
  await service.stop();
});

/** Seconds for which the answer is kept. */
function keptSeconds({ record: { cache } }: Asked): number {
  if (cache === null || cache.stored_at === null || cache.expires_at === null) return 0;
  return (Date.parse(cache.expires_at) - Date.parse(cache.stored_at)) / 1_000;
}

/** A recursor counts down: what it keeps from an earlier test may be some seconds short. */
function expectTtl(seconds: number, whole: number): void {
  expect(seconds).toBeLessThanOrEqual(whole);
  expect(seconds).toBeGreaterThan(whole - 30);
}

test("nsd with DNS cookies is asked over UDP, and nothing of it is dropped", async () => {
  const baking = await startNsd({ zones: testZones, cookies: true });
  try {
    service = await startService({ RESOLVERS: baking.address });
    for (let last = 139; last < 143; last += 1) await service.ask(`193.0.6.${last}`);
    expect(await service.metric("netfacts_rdns_questions_total", 'transport="udp"')).toBeGreaterThan(3);
    expect(await service.metric("netfacts_rdns_questions_total", 'transport="tcp"')).toBe(0);
    for (const reason of ["no_cookie", "foreign_cookie", "other_case", "malformed"]) {
      expect(await service.metric("netfacts_rdns_dropped_messages_total", `reason="${reason}"`)).toBe(0);
    }
  } finally {
    await baking.stop();
  }
});

describe.each(["unbound", "nsd"] as const)("%s", (name) => {
  const address = () => (name === "unbound" ? unbound : nsd).address;

  async function ask(ip: string): Promise<Asked> {
    service = await startService({ RESOLVERS: address() });
    return service.ask(ip);
  }

  test("a name, with the TTL of its record", async () => {
    const asked = await ask("193.0.6.139");
    expect(asked.record).toMatchObject({ status: "ok", query_name: "139.6.0.193.in-addr.arpa", names: [{ name: "www.example" }] });
    expectTtl(asked.record.names[0]?.ttl_seconds ?? 0, recordTtl);
    expectTtl(keptSeconds(asked), recordTtl);
    expect((await service.ask("193.0.6.139")).record.cache?.hit).toBe(true);
  });

  test("a name of an IPv6 address", async () => {
    const { record } = await ask("2001:67c:2e8:22::c100:68b");
    expect(record).toMatchObject({ status: "ok", names: [{ name: "www.example" }] });
  });

  test("several names, in one order however they rotate", async () => {
    const { record } = await ask("193.0.6.140");
    expect(record.names.map(({ name: one }) => one.toLowerCase())).toEqual(["a.example", "b.example", "c.example"]);
  });

  test("no such name, kept as long as the SOA record's minimum says", async () => {
    const asked = await ask("193.0.6.1");
    expect(asked.record).toMatchObject({ status: "nxdomain", names: [], cache: { negative: true } });
    expectTtl(keptSeconds(asked), soaMinimum);
  });

  test("a name without PTR record, kept likewise", async () => {
    const asked = await ask("193.0.6.141");
    expect(asked.record).toMatchObject({ status: "nodata", names: [], cache: { negative: true } });
    expectTtl(keptSeconds(asked), soaMinimum);
  });

  test("a TTL of 0 is not kept", async () => {
    const asked = await ask("193.0.6.142");
    expect(asked.record).toMatchObject({ status: "ok", names: [{ name: "fleeting.example", ttl_seconds: 0 }] });
    expect(asked.reply.cacheable).toBe(false);
    expect((await service.ask("193.0.6.142")).record.cache?.hit).toBe(false);
  });

  test("a name in a zone that is delegated by aliases (RFC 2317)", async () => {
    const { record } = await ask("193.0.7.129");
    expect(record).toMatchObject({ status: "ok", query_name: "129.7.0.193.in-addr.arpa", names: [{ name: "customer.example" }] });
  });

  test("an alias that lives shorter than its name ends what is kept", async () => {
    const asked = await ask("193.0.7.130");
    expect(asked.record.names).toMatchObject([{ name: "short.example" }]);
    expectTtl(asked.record.names[0]?.ttl_seconds ?? 0, recordTtl);
    expectTtl(keptSeconds(asked), 60);
  });

  test("an alias that leads to no name", async () => {
    const asked = await ask("193.0.7.131");
    expect(asked.record).toMatchObject({ status: "nxdomain", cache: { negative: true } });
    expectTtl(keptSeconds(asked), soaMinimum);
  });

  test("an answer that fits into no datagram comes over TCP, whole", async () => {
    const { record } = await ask("193.0.6.200");
    expect(record.names.map(({ name: one }) => one)).toEqual([...manyNames].sort());
    expect(await service.metric("netfacts_rdns_questions_total", 'transport="tcp"')).toBe(1);
    expect(record.resolver?.attempts).toBe(2);
  });

  test("aliases in a circle end as a failure, in no time", async () => {
    const { record } = await ask("193.0.6.144");
    expect(record).toMatchObject({ status: "servfail", names: [] });
  });

  test("a zone that it does not serve is refused", async () => {
    const { record } = await ask("198.41.0.4");
    expect(record).toMatchObject({ status: "refused", names: [] });
  });

  test("two hundred addresses at a time, each with its own answer", async () => {
    // A busy machine takes seconds for all of them.
    service = await startService({ RESOLVERS: address(), RDNS_TIMEOUT_MS: "10000", RDNS_BUDGET_MS: "20000" });
    const asked = await Promise.all(Array.from({ length: 200 }, (_, last) => service.ask(`193.0.6.${last}`, 30_000)));
    expect(asked.map(({ record }) => record.ip)).toEqual(Array.from({ length: 200 }, (_, last) => `193.0.6.${last}`));
    expect(asked.flatMap(({ record: { ip, status } }) => (status === "nxdomain" ? [] : [`${ip} ${status}`]))).toEqual([
      "193.0.6.139 ok",
      "193.0.6.140 ok",
      "193.0.6.141 nodata",
      "193.0.6.142 ok",
      "193.0.6.144 servfail",
      "193.0.6.145 servfail",
    ]);
  });
});
