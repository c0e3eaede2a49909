/** What is measured of the snapshot that a process serves. */

import { expect, test } from "@jest/globals";
import { createLogger, createMetrics, createRegistry } from "@netfacts/runtime";
import type { Generation } from "@netfacts/snapshot";
import { pastEvents, snapshotEvents } from "../src/index.ts";

const now = Date.now();
const section = (ageSeconds: number, staleAfter: number | null) => ({
  as_of: `${new Date(now - ageSeconds * 1_000).toISOString().slice(0, 19)}Z`,
  stale_after_seconds: staleAfter,
});

function generation(id: string, sections: Record<string, ReturnType<typeof section>>): Generation {
  return { id, manifest: { id, sections } } as unknown as Generation;
}

test("a section that is too old is shown, and one that is gone is not shown any more", async () => {
  const registry = createRegistry();
  const events = snapshotEvents(createLogger({ service: "x", level: "fatal" }), createMetrics("x", registry));
  expect(await registry.text()).not.toMatch(/^netfacts_(snapshot_digest|section_stale)\{/m);

  events.activated?.(
    generation("20261121T080000Z-0000004d", { routes: section(60, 3_600), vrps: section(7_200, 3_600), as_names: section(7_200, null) }),
    1,
  );
  const first = await registry.text();
  expect(first).toContain('netfacts_snapshot_digest{service="x"} 77');
  expect(first).toContain('netfacts_section_stale{section="routes",service="x"} 0');
  expect(first).toContain('netfacts_section_stale{section="vrps",service="x"} 1');
  expect(first).toContain('netfacts_section_stale{section="as_names",service="x"} 0');

  events.activated?.(generation("20261121T090000Z-0000004e", { routes: section(60, 3_600) }), 1);
  const second = await registry.text();
  expect(second).toContain('netfacts_snapshot_digest{service="x"} 78');
  expect(second).toMatch(/^netfacts_section_as_of_seconds\{section="routes"/m);
  expect(second).not.toContain('section="vrps"');
});

test("what is asked about the past, loaded for it and held of it is counted", async () => {
  const registry = createRegistry();
  const state = { bytes: 4_096, kept: 2, waiting: 3 };
  const events = pastEvents(createLogger({ service: "x", level: "fatal" }), createMetrics("x", registry), () => ({ state }));
  for (const result of ["answered", "answered", "history_loading"]) events.answered?.(result);
  events.loaded?.("20261121T080000Z-0000004d", 1_500);
  events.failed?.("20261121T080000Z-0000004e", new Error("damaged"));
  events.ended?.(new Error("ended"));
  const text = await registry.text();
  for (const line of [
    'netfacts_history_requests_total{result="answered",service="x"} 2',
    'netfacts_history_requests_total{result="history_loading",service="x"} 1',
    'netfacts_history_loads_total{outcome="loaded",service="x"} 1',
    'netfacts_history_loads_total{outcome="failed",service="x"} 1',
    'netfacts_history_load_seconds_sum{service="x"} 1.5',
    'netfacts_history_snapshots{service="x"} 2',
    'netfacts_history_bytes{service="x"} 4096',
    'netfacts_history_waiting{service="x"} 3',
    'netfacts_history_thread_failures_total{service="x"} 1',
  ])
    expect(text).toContain(line);
});
