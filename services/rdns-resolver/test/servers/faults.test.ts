/** unbound and its authorities in trouble: what is slow or broken behind it, and when it is gone itself. */

import { afterEach, beforeAll, expect, test } from "@jest/globals";
import type { ReplyItem } from "@netfacts/messaging";
import { recordTtl, testZones } from "../../../../test/support/dns-zones.ts";
import { until } from "../../../../test/support/http.ts";
import { findNsd, startNsd } from "../../../../test/support/nsd.ts";
import { startSilentAuthority } from "../../../../test/support/recursive-dns.ts";
import { startRunningTime } from "../../../../test/support/running-time.ts";
import { findUnbound, startUnbound } from "../../../../test/support/unbound.ts";
import { type Service, startService } from "../support/service.ts";

/** The servers' packages may have to be had first. */
const startMsMax = 180_000;
/** For what a busy machine takes long to do. */
const patient = { timeoutMs: 20_000 };
const served = "6.0.193.in-addr.arpa";
const elsewhere = "8.0.193.in-addr.arpa";

beforeAll(async () => {
  await findNsd();
  await findUnbound();
}, startMsMax);

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

function kept<T extends { stop(): Promise<void> }>(one: T): T {
  running.push(one);
  return one;
}

async function authority() {
  return kept(await startNsd({ zones: { [served]: testZones[served] ?? "" } }));
}

async function serviceOf(address: string): Promise<Service> {
  return kept(await startService({ RESOLVERS: address }));
}

function outcome(reply: ReplyItem): string {
  const body = JSON.parse(Buffer.from(reply.body).toString()) as { code?: string; status?: string };
  return body.code ?? body.status ?? "";
}

test("an authority that does not know its zone (lame) is a failure, and harms no other name", async () => {
  const nsd = await authority();
  const unbound = kept(await startUnbound({ authorities: { [served]: nsd.port, [elsewhere]: nsd.port } }));
  const service = await serviceOf(unbound.address);
  expect(outcome(await service.reply("193.0.8.1"))).toBe("servfail");
  expect(outcome(await service.reply("193.0.6.139"))).toBe("ok");
});

test("names behind a silent authority time out within their budget, are not kept, and do not bring their recursor down", async () => {
  const nsd = await authority();
  const silent = kept(await startSilentAuthority());
  const unbound = kept(await startUnbound({ authorities: { [served]: nsd.port, [elsewhere]: silent.port } }));
  const service = await serviceOf(unbound.address);
  // An answer after its budget would be none.
  const slow = await Promise.all(Array.from({ length: 20 }, (_, last) => service.ask(`193.0.8.${last}`, 4_000)));
  expect(slow.map(({ record }) => record.status)).toEqual(Array.from({ length: 20 }, () => "timeout"));
  expect(slow.every(({ reply, record }) => !reply.cacheable && record.cache?.stored_at === null)).toBe(true);
  expect(outcome(await service.reply("193.0.6.139"))).toBe("ok");
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(1);
});

test("an authority that comes back is answered from, once the recursor asks it again", async () => {
  const nsd = await authority();
  const { port } = nsd;
  await nsd.stop();
  const unbound = kept(await startUnbound({ authorities: { [served]: port } }));
  const service = await serviceOf(unbound.address);
  // On a machine that stands still for a while even a time-out comes too late.
  const asked = (ip: string) => service.reply(ip, 4_000).then(outcome, () => "late");
  expect(await asked("193.0.6.139")).toMatch(/^(servfail|timeout|late)$/);
  kept(await startNsd({ zones: { [served]: testZones[served] ?? "" }, port }));
  await until(async () => {
    service.advance(5);
    return (await asked("193.0.6.140")) === "ok";
  }, patient);
});

test("a recursor that is stopped is unavailable, kept answers are served all the while, and it is asked again when it is back", async () => {
  const nsd = await authority();
  const authorities = { [served]: nsd.port };
  const unbound = await startUnbound({ authorities });
  const service = await serviceOf(unbound.address);
  expect(outcome(await service.reply("193.0.6.139"))).toBe("ok");
  await unbound.stop();
  expect(outcome(await service.reply("193.0.6.140"))).toBe("resolver_unavailable");
  expect(outcome(await service.reply("193.0.6.139"))).toBe("ok");
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(0);
  service.advance(recordTtl + 1);
  const stale = await service.ask("193.0.6.139");
  expect(stale.record).toMatchObject({ status: "ok", names: [{ name: "www.example" }], cache: { stale: true } });

  kept(await startUnbound({ authorities, port: unbound.port }));
  await until(async () => outcome(await service.reply("193.0.6.140")) === "ok");
  expect(await service.metric("netfacts_rdns_nameserver_up")).toBe(1);
  expect(service.log.map((line) => line.split(" {")[0])).toEqual([
    "nameserver answers",
    "nameserver does not answer and is probed until it does. Check that it runs and can be reached",
    "nameserver answers",
  ]);
});

test("a recursor that is frozen is unavailable within the first question, and answers again once it goes on", async () => {
  const nsd = await authority();
  const unbound = kept(await startUnbound({ authorities: { [served]: nsd.port } }));
  const service = await serviceOf(unbound.address);
  expect(outcome(await service.reply("193.0.6.139"))).toBe("ok");
  unbound.freeze();
  expect(outcome(await service.reply("193.0.6.140"))).toBe("resolver_unavailable");
  const ran = startRunningTime();
  expect(outcome(await service.reply("193.0.6.141"))).toBe("resolver_unavailable");
  expect(ran()).toBeLessThan(1_000);
  unbound.thaw();
  await until(async () => outcome(await service.reply("193.0.6.140")) === "ok");
});

test("the second recursor answers while the first is stopped", async () => {
  const nsd = await authority();
  const authorities = { [served]: nsd.port };
  const [first, second] = [await startUnbound({ authorities }), kept(await startUnbound({ authorities }))];
  const service = await serviceOf(`${first.address},${second.address}`);
  await first.stop();
  const replies = await Promise.all(Array.from({ length: 20 }, (_, last) => service.reply(`193.0.6.${last}`)));
  expect(new Set(replies.map(outcome))).toEqual(new Set(["nxdomain"]));
});

test("of a thousand lookups at a time none is lost while a recursor is stopped and started again", async () => {
  const zone = "8.e.2.0.c.7.6.0.1.0.0.2.ip6.arpa";
  const nsd = kept(await startNsd({ zones: { [zone]: testZones[zone] ?? "" } }));
  const authorities = { [zone]: nsd.port };
  const [first, second] = [await startUnbound({ authorities }), kept(await startUnbound({ authorities }))];
  // A thousand at once overflow the receive buffer of a recursor: what the kernel drops is asked again, and on a busy machine several times.
  const env = { RDNS_BUDGET_MS: "30000", RDNS_TIMEOUT_MS: "2000", RDNS_ATTEMPTS: "5" };
  const service = kept(await startService({ RESOLVERS: `${first.address},${second.address}`, ...env }));
  const asked = Array.from({ length: 1_000 }, (_, index) => service.ask(`2001:67c:2e8:${(index + 1).toString(16)}::1`, 40_000));
  await first.stop();
  kept(await startUnbound({ authorities, port: first.port }));
  const records = (await Promise.all(asked)).map(({ record }) => record);
  expect(new Set(records.map(({ ip }) => ip)).size).toBe(1_000);
  expect(new Set(records.map(({ status }) => status))).toEqual(new Set(["nxdomain"]));
  expect(Math.max(...records.map(({ resolver }) => resolver?.attempts ?? 0))).toBeLessThanOrEqual(10);
}, 120_000);
