/** What the leader shows of the kept snapshots: how many, since when, and the bytes of their objects, each once. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { openFolderStore } from "@netfacts/snapshot";
import { madeNames, madeRoutes, route } from "../../../../libs/snapshot/test/support/made-sections.ts";
import { inFolder, publishMade } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { until } from "../../../../test/support/http.ts";
import { createIngestMetrics } from "../../src/metrics.ts";
import { KeptReader, measureKept } from "../../src/publish/kept-snapshots.ts";

const firstDay = Date.UTC(2026, 0, 1);

async function withDays(days: number, use: (folder: string, store: ReturnType<typeof openFolderStore>, ids: string[]) => Promise<void>) {
  await inFolder(async (folder) => {
    let nowMs = 0;
    const store = openFolderStore(folder, { retention: { last: 1, days: 3 }, clock: { now: () => nowMs } });
    const ids: string[] = [];
    for (let day = 0; day < days; day++) {
      nowMs = firstDay + day * 86_400_000;
      // The routes are the same on all days.
      const made = { routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]), names: madeNames({ 1: `DAY-${day}` }) };
      ids.push((await publishMade(store, made)).id);
    }
    await use(folder, store, ids);
  });
}

/** What the folder really holds. */
const bytesIn = (folder: string) =>
  readdirSync(join(folder, "objects")).reduce((sum, name) => sum + statSync(join(folder, "objects", name)).size, 0);

test("counts the kept publications, the earliest, and each object once", async () => {
  await withDays(5, async (folder, store) => {
    const found = await new KeptReader(store).read();
    expect(found).toEqual({ publications: 3, bytes: bytesIn(folder), earliest: "2026-01-03T00:00:00Z" });
  });
});

test("a damaged manifest hides nothing of the others", async () => {
  await withDays(3, async (folder, store, ids) => {
    const reader = new KeptReader(store);
    const before = await reader.read();
    writeFileSync(join(folder, "manifests", `${ids[1]}.json`), "{}");
    expect((await reader.read()).publications).toBe(before.publications);
    const found = await new KeptReader(store).read();
    expect(found.publications).toBe(3);
    expect(found.bytes).toBeLessThan(before.bytes);
    expect(found.bytes).toBeGreaterThan(0);
  });
});

test("a leader shows them, and a process that no longer leads does not", async () => {
  await withDays(2, async (_, store) => {
    const registry = createRegistry();
    const term = new AbortController();
    measureKept(store, createIngestMetrics(createMetrics("ingest", registry)), term.signal);
    await until(async () => (await registry.text()).includes('netfacts_history_publications{service="ingest"} 2'));
    expect(await registry.text()).toContain(`netfacts_history_earliest_timestamp_seconds{service="ingest"} ${firstDay / 1_000}`);
    term.abort();
    expect(await registry.text()).not.toMatch(/^netfacts_history_/m);
  });
});
