/** What one key does with its batches to the others, and how long a batch may go on that makes no progress. */

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { expectProblem } from "../support/provokes.ts";
import { addresses, asLines, type BatchHarness, linesOf, ndjson, openLines, restOf, startBatchGateway } from "./support.ts";

let gateway: BatchHarness;
let impatient: BatchHarness;
let hasty: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway({ config: { BATCHES_MAX: 8 } });
  impatient = await startBatchGateway({ config: { BATCH_IDLE_MS: 400 } });
  hasty = await startBatchGateway({ config: { BATCH_MS_MAX: 600 } });
});
afterAll(async () => {
  await gateway.stop();
  await impatient.stop();
  await hasty.stop();
});

const line = '{"kind":"ip","value":"193.0.6.139"}\n';
const authorized = async (of: BatchHarness) => ({ authorization: `Bearer ${await of.batchKey()}` });

test("a lone key may have all batches, and loses one for each that another key begins, down to a quarter of them", async () => {
  const greedy = await authorized(gateway);
  const streams = Array.from({ length: 8 }, () => openLines(gateway.url, greedy));
  for (const stream of streams) stream.send(line);
  for (const stream of streams) expect((await stream.response()).statusCode).toBe(200);
  const refused = await gateway.post(asLines(addresses(1)), { ...ndjson, ...greedy });
  expectProblem(refused, "temporarily_overloaded");
  expect(refused.body).toContain("the key already has its share of them");

  const other = await authorized(gateway);
  const politely = [openLines(gateway.url, other), openLines(gateway.url, other)];
  for (const stream of politely) {
    stream.send(line);
    expect((await stream.response()).statusCode).toBe(200);
  }
  // The two that began last have ended; what they had asked before is answered.
  const ended = await Promise.race([...streams.map(async (stream) => ({ stream, ...(await restOf(stream)) }))]);
  expect(ended.results).toHaveLength(1);
  expect(ended.summary).toMatchObject({ count: 1, problem: { code: "temporarily_overloaded" } });
  expect(ended.summary?.problem?.detail).toContain("Another key needs the place of this batch");
  // With its quarter the other key takes no more from the first.
  expectProblem(await gateway.post(asLines(addresses(1)), { ...ndjson, ...other }), "temporarily_overloaded");
  const third = await gateway.post(asLines(addresses(10)), { ...ndjson, ...(await authorized(gateway)) });
  expect(linesOf(third).summary).toMatchObject({ count: 10, failed_count: 0 });
  const metrics = await gateway.registry.text();
  expect(metrics).toMatch(/netfacts_places_used\{[^}]*resource="batches"[^}]*\} 7/);
  expect(metrics).toMatch(/netfacts_places_max\{[^}]*resource="batches"[^}]*\} 8/);
  expect(metrics).toMatch(/netfacts_shortages_total\{[^}]*resource="batches",reason="share"[^}]*\} 2/);
  expect(metrics).toMatch(/netfacts_shortages_total\{[^}]*resource="batches",reason="surplus"[^}]*\} 3/);
  for (const stream of [...streams, ...politely]) stream.request.destroy();
});

// Side by side: each waits until its connection is given up.
test.concurrent.each([
  ["a blank byte", " "],
  ["a part of a line", "x"],
])("%s now and then is no progress", async (_name, byte) => {
  const stream = openLines(impatient.url, await authorized(impatient));
  stream.send(line);
  const drip = setInterval(() => stream.send(byte), 50);
  const { results, summary } = await restOf(stream);
  clearInterval(drip);
  expect(results).toHaveLength(1);
  expect(summary).toMatchObject({ count: 1, problem: { code: "request_timeout" } });
});

test("a client that goes on after the end of its answer is disconnected", async () => {
  const { authorization } = await authorized(impatient);
  const client = connect(Number(new URL(impatient.url).port), "127.0.0.1");
  client.setEncoding("utf8").on("error", () => undefined);
  client.write(
    `POST /api/v1/batch HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n`,
  );
  const drip = setInterval(() => client.write(" "), 50);
  let answer = "";
  client.on("data", (piece) => {
    answer += piece;
  });
  await once(client, "close");
  clearInterval(drip);
  expect(answer).toContain("request_timeout");
  // The end of the chunks.
  expect(answer).toMatch(/\r\n0\r\n\r\n$/);
}, 60_000);

test("a line now and then is too little progress, and one that comes often enough keeps the batch open", async () => {
  const slow = openLines(impatient.url, await authorized(impatient));
  const quick = openLines(impatient.url, await authorized(impatient));
  const lines = [setInterval(() => slow.send(line), 150), setInterval(() => quick.send(line.repeat(20)), 25)];
  // Read as it comes: who does not read makes no progress either.
  const quickly = restOf(quick);
  const { results, summary } = await restOf(slow);
  expect(summary).toMatchObject({ problem: { code: "request_timeout" } });
  // One of the first periods ends it, not a later one in which a busy machine sent no line at all.
  expect(results.length).toBeLessThan(100);
  // Twice the period.
  await new Promise((resolve) => setTimeout(resolve, 800));
  for (const timer of lines) clearInterval(timer);
  quick.end();
  expect((await quickly).summary).not.toHaveProperty("problem");
});

test.concurrent("a batch that makes progress ends after its longest time, with all that it had asked", async () => {
  const stream = openLines(hasty.url, await authorized(hasty));
  const lines = setInterval(() => stream.send(line), 10);
  const { results, summary } = await restOf(stream);
  clearInterval(lines);
  expect(results.length).toBeGreaterThan(0);
  expect(summary).toMatchObject({ count: results.length, failed_count: 0, problem: { code: "request_timeout" } });
  expect(summary?.problem?.detail).toContain("The batch took longer than");
});
