/** Keys and plans that are not there, and what their routes do not answer. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { adminRoutes } from "@netfacts/contracts/openapi";
import { ask, keys, plans } from "../support/admin.ts";
import { type OperatorHarness, runsPath, startOperatorHarness } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

const limits = { rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } };

describe("404", () => {
  provokes("key_not_found", "a key that nobody made", () => ask(harness, "GET", `${keys}/00000000`));
  provokes("key_not_found", "what can be no id", () => ask(harness, "GET", `${keys}/what?`));
  provokes("plan_not_found", "a plan that nobody made", () => ask(harness, "GET", `${plans}/none`));
  provokes("plan_not_found", "deleting a plan that nobody made", () => ask(harness, "DELETE", `${plans}/none`));

  test.each(["rotate", "disable", "enable", "revoke"])("key_not_found: %s", async (action) => {
    expectProblem(await ask(harness, "POST", `${keys}/00000000/${action}`), "key_not_found");
  });
  test("key_not_found: changing it", async () => {
    expectProblem(await ask(harness, "PATCH", `${keys}/00000000`, { label: "a" }), "key_not_found");
  });
  test.each([keys, plans, "/admin/v1/profiles", "/admin/v1/audit", runsPath])(
    "route_not_found: %s/, with the path that was meant",
    async (path) => {
      const problem = expectProblem(await ask(harness, "GET", `${path}/?limit=1`), "route_not_found");
      expect(problem.errors).toMatchObject([{ location: "path", suggestion: path }]);
    },
  );
  provokes("route_not_found", "an action that keys do not have", () => ask(harness, "POST", `${keys}/00000000/explode`));
});

test("route_not_found: where no ingest is behind the gateway, its routes say so, to operators only", async () => {
  const alone = await startOperatorHarness({ INGEST_URL: "", PROXY_TOKEN: "" });
  for (const [method, path] of [
    ["GET", "/admin/v1/ingest/sources"],
    ["POST", "/admin/v1/ingest/runs"],
  ] as const) {
    expect(expectProblem(await ask(alone, method, path), "route_not_found").detail).toContain("`netfacts ingest run`");
    expectProblem(await ask(alone, method, path, undefined, { key: null }), "missing_api_key");
    expectProblem(await ask(alone, method, path, undefined, { key: await alone.gateway.key() }), "insufficient_scope");
  }
  // The reference page lists what is there.
  const pathsOf = async (at: typeof alone) => Object.keys(JSON.parse((await at.ask("GET", "/openapi.json")).body).paths);
  const isIngest = (path: string) => path.startsWith("/admin/v1/ingest/");
  expect([(await pathsOf(alone)).some(isIngest), (await pathsOf(harness)).some(isIngest)]).toEqual([false, true]);
  await alone.stop();
});

describe("405", () => {
  provokes("method_not_allowed", "deleting a key", () => ask(harness, "DELETE", `${keys}/00000000`));

  test("names the methods that the route has", async () => {
    const allow = async (method: string, path: string) => (await ask(harness, method, path)).headers.allow;
    const problem = expectProblem(await ask(harness, "DELETE", `${keys}/00000000`), "method_not_allowed");
    expect(problem.detail).toBe("This route supports GET, HEAD and PATCH.");
    expect(await allow("PUT", keys)).toBe("GET, HEAD, POST");
    expect(await allow("DELETE", `${keys}/00000000`)).toBe("GET, HEAD, PATCH");
    expect(await allow("POST", `${plans}/team`)).toBe("GET, HEAD, PUT, DELETE");
    expect(await allow("GET", `${keys}/00000000/revoke`)).toBe("POST");
  });

  test("is answered by the gateway for the paths of ingest, too, which is not asked", async () => {
    for (const [method, path, allow] of [
      ["DELETE", runsPath, "GET, HEAD, POST"],
      ["PROPFIND", runsPath, "GET, HEAD, POST"],
      ["POST", "/admin/v1/ingest/sources", "GET, HEAD"],
    ] as const) {
      const answer = await ask(harness, method, path);
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.allow).toBe(allow);
    }
  });
});

test("406 not_acceptable: an operator who takes no JSON changes nothing", async () => {
  const answer = await ask(harness, "PUT", `${plans}/unwanted`, limits, { headers: { accept: "text/csv" } });
  expectProblem(answer, "not_acceptable");
  expectProblem(await ask(harness, "GET", `${plans}/unwanted`), "plan_not_found");
});

describe("every route", () => {
  const path = (pattern: string) => pattern.replaceAll(/\{\w+\}/g, "00000000");

  test.each(adminRoutes.map(({ id, method, path: pattern }) => [id, method, pattern]))(
    "%s is for keys with the scope admin",
    async (_, method, pattern) => {
      const body = method === "get" ? undefined : {};
      const at = (key: string | null) => ask(harness, method.toUpperCase(), path(pattern), body, { key });
      expectProblem(await at(null), "missing_api_key");
      expectProblem(await at(await harness.gateway.key()), "insufficient_scope");
    },
  );

  test.each(adminRoutes.map(({ id, method, path: pattern }) => [id, method, pattern]))(
    "%s is not on the public listener",
    async (_, method, pattern) => {
      const headers = { authorization: `Bearer ${harness.adminKey}` };
      const answer = await fetch(harness.publicUrl + path(pattern), { method: method.toUpperCase(), headers });
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: "route_not_found" }]);
    },
  );
});
