/** Runs over RTR sources: of a cache asked now, of a session's file, and of data that were given up. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { validateOrigin } from "@netfacts/rpki";
import { Generation, loadSnapshot } from "@netfacts/snapshot";
import { IngestError, runIngest } from "../../src/app.ts";
import { type ReadyFile, withFiles } from "../../src/fetch/ready-files.ts";
import { fetchVrps, readCacheList, writeVrpFile } from "../../src/rtr/index.ts";
import { atWork, optional, vrpFile, type Workplace } from "../support/made-files.ts";
import { type ScriptedCache, startScriptedCache } from "../support/scripted-cache.ts";

const caches: ScriptedCache[] = [];
afterEach(async () => {
  for (const cache of caches.splice(0)) await cache.stop();
});

async function cacheOf(...args: Parameters<typeof startScriptedCache>): Promise<ScriptedCache> {
  const cache = await startScriptedCache(...args);
  caches.push(cache);
  return cache;
}

const sourcesOf = (location: string, more = "") => `
full_feed_min: {ipv4: 1, ipv6: 1}
sources:
  - {name: rib, section: routes, format: mrt, location: rib}
  - {name: rpki, section: vrps, format: rtr, location: "${location}"}
${more}`;

const vrps = ["11.0.0.0/24-25 9", "11.0.1.0/24-24 9", "2001:db8::/32-48 4294967295"];

async function served({ store }: Workplace): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) ?? "")));
}

async function objects({ store }: Workplace): Promise<Record<string, string>> {
  const { sections } = await store.getManifest((await store.currentId()) ?? "");
  return Object.fromEntries(Object.entries(sections).map(([name, { object }]) => [name, object]));
}

async function stateOf(place: Workplace): Promise<string | null> {
  const { vrps } = await served(place);
  return vrps === null ? null : validateOrigin(vrps, { version: 4, w0: 0x0b00_0000, w1: 0, w2: 0, w3: 0, length: 24 }, 9).state;
}

test("asks the cache when there is no session, and builds its VRPs with the rest", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const report = await runIngest({ config: await place.sources(sourcesOf(cache.url)), store: place.store });
    expect(report.sources[1]).toMatchObject({ state: "read", format: "rtr", file: cache.url, read: 3, accepted: 3 });
    expect(report.sources[1]?.notes).toEqual([`serial 1 of session 4711 of ${cache.url}`]);
    expect(Date.parse(report.sources[1]?.as_of ?? "")).toBeGreaterThan(Date.now() - 60_000);
    const generation = await served(place);
    expect([...(generation.vrps?.covering({ version: 4, w0: 0x0b00_0000, w1: 0, w2: 0, w3: 0, length: 24 }) ?? [])]).toEqual([
      expect.objectContaining({ asn: 9, maxLength: 25, ta: null, expiresAt: null, loose: true }),
    ]);
  });
});

test("a source that changes from a validator's export to RTR, which names no trust anchors, is not refused for it; a family that it lacks is missing", async () => {
  const lines = Array.from({ length: 120 }, (_, at) => (at < 60 ? `11.0.${at}.0/24-24 9` : `2001:db8:${at}::/48-48 9`));
  const whole = await cacheOf(lines);
  const cut = await cacheOf([...lines.slice(0, 60), ...Array.from({ length: 60 }, (_, at) => `11.1.${at}.0/24-24 9`)]);
  await atWork(async (place) => {
    const roas = lines.map((line) => line.split(/[- ]/)).map(([prefix, max]) => ({ asn: 9, prefix, maxLength: Number(max), ta: "ripe" }));
    await place.write("vrps", JSON.stringify({ metadata: { buildtime: "2025-11-21T08:50:12Z" }, roas }));
    await runIngest({
      config: await place.sources(sourcesOf("vrps").replace("format: rtr", "format: rpki-client-json")),
      store: place.store,
    });
    const report = await runIngest({ config: await place.sources(sourcesOf(whole.url)), store: place.store });
    expect(report.sections.find(({ name }) => name === "vrps")).toMatchObject({ kept: false, counts: { vrps: 120 } });
    const failing = runIngest({ config: await place.sources(sourcesOf(cut.url)), store: place.store });
    await expect(failing).rejects.toThrow("has 0 IPv6 VRPs, compared with 60 in the last good version");
  });
});

test("ends with each cache and its reason when a required source's caches have nothing; an optional one's section stays", async () => {
  const none = await cacheOf(vrps, (_, socket) => socket.destroy());
  const gone = await cacheOf(vrps);
  const location = `${none.url},${gone.url}`;
  await atWork(async (place) => {
    await runIngest({ config: await place.sources(sourcesOf(gone.url)), store: place.store });
    await gone.down();
    const run = runIngest({ config: await place.sources(sourcesOf(location)), store: place.store });
    await expect(run).rejects.toThrow(IngestError);
    await expect(run).rejects.toThrow(
      `no RTR cache has data: ${none.url}: the cache closed the connection; ${gone.url}: connect ECONNREFUSED`,
    );
    const config = await place.sources(optional(sourcesOf(location), "rpki"));
    const report = await runIngest({ config, store: place.store });
    expect(report.sections.find(({ name }) => name === "vrps")).toMatchObject({ kept: true });
    expect(report.sources[1]).toMatchObject({ state: "failed" });
  });
});

test("stops asking when the run is stopped", async () => {
  const cache = await cacheOf(vrps, () => undefined);
  await atWork(async (place) => {
    const stopping = new AbortController();
    const run = runIngest({ config: await place.sources(sourcesOf(cache.url)), store: place.store, signal: stopping.signal });
    await cache.hears("reset-query");
    stopping.abort();
    await expect(run).rejects.toThrow("stopped; nothing was published");
  });
});

/** The session's file of a cache as it is now, or dated earlier. */
async function fileOf(place: Workplace, cache: ScriptedCache, ageMs = 0): Promise<ReadyFile> {
  const location = join(place.folder, "session.rtr");
  const now = await fetchVrps({ caches: readCacheList(cache.url) ?? [], timeoutMs: 20_000 });
  const data = { ...now, updatedAt: now.updatedAt - ageMs };
  return { location, sha256: await writeVrpFile(location, data), url: cache.url, fetchedAt: data.updatedAt, lastGood: null };
}

test("replaces the VRPs of a session alone: every other section's object is the one that was", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const config = await place.sources(sourcesOf(cache.url));
    await runIngest({ config: withFiles(config, { rpki: await fileOf(place, cache) }, null), store: place.store });
    const before = await objects(place);
    expect(await stateOf(place)).toBe("valid");

    cache.set(vrps.map((vrp) => vrp.replace(/ 9$/, " 8")));
    // What is not to be built need not even be there.
    await place.write("rib", "");
    const report = await runIngest({ config: withFiles(config, { rpki: await fileOf(place, cache) }, ["vrps"]), store: place.store });
    const after = await objects(place);
    expect(report.sections.map(({ name, kept }) => [name, kept])).toEqual([
      ["routes", true],
      ["vrps", false],
    ]);
    expect(after.routes).toBe(before.routes);
    expect(after.vrps).not.toBe(before.vrps);
    expect(await stateOf(place)).toBe("invalid");
  });
});

test("reads data of a session that are dated a day before those of the last import, because the clock was set back", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const config = await place.sources(sourcesOf(cache.url));
    const readFile = async (ageMs: number) =>
      runIngest({ config: withFiles(config, { rpki: await fileOf(place, cache, ageMs) }, null), store: place.store });
    await readFile(0);
    cache.set(vrps.map((vrp) => vrp.replace(/ 9$/, " 8")));
    const report = await readFile(24 * 3_600_000);
    expect(report.sources[1]).toMatchObject({ state: "read", accepted: 3, error: null });
    expect(report.sources[1]?.notes).toContainEqual(expect.stringMatching(/^its data are of .+, older than those of the last import/));
    expect(await stateOf(place)).toBe("invalid");
  });
});

test("withdraws the section when a session gave its data up, required or not, unless another source fills it", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const config = await place.sources(sourcesOf(cache.url));
    await runIngest({ config, store: place.store });
    const gone = { location: "", sha256: "", url: null, fetchedAt: null, lastGood: null, givenUp: "nothing was heard" };
    const report = await runIngest({ config: withFiles(config, { rpki: gone }, ["vrps"]), store: place.store });
    expect(report.sources).toMatchObject([{ state: "failed", error: "the data were discarded: nothing was heard" }]);
    expect(Object.keys(await objects(place))).toEqual(["routes"]);
    expect(await stateOf(place)).toBeNull();

    // Local exceptions alone would make every other route unknown.
    await place.write(
      "slurm",
      JSON.stringify({
        slurmVersion: 1,
        validationOutputFilters: { prefixFilters: [], bgpsecFilters: [] },
        locallyAddedAssertions: { prefixAssertions: [{ asn: 9, prefix: "11.0.0.0/24" }], bgpsecAssertions: [] },
      }),
    );
    const slurm = await place.sources(sourcesOf(cache.url, "  - {name: slurm, section: vrps, format: slurm, location: slurm}\n"));
    await runIngest({ config: slurm, store: place.store });
    expect(await stateOf(place)).toBe("valid");
    await runIngest({ config: withFiles(slurm, { rpki: gone }, ["vrps"]), store: place.store });
    expect(await stateOf(place)).toBeNull();

    const two = await place.sources(sourcesOf(cache.url, "  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps}\n"));
    await runIngest({ config: two, store: place.store });
    await runIngest({ config: withFiles(two, { rpki: gone }, ["vrps"]), store: place.store });
    const { sources, counts } = (await place.store.getManifest((await place.store.currentId()) ?? "")).sections.vrps ?? {};
    expect(sources?.map(({ name, error }) => [name, error])).toEqual([
      ["vrps", null],
      ["rpki", "could not be read in the last run"],
    ]);
    expect(counts?.vrps).toBe(10);
  });
});

test("lets the section lose given-up data once; from then on the bound of the section holds for its other sources", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const other = "  - {name: vrps, section: vrps, format: rpki-client-json, location: vrps, shrink_max: 100%}\n";
    const config = await place.sources(`section_shrink_max: {vrps: 20%}\n${sourcesOf(cache.url, other)}`);
    await runIngest({ config, store: place.store });
    const gone = { location: "", sha256: "", url: null, fetchedAt: null, lastGood: null, givenUp: "nothing was heard" };
    const refusals: (string | null | undefined)[] = [];
    for (const count of [9, 1]) {
      await place.write("vrps", vrpFile(count));
      const { sections } = await runIngest({ config: withFiles(config, { rpki: gone }, ["vrps"]), store: place.store });
      refusals.push(sections.find(({ name }) => name === "vrps")?.refused);
    }
    expect(refusals).toEqual([null, expect.stringMatching(/^has 1 VRPs, compared with 9 in the last snapshot/)]);
  });
});

test("refuses a session's file that is cut, damaged, longer than it says, or no such file, with the byte", async () => {
  const cache = await cacheOf(vrps);
  await atWork(async (place) => {
    const config = await place.sources(sourcesOf(cache.url));
    const file = await fileOf(place, cache);
    const { readFile } = await import("node:fs/promises");
    const whole = await readFile(file.location);
    const head = whole.indexOf("\n") + 1;
    const damages: [Buffer, string | RegExp][] = [
      [whole.subarray(0, whole.length - 1), `byte ${whole.length - 24}: ends after 3 of 3 VRPs`],
      [whole.subarray(0, head + 30), `byte ${head + 28}: ends after 1 of 3 VRPs`],
      [Buffer.concat([whole, whole.subarray(head)]), `byte ${whole.length}: has data after its end`],
      [Buffer.from("{}\n"), "byte 0: was not written by an RTR session"],
      [Buffer.alloc(0), "byte 0: has no first line"],
      [Buffer.alloc(10_000, "x"), "byte 0: was not written by an RTR session"],
      [Buffer.concat([whole.subarray(0, head + 8 + 1), Buffer.from([99]), whole.subarray(head + 10)]), `byte ${head + 8}: `],
      [Buffer.concat([whole.subarray(0, head + 28), whole.subarray(head + 8)]), `byte ${head + 28}: a VRP appears twice`],
    ];
    for (const [bytes, fault] of damages) {
      await writeFile(file.location, bytes);
      await expect(runIngest({ config: withFiles(config, { rpki: file }, ["vrps"]), store: place.store })).rejects.toThrow(fault);
    }
    expect(await place.store.currentId()).toBeNull();
  });
});
