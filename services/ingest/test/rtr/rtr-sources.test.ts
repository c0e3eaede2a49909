/** What sessions hand on, and when, by a clock of the test's own. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { createRtrMetrics, RtrSources } from "../../src/rtr/index.ts";
import { writeVrpFile } from "../../src/rtr/vrp-file.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { startScriptedCache } from "../support/scripted-cache.ts";

const hour = 3_600_000;
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function begin(write = writeVrpFile) {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-rtr-"));
  const cache = await startScriptedCache(["192.0.2.0/24-24 1"]);
  const clock = manualClock();
  const registry = createRegistry();
  let changes = 0;
  const sources = new RtrSources({
    folder,
    delayMs: 1_000,
    clock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    metrics: createRtrMetrics(createMetrics("ingest", registry)),
    onChange: () => void changes++,
    write,
  });
  stops.push(
    () => rmSync(folder, { recursive: true }),
    () => cache.stop(),
    () => sources.stop(),
  );
  const follow = (location = cache.url) => sources.follow([{ name: "rpki", location, intervalSeconds: 7_200 }]);
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { folder, cache, clock, registry, sources, follow, until, changes: () => changes };
}

test("hands on data that do not change once per interval, with the time at which they were last current", async () => {
  const { cache, clock, registry, sources, follow, until, changes } = await begin();
  follow();
  await until(() => sources.status("rpki")[0]?.state === "synchronised");
  expect(sources.stock("rpki")).toBeNull();
  expect(sources.checks("rpki")).toEqual({ checkedAt: clock.now(), succeededAt: clock.now(), failures: 0 });
  clock.pass(1_000);
  await until(() => changes() === 1);
  const first = sources.stock("rpki");
  clock.pass(hour);
  await cache.hears("serial-query");
  await until(() => sources.status("rpki")[0]?.updatedAt === clock.now());
  expect([changes(), sources.stock("rpki")]).toEqual([1, first]);
  clock.pass(hour);
  await until(() => changes() === 2);
  expect(sources.stock("rpki")).toMatchObject({ kind: "file", cache: cache.url });
  expect(sources.stock("rpki")).not.toEqual(first);
  const samples = (await registry.text()).split("\n");
  const sample = (name: string) =>
    samples
      .find((line) => line.startsWith(`netfacts_ingest_rtr_${name}{`) && line.includes(`cache="${cache.url}"`))
      ?.split(" ")
      .at(-1);
  expect(["synchronised", "active", "serial", "vrps", "router_keys"].map(sample)).toEqual(["1", "1", "1", "1", "0"]);
});

test("hands on data that do not change once per interval also when the clock was set back", async () => {
  const { cache, clock, sources, follow, until, changes } = await begin();
  follow();
  await until(() => sources.status("rpki")[0]?.state === "synchronised");
  clock.pass(1_000);
  await until(() => changes() === 1);
  clock.set(-24 * hour);
  clock.pass(hour);
  await cache.hears("serial-query");
  await until(() => sources.status("rpki")[0]?.updatedAt === clock.now());
  const updatedAt = clock.now();
  clock.pass(hour);
  await until(() => changes() === 2);
  expect(sources.stock("rpki")).toMatchObject({ kind: "file", updatedAt });
});

test("a changed interval holds from then on, over the same session", async () => {
  const { cache, clock, sources, follow, until, changes } = await begin();
  follow();
  await until(() => sources.status("rpki")[0]?.state === "synchronised");
  clock.pass(1_000);
  await until(() => changes() === 1);
  sources.follow([{ name: "rpki", location: cache.url, intervalSeconds: 3_700 }]);
  clock.pass(hour);
  await cache.hears("serial-query");
  await until(() => sources.status("rpki")[0]?.updatedAt === clock.now());
  clock.pass(100_000);
  await until(() => changes() === 2);
  expect(cache.connections).toBe(1);
});

test("a cache has gauges as long as its source follows it", async () => {
  const { cache, registry, sources, follow, until } = await begin();
  const other = await startScriptedCache(["192.0.2.0/24-24 1"]);
  stops.push(() => other.stop());
  const cachesOf = async () => {
    const gauges = (await registry.text()).split("\n").filter((line) => /^netfacts_ingest_rtr_\w+\{.*cache=/.test(line));
    return [gauges.length, [...new Set(gauges.map((line) => /cache="([^"]*)"/.exec(line)?.[1]))]];
  };
  const isSynchronised = () => sources.status("rpki")[0]?.state === "synchronised";
  follow();
  await until(isSynchronised);
  expect(await cachesOf()).toEqual([7, [cache.url]]);
  follow(other.url);
  await until(isSynchronised);
  expect(await cachesOf()).toEqual([7, [other.url]]);
  sources.follow([]);
  expect(await cachesOf()).toEqual([0, []]);
});

function expectGivenUpInTwoHours(sources: RtrSources, clock: ManualClock, asOf: number): void {
  clock.pass(2 * hour - 1);
  sources.giveUpInherited("rpki", asOf);
  expect(sources.stock("rpki")).toBeNull();
  clock.pass(1);
  sources.giveUpInherited("rpki", asOf);
  expect(sources.stock("rpki")).toMatchObject({ kind: "given-up" });
}

test("gives up what another process published when no cache was reached for the default Expire Interval since", async () => {
  const { cache, clock, sources, follow, until } = await begin();
  await cache.down();
  const asOf = clock.now();
  follow();
  expect(sources.checks("rpki")).toEqual({ checkedAt: null, succeededAt: null, failures: 0 });
  await until(() => sources.status("rpki")[0]?.state === "waiting");
  expect(sources.checks("rpki")).toEqual({ checkedAt: asOf, succeededAt: null, failures: 1 });
  expectGivenUpInTwoHours(sources, clock, asOf);
});

test("gives up in the same time what another process published while its clock was a day ahead", async () => {
  const { cache, clock, sources, follow, until } = await begin();
  await cache.down();
  const asOf = clock.now() + 24 * hour;
  follow();
  await until(() => sources.status("rpki")[0]?.state === "waiting");
  sources.giveUpInherited("rpki", asOf);
  clock.set(-hour);
  expectGivenUpInTwoHours(sources, clock, asOf);
});

test("does not give up what another process published before each cache was tried", async () => {
  const { cache, clock, sources, follow, until, changes } = await begin();
  let isSilent = true;
  cache.answer = () => (isSilent ? undefined : "as usual");
  follow();
  await cache.hears("reset-query");
  sources.giveUpInherited("rpki", clock.now() - 3 * hour);
  expect(sources.stock("rpki")).toBeNull();
  isSilent = false;
  clock.pass(30_000);
  await until(() => sources.status("rpki")[0]?.state === "waiting");
  clock.pass(1_000);
  await until(() => sources.status("rpki")[0]?.state === "synchronised");
  sources.giveUpInherited("rpki", clock.now() - 3 * hour);
  expect(sources.stock("rpki")).toBeNull();
  clock.pass(1_000);
  await until(() => changes() === 1);
  expect(sources.stock("rpki")).toMatchObject({ kind: "file" });
});

test("data of another cache are written when those of the one before are, which go", async () => {
  const disk = { isSlow: true, writing: 0, most: 0 };
  const { folder, cache, clock, sources, follow, until, changes } = await begin(async (path, data) => {
    disk.most = Math.max(disk.most, ++disk.writing);
    while (disk.isSlow) await sleep(5);
    return await writeVrpFile(path, data).finally(() => disk.writing--);
  });
  const other = await startScriptedCache(["192.0.2.0/24-24 2"]);
  stops.push(() => other.stop());
  const synchronised = (url: string) =>
    until(() => sources.status("rpki").some((each) => each.cache === url && each.state === "synchronised"));
  follow();
  await synchronised(cache.url);
  clock.pass(1_000);
  await until(() => disk.writing === 1);
  follow(other.url);
  await synchronised(other.url);
  clock.pass(1_000);
  // Time enough for a second writer.
  await sleep(100);
  expect(disk.most).toBe(1);
  disk.isSlow = false;
  await until(() => changes() === 1);
  expect(sources.stock("rpki")).toMatchObject({ kind: "file", cache: other.url });
  await sources.stop();
  expect(readdirSync(folder)).toEqual([]);
});
