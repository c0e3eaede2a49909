/** Progress and reports as people see them. */

import { PassThrough } from "node:stream";
import { expect, jest, test } from "@jest/globals";
import { bytesText, lineDisplay, type RunReport, reportText, showProgress } from "../../src/app.ts";

test("bytes are told in the unit that fits", () => {
  expect([0, 999, 1_000, 999_949, 3_941_646, 1e9, 16 * 2 ** 30].map(bytesText)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "999.9 kB",
    "3.9 MB",
    "1.00 GB",
    "17.18 GB",
  ]);
});

test("without a terminal each step is a line, and each source one when it is done", () => {
  const lines: string[] = [];
  const { listener, stop } = lineDisplay((line) => lines.push(line));
  for (const done of [0, 10, 50, 100]) listener({ label: "read rib", done, total: 100, unit: "bytes" });
  for (const done of [0, 1]) listener({ label: "build", done, total: 1, unit: "steps" });
  stop();
  expect(lines).toEqual([expect.stringMatching(/^read rib: done, 100 B in \d+\.\d s$/), "build …"]);
});

test("a source whose content is unpacked for long after its last byte was read is done once", () => {
  const lines: string[] = [];
  let now = 0;
  const clock = jest.spyOn(performance, "now").mockImplementation(() => now);
  try {
    const { listener, stop } = lineDisplay((line) => lines.push(line));
    for (const done of [0, 50, 100, 100, 100]) {
      listener({ label: "read rib", done, total: 100, unit: "bytes" });
      now += 4_000;
    }
    stop();
  } finally {
    clock.mockRestore();
  }
  expect(lines).toEqual([expect.stringMatching(/^read rib: 50 % of /), "read rib: done, 100 B in 20.0 s"]);
});

test("on a terminal a bar shows rate and ETA, and ends with its source", () => {
  const out = new PassThrough() as unknown as NodeJS.WriteStream;
  let text = "";
  out.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  Object.assign(out, { isTTY: true, columns: 120, cursorTo: () => true, clearLine: () => true, moveCursor: () => true });
  const { listener, stop } = showProgress(out);
  for (const done of [0, 50, 100]) listener({ label: "read rib", done, total: 100, unit: "bytes" });
  listener({ label: "build", done: 0, total: 1, unit: "steps" });
  stop();
  expect(text).toMatch(/read rib +\[█+\] 100 % \| 100 B \| [\d.]+ \w+\/s \| ETA/);
  expect(text).toMatch(/build …\n$/);
});

test("a report tells what was skipped and why, with the places of the first", () => {
  const report: RunReport = {
    snapshot: null,
    unchanged: false,
    sample_data: false,
    sources: [
      {
        name: "ripe",
        section: "allocations",
        format: "delegated",
        file: "/data/ripe",
        url: "https://example.net/ripe",
        fetched_at: "2025-11-21T04:00:00Z",
        state: "read",
        read: 1_002,
        accepted: 1_000,
        skipped: [{ reason: "not a date", bad: true, count: 2, examples: [{ line: 7, text: "ripencc|NL|…" }] }],
        bytes: 2_000,
        stored_bytes: 500,
        seconds: 0.25,
        as_of: null,
        sha256: "00",
        notes: ["claims 1,100 records and has 1,002"],
        error: null,
      },
    ],
    sections: [
      { name: "allocations", version: "2025-11-20", kept: true, refused: null, checked: 0, counts: { ipv4: 1_000, asn_conflicts: 3 } },
    ],
    stages: { read: 1, build: 0.5, verify: 0, publish: 0 },
    peak_rss_bytes: 1e8,
    error: "x",
  };
  expect(reportText(report).split("\n")).toEqual([
    "ripe (allocations, delegated): read 1,002, accepted 1,000; 500 B, decompressed 2.0 kB; 0.3 s; as of unknown",
    "  from https://example.net/ripe, fetched 2025-11-21T04:00:00Z",
    "  note: claims 1,100 records and has 1,002",
    "  skipped 2: not a date",
    "    line 7: ripencc|NL|…",
    "allocations 2025-11-20: 1,000 ipv4, 3 asn conflicts (kept from the last snapshot)",
    "read 1 s, build 0.5 s, verify 0 s, publish 0 s; peak memory 100.0 MB",
    "",
  ]);
});
