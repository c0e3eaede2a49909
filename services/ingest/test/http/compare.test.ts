/**
 * What changed between two kept snapshots, by the operator API: each row, the numbers of them, and what is refused.
 *
 * @large It makes whole runs and comparisons, each in a thread.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { internalHeaders, SnapshotChanges } from "@netfacts/contracts";
import { Generation, loadSnapshot, sectionChanges, snapshotsFolder } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { Comparisons } from "../../src/compare/compare.ts";
import { proxyToken, type ServiceHarness, startedRun, startService } from "../support/service.ts";

const path = "/admin/v1/ingest/snapshots/changes";
const headers = { "x-netfacts-key-id": "7Q9M3W8K" };
const blocks = 2_000;

let service: ServiceHarness;
let first: string;
let second: string;
beforeAll(async () => {
  service = await startService();
  first = await imported("NL", (at) => at !== 7);
  second = await imported("DE", (at) => at !== 9);
});
afterAll(() => service.stop());

async function imported(country: string, has: (block: number) => boolean): Promise<string> {
  const folder = join(service.folder, "sources");
  smallSources(folder, country);
  const there = Array.from({ length: blocks }, (_, at) => at).filter(has);
  const line = (at: number) => `ripencc|${at < 3 ? "SE" : country}|ipv4|193.${at >> 8}.${at & 255}.0|256|19930901|assigned\n`;
  writeFileSync(
    join(folder, "ripencc.txt"),
    `2|ripencc|20261121|${there.length}|19930901|20261120|+0000\nripencc|*|ipv4|*|${there.length}|summary\n${there.map(line).join("")}`,
  );
  const { state, snapshot } = await service.ended(await startedRun(service));
  expect(state).toBe("succeeded");
  return snapshot;
}

const ask = (query: string) => service.ask("GET", `${path}${query}`, { headers });
const source = () => ({ kind: "folder", path: join(service.folder, snapshotsFolder) }) as const;

async function changesOf(from: string, to: string, section: string): Promise<SnapshotChanges> {
  const { status, json } = await ask(`?from=${from}&to=${to}&section=${section}`);
  expect([status, [...Value.Errors(SnapshotChanges, json)]]).toEqual([200, []]);
  return json;
}

const numbers = { added: 1, removed: 1, changed: blocks - 2 - 3 };

test("every row that differs is told and counted, as the comparison of both snapshots in this process says", async () => {
  const { items, ...told } = await changesOf(first, second, "allocations&limit=10000");
  expect(told).toEqual({ from: first, to: second, section: "allocations", ...numbers });
  const load = async (id: string) => Generation.of(await loadSnapshot(service.snapshots, await service.snapshots.getManifest(id)));
  const expected = [...sectionChanges(await load(first), await load(second), "allocations")].map(({ change, identity, from, to }) => ({
    ...{ change, row: identity, from, to },
  }));
  expect(items).toEqual(expected);
  expect(items).toContainEqual({
    change: "removed",
    row: { start: "193.0.9.0", end: "193.0.9.255", registry: "ripencc" },
    from: { status: "assigned", registration_country: "NL", allocated_on: "1993-09-01" },
    to: null,
  });
});

test("a limit leaves out rows, and nothing of their numbers; 100 is the default", async () => {
  expect(await changesOf(first, second, "allocations&limit=2")).toMatchObject({ ...numbers, items: { length: 2 } });
  expect(await changesOf(first, second, "allocations")).toMatchObject({ ...numbers, items: { length: 100 } });
});

test("the same snapshot twice, and a section that neither has, differ in nothing", async () => {
  const none = { added: 0, removed: 0, changed: 0, items: [] };
  expect(await changesOf(first, first, "allocations")).toMatchObject(none);
  expect(await changesOf(first, second, "routes")).toMatchObject(none);
});

test("what is missing, unknown or not kept is refused", async () => {
  const refused = [
    ["", 400, "invalid_parameter"],
    [`?from=${first}&to=${second}`, 400, "invalid_parameter"],
    [`?from=${first}&to=${second}&section=prices`, 400, "invalid_parameter"],
    [`?from=${first}&to=${second}&section=routes&section=routes`, 400, "invalid_parameter"],
    [`?from=..%2Fx&to=${second}&section=routes`, 400, "invalid_parameter"],
    [`?from=${first}&to=${second}&section=routes&limit=0`, 400, "invalid_parameter"],
    [`?from=20200101T000000Z-00000000&to=${second}&section=routes`, 404, "snapshot_not_found"],
  ] as const;
  for (const [query, status, code] of refused) expect([query, await ask(query)]).toMatchObject([query, { status, json: { code } }]);
  expect((await ask("")).json.errors).toMatchObject([
    { location: "query.from", message: expect.stringContaining("is missing") },
    { location: "query.to" },
    { location: "query.section" },
  ]);
  expect((await service.ask("POST", path)).headers.allow).toBe("GET, HEAD");
});

test("comparisons are made one after the other, two requests wait, and one more is refused", async () => {
  const comparisons = new Comparisons();
  const request = { source: source(), from: first, to: second, section: "allocations", limit: 1 } as const;
  const { signal } = new AbortController();
  const asked = Array.from({ length: 3 }, () => comparisons.compare(request, signal));
  await expect(comparisons.compare(request, signal)).rejects.toMatchObject({ code: "temporarily_overloaded" });
  for (const text of await Promise.all(asked)) expect(JSON.parse(text)).toMatchObject(numbers);
  expect(JSON.parse(await comparisons.compare(request, signal))).toMatchObject(numbers);
});

/** A store that never answers. */
const silent = `export const openStore = () => new Promise(() => setInterval(() => {}, 1_000));`;
const silentSource = { kind: "module", url: `data:text/javascript,${encodeURIComponent(silent)}`, options: null } as const;

test("a comparison ends when nobody waits for it, when it takes too long, and with the process; the next one begins", async () => {
  const comparisons = new Comparisons(1_500);
  const request = { source: silentSource, from: first, to: second, section: "allocations", limit: 1 } as const;
  const left = new AbortController();
  const given = comparisons.compare(request, left.signal);
  setTimeout(() => left.abort(), 100);
  await expect(given).rejects.toMatchObject({ code: "upstream_error" });
  const { signal } = new AbortController();
  await expect(comparisons.compare(request, signal)).rejects.toMatchObject({ code: "upstream_timeout" });
  const last = [comparisons.compare(request, signal), comparisons.compare(request, signal)];
  setTimeout(() => comparisons.stop(), 100);
  for (const one of last) await expect(one).rejects.toMatchObject({ code: "shutting_down" });
});

test("a client that leaves does not keep the next one from an answer", async () => {
  const leaving = new AbortController();
  const url = `${service.app.url()}${path}?from=${first}&to=${second}&section=allocations`;
  const gone = fetch(url, { headers: { [internalHeaders.proxyToken]: proxyToken }, signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await expect(gone).rejects.toThrow();
  expect(await changesOf(first, second, "allocations")).toMatchObject(numbers);
});

test("a damaged snapshot is told by its object", async () => {
  const { sections } = await service.snapshots.getManifest(first);
  const object = sections.allocations?.object ?? "";
  const folder = join(service.folder, snapshotsFolder);
  const file = join(folder, readdirSync(folder, { recursive: true }).find((name) => String(name).includes(object.slice(2))) as string);
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  writeFileSync(file, damaged);
  const { status, json } = await ask(`?from=${first}&to=${second}&section=allocations`);
  expect([status, json.code]).toEqual([502, "upstream_error"]);
  expect(json.detail).toMatch(/could not be compared: .*section allocations.*damaged/);
  writeFileSync(file, whole);
});
