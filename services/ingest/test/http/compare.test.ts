/** What changed between two kept snapshots, by the operator API: each row, the numbers of them, and what is refused. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { SnapshotChangeCounts, SnapshotChangeLine } from "@netfacts/contracts";
import { Generation, loadSnapshot, sectionChanges, snapshotsFolder } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { smallSources } from "../../../../test/support/small-sources.ts";
import { Comparisons } from "../../src/compare/compare.ts";
import { type ServiceHarness, startedRun, startService } from "../support/service.ts";

const path = "/admin/v1/ingest/snapshots/changes";
const headers = { "x-netfacts-key-id": "7Q9M3W8K" };
/** So many that their lines come in several pieces. */
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

async function linesOf(from: string, to: string, section: string): Promise<unknown[]> {
  const { status, body: text, headers } = await ask(`?from=${from}&to=${to}&section=${section}`);
  expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson; charset=utf-8"]);
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

test("every row that differs is a line, as the comparison of both snapshots in this process says, and the last line has their numbers", async () => {
  const lines = await linesOf(first, second, "allocations");
  const last = lines.pop();
  expect(last).toEqual({ complete: true, added: 1, removed: 1, changed: blocks - 2 - 3 });
  expect([...Value.Errors(SnapshotChangeCounts, last)]).toEqual([]);
  for (const line of lines) expect([...Value.Errors(SnapshotChangeLine, line)]).toEqual([]);
  const load = async (id: string) => Generation.of(await loadSnapshot(service.snapshots, await service.snapshots.getManifest(id)));
  const expected = [...sectionChanges(await load(first), await load(second), "allocations")].map(({ change, identity, from, to }) => ({
    change,
    row: identity,
    from,
    to,
  }));
  expect(lines).toEqual(expected);
  expect(lines).toContainEqual({
    change: "removed",
    row: { start: "193.0.9.0", end: "193.0.9.255", registry: "ripencc" },
    from: { status: "assigned", registration_country: "NL", allocated_on: "1993-09-01" },
    to: null,
  });
});

test("a limit leaves out lines, and nothing of their numbers", async () => {
  const lines = await linesOf(first, second, "allocations&limit=2");
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toEqual({ complete: true, added: 1, removed: 1, changed: blocks - 2 - 3 });
});

test("the same snapshot twice, and a section that neither has, differ in nothing", async () => {
  const none = [{ complete: true, added: 0, removed: 0, changed: 0 }];
  expect(await linesOf(first, first, "allocations")).toEqual(none);
  expect(await linesOf(first, second, "routes")).toEqual(none);
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

test("one comparison is in progress at a time; when its reader leaves, the next one begins", async () => {
  const comparisons = new Comparisons();
  const request = { source: source(), from: first, to: second, section: "allocations", limit: Number.POSITIVE_INFINITY } as const;
  const reader = comparisons.lines(request);
  expect((await reader.next()).value).toContain("\n");
  await expect(comparisons.lines(request).next()).rejects.toMatchObject({ code: "temporarily_overloaded" });
  await reader.return();
  let text = "";
  for await (const piece of comparisons.lines(request)) text += piece;
  expect(text).toContain('"complete":true');
});

test("a reader who does not go on loses the comparison, and the next one may begin", async () => {
  const comparisons = new Comparisons({ stallMs: 50 });
  const request = { source: source(), from: first, to: second, section: "allocations", limit: Number.POSITIVE_INFINITY } as const;
  const reader = comparisons.lines(request);
  await reader.next();
  await new Promise((resolve) => setTimeout(resolve, 500));
  await expect(reader.next()).rejects.toThrow(/ended/);
  expect((await comparisons.lines(request).next()).value).toContain("\n");
  await comparisons.stop();
});

test("a damaged snapshot is told by its object, before the first line", async () => {
  const { sections } = await service.snapshots.getManifest(first);
  const object = sections.allocations?.object ?? "";
  const folder = join(service.folder, snapshotsFolder);
  const file = join(folder, readdirSync(folder, { recursive: true }).find((name) => String(name).includes(object.slice(2))) as string);
  const whole = readFileSync(file);
  const damaged = Buffer.from(whole);
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1;
  writeFileSync(file, damaged);
  const { status, json } = await ask(`?from=${first}&to=${second}&section=allocations`);
  expect([status, json.code]).toEqual([503, "upstream_unavailable"]);
  expect(json.detail).toMatch(/could not be compared: .*section allocations.*damaged/);
  writeFileSync(file, whole);
});
