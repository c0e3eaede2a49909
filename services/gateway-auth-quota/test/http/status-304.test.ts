/** 304: what the caller has already is not sent again. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

const url = "/api/v1/ip/193.0.6.139";

test("the tag of the answer, alone, in a list or as a strong one, gives 304 with the same headers and no body", async () => {
  const { headers } = await harness.get(url);
  const etag = headers.etag ?? "";
  for (const value of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
    const answer = await harness.get(url, { "if-none-match": value });
    expect([value, answer.status, answer.body]).toEqual([value, 304, ""]);
    expect(answer.headers).toMatchObject({ etag, "cache-control": headers["cache-control"], vary: headers.vary });
    expect(answer.headers["content-type"]).toBeUndefined();
    expect(answer.headers.ratelimit).toBeDefined();
  }
});

test("another tag, or the tag of another question, gives the answer", async () => {
  const { headers } = await harness.get("/api/v1/ip/193.0.6.140");
  for (const value of [headers.etag ?? "", '"other"', "garbage", ""])
    expect((await harness.get(url, { "if-none-match": value })).status).toBe(200);
});

test("HEAD is told the same, without a length that would not be the record's", async () => {
  const authorization = `Bearer ${await harness.key()}`;
  const { headers } = await harness.request("HEAD", url, { authorization });
  const answer = await harness.request("HEAD", url, { authorization, "if-none-match": headers.etag ?? "" });
  expect(answer.status).toBe(304);
  expect(answer.headers["content-length"]).toBeUndefined();
});

test("a flag is not sent twice", async () => {
  const { headers } = await harness.request("GET", "/flags/nl.svg");
  const answer = await harness.request("GET", "/flags/nl.svg", { "if-none-match": headers.etag ?? "" });
  expect([answer.status, answer.body]).toEqual([304, ""]);
});
