/** What operators send that makes no sense: every fault, with its place. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Problem } from "@netfacts/contracts";
import { adminRoutes } from "@netfacts/contracts/openapi";
import { wantedText } from "../../src/edge/schema-fault.ts";
import { ask, audit, keys, makeKey, plans } from "../support/admin.ts";
import type { HttpAnswer } from "../support/gateway.ts";
import { type OperatorHarness, runsPath, startOperatorHarness, uploadPath } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

const create = (body: unknown): Promise<HttpAnswer> => ask(harness, "POST", keys, body);
const good = { label: "a", scopes: ["ip"] };
const labelMustBe = "must be 1 to 100 characters, not all blank and without control characters or marks of text direction";
const places = (problem: Problem) => problem.errors?.map(({ location }) => location).sort();

describe("bodies", () => {
  provokes("invalid_body", "a key without a label", () => create({ scopes: ["ip"] }));
  provokes("invalid_body", "no body where one is wanted", () => ask(harness, "POST", keys));
  provokes("invalid_body", "a body that is not JSON", () =>
    harness.ask("POST", keys, { headers: { "content-type": "application/json" }, body: "{" }),
  );
  provokes("invalid_body", "a plan that is not there", () => create({ ...good, plan: "none" }));
  provokes("invalid_body", "a test key with the scope admin", () => create({ label: "a", scopes: ["admin"], environment: "test" }));

  test.each([
    ['{"label":"a","scopes":["ip"],"scopes":["admin"]}', "scopes"],
    ['{"label":"a","scopes":["ip"],"rate":{"limit":1,"lim\\u0069t" : 9,"window_seconds":60}}', "limit"],
    ['{"label":"a","scopes":["ip"],"":1,"":2}', ""],
  ])("%s has a member twice", async (body, name) => {
    const answer = await harness.ask("POST", keys, { headers: { "content-type": "application/json" }, body });
    expect(expectProblem(answer, "invalid_body").detail).toBe(`The member "${name}" appears twice in an object of the body.`);
  });

  test("a name may appear in several objects, and in text", async () => {
    const answer = await create({
      label: '"label": "label":',
      scopes: ["ip"],
      rate: { limit: 1, window_seconds: 60 },
      month: { limit: 1 },
    });
    expect(answer.status).toBe(201);
  });

  test.each([
    [{}, ["body.label", "body.scopes"]],
    [{ ...good, colour: "red" }, ["body.colour"]],
    [{ ...good, scopes: ["ip", "everything"] }, ["body.scopes[1]"]],
    [{ ...good, scopes: [] }, ["body.scopes"]],
    [{ ...good, rate: { limit: 0, window_seconds: 90_000 } }, ["body.rate.limit", "body.rate.window_seconds"]],
    [{ ...good, month: { limit: "7" } }, ["body.month.limit"]],
    [{ ...good, expires_at: "tomorrow" }, ["body.expires_at"]],
    [{ ...good, label: "\n", expires_at: "2001-01-01T00:00:00Z" }, ["body.expires_at", "body.label"]],
    [{ ...good, allowed_cidrs: ["10.0.0.0/8", "nowhere"] }, ["body.allowed_cidrs[1]"]],
    [[], ["body"]],
  ])("%j names its faults at %j", async (body, expected) => {
    expect(places(expectProblem(await create(body), "invalid_body"))).toEqual(expected);
  });

  test.each([
    [{}, { "body.label": "is missing", "body.scopes": "is missing" }],
    [{ ...good, scopes: ["everything"] }, { "body.scopes[0]": "must be ip, routing, asn, prefix, reverse_dns, batch or admin" }],
    [{ ...good, scopes: [] }, { "body.scopes": "must be a non-empty list" }],
    [{ ...good, scopes: ["ip", "ip"] }, { "body.scopes": "must not contain duplicates" }],
    [{ ...good, label: "" }, { "body.label": "must be a string of 1 to 100 characters" }],
    [{ ...good, rate: 600 }, { "body.rate": "must be an object with limit and window_seconds or null" }],
    [
      { ...good, rate: { limit: 0 } },
      { "body.rate.window_seconds": "is missing", "body.rate.limit": "must be a whole number from 1 to 1000000000" },
    ],
    ...[" ", "a\tb", "a\u202eb", "a\u2066b\u2069", "a\u200fb", "a\u2028b", "a\ud800"].map(
      (label) => [{ ...good, label }, { "body.label": labelMustBe }] as const,
    ),
    [{ ...good, expires_at: "2099-02-31T00:00:00Z" }, { "body.expires_at": "is not a date that exists" }],
    [{ ...good, expires_at: "2099-12-31T99:00:00Z" }, { "body.expires_at": "is not a date that exists" }],
    [{ ...good, expires_at: "tomorrow" }, { "body.expires_at": "must be a time in UTC such as 2026-11-21T09:00:00Z or null" }],
    [{ ...good, environment: "prod" }, { "body.environment": "must be live or test" }],
    [{ ...good, plan: "none" }, { "body.plan": "is not the name of a plan" }],
    [{ ...good, environment: "test", scopes: ["admin"] }, { "body.scopes": "must not include admin in a test key" }],
    [{ ...good, plan: "A b" }, { "body.plan": expect.stringMatching(/^must be a name of 1 to 40 lower-case letters/) }],
    [[], { body: expect.stringMatching(/^must be an object with label, scopes, /) }],
  ])("%j is told what is taken", async (body, expected) => {
    const { errors = [] } = expectProblem(await create(body), "invalid_body");
    expect(Object.fromEntries(errors.map(({ location, message }) => [location, message]))).toEqual(expected);
  });

  test("what a parameter must be is told in words", () => {
    const wanted = adminRoutes.flatMap(({ parameters }) =>
      parameters.filter((each) => each.in === "query").map(({ schema }) => wantedText(schema)),
    );
    expect(wanted.filter((text) => text.includes("matches"))).toEqual([]);
  });

  test("an unknown member is told which ones there are, and which was meant", async () => {
    const problem = expectProblem(await create({ ...good, expires: "a" }), "invalid_body");
    expect(problem.detail).toMatch(/^body\.expires is unknown; the known members are label, scopes, /);
    expect(problem.errors).toMatchObject([{ location: "body.expires", suggestion: "expires_at" }]);
  });

  test("a CIDR with host bits comes with the one that is meant", async () => {
    const problem = expectProblem(await create({ ...good, allowed_cidrs: ["193.0.6.139/21"] }), "invalid_body");
    expect(problem.errors).toMatchObject([{ location: "body.allowed_cidrs[0]", suggestion: "193.0.0.0/21" }]);
  });

  test("what is sent is not repeated where it may hold a key", async () => {
    const { secret } = await makeKey(harness);
    for (const body of [
      { ...good, [secret]: 1 },
      { ...good, scopes: [secret] },
      { ...good, label: secret },
      { ...good, plan: secret },
    ]) {
      expectProblem(await create(body), "invalid_body");
    }
    const text = await harness.ask("POST", keys, { headers: { "content-type": "application/json" }, body: `{${secret}` });
    expectProblem(text, "invalid_body");
  });

  test("a refused body makes and changes nothing", async () => {
    const { id, version } = await makeKey(harness);
    const before = (await ask(harness, "GET", `${keys}?limit=1000`)).json.items.length;
    await create({ ...good, plan: "none" });
    await ask(harness, "PATCH", `${keys}/${id}`, { label: "b", scopes: ["none"] });
    await ask(harness, "POST", `${keys}/${id}/rotate`, { overlap_seconds: 2_592_001 });
    expect((await ask(harness, "GET", `${keys}?limit=1000`)).json.items).toHaveLength(before);
    expect((await ask(harness, "GET", `${keys}/${id}`)).json.version).toBe(version);
  });

  test("overlaps are 0 to 30 days", async () => {
    const { id } = await makeKey(harness);
    for (const overlap_seconds of [-1, 2_592_001, 1.5, "1"]) {
      const problem = expectProblem(await ask(harness, "POST", `${keys}/${id}/rotate`, { overlap_seconds }), "invalid_body");
      expect(places(problem)).toEqual(["body.overlap_seconds"]);
    }
  });

  test("plans have a rate and a month, and a name that can stand in a path", async () => {
    const limits = { rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } };
    expect(places(expectProblem(await ask(harness, "PUT", `${plans}/team`, { rate: limits.rate }), "invalid_body"))).toEqual([
      "body.month",
    ]);
    expect(places(expectProblem(await ask(harness, "PUT", `${plans}/Team%20A`, limits), "invalid_parameter"))).toEqual(["path.name"]);
  });
});

describe("parameters", () => {
  provokes("invalid_parameter", "one that the route does not have", () => ask(harness, "GET", `${keys}?colour=red`));
  provokes("invalid_cursor", "a cursor that no page gave", () => ask(harness, "GET", `${keys}?cursor=abc`));
  provokes("invalid_cursor", "one of the audit, too", () => ask(harness, "GET", `${audit}?cursor=W10`));
  provokes("key_in_query", "a key where a filter should be", async () =>
    ask(harness, "GET", `${audit}?target=${await harness.gateway.key()}`),
  );

  test.each(["limit=0", "limit=1e2", "limit=1001", "limit=01", "limit=5&limit=6"])("lists refuse %s", async (query) => {
    const problem = expectProblem(await ask(harness, "GET", `${keys}?${query}`), "invalid_parameter");
    expect(places(problem)).toEqual(["query.limit"]);
  });

  test("an unknown action is refused, and the known ones are listed", async () => {
    const unknown = expectProblem(await ask(harness, "GET", `${audit}?action=key.revke`), "invalid_parameter");
    expect(unknown.detail).toMatch(/key\.revoke.*snapshot\.rollback/);
  });

  test("a time after its end is refused", async () => {
    const times = "from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00Z";
    const problem = expectProblem(await ask(harness, "GET", `${audit}?${times}`), "invalid_parameter");
    expect(problem.errors).toMatchObject([{ location: "query.from", message: "is after to" }]);
  });

  test("times are RFC 3339 in UTC", async () => {
    const problem = expectProblem(await ask(harness, "GET", `${audit}?from=yesterday&to=2026-11-21`), "invalid_parameter");
    expect(places(problem)).toEqual(["query.from", "query.to"]);
    for (const { message } of problem.errors ?? []) expect(message).toBe("must be a time in UTC such as 2026-11-21T09:00:00Z");
  });

  test("an Idempotency-Key has 1 to 255 printable characters", async () => {
    for (const value of ["a b", "x".repeat(256)]) {
      const problem = expectProblem(await ask(harness, "POST", keys, good, { headers: { "idempotency-key": value } }), "invalid_parameter");
      expect(problem.title).toBe("Invalid parameter");
      expect(places(problem)).toEqual(["header.idempotency-key"]);
    }
  });

  test("a write that would be carried out again refuses an Idempotency-Key, also one of ingest", async () => {
    const { id } = await makeKey(harness);
    const headers = { "idempotency-key": "k1" };
    const limits = { rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } };
    for (const [method, path, body] of [
      ["PATCH", `${keys}/${id}`, { label: "b" }],
      ["PUT", `${plans}/repeated`, limits],
      ["DELETE", `${plans}/repeated`, undefined],
    ] as const) {
      expect(places(expectProblem(await ask(harness, method, path, body, { headers }), "invalid_parameter"))).toEqual([
        "header.idempotency-key",
      ]);
    }
    for (const path of [runsPath, uploadPath]) {
      const problem = expectProblem(await harness.ask("POST", path, { headers }), "invalid_parameter");
      expect(places(problem)).toEqual(["header.idempotency-key"]);
    }
    expect(harness.ingest.requests).toEqual([]);
    expect((await ask(harness, "GET", `${keys}/${id}`, undefined, { headers })).json.label).not.toBe("b");
  });
});
