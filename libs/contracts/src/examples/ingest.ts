/** Examples of ingest's records. */

import type { IngestRun, IngestRuns, IngestSources, RollbackRequest, RunRequest } from "../records/ingest.ts";

const summary = {
  id: "20261121T085500Z-3f9a1c",
  state: "succeeded",
  started_at: "2026-11-21T08:55:00Z",
  ended_at: "2026-11-21T08:56:10Z",
  started_by: "key:7Q9M3W8K",
  snapshot: "4f1d9b6a2c7e4f0d8b31",
  replaces: null,
  error: null,
} as const;

export const runExample: IngestRun = {
  ...summary,
  progress: null,
  report: {
    snapshot: "4f1d9b6a2c7e4f0d8b31",
    unchanged: false,
    sample_data: false,
    sources: [
      {
        name: "rrc00",
        section: "routes",
        format: "mrt",
        file: "/var/lib/netfacts/ingest/downloads/rrc00/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        url: "https://data.ris.ripe.net/rrc00/latest-bview.gz",
        fetched_at: "2026-11-21T08:52:41Z",
        state: "read",
        read: 1_045_472,
        accepted: 1_045_469,
        skipped: [{ reason: "default route", bad: false, count: 3, examples: [{ offset: 81_920, text: "0.0.0.0/0" }] }],
        bytes: 3_221_225_472,
        stored_bytes: 402_653_184,
        seconds: 38.2,
        as_of: "2026-11-21T08:00:00Z",
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        notes: ["892104 IPv4 and 153365 IPv6 routes"],
        error: null,
      },
    ],
    sections: [
      { name: "routes", version: "20261121.0800", kept: false, refused: null, checked: 812, counts: { ipv4: 888_633, ipv6: 156_836 } },
    ],
    stages: { read: 38.2, build: 9.4, verify: 3.1, publish: 12.6 },
    peak_rss_bytes: 2_147_483_648,
    error: null,
  },
};

export const runRequestExample: RunRequest = { accept_shrink: ["as_names"] };

export const rollbackRequestExample: RollbackRequest = { snapshot: "20261120T080000Z-4f1d9b6a", replaces: "20261121T080000Z-2c7e4f0d" };

/** A rollback in progress. */
export const rollbackExample: IngestRun = {
  ...summary,
  state: "running",
  ended_at: null,
  snapshot: null,
  replaces: rollbackRequestExample.replaces,
  progress: { stage: "verify", done: 3, total: 9, unit: "steps" },
  report: null,
};

export const runsExample: IngestRuns = { items: [summary] };

export const sourcesExample: IngestSources = {
  items: [
    {
      name: "rrc00",
      section: "routes",
      format: "mrt",
      location: "https://data.ris.ripe.net/rrc00/latest-bview.gz",
      required: true,
      state: "read",
      error: null,
      as_of: "2026-11-21T08:00:00Z",
      accepted: 1_045_469,
      skipped: 3,
      read_at: "2026-11-21T08:56:10Z",
      stale: false,
      interval_seconds: 28_800,
      stale_after_seconds: 61_200,
      run: "20261121T085500Z-3f9a1c",
      schedule: {
        checked_at: "2026-11-21T08:52:41Z",
        succeeded_at: "2026-11-21T08:52:41Z",
        next_check_at: "2026-11-21T16:49:03Z",
        failures: 0,
        error: null,
        refused: null,
        url: "https://data.ris.ripe.net/rrc00/latest-bview.gz",
        fetched_at: "2026-11-21T08:52:41Z",
        sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      },
    },
  ],
  faults: [],
  list_sha256: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
};
