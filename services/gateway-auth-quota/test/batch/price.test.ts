/** What batches cost of the rate limit: one unit for all items that cost one, and their price for the others. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { problemReply } from "@netfacts/messaging";
import { exampleReply } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";
import {
  addresses,
  asLines,
  type BatchHarness,
  codesOf,
  documentOf,
  json,
  linesOf,
  ndjson,
  openLines,
  startBatchGateway,
  until,
  untilItStands,
} from "./support.ts";

let gateway: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway();
});
afterEach(() => gateway.answers.clear());
afterAll(() => gateway.stop());

const cheap = { kind: "ip", value: "193.0.6.139" };
const costing3 = { kind: "asn", value: "AS3333", limit: 300 };
const costing30 = { kind: "prefix", value: "0.0.0.0/0", limit: 1_000 };

/** Limits that nothing else uses, in a window that does not end meanwhile. */
async function keyOf(rate: number, month = 1_000): Promise<{ authorization: string }> {
  return { authorization: `Bearer ${await gateway.batchKey({ rate: { limit: rate, windowSeconds: 86_400 }, month: { limit: month } })}` };
}

/** What is left of the rate and of the month; asking costs one unit of the rate itself. */
async function left(key: { authorization: string }): Promise<number[]> {
  const { headers } = await gateway.request("GET", "/api/v1/me", key);
  return [Number(headers["x-ratelimit-remaining"]) + 1, Number(headers["x-quota-remaining"])];
}

const documentText = (questions: readonly unknown[]) => JSON.stringify({ questions });

test("a document costs one unit for its cheap items, and the price of each other, and says so", async () => {
  const key = await keyOf(100);
  const answer = await gateway.post(documentText([cheap, costing3, cheap, costing30, costing3]), { ...json, ...key });
  expect(documentOf(answer)).toMatchObject({ count: 5, failed_count: 0 });
  expect([answer.headers["x-request-cost"], answer.headers["x-ratelimit-remaining"]]).toEqual(["37", "63"]);
  expect(await left(key)).toEqual([63, 995]);
  const plain = await gateway.post(documentText(addresses(500)), { ...json, ...key });
  expect([plain.headers["x-request-cost"], plain.headers["x-ratelimit-remaining"]]).toEqual(["1", "61"]);
});

test("a document that the rate has too few units for is refused before the first item, and costs nothing", async () => {
  const key = await keyOf(50);
  expect((await gateway.post(documentText([costing30]), { ...json, ...key })).status).toBe(200);
  const refused = await gateway.post(documentText([cheap, costing30]), { ...json, ...key });
  expect(expectProblem(refused, "rate_limit_exceeded")).toMatchObject({ "violated-policies": ["rate"] });
  expect(await left(key)).toEqual([19, 999]);
});

test("a document that the month refuses costs nothing of the rate", async () => {
  const key = await keyOf(100, 1);
  expectProblem(await gateway.post(documentText([cheap, costing30]), { ...json, ...key }), "quota_exceeded");
  expect(await left(key)).toEqual([100, 1]);
});

test("a document that costs more than a whole window is refused for good", async () => {
  const key = await keyOf(60);
  const refused = await gateway.post(documentText([costing30, costing30]), { ...json, ...key });
  const problem = expectProblem(refused, "cost_exceeds_limit");
  expect(problem.detail).toBe("The request costs 61 units, and the rate limit of the key is 60 units per 86400 s.");
  expect(problem.retry_after_seconds).toBeUndefined();
  expect(await left(key)).toEqual([60, 1_000]);
});

test("each hundred bad items of a document cost a unit too", async () => {
  const key = await keyOf(12);
  const bad = Array.from({ length: 250 }, () => ({ kind: "ip", value: "x" }));
  const answer = await gateway.post(documentText([cheap, ...bad]), { ...json, ...key });
  expect([answer.headers["x-request-cost"], answer.headers["x-ratelimit-remaining"]]).toEqual(["3", "9"]);
  expect(await left(key)).toEqual([9, 999]);
});

/** Refused for its last member, so that all of it is read. */
const longBad = { kind: "ip", value: "x", ...Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, 0])) };

test.each([
  ["a document", documentText([cheap, ...Array(50).fill(longBad)]), json],
  ["a stream", asLines([cheap, ...Array(50).fill(longBad)]), ndjson],
])("a long bad item of %s counts as several", async (_name, body, type) => {
  const key = await keyOf(100);
  expect((await gateway.post(body, { ...type, ...key })).status).toBe(200);
  const { length } = JSON.stringify(longBad);
  expect(await left(key)).toEqual([100 - 1 - Math.floor((50 * (1 + Math.floor(length / 128))) / 100), 999]);
});

test("an item counts as a hundred at most, however long it is", async () => {
  const key = await keyOf(100);
  const lines = `${" ".repeat(500_000)}x\n`.repeat(3);
  expect(codesOf(linesOf(await gateway.post(lines, { ...ndjson, ...key })).results)).toEqual(Array(3).fill("batch_item_invalid"));
  expect(await left(key)).toEqual([96, 1_000]);
});

test("a document that cannot be read costs what was read of it, if the rate has as much", async () => {
  const fault = `{"questions":[${`${JSON.stringify(longBad)},`.repeat(20)}x]}`;
  const read = Math.floor((20 * JSON.stringify(longBad).length) / 12_800);
  expect(read).toBeGreaterThan(5);
  for (const [limit, cost] of [
    [100, 1 + read],
    [read, 1],
  ] as const) {
    const key = await keyOf(limit);
    const refused = await gateway.post(fault, { ...json, ...key });
    expectProblem(refused, "invalid_body");
    expect(refused.headers["x-request-cost"]).toBe(String(cost));
    expect(await left(key)).toEqual([limit - cost, 1_000]);
  }
});

test("bad items are paid for also where a limit refuses the rest of their document", async () => {
  const key = await keyOf(40, 2);
  const bad = Array.from({ length: 200 }, () => ({ kind: "ip", value: "x" }));
  expect((await gateway.post(documentText([costing3]), { ...json, ...key })).status).toBe(200);
  const [rate] = (await left(key)) as [number];
  // The rate has too few units, then the month.
  const costing36 = documentText([costing30, costing3, ...bad]);
  expectProblem(await gateway.post(costing36, { ...json, ...key }), "rate_limit_exceeded");
  const [afterRate] = (await left(key)) as [number];
  expect(rate - 1 - afterRate).toBe(3);
  expectProblem(await gateway.post(documentText([cheap, cheap, ...bad]), { ...json, ...key }), "quota_exceeded");
  expect(afterRate - 1 - ((await left(key))[0] as number)).toBe(3);
});

test("a document that costs more than a whole window with its bad items is refused for good, and costs one unit", async () => {
  const key = await keyOf(40);
  const bad = Array.from({ length: 200 }, () => ({ kind: "ip", value: "x" }));
  const refused = await gateway.post(documentText([costing30, costing3, costing3, costing3, ...bad]), { ...json, ...key });
  expect(expectProblem(refused, "cost_exceeds_limit").detail).toContain("costs 42 units");
  expect((await left(key))[0]).toBe(39);
});

test("costly lines of a stream are paid for as they come; those that the rate refuses are problems, and cheap ones go on", async () => {
  const key = await keyOf(71);
  const lines = asLines([costing30, cheap, costing30, costing30, cheap, costing3, costing3, costing3, cheap]);
  const answer = await gateway.post(lines, { ...ndjson, ...key });
  expect(answer.headers["x-request-cost"]).toBe("1");
  const { results, summary } = linesOf(answer);
  const refused = "rate_limit_exceeded";
  expect(codesOf(results)).toEqual(["ok", "ok", "ok", refused, "ok", "ok", "ok", "ok", "ok"]);
  expect(results[3]?.problem).toMatchObject({ "violated-policies": ["rate"], retry_after_seconds: expect.any(Number) });
  expect(summary).toMatchObject({ count: 9, failed_count: 1 });
  expect(summary.problem).toBeUndefined();
  expect(await left(key)).toEqual([1, 992]);
});

test("a line that costs more than a whole window is a problem that names the price", async () => {
  const key = await keyOf(20);
  const { results } = linesOf(await gateway.post(asLines([costing30, cheap]), { ...ndjson, ...key }));
  expect(codesOf(results)).toEqual(["cost_exceeds_limit", "ok"]);
  expect(results[0]?.problem?.retry_after_seconds).toBeUndefined();
});

test.each([
  ["a document", documentText([costing30, costing3]), json],
  ["a stream", asLines([costing30, costing3]), ndjson],
])("items that fail by our fault cost no rate in %s, others do", async (_name, body, type) => {
  const key = await keyOf(100);
  gateway.answers.set("prefix", () => problemReply({ code: "upstream_error" }));
  gateway.answers.set("asn", () => problemReply({ code: "cursor_expired" }));
  await gateway.post(body, { ...type, ...key });
  expect(await left(key)).toEqual([96, 1_000]);
});

test("items that were not asked when the client went away cost no rate", async () => {
  const key = await keyOf(10_000);
  let asked = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  gateway.answers.set("prefix", async () => {
    asked += 1;
    await released;
    return exampleReply("prefix");
  });
  const stream = openLines(gateway.url, { ...json, ...key });
  stream.send(documentText(Array.from({ length: 200 }, () => costing30)));
  stream.end();
  await untilItStands(() => asked);
  expect(asked).toBeLessThan(100);
  stream.request.destroy();
  await until(async () => (await left(key))[0] !== 10_000 - 6_001, "units that come back");
  const [rate] = await left(key);
  // One for the batch, and one for each look at what is left.
  expect(10_000 - (rate as number) - asked * 30).toBeLessThan(30);
  expect(10_000 - (rate as number) - asked * 30).toBeGreaterThan(0);
  release();
});

test("a stream of costly lines has no more of the rate than the limit, whatever runs beside it", async () => {
  const key = await keyOf(100);
  gateway.answers.set("prefix", () => exampleReply("prefix"));
  const batches = Array.from({ length: 8 }, () => gateway.post(asLines([costing30, costing30]), { ...ndjson, ...key }));
  const codes = (await Promise.all(batches)).flatMap((answer) => codesOf(linesOf(answer).results));
  expect(codes.filter((code) => code === "ok")).toHaveLength(3);
});
