/** Who is let in at the operator listener, and what is there. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { startGateway } from "../support/gateway.ts";
import { type OperatorHarness, runsPath, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness({ FAILED_KEYS_MAX: 1_000 });
});
afterAll(() => harness.stop());

describe("401", () => {
  provokes("missing_api_key", "an operator's route without a key", () => harness.ask("GET", runsPath, { key: null }));
  provokes("invalid_api_key", "an operator's route with an unknown key", () =>
    harness.ask("POST", runsPath, { key: generateKeyText("live").text }),
  );
});

describe("403", () => {
  provokes("insufficient_scope", "a key that only reads", async () => harness.ask("GET", runsPath, { key: await harness.gateway.key() }));
  provokes("insufficient_scope", "a key that only reads, starting a run", async () =>
    harness.ask("POST", runsPath, { key: await harness.gateway.key() }),
  );
});

test("whoever is refused does not reach ingest", async () => {
  harness.ingest.requests.length = 0;
  for (const key of [null, generateKeyText("live").text, await harness.gateway.key()]) await harness.ask("POST", runsPath, { key });
  expect(harness.ingest.requests).toEqual([]);
});

describe("404", () => {
  provokes("route_not_found", "another path of the operator listener", () => harness.ask("GET", "/admin/v1/nothing"));
  provokes("route_not_found", "the data, which only the public listener has", () => harness.ask("GET", "/api/v1/status"));
  provokes("route_not_found", "a path that leads out of ingest's", () => harness.ask("GET", "/admin/v1/ingest/x%2f..%2f..%2f..%2fother"));

  test("route_not_found: the operators' routes at the public listener", async () => {
    const answer = await fetch(harness.publicUrl + runsPath, { headers: { authorization: `Bearer ${harness.adminKey}` } });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: "route_not_found" });
  });

  test("route_not_found: ingest's routes where no ingest is set", async () => {
    const alone = await startOperatorHarness({ INGEST_URL: "" });
    expectProblem(await alone.ask("GET", runsPath), "route_not_found");
    await alone.stop();
  });
});

test("every answer to a known key carries its limits", async () => {
  for (const path of [runsPath, "/admin/v1/nothing"]) expect((await harness.ask("GET", path)).headers).toHaveProperty("ratelimit");
});

test("no answer allows another origin", async () => {
  const headers = { origin: "https://console.example", "access-control-request-method": "POST" };
  for (const method of ["OPTIONS", "GET"]) {
    const answer = await harness.ask(method, runsPath, { headers });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("without OPERATOR_PORT there is no operator listener", async () => {
  const gateway = await startGateway();
  expect(gateway.gateway.operator).toBeNull();
  await gateway.stop();
});
