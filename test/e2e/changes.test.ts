/** What changed between kept snapshots, through gateway, NATS and pods: what the diff of both snapshots has of the subject. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ChangeItem } from "@netfacts/contracts";
import { openStore } from "@netfacts/pod/jetstream";
import { Generation, loadSnapshot, type Manifest, type OpenedStore, pastManifest, sectionChanges } from "@netfacts/snapshot";
import { madeAllocations, madeNames, madeRoutes, madeVrps, route } from "../../libs/snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, publishMade } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { type Answer, request, until } from "../support/http.ts";
import { endAll, netfactsJsonWith, removeFolders, temporaryFolder } from "../support/processes.ts";

const dayMs = 86_400_000;
/** Whole seconds, as publications are. */
const start = Math.floor((Date.now() - 5 * dayMs) / 1_000) * 1_000;
const textOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Nothing but the time of the data changes on the third day. */
function madeDay(day: number): MadeSnapshot {
  const kind = day === 2 ? 1 : day;
  const country = ["NL", "DE", "DE", "SE"][kind] as string;
  return {
    routes: madeRoutes([
      route("192.0.2.0/24", [64500 + kind, 9]),
      ...[0, 1, 2].map((more) => route(`198.51.${100 + more + kind}.0/24`, [64500, 9])),
    ]),
    vrps: madeVrps([{ prefix: "198.51.103.0/24", asn: kind === 3 ? 64500 : 64999 }]),
    allocations: madeAllocations([{ start: "192.0.2.0", end: "192.0.2.255", country }], [{ first: 64500, last: 64510, country }]),
    names: madeNames({ 64500: `DAY-${kind}` }),
    asOf: textOf(start + day * dayMs - 3_600_000),
  };
}

let all: Distributed;
let opened: OpenedStore;
let nowMs = 0;
let key = "";
let asnOnly = "";
const manifests: Manifest[] = [];
const home = temporaryFolder();

const get = (path: string, headers: Record<string, string> = {}, secret = key): Promise<Answer> =>
  request(`${all.gateways[0]?.url}/api/v1/changes/${path}`, { key: secret, headers });
const publish = async (day: number): Promise<void> => {
  nowMs = start + day * dayMs;
  const manifest = await publishMade(opened.store, madeDay(day));
  await opened.store.activate(manifest.id);
  manifests.push(manifest);
};

beforeAll(async () => {
  all = await startDistributed({ snapshot: null, replicas: { "ip-routing": 1, "asn-prefix": 1, "rdns-resolver": 0 } });
  opened = await openStore({
    bucket: "netfacts-snapshots",
    connection: { servers: all.natsUrl, name: "publisher" },
    retention: { last: 1, days: 4 },
    clock: { now: () => nowMs },
  });
  for (const day of [0, 1, 2, 3]) await publish(day);
  const create = (...options: string[]) =>
    netfactsJsonWith<{ secret: string }>(all.env, home, "keys", "create", "--label", "c", ...options);
  key = (await create("--rate", "100000")).secret;
  asnOnly = (await create("--scopes", "asn")).secret;
  await until(async () => (await get("AS64500")).status === 200, { timeoutMs: 20_000 });
});
afterAll(async () => {
  await opened?.close();
  await endAll();
  await all?.stop();
  removeFolders();
});

interface Body {
  readonly subject: object;
  readonly earliest: string;
  readonly latest: string;
  readonly changes: { readonly items: ChangeItem[]; readonly next_cursor: string | null };
}

async function pages(path: string, limit: number): Promise<Body[]> {
  const bodies: Body[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { status, json } = await get(`${path}?limit=${limit}&cursor=${cursor}`);
    expect([status, json]).toEqual([200, expect.anything()]);
    bodies.push(json as Body);
    cursor = (json as Body).changes.next_cursor;
  }
  return bodies;
}

/** Appearances, vanishings and names by the diff of the whole snapshots; of one subject. */
async function diffs(isMeant: (identity: Record<string, unknown>) => boolean): Promise<string[]> {
  const generations = await Promise.all(manifests.map(async (each) => Generation.of(await loadSnapshot(opened.store, pastManifest(each)))));
  const found: string[] = [];
  for (let day = generations.length - 1; day > 0; day--) {
    const [from, to] = [generations[day - 1] as Generation, generations[day] as Generation];
    for (const { change, identity } of sectionChanges(from, to, "routes")) {
      const { prefix, origin } = identity as { prefix: string; origin: number };
      if (change !== "changed" && isMeant({ prefix, origin }))
        found.push(`${day} origin_${change === "added" ? "appeared" : "vanished"} ${prefix} ${origin}`);
    }
    for (const { identity, from: was, to: is } of sectionChanges(from, to, "as_names"))
      if (isMeant({ asn: identity.asn })) found.push(`${day} name_changed ${was?.name} ${is?.name}`);
  }
  return found.sort();
}

const dayOf = ({ after }: ChangeItem): number => manifests.findIndex(({ id }) => id === after.snapshot);
const told = (items: readonly ChangeItem[]): string[] =>
  items
    .flatMap((item) => {
      const { change, prefix, origin, from, to } = item;
      if (change === "name_changed") return [`${dayOf(item)} ${change} ${from} ${to}`];
      return change.startsWith("origin_") ? [`${dayOf(item)} ${change} ${prefix} ${origin}`] : [];
    })
    .sort();

test.each([1, 2, 100])("all pages of %d together are the diff of the snapshots, newest first", async (limit) => {
  for (const [path, isMeant] of [
    ["AS64500", ({ origin, asn }) => origin === 64500 || asn === 64500],
    ["192.0.2.0/24", ({ prefix }) => prefix === "192.0.2.0/24"],
  ] as const satisfies readonly (readonly [string, (identity: Record<string, unknown>) => boolean])[]) {
    const bodies = await pages(path, limit);
    const items = bodies.flatMap(({ changes }) => changes.items);
    expect(told(items)).toEqual(await diffs(isMeant));
    const days = items.map(dayOf);
    expect(days).toEqual(days.toSorted((a, b) => b - a));
    for (const { earliest, latest } of bodies) expect([earliest, latest]).toEqual([textOf(start), textOf(start + 3 * dayMs)]);
    for (const item of items)
      expect(item.before).toEqual({ snapshot: manifests[dayOf(item) - 1]?.id, published_at: textOf(start + (dayOf(item) - 1) * dayMs) });
  }
});

test("RPKI states and registrations are there as well, and nothing of a day without changes", async () => {
  const { json } = await get("AS64500");
  const { subject, changes } = json as Body;
  expect(subject).toEqual({ asn: 64500 });
  expect(changes.items).toContainEqual(
    expect.objectContaining({ change: "rpki_state_changed", prefix: "198.51.103.0/24", from: "invalid" }),
  );
  expect(changes.items).toContainEqual(
    expect.objectContaining({
      change: "registration_changed",
      registration_from: expect.objectContaining({ registration_country: "NL", block: null }),
      registration_to: expect.objectContaining({ registration_country: "DE" }),
    }),
  );
  expect(changes.items.filter((item) => dayOf(item) === 2)).toEqual([]);
});

test("nothing known is an empty list", async () => {
  expect((await get("AS64999")).json).toMatchObject({ changes: { items: [], next_cursor: null } });
  expect((await get("203.0.113.0/24")).json).toMatchObject({ subject: { prefix: "203.0.113.0/24" }, changes: { items: [] } });
});

test("costs what two questions about the past do, and has a tag", async () => {
  const first = await get("AS64500");
  expect(first.headers.get("x-request-cost")).toBe("19");
  expect((await get("AS64500", { "if-none-match": first.headers.get("etag") as string })).status).toBe(304);
});

test("needs the scope of its subject", async () => {
  expect((await get("AS64500", {}, asnOnly)).status).toBe(200);
  expect(await get("192.0.2.0/24", {}, asnOnly)).toMatchObject({ status: 403, json: { code: "insufficient_scope" } });
});

test.each([
  ["ASx", "invalid_asn"],
  ["192.0.2.1/24", "prefix_has_host_bits"],
  ["192.0.2.0/33", "invalid_prefix"],
  ["AS64500?limit=0", "invalid_parameter"],
  ["AS64500?as_of=2026-11-20", "invalid_parameter"],
  ["AS64500?format=csv", "invalid_parameter"],
  ["AS64500?cursor=AQBkAAAAHqmDU2RcAWuxn_1nRUPcaA", "invalid_cursor"],
])("%s is 400 %s", async (path, code) => {
  expect(await get(path)).toMatchObject({ status: 400, json: { code } });
});

test("a cursor of one subject is none of another one; that of a snapshot that is gone is 410", async () => {
  const { next_cursor } = ((await get("AS64500?limit=1")).json as Body).changes;
  expect(await get(`AS64501?limit=1&cursor=${next_cursor}`)).toMatchObject({ status: 400, json: { code: "invalid_cursor" } });
  expect((await get(`AS64500?limit=1&cursor=${next_cursor}`)).status).toBe(200);
  // Four further days are all that is kept.
  for (const day of [0, 1, 0, 1]) {
    nowMs = start + (manifests.length + 1) * dayMs;
    const manifest = await publishMade(opened.store, { ...madeDay(day), asOf: textOf(nowMs - 7_200_000) });
    await opened.store.activate(manifest.id);
    manifests.push(manifest);
  }
  await until(async () => (await get(`AS64500?limit=1&cursor=${next_cursor}`)).status === 410);
  expect(await get(`AS64500?limit=1&cursor=${next_cursor}`)).toMatchObject({ json: { code: "cursor_expired" } });
});
