/** Stored rows against slow ways to say the same: a run over a file, and a list in memory; and when a run is due. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import { type ObservationStore, openSqliteObservations, type Store, type UploadRecord } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import { runIngest } from "../../src/app.ts";
import { receive } from "../../src/uploads/receive.ts";
import { storedSource } from "../../src/uploads/stored-source.ts";
import { StoredWatch } from "../../src/uploads/stored-watch.ts";
import { currentGeofeeds, sweep } from "../../src/uploads/sweep.ts";
import { Uploads } from "../../src/uploads/uploads.ts";
import { atWork } from "../support/made-files.ts";

let folder: string;
let repository: ObservationStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-rows-"));
  repository = await openSqliteObservations(join(folder, "observations.sqlite"));
});
afterEach(async () => {
  await repository.close();
  rmSync(folder, { recursive: true });
});

const day = 86_400;
const newest = Date.parse("2026-11-20T00:00:00Z") / 1_000;

async function upload(
  id: string,
  text: string,
  { source = id, format = "ndjson" as "ndjson" | "geofeed", isPart = false, at = newest, into = repository } = {},
) {
  const begun = await repository.begin({ id, format, source, keyId: null }, at * 1_000);
  async function* pieces() {
    // Pieces that end anywhere.
    for (let at = 0; at < text.length; at += 777) yield Buffer.from(text.slice(at, at + 777));
  }
  const bounds = { bytesMax: 1e9, secondsMax: 60, rowsMax: 1e9, skewSeconds: 0, clock: { now: () => at * 1_000 } };
  return receive({ ...bounds, repository: into, upload: begun, offset: 0, body: pieces(), isPart });
}

function line(ip: string, secondsAgo: number, country = "NL"): string {
  const time = new Date((newest - secondsAgo) * 1_000).toISOString().replace(".000", "");
  return `${JSON.stringify({ ip, country, observed_at: time })}\n`;
}

test("an aggregation of stored rows makes the same section as a run over the files, to the byte", async () => {
  let state = 14;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const made = () => {
    const place = random(4);
    const where = random(3) === 0 ? {} : { lat: 50 - place * 9 + random(100) / 100, lon: place * 20, accuracy_km: 1 + random(80) };
    const ip = random(3) === 0 ? { prefix: `20.${random(3)}.0.0/16` } : { ip: `20.${random(3)}.0.${random(20)}` };
    const time = new Date((newest - random(500) * day - random(day)) * 1_000).toISOString().replace(".000", "");
    const method = random(2) === 0 ? {} : { method: `m${random(3)}` };
    return `${JSON.stringify({ ...ip, ...where, country: ["NL", "DE", "US", "JP"][place], observed_at: time, ...method })}\n`;
  };
  const files = [0, 1, 2].map(() => Array.from({ length: 1_500 }, made).join(""));
  for (const [at, text] of files.entries()) await upload(`u${at}`, text);
  await atWork(async (place) => {
    const lists = files.map((_, at) => `  - {name: s${at}, section: locations, format: observations, location: s${at}}\n`);
    for (const [at, text] of files.entries()) await place.write(`s${at}`, text);
    const config = await place.sources(`sources:\n${lists.join("")}`);
    const ofFiles = await runIngest({ config, store: place.store });
    const object = async () => (await place.store.getManifest((await place.store.currentId()) ?? "")).sections.locations?.object;
    const expected = await object();
    const stored = { ...storedSource, storedVersion: "0".repeat(64) };
    const ofStore = await runIngest({ config: { ...config, sources: [stored] }, store: place.store, observations: repository });
    expect(ofStore.sources).toMatchObject([{ read: 4_500, accepted: 4_500 }]);
    expect(ofStore.sections.map(({ counts }) => counts)).toEqual(ofFiles.sections.map(({ counts }) => counts));
    expect(await object()).toBe(expected);
  });
});

test("rows of the future, which a wrong clock let in, remove nothing, fail no run and date nothing", async () => {
  const at = Math.floor(Date.now() / 1_000) + 400 * day;
  await upload("a", line("192.0.2.1", 0) + line("192.0.2.2", 10 * day));
  await upload("b", line("192.0.2.3", newest - at), { at });
  await upload("c", "198.51.100.0/24,NL,,,\n", { format: "geofeed", at });
  const kept = { keptSeconds: 100 * day, rowsMax: 100, now: Date.now(), signal: new AbortController().signal };
  expect(await sweep(repository, kept)).toMatchObject({ rows: 0 });
  await atWork(async (place) => {
    const config = await place.sources("sources:\n  - {name: names, section: as_names, format: name-list, location: names}\n");
    const stored = { ...storedSource, storedVersion: "0".repeat(64) };
    const { sources } = await runIngest({ config: { ...config, sources: [stored] }, store: place.store, observations: repository });
    expect(sources).toMatchObject([{ accepted: 3, skipped: [{ reason: "observed_at is in the future", count: 1 }] }]);
    expect(Date.parse(sources[0]?.as_of ?? "")).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });
});

test("a store that fails once in the middle of an upload loses no rows: progress without them is never stored", async () => {
  const lines = Array.from({ length: 3_500 }, (_, at) => line(`192.0.2.${at % 256}`, at));
  let calls = 0;
  const failing: ObservationStore = {
    ...repository,
    async store(...given) {
      // As on a disk with room for the progress, and not for the rows.
      if (++calls === 2) throw new Error("is full");
      return repository.store(...given);
    },
  };
  await expect(upload("a", lines.join(""), { into: failing })).rejects.toThrow("is full");
  expect(await repository.find("a")).toMatchObject({ lines: await repository.rowCount(), complete: false });
  expect(await upload("a", lines.join(""))).toMatchObject({ rows: 3_500, complete: true });
  expect(await repository.rowCount()).toBe(3_500);
});

test("a deletion takes what an upload stores meanwhile: after it was listed, and after its rows were removed", async () => {
  const feed = (from: number) => `192.0.${from}.0/24,NL,,,\n`;
  await upload("before", feed(0), { source: "isp", format: "geofeed" });
  await upload("sent", feed(0) + feed(1), { source: "isp", format: "geofeed", isPart: true });
  const row = {
    country: "NL",
    region: null,
    city: null,
    latitude: null,
    longitude: null,
    accuracyKm: null,
    observedAt: null,
    method: null,
  };
  const goOn = async (line: number) => {
    const sent = (await repository.find("sent")) as UploadRecord;
    const rows = [{ ...row, line, prefix: makePrefix(4, 0xc000_0000 + line, 0, 0, 0, 32) }];
    expect(await repository.store(sent, rows, { ...sent, lines: line, rows: line }, newest * 1_000)).not.toBeNull();
  };
  const counted: (string | undefined)[] = [];
  const busy: ObservationStore = {
    ...repository,
    async uploads(...given) {
      const page = await repository.uploads(...given);
      await goOn(3);
      return page.filter(({ id }) => id === "sent");
    },
    async remove(...given) {
      const removed = await repository.remove(...given);
      counted.push(currentGeofeeds(await repository.uploads(10)).get("isp")?.id);
      // As a database, which stores rows before it finds that the progress of their upload was changed.
      if (removed > 0 && (await repository.find("sent")) !== null) await goOn(4);
      return removed;
    },
  };
  const audit = { append: async () => undefined } as unknown as Store["audit"];
  const bounds = { bytesMax: 1e9, secondsMax: 60, rowsMax: 1e9, uploadsMax: 4, clock: { now: () => newest * 1_000 } };
  const uploads = new Uploads({ ...bounds, repository: busy, audit });
  expect(await uploads.delete({ source: "isp" }, { actor: "cli", keyId: null, address: null })).toEqual({ deleted: 4, complete: true });
  expect(await repository.rowCount()).toBe(1);
  expect(counted[0]).toBe("before");
});

describe("retention", () => {
  const { signal } = new AbortController();
  const keep = async (keptSeconds: number, rowsMax: number, now = newest * 1_000) =>
    (await sweep(repository, { keptSeconds, rowsMax, now, signal })).rows;
  const rest = async () => {
    const found: string[] = [];
    for await (const rows of repository.all()) for (const row of rows) found.push(`${row.upload}:${row.line}`);
    return found;
  };

  test("removes what is older than the newest by more than is kept, then the oldest above the bound", async () => {
    await upload("a", line("192.0.2.1", 0) + line("192.0.2.2", 10 * day) + line("192.0.2.3", 10 * day + 1) + line("192.0.2.4", 5 * day));
    expect(await keep(10 * day, 100)).toBe(1);
    expect(await rest()).toEqual(["1:1", "1:2", "1:4"]);
    expect(await keep(10 * day, 2)).toBe(1);
    expect(await rest()).toEqual(["1:1", "1:4"]);
    expect(await keep(10 * day, 2)).toBe(0);
  });

  test("keeps of a source's geofeeds the last complete one and one that is being sent, whatever their age", async () => {
    for (const id of ["f1", "f2"]) await upload(id, "192.0.2.0/24,NL,,,\n", { source: "isp", format: "geofeed" });
    await upload("f3", "192.0.2.0/24,NL,,,\n", { source: "isp", format: "geofeed", isPart: true });
    await upload("now", line("192.0.2.1", 0));
    await keep(1, 100);
    expect(await rest()).toEqual(["2:1", "3:1", "4:1"]);
    await keep(1, 100, newest * 1_000 + 2 * day * 1_000);
    expect(await rest()).toEqual(["2:1", "4:1"]);
  });

  test("a geofeed whose beginning was removed cannot be continued, also beside more uploads than one sweep checks", async () => {
    const [first, second] = ["192.0.2.0/24,NL,,,\n", "198.51.100.0/24,NL,,,\n"];
    for (let at = 0; at < 1_100; at++) await repository.begin({ id: `u${at}`, format: "ndjson", source: "s", keyId: null }, newest * 1_000);
    await upload("old", first + second, { source: "isp", format: "geofeed" });
    await upload("new", first, { source: "isp", format: "geofeed", isPart: true });
    await keep(1, 100, newest * 1_000 + 2 * day * 1_000);
    expect(await repository.find("new")).toBeNull();
    expect(await rest()).toEqual(["1101:1", "1101:2"]);
  });

  test("removes nothing of an upload that is continued while retention is frozen after it read the records", async () => {
    const [first, second] = ["192.0.2.0/24,NL,,,\n", "198.51.100.0/24,NL,,,\n"];
    const geofeed = { source: "isp", format: "geofeed" } as const;
    await upload("new", first, { ...geofeed, isPart: true });
    await repository.begin({ id: "empty", format: "ndjson", source: "s", keyId: null }, newest * 1_000);
    const later = newest + 2 * day;
    const thawed = {
      ...repository,
      uploads: async (...given: Parameters<typeof repository.uploads>) => {
        const read = await repository.uploads(...given);
        await upload("new", first + second, { ...geofeed, at: later });
        await upload("empty", "\n", { isPart: true, at: later });
        return read;
      },
    };
    await sweep(thawed, { keptSeconds: 1, rowsMax: 100, now: later * 1_000, signal });
    expect(await rest()).toEqual(["1:1", "1:2"]);
    expect(await repository.find("new")).toMatchObject({ complete: true, rows: 2 });
    expect(await repository.find("empty")).toMatchObject({ lines: 1 });
  });

  test("lets geofeeds have half of the room, so that observations stay", async () => {
    const feed = Array.from({ length: 6 }, (_, at) => `192.0.${at}.0/24,NL,,,\n`).join("");
    for (const source of ["one", "two"]) await upload(source, feed, { format: "geofeed" });
    await upload("seen", line("192.0.2.1", 0) + line("192.0.2.2", 1));
    await keep(day, 12);
    expect(await rest()).toEqual([...[1, 2, 3, 4, 5, 6].map((at) => `2:${at}`), "3:1", "3:2"]);
  });

  test("above the bound of uploads the oldest go with their rows, except geofeeds that count", async () => {
    await upload("feed", "192.0.2.0/24,NL,,,\n", { format: "geofeed" });
    for (const id of ["a", "b", "c", "d"]) await upload(id, line("192.0.2.1", 0));
    const bounds = { keptSeconds: day, rowsMax: 100, uploadsMax: 2, now: newest * 1_000, signal };
    expect(await sweep(repository, bounds)).toEqual({ rows: 2, checkedTo: 0 });
    expect((await repository.uploads(10)).map(({ id }) => id)).toEqual(["d", "c", "feed"]);
    expect(await rest()).toEqual(["1:1", "4:1", "5:1"]);
    expect(await sweep(repository, bounds)).toMatchObject({ rows: 0 });
  });

  test("looks for the rows of a thousand uploads in one sweep, and of the next ones in the next", async () => {
    for (let at = 0; at < 1_500; at++) await repository.begin({ id: `u${at}`, format: "ndjson", source: "s", keyId: null }, newest * 1_000);
    const bounds = { keptSeconds: day, rowsMax: 100, now: newest * 1_000 + 2 * day * 1_000, signal };
    const { checkedTo } = await sweep(repository, bounds);
    expect([checkedTo, await repository.uploadCount()]).toEqual([1_000, 500]);
    expect(await sweep(repository, { ...bounds, checkFrom: checkedTo })).toEqual({ rows: 0, checkedTo: 0 });
    expect(await repository.uploadCount()).toBe(0);
  });

  test.each([
    [200_001, null],
    [220_001, "observations_full"],
  ])("an upload beside %d others", async (count, refusal) => {
    const audit = { append: async () => undefined } as unknown as Store["audit"];
    const bounds = { bytesMax: 1e9, secondsMax: 60, rowsMax: 1e9, uploadsMax: 4, clock: Date };
    const uploads = new Uploads({ ...bounds, repository: { ...repository, uploadCount: async () => count }, audit });
    async function* body() {
      yield Buffer.from(line("192.0.2.1", 0));
    }
    const request = {
      id: null,
      offset: 0,
      source: "s",
      format: "ndjson",
      isPart: false,
      by: { actor: "cli:root", keyId: null, address: null },
      body: body(),
    } as const;
    const outcome = await uploads.receive(request).catch((error: unknown) => error);
    expect(outcome).toMatchObject(refusal === null ? { complete: true } : { code: refusal });
  });

  test("removes rows of uploads that are gone, and records of uploads whose rows are", async () => {
    for (const id of ["a", "b", "c"]) await upload(id, line("192.0.2.1", 0));
    await repository.forget(2);
    await repository.remove({ fromUpload: 1, toUpload: 1 }, 10);
    // The number of an upload that has just begun may come before its record.
    await keep(day, 100);
    expect(await rest()).toEqual(["2:1", "3:1"]);
    expect(await repository.uploadCount()).toBe(2);
    await keep(day, 100, newest * 1_000 + 2 * day * 1_000);
    expect(await rest()).toEqual(["3:1"]);
    expect((await repository.uploads(10)).map(({ id }) => id)).toEqual(["c"]);
  });
});

test("a run is due when changes have come to rest, at most once in an interval, and while they go on once in two", async () => {
  let now = 1_000_000;
  const changes: number[] = [];
  let looks = 0;
  const watch = new StoredWatch({
    repository: {
      ...repository,
      revision() {
        looks += 1;
        return repository.revision();
      },
    },
    ...{ intervalMs: 1_000, rowsMax: 1_000, lookMs: 5, keptSeconds: async () => day, clock: { now: () => now } },
    log: { info: () => undefined, warn: () => undefined },
    onChange: () => changes.push(now),
  });
  /** A look begins with the revision, so that one that began after the call has ended when the next one begins. */
  const looked = async () => {
    const before = looks;
    await until(() => looks >= before + 2);
  };
  watch.start();
  await looked();
  expect([changes, await watch.version(false)]).toEqual([[1_000_000], { revision: 0, rows: 0 }]);
  await upload("a", line("192.0.2.1", 0));
  now += 500;
  await looked();
  expect(changes).toHaveLength(1);
  now += 500;
  await looked();
  expect([changes.at(-1), await watch.version(false)]).toEqual([1_001_000, { revision: 1, rows: 1 }]);
  // Never at rest.
  for (let at = 0; at < 40; at++) {
    await upload(`more-${at}`, line("192.0.2.1", 0));
    now += 100;
    await looked();
  }
  const between = changes.slice(1).map((time, at) => time - (changes[at] as number));
  expect(Math.min(...between)).toBeGreaterThanOrEqual(1_000);
  expect(changes.length).toBeGreaterThanOrEqual(3);
  // The clock was set back.
  const before = changes.length;
  now -= 400 * day * 1_000;
  await upload("last", line("192.0.2.1", 0));
  await looked();
  now += 1;
  await looked();
  expect(changes).toHaveLength(before + 1);
  await watch.stop();
});
