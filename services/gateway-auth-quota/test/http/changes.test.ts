/** How questions about what changed are read, what a service gets of them, and what is said where none answers them. */

import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { decodeQuery, encodeCursor } from "@netfacts/contracts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";

let harness: Harness;
/** Queries that the service got. */
let queries: string[];
beforeAll(async () => {
  harness = await startGateway();
  for (const op of ["asn_changes", "prefix_changes"] as const)
    harness.answers.set(op, (item) => {
      queries.push(item.query);
      return exampleReply(op);
    });
});
beforeEach(() => {
  queries = [];
});
afterAll(() => harness.stop());

const prefix = { version: 4, w0: 0xc100_0000, w1: 0, w2: 0, w3: 0, length: 21 } as const;

test("the subject is that of /asn and of /prefix; a service is told who takes turns, and no place", async () => {
  for (const text of ["AS3333", "3333", "0.3333"]) expect((await harness.get(`/api/v1/changes/${text}`)).status).toBe(200);
  for (const query of queries)
    expect(decodeQuery("asn_changes", query)).toMatchObject({
      question: { asn: 3333, limit: 100 },
      view: { page: null, past: { at: 0, snapshotId: null, turn: expect.any(Number) } },
    });
  expect((await harness.get("/api/v1/changes/193.0.0.0/21?limit=7")).status).toBe(200);
  expect(decodeQuery("prefix_changes", queries.at(-1) ?? "").question).toEqual({ prefix, limit: 7 });
});

test("a prefix may have its slash percent-encoded, as at /prefix, and its mistakes are told as there", async () => {
  expect((await harness.get("/api/v1/changes/193.0.0.0%2F21?limit=7")).status).toBe(200);
  expect(decodeQuery("prefix_changes", queries.at(-1) ?? "").question).toEqual({ prefix, limit: 7 });
  expect((await harness.get("/api/v1/changes/2001:db8::%2f32")).status).toBe(200);
  expectProblem(await harness.get("/api/v1/changes/193.0.6.139%2F21"), "prefix_has_host_bits");
  expectProblem(await harness.get("/api/v1/changes/AS3333%2F21"), "invalid_prefix");
  expect(expectProblem(await harness.get("/api/v1/changes/193.0.0.0"), "invalid_asn")).toMatchObject({
    detail: expect.stringContaining("is neither an AS number nor a prefix"),
    errors: [{ location: "path.asn", suggestion: "/api/v1/changes/193.0.0.0/32" }],
  });
  const asnOnly = await harness.key({ scopes: ["asn"] });
  const headers = { authorization: `Bearer ${asnOnly}` };
  expectProblem(await harness.get("/api/v1/changes/193.0.0.0%2F21", headers), "insufficient_scope");
});

test("a cursor names the pair and the place in it, whatever the limit", async () => {
  const place = { snapshotId: "20261120T080000Z-1a2b3c4d", at: 1_795_000_000, page: { list: "changes", start: 4 } } as const;
  const cursor = encodeCursor("asn_changes", { asn: 3333, limit: 100 }, place);
  expect((await harness.get(`/api/v1/changes/AS3333?limit=3&cursor=${cursor}`)).status).toBe(200);
  expect(decodeQuery("asn_changes", queries[0] ?? "").view).toMatchObject({
    page: place.page,
    past: { at: place.at, snapshotId: place.snapshotId },
  });
  expectProblem(await harness.get(`/api/v1/changes/AS3334?cursor=${cursor}`), "invalid_cursor");
  expectProblem(await harness.get(`/api/v1/asn/AS3333?cursor=${cursor}`), "invalid_cursor");
});

test("where no pod knows the question, it is history_unavailable, and no pod answers with anything else", async () => {
  const older = await startGateway({ past: false });
  try {
    expectProblem(await older.get("/api/v1/changes/AS3333"), "history_unavailable");
    expect((await older.get("/api/v1/asn/AS3333")).status).toBe(200);
  } finally {
    await older.stop();
  }
});

test("batches do not take it", async () => {
  const authorization = `Bearer ${await harness.key({ scopes: ["asn", "batch"] })}`;
  const answer = await harness.gateway.http.inject({
    method: "POST",
    url: "/api/v1/batch",
    headers: { authorization, "content-type": "application/json" },
    payload: { questions: [{ kind: "asn_changes", value: "AS3333" }] },
  });
  expect(JSON.parse(answer.body)).toMatchObject({ results: [{ problem: { code: "batch_item_invalid" } }] });
});
