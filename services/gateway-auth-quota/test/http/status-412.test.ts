/** 412: conditions that do not hold. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), snapshotId: "20261121T085500Z-1a2b3c4d" }));
});
afterAll(() => harness.stop());

const url = "/api/v1/ip/193.0.6.139";

provokes("precondition_failed", "another tag, which costs no month", async () => {
  const answer = await harness.get(url, { "if-match": '"other"' });
  expect(answer.headers["x-quota-remaining"]).toBe("100000");
  return answer;
});
provokes("precondition_failed", "the answer's own tag, as a weak one matches nothing strongly", async () => {
  const { headers } = await harness.get(url);
  return harness.get(url, { "if-match": headers.etag ?? "" });
});
provokes("precondition_failed", "modified since", () => harness.get(url, { "if-unmodified-since": "Sat, 21 Nov 2026 08:54:59 GMT" }));

test("a condition that holds gives the answer", async () => {
  expect((await harness.get(url, { "if-match": "*" })).status).toBe(200);
  const { headers } = await harness.get(url);
  expect((await harness.get(url, { "if-unmodified-since": headers["last-modified"] ?? "" })).status).toBe(200);
  expect((await harness.get(url, { "if-unmodified-since": "someday" })).status).toBe(200);
});

test("precondition_failed comes before 304, and If-Match makes If-Unmodified-Since unread", async () => {
  expectProblem(await harness.get(url, { "if-match": '"x"', "if-none-match": "*" }), "precondition_failed");
  const answer = await harness.get(url, { "if-match": "*", "if-unmodified-since": "Sat, 21 Nov 2026 08:54:59 GMT", "if-none-match": "*" });
  expect(answer.status).toBe(304);
});
