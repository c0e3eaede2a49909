/** How a source fares, by the runs that read it. */

import { expect, test } from "@jest/globals";
import type { RunRecord } from "@netfacts/storage";
import { type KnownOfSources, sourceHealth } from "../../src/runs/source-health.ts";
import type { SourceConfig } from "../../src/sources/index.ts";

const source = { name: "ripe", section: "allocations", format: "delegated", location: "ripe", required: true } as SourceConfig;
const lost = "has 100 IPv4 records, compared with 200 in the last snapshot: it shrank by more than section_shrink_max (0.2) allows";

function run(hour: number, accepted: number, refused: string | null): RunRecord {
  const at = Date.UTC(2026, 10, 21, hour);
  const as_of = new Date(at).toISOString();
  const report = {
    sections: [{ name: "allocations", kept: refused !== null, refused }],
    sources: [{ name: "ripe", section: "allocations", state: "read", read: accepted, accepted, as_of, error: null }],
  };
  return { id: `run-${hour}`, startedAt: at, endedAt: at, state: "succeeded", report };
}

function health(runs: readonly RunRecord[], checkedAt: string | null = null) {
  const entry = { name: "ripe", sha256: "a", as_of: null, accepted: 200, skipped: 0 };
  const manifest = { sections: { allocations: { sources: [entry] } } } as unknown as KnownOfSources["manifest"];
  const schedule = { checked_at: checkedAt, error: null, refused: null };
  const known = { runs, manifest, schedule: checkedAt === null ? null : new Map([["ripe", schedule as never]]) };
  return sourceHealth([source], known, Date.UTC(2026, 10, 22))[0];
}

test.each([null, "2026-11-21T23:00:00Z"])(
  "a source whose section was refused has the figures of the version in service (checked since: %s)",
  (checkedAt) => {
    const error = `the new section ${lost}; the previous one is in use`;
    const told = { state: "kept", error, accepted: 200, as_of: "2026-11-21T01:00:00.000Z", read_at: "2026-11-21T01:00:00Z", run: "run-2" };
    expect(health([run(2, 100, lost), run(1, 200, null)], checkedAt)).toMatchObject(told);
  },
);

test("a section that was taken again ends that", () => {
  const runs = [run(3, 190, null), run(2, 100, lost), run(1, 200, null)];
  expect(health(runs)).toMatchObject({ state: "read", error: null, accepted: 190, run: "run-3" });
});

test("a run of a clock that was set back since does not count as the last one", () => {
  const ahead = run(200 * 24, 100, lost);
  expect(health([ahead, run(3, 190, null)])).toMatchObject({ state: "read", error: null, accepted: 190, run: "run-3" });
  expect(health([ahead], "2026-11-21T23:00:00Z")).toMatchObject({ state: "read", error: null, accepted: 200, run: null });
});
