/** The past out of the store that running services share: `netfacts lookup --as-of`, `changes` and `search` over a real NATS server. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { connectJetStreamStore } from "@netfacts/pod/jetstream";
import type { OpenedStore } from "@netfacts/snapshot";
import { madeNames, madeRoutes, route } from "../../../libs/snapshot/test/support/made-sections.ts";
import { publishMade } from "../../../libs/snapshot/test/support/made-snapshot.ts";
import { type NatsServer, startNatsServer } from "../../../test/support/nats-server.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run as runHere, temporaryFolder } from "./support/run.ts";

const bucket = "past-test";
const folder = temporaryFolder();
const firstDay = Date.UTC(2026, 0, 1, 12);
const ids: string[] = [];
let nats: NatsServer;
let publisher: OpenedStore;

beforeAll(async () => {
  process.env.SNAPSHOT_BUCKET = bucket;
  nats = await startNatsServer({ jetstream: true, storeDir: join(folder, "nats") });
  let nowMs = 0;
  const connection = { servers: nats.url, name: "ingest" };
  publisher = await connectJetStreamStore({ bucket, connection, retention: { last: 1, days: 4 }, clock: { now: () => nowMs } });
  for (const day of [0, 1, 2]) {
    nowMs = firstDay + day * 86_400_000;
    const made = { routes: madeRoutes([route("192.0.2.0/24", [day === 2 ? 64501 : 64500, 3])]), names: madeNames({ 64500: `DAY-${day}` }) };
    const { id } = await publishMade(publisher.store, made);
    await publisher.store.activate(id);
    ids.push(id);
  }
});
afterAll(async () => {
  delete process.env.SNAPSHOT_BUCKET;
  await publisher?.close();
  await nats?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: string[]) {
  const { code, out, err } = await runHere(folder, ...words, "--nats", nats.url, "--json");
  expect({ code, err }).toEqual({ code: exitCodes.ok, err: "" });
  return JSON.parse(out);
}

test("answers come from the snapshot in service, and from that of a time", async () => {
  expect(await run("lookup", "asn", "64500")).toMatchObject({ name: "DAY-2" });
  expect(await run("lookup", "asn", "64500", "--as-of", "2026-01-02")).toMatchObject({
    name: "DAY-1",
    meta: { history: { snapshot: ids[1], published_at: "2026-01-02T12:00:00Z" } },
  });
  expect(await run("search", "day-0", "--as-of", "2026-01-01T12:00:00Z")).toMatchObject({
    results: { items: [{ title: "AS64500 DAY-0" }] },
  });
});

test("changes are those between the snapshots that services keep", async () => {
  const { changes, earliest, latest } = await run("changes", "AS64500");
  const items = changes.items as { readonly change: string; readonly after: { readonly snapshot: string } }[];
  expect(items.map(({ change, after }) => [change, after.snapshot])).toEqual([
    ["name_changed", ids[2]],
    ["origin_vanished", ids[2]],
    ["name_changed", ids[1]],
  ]);
  expect(changes).toMatchObject({ truncated: false, skipped: [] });
  expect([earliest, latest]).toEqual(["2026-01-01T12:00:00Z", "2026-01-03T12:00:00Z"]);
});

test("the environment of services names the store, and a data folder that is named goes before it", async () => {
  process.env.NATS_URL = nats.url;
  try {
    const args = ["lookup", "asn", "64500", "--json"];
    // The folder of this call is named by an option.
    const local = await runHere(folder, ...args);
    expect({ code: local.code, err: local.err }).toEqual({ code: exitCodes.notFound, err: expect.stringContaining("has no snapshot") });
    const file = await runHere(folder, ...args, "--snapshot", join(folder, "missing"));
    expect({ code: file.code, err: file.err }).toEqual({ code: exitCodes.notFound, err: expect.stringContaining("missing: no such file") });
  } finally {
    delete process.env.NATS_URL;
  }
});

test("of a time that is not kept, says what is; without any snapshot, that there is none", async () => {
  const early = await runHere(folder, "lookup", "asn", "64500", "--as-of", "2025-01-01", "--nats", nats.url);
  expect([early.code, early.err]).toEqual([exitCodes.notFound, expect.stringContaining("the earliest was published at 2026-01-01")]);
  process.env.SNAPSHOT_BUCKET = "empty";
  const empty = await runHere(folder, "changes", "AS64500", "--nats", nats.url).finally(() => {
    process.env.SNAPSHOT_BUCKET = bucket;
  });
  expect([empty.code, empty.err]).toEqual([exitCodes.notFound, expect.stringContaining("bucket empty: contains no snapshot")]);
});
