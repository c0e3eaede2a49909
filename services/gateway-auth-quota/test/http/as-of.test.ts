/** How `as_of` is read, what a service gets of it, and what it costs. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { decodeQuery } from "@netfacts/contracts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
/** Queries that the service got. */
let queries: string[];
beforeAll(async () => {
  harness = await startGateway();
  harness.answers.set("ip", (item) => {
    queries.push(item.query);
    return exampleReply("ip");
  });
});
beforeEach(() => {
  queries = [];
});
afterAll(() => harness.stop());

const ask = (asOf: string, headers: Record<string, string> = {}) => harness.get(`/api/v1/ip/193.0.6.139?as_of=${asOf}`, headers);
const pastOf = (query: string | undefined) => decodeQuery("ip", query ?? "").view.past;

describe("as_of", () => {
  test.each([
    ["2026-01-31", "2026-01-31T23:59:59Z"],
    ["2024-02-29", "2024-02-29T23:59:59Z"],
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"],
    ["2026-01-31t12:00:00.999z", "2026-01-31T12:00:00Z"],
    ["2026-01-31T12:00:00%2B01:30", "2026-01-31T10:30:00Z"],
    // What a URL makes of a `+` that is not encoded.
    ["2026-01-31T12:00:00+01:30", "2026-01-31T10:30:00Z"],
    ["2026-01-31T12:00:00-01:30", "2026-01-31T13:30:00Z"],
    ["1903-01-01", "1970-01-01T00:00:00Z"],
  ])("%s is %s", async (text, time) => {
    expect((await ask(text)).status).toBe(200);
    expect(pastOf(queries[0])).toMatchObject({ at: Date.parse(time) / 1_000, snapshotId: null });
  });

  test("of today is now, as the day has not ended", async () => {
    const before = Math.floor(Date.now() / 1_000);
    expect((await ask(new Date().toISOString().slice(0, 10))).status).toBe(200);
    const at = pastOf(queries[0])?.at as number;
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now() / 1_000);
  });

  test.each(["", "yesterday", "2026-02-30", "2026-01-31T12:00:00", "2026-01-31T24:00:01Z", "2026-1-31", "1767225600", "2026-01-31T12:00Z"])(
    "%j is no time",
    async (text) => {
      const { status, body } = await ask(text);
      expect(status).toBe(400);
      expect(JSON.parse(body).errors).toMatchObject([{ location: "query.as_of", message: expect.stringContaining("must be a time") }]);
      expect(queries).toEqual([]);
    },
  );

  test.each(["2999-01-01", new Date(Date.now() + 120_000).toISOString()])("%s is in the future", async (text) => {
    const { status, body } = await ask(text);
    expect([status, JSON.parse(body).errors[0].message]).toEqual([400, "must not be in the future"]);
  });

  test("is not known where nothing is kept of the past: at DNS, and in batches", async () => {
    expect((await harness.get("/api/v1/reverse-dns/193.0.6.139?as_of=2026-01-01")).status).toBe(400);
  });

  test("costs nine units more", async () => {
    expect((await ask("2026-01-01")).headers["x-request-cost"]).toBe("10");
    expect((await harness.get("/api/v1/ip/193.0.6.139")).headers["x-request-cost"]).toBe("1");
  });

  test("tells callers apart for the service, and not by the tag", async () => {
    const keys = [await harness.key({ scopes: ["ip"] }), await harness.key({ scopes: ["ip"] })];
    const tags = [];
    for (const key of keys) tags.push((await ask("2026-01-01", { authorization: `Bearer ${key}` })).headers.etag);
    const [first, second] = queries.map((query) => pastOf(query)?.turn);
    expect(first).not.toBe(second);
    expect(tags[0]).toBe(tags[1]);
  });
});
