/** 410: a question that is bound to data which are no longer kept. */

import { afterAll, beforeAll, expect } from "@jest/globals";
import { problemReply } from "@netfacts/messaging";
import { type Harness, startGateway } from "../support/gateway.ts";
import { provokes } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

provokes("cursor_expired", "when a service no longer has that version of the data, which costs no month", async () => {
  harness.answers.set("asn", () => problemReply({ code: "cursor_expired" }));
  const answer = await harness.get("/api/v1/asn/AS3333");
  expect(answer.headers["x-quota-remaining"]).toBe("100000");
  return answer;
});

provokes("as_of_out_of_range", "when no snapshot of that time is kept, with the times that are", async () => {
  const range = { earliest: "2026-10-20T08:00:00Z", latest: "2026-11-21T08:00:00Z" };
  harness.answers.set("asn", () => problemReply({ code: "as_of_out_of_range", range }));
  const answer = await harness.get("/api/v1/asn/AS3333?as_of=2020-01-01");
  expect(JSON.parse(answer.body)).toMatchObject(range);
  return answer;
});
