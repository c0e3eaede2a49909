/** What stands beside a record: what caches go by, and the status of the sections. */

import { describe, expect, test } from "@jest/globals";
import { wholeRecord } from "@netfacts/contracts";
import { madeNames } from "../../snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, madeAsOf, madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { address } from "../../snapshot/test/support/text.ts";
import { AnswerNotes, ipRecord, routingRecord, shownAnswer } from "../src/index.ts";
import { ask, now } from "./support/checked.ts";

const answered = (made: MadeSnapshot, nowMs = now, text = "193.0.0.1") => {
  const notes = new AnswerNotes(madeGeneration(made), nowMs);
  return shownAnswer(notes, ipRecord(address(text), notes), wholeRecord, "id-1");
};

test("an answer is the record with its meta, serialised once", () => {
  const answer = answered(world);
  expect(answer).toMatchObject({ status: 200, contentType: "json", counted: true, cacheable: true, snapshotId: madeGeneration(world).id });
  expect(JSON.parse(Buffer.from(answer.body).toString())).toMatchObject({ ip: "193.0.0.1", meta: { request_id: "id-1" } });
});

describe("the ETag's input", () => {
  test("is the same while the sections are, whatever the time", () => {
    expect(answered(world, now + 5_000).etag).toBe(answered(world).etag);
  });

  test("changes with a section's content, its version, staleness, warnings, the peers that routes are counted by, and the sample flag", () => {
    const others: MadeSnapshot[] = [
      { ...world, vrps: undefined as never },
      { ...world, entry: { version: "2" } },
      { ...world, entry: { stale_after_seconds: 1 } },
      { ...world, peersTotal: { ipv4: 400, ipv6: 10 } },
      { ...world, sampleData: true },
      { ...world, peersTotal: { ipv4: 10, ipv6: 11 } },
      { ...world, matchPeersMin: 3 },
    ];
    const tags = new Set([world, ...others].map((made) => answered(made).etag));
    expect(tags.size).toBe(others.length + 1);
  });
});

test("with the expiry of a VRP that the record tells of, the tag changes, and until then the answer may be cached", () => {
  // A VRP of 18.0.0.0/8 expires an hour after the section's time.
  const expiresAtMs = Date.parse(madeAsOf) + 3_600_000;
  const routing = (nowMs: number) => {
    const notes = new AnswerNotes(madeGeneration({ ...world, entry: { stale_after_seconds: null } }), nowMs);
    const record = routingRecord({ ip: address("18.0.0.1"), upstreams: false, moreSpecifics: false, limit: 1 }, notes);
    return { said: record.origins[0]?.rpki.notes[0], answer: shownAnswer(notes, record, wholeRecord, "id-1") };
  };
  const [soon, last, expired, later] = [-20_000, -4_500, 1_000, 60_000].map((after) => routing(expiresAtMs + after));
  expect([soon, last, expired, later].map((each) => each?.said)).toEqual(["expires_soon", "expires_soon", "expired", "expired"]);
  expect([soon, last, later].map((each) => each?.answer.maxAgeSeconds)).toEqual([20, 5, 300]);
  expect(last?.answer.etag).toBe(soon?.answer.etag);
  expect(expired?.answer.etag).not.toBe(soon?.answer.etag);
  expect(later?.answer.etag).toBe(expired?.answer.etag);
});

describe("the time that an answer may be cached", () => {
  const seconds = (interval: number | null, nowMs = now) =>
    answered({ ...world, entry: { interval_seconds: interval } }, nowMs).maxAgeSeconds;

  test("ends when the next version is expected, and is at most 300 s", () => {
    expect(seconds(null)).toBe(300);
    expect(seconds(302 + 60)).toBe(60);
    expect(seconds(100_000)).toBe(300);
    expect(seconds(10)).toBe(0);
  });
});

test("a section from the future has age 0 and is stale, as nobody knows how old it is", () => {
  const record = ask(madeGeneration({ ...world, asOf: "2027-01-01T00:00:00Z" })).ip("193.0.0.1");
  expect(record.meta.data.routes).toMatchObject({ age_seconds: 0, stale: true });
  expect(record.meta.warnings).toContainEqual({ code: "routes_stale", detail: "routes are as of 2027-01-01T00:00:00Z" });
});

test("/status tells every section with its sources", () => {
  const entry = {
    counts: { names: 1 },
    sources: [
      { name: "list", format: "name-list", sha256: "", as_of: null, accepted: 1, skipped: 2, error: "could not be read in the last run" },
    ],
  };
  const record = ask(madeGeneration({ names: madeNames({ 1: "ONE" }), entry })).status();
  expect(record).toMatchObject({
    ready: true,
    sections: {
      as_names: {
        version: "1",
        age_seconds: 302,
        stale: false,
        counts: { names: 1 },
        sources: [{ name: "list", as_of: null, fetched_at: null, accepted: 1, skipped: 2, error: "could not be read in the last run" }],
      },
    },
  });
  expect(Object.keys(record.sections)).toEqual(["as_names"]);
});

test("sections that a refused snapshot would have changed are reported as stale, with their warning", () => {
  const serving = madeGeneration({ ...world, names: madeNames({ 1: "OLD" }) });
  const newer = madeGeneration({ ...world, names: madeNames({ 1: "NEW" }) });
  const notes = new AnswerNotes(serving.overtakenBy(newer.manifest), now);
  notes.use("routes", "as_names");
  const { data, warnings } = notes.meta("r");
  expect([data.routes?.stale, data.as_names?.stale]).toEqual([false, true]);
  expect(warnings.map(({ code }) => code)).toEqual(["as_names_stale"]);
});
