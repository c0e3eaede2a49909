/** The gateway answers what the routes as data say, and nothing else: paths, parameters, content types and headers. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { limitHeaderNames, headers as names } from "@netfacts/contracts";
import { dataRoutes } from "@netfacts/contracts/openapi";
import { exampleUrl } from "../support/example-url.ts";
import { exampleReply, type Harness, type HttpAnswer, startGateway } from "../support/gateway.ts";

let harness: Harness;
/** Enough for all examples of all routes. */
let generous = "";
const get = (url: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  harness.get(url, { authorization: `Bearer ${generous}`, ...headers });
beforeAll(async () => {
  harness = await startGateway();
  generous = await harness.key({ rate: { limit: 100_000, windowSeconds: 60 } });
  for (const { op } of dataRoutes)
    harness.answers.set(op, () => ({
      ...exampleReply(op),
      ...(op !== "reverse_dns" && { snapshotId: "20261121T085500Z-1a2b3c4d", next: 100 }),
    }));
});
afterAll(() => harness.stop());

function expectHeaders(answer: HttpAnswer, expected: readonly string[]): void {
  expect(expected.filter((name) => answer.headers[name] === undefined)).toEqual([]);
}

describe.each(dataRoutes.map((route) => [route.id, route] as const))("%s", (_id, route) => {
  const inQuery = route.parameters.filter((parameter) => parameter.in === "query");

  test("takes every example of every parameter", async () => {
    for (const { name, examples } of inQuery)
      for (const value of examples)
        expect([name, value, (await get(exampleUrl(route, { [name]: value }))).status]).toEqual([name, value, 200]);
    for (const { name, examples } of route.parameters.filter((parameter) => parameter.in === "path").slice(0, 1))
      for (const value of examples) {
        const url = exampleUrl(route, {}, { length: value.includes(":") ? "48" : "21", [name]: value });
        expect([url, (await get(url)).status]).toEqual([url, 200]);
      }
  });

  test("takes no value of an enumeration besides those that it names, and no other parameter", async () => {
    for (const { name, schema } of inQuery)
      if ("enum" in schema) expect([name, (await get(exampleUrl(route, { [name]: "nonsense" }))).status]).toEqual([name, 400]);
    expect((await get(exampleUrl(route, { no_such_parameter: "1" }))).status).toBe(400);
  });

  test("answers every content type that it names, and the first without a wish", async () => {
    const [whole] = route.answers;
    for (const { type } of whole.content) {
      const answer = await get(exampleUrl(route), { accept: type });
      expect([answer.status, answer.headers["content-type"]?.split(";")[0]]).toEqual([200, type]);
    }
    expect((await get(exampleUrl(route))).headers["content-type"]?.split(";")[0]).toBe(whole.content[0]?.type);
  });

  test("200 and 304 carry the headers that it names, limits and the request's id", async () => {
    for (const answer of route.answers) {
      const type = answer.content.at(-1)?.type ?? "application/json";
      const { etag } = (await get(exampleUrl(route), { accept: type })).headers;
      const got = await get(exampleUrl(route), { accept: type, ...(answer.status === 304 && { "if-none-match": etag ?? "" }) });
      expect(got.status).toBe(answer.status);
      const named = (answer.headers ?? []).filter((name) => route.op !== "reverse_dns" || name !== "last-modified");
      expectHeaders(got, [...named, ...limitHeaderNames, names.requestId]);
      expect(got.headers["server-timing"]).toMatch(/^gateway;dur=\d+\.\d, upstream;dur=\d+\.\d$/);
    }
  });

  test("4xx of a known key and 429 carry limits and the request's id, and are not kept", async () => {
    const bad = await get(exampleUrl(route, { no_such_parameter: "1" }));
    const cost = Number((await get(exampleUrl(route))).headers["x-request-cost"]);
    const authorization = `Bearer ${await harness.key({ rate: { limit: cost, windowSeconds: 3_600 } })}`;
    await get(exampleUrl(route), { authorization });
    const exhausted = await get(exampleUrl(route), { authorization });
    expect([bad.status, exhausted.status]).toEqual([400, 429]);
    for (const answer of [bad, exhausted]) {
      expectHeaders(answer, [...limitHeaderNames, names.requestId, "content-type", "x-content-type-options"]);
      expect(answer.headers["cache-control"]).toBe("no-store");
    }
    expectHeaders(exhausted, [names.retryAfter]);
  });
});
