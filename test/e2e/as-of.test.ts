/** Questions about the past, through gateway, NATS and pods: answers are those of an installation that has only that snapshot. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { decodeQuestion, type LookupName } from "@netfacts/contracts";
import { openStore } from "@netfacts/pod/jetstream";
import { AnswerNotes, finish, recordBuilders, type SnapshotOperation } from "@netfacts/records";
import { Generation, loadSnapshot, type Manifest, type OpenedStore, pastManifest } from "@netfacts/snapshot";
import { testBucket } from "../../libs/pod/test/jetstream/bucket.ts";
import { madeAllocations, madeLocations, madeNames, madeRoutes, madeVrps, route } from "../../libs/snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { type Answer, request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";

const dayMs = 86_400_000;
const bucket = "netfacts-snapshots";
/** Whole seconds, as publications are. */
const start = Math.floor((Date.now() - 5 * dayMs) / 1_000) * 1_000;

/** The prefix has another origin, registration and name each day; its VRP expires on the second. */
function madeDay(day: number): MadeSnapshot {
  const country = ["NL", "DE", "FR", "SE"][day] as string;
  return {
    routes: madeRoutes([
      route("192.0.2.0/24", [64500 + day, 9]),
      ...[0, 1, 2].map((more) => route(`198.51.${100 + more}.0/24`, [64500, 9])),
    ]),
    vrps: madeVrps([{ prefix: "192.0.2.0/24", asn: 64501, expiresAt: (start + 1.5 * dayMs) / 1_000 }]),
    allocations: madeAllocations([{ start: "192.0.2.0", end: "192.0.2.255", country }], [{ first: 64500, last: 64510, country }]),
    names: madeNames({ 64500: `DAY-${day}` }),
    locations: madeLocations({ "192.0.2.0/24": country }),
    asOf: `${new Date(start + day * dayMs - 3_600_000).toISOString().slice(0, 19)}Z`,
    entry: { stale_after_seconds: 86_400 },
  };
}

let all: Distributed;
let opened: OpenedStore;
let key = "";
const manifests: Manifest[] = [];
const home = temporaryFolder();

const textOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  request(`${all.gateways[0]?.url}/api/v1${path}`, { key, headers });

/** Asks again while the snapshot is being loaded, as the problem says: on a busy machine that takes longer than a request may. */
async function getLoaded(path: string): Promise<Answer> {
  let answer = await get(path);
  await until(async () => {
    if ((answer.json as { code?: string }).code !== "history_loading") return true;
    answer = await get(path);
    return false;
  });
  return answer;
}

beforeAll(async () => {
  all = await startDistributed({
    snapshot: null,
    // So that a pod that loaded one before it was damaged has it no more.
    settings: { SNAPSHOT_KEEP_MS: "1000" },
    replicas: { "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 0 },
  });
  let nowMs = 0;
  opened = await openStore({
    bucket,
    connection: { servers: all.natsUrl, name: "publisher" },
    retention: { last: 1 },
    clock: { now: () => nowMs },
  });
  nowMs = start - dayMs;
  const broken = await publishMade(opened.store, { ...madeDay(0), names: madeNames({ 64500: "BROKEN" }) });
  for (const day of [0, 1, 2, 3]) {
    nowMs = start + day * dayMs;
    const manifest = await publishMade(opened.store, madeDay(day));
    await opened.store.activate(manifest.id);
    manifests.push(manifest);
  }
  const own = await testBucket(all.nats, { name: bucket, user: "test", pass: "test" });
  await own.damage(broken.sections.as_names?.object as string);
  await own.nc.close();
  key = (await netfactsJsonWith<{ secret: string }>(all.env, home, "keys", "create", "--label", "past", "--rate", "100000")).secret;
  await until(async () => (await get("/asn/64500")).status === 200 && (await get("/ip/192.0.2.1")).status === 200, { timeoutMs: 20_000 });
});
afterAll(async () => {
  await opened?.close();
  await endAll();
  await all?.stop();
  removeFolders();
});

/** Lookups that answer about one time, from a snapshot. */
type PastLookup = LookupName & SnapshotOperation;

/** Each lookup with a path and its canonical query. */
const questions = Object.entries({
  search: ["/search?q=day", "day|100"],
  ip: ["/ip/192.0.2.1", "192.0.2.1"],
  routing: ["/routing/192.0.2.1?include=more_specifics", "192.0.2.1|more_specifics|-|100"],
  asn: ["/asn/64500", "64500|-|-|-|100"],
  prefix: ["/prefix/192.0.2.0/24", "192.0.2.0/24|100"],
  validity: ["/validity?asn=64501&prefix=192.0.2.0/24", "64501|192.0.2.0/24"],
  asn_vrps: ["/vrps/64501", "64501|-|-|-|100"],
} satisfies Readonly<Record<PastLookup, readonly [path: string, query: string]>>).map(
  ([op, [path, query]]) => [op as PastLookup, path, query] as const,
);

/** The record of that day, made without any of what questions about the past go through. */
async function expected(op: PastLookup, query: string, day: number, atMs: number): Promise<object> {
  const generation = Generation.of(await loadSnapshot(opened.store, pastManifest(manifests[day] as Manifest)));
  const notes = new AnswerNotes(generation, atMs);
  const record = finish<object>(recordBuilders[op](decodeQuestion(op, query) as never, notes) as Generator<void, object>);
  return { ...record, meta: notes.meta("") };
}

describe("as_of", () => {
  test.each(questions)("%s answers as an installation with only the snapshot of that time did then", async (op, path, query) => {
    for (const [day, hours] of [
      [0, 1],
      [1, 20],
      [2, 0],
      [3, 30],
    ] as const) {
      const atMs = start + day * dayMs + hours * 3_600_000;
      const { status, json } = await getLoaded(`${path}${path.includes("?") ? "&" : "?"}as_of=${textOf(atMs)}`);
      expect({ status, code: (json as { code?: string }).code }).toEqual({ status: 200 });
      const { request_id, generated_at, history, ...meta } = (json as { meta: Record<string, unknown> }).meta;
      const oracle = (await expected(op, query, day, atMs)) as { meta: object };
      const { request_id: _id, generated_at: _at, ...oracleMeta } = oracle.meta as Record<string, unknown>;
      expect([status, { ...(json as object), meta }]).toEqual([200, { ...oracle, meta: oracleMeta }]);
      expect(history).toEqual({ as_of: textOf(atMs), snapshot: manifests[day]?.id, published_at: textOf(start + day * dayMs) });
      expect(Date.parse(generated_at as string)).toBeGreaterThan(Date.now() - 60_000);
      expect(request_id).not.toBe("");
    }
  });

  test("differs from today, which is answered as ever and says nothing of history", async () => {
    const today = (await get("/ip/192.0.2.1")).json as { meta: object; location: unknown };
    expect(today.meta).not.toHaveProperty("history");
    expect(today.location).not.toBeNull();
    const past = (await get(`/ip/192.0.2.1?as_of=${textOf(start)}`)).json as { allocation: object; location: unknown };
    expect(past).toMatchObject({ allocation: { registration_country: "NL" }, location: null });
  });

  test("before the first publication is 410, with the earliest and the latest", async () => {
    const { status, json } = await get(`/asn/64500?as_of=${textOf(start - dayMs - 1_000)}`);
    expect(status).toBe(410);
    expect(json).toMatchObject({ code: "as_of_out_of_range", earliest: textOf(start - dayMs), latest: textOf(start + 3 * dayMs) });
  });

  test("has a tag of its own, may be cached for long, and costs more", async () => {
    const url = `/ip/192.0.2.1?as_of=${textOf(start)}`;
    const [today, past] = [await get("/ip/192.0.2.1"), await get(url)];
    expect(past.headers.get("cache-control")).toBe("private, max-age=86400");
    expect(past.headers.get("x-request-cost")).toBe("10");
    expect(past.headers.get("etag")).not.toBe(today.headers.get("etag"));
    expect((await get(url, { "if-none-match": past.headers.get("etag") as string })).status).toBe(304);
  });

  test("goes with fields, formats and pages, which stay in their snapshot", async () => {
    const asOf = `as_of=${textOf(start + dayMs)}`;
    const fields = await get(`/asn/64500?fields=name&${asOf}`);
    expect(fields.json).toMatchObject({ name: "DAY-1", meta: { history: { snapshot: manifests[1]?.id } } });
    const prefixes: string[] = [];
    let url: string | null = `/asn/64500?limit=1&format=text&${asOf}`;
    while (url !== null) {
      const page: Answer = await get(url);
      expect(page.status).toBe(200);
      prefixes.push(page.text.trim());
      url = /<\/api\/v1([^>]*)>; rel="next"/.exec(page.headers.get("link") ?? "")?.[1] ?? null;
    }
    expect(prefixes).toEqual(["198.51.100.0/24", "198.51.101.0/24", "198.51.102.0/24"]);
    const { next_cursor } = ((await get(`/asn/64500?limit=1&${asOf}`)).json as { prefixes: { next_cursor: string } }).prefixes;
    // Of the second day: it was not there on the first.
    expect((await get(`/asn/64500?limit=1&as_of=${textOf(start)}&cursor=${next_cursor}`)).status).toBe(410);
  });

  test("of a damaged snapshot is a problem of its own, and today is not affected", async () => {
    const url = `/asn/64500?as_of=${textOf(start - dayMs + 1_000)}`;
    // A snapshot is loaded whole, or not at all.
    const ofOthers = `/ip/192.0.2.1?as_of=${textOf(start - dayMs)}`;
    await until(async () => (await get(url)).status === 503 && (await get(ofOthers)).status === 503);
    expect(await get(url)).toMatchObject({ status: 503, json: { code: "snapshot_unreadable" } });
    expect((await get("/asn/64500")).json).toMatchObject({ name: "DAY-3" });
  });
});
