/** When the client asks again, when it does not, and what it throws. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type ClientOptions, NetfactsClient, NetfactsProblem, NetfactsUnreachable } from "@netfacts/client";
import { examples } from "@netfacts/contracts";
import { retryAfterSecondsOf, retryDelayMs } from "../src/retry.ts";
import { json, problem, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const client = (options: Partial<ClientOptions> = {}) => new NetfactsClient({ url: server.url, key: "nf_test_key", ...options });

test("a record comes as it is, and the key goes where keys belong", async () => {
  server.script(
    json(examples.ip, {
      "x-ratelimit-limit": "600",
      "x-ratelimit-remaining": "599",
      "x-ratelimit-reset": "37",
      "x-quota-limit": "100000",
      "x-request-cost": "3",
    }),
  );
  const one = client();
  expect(await one.ip("193.0.6.139")).toEqual(examples.ip);
  expect(server.asked[0]).toMatchObject({ method: "GET", url: "/api/v1/ip/193.0.6.139", headers: { authorization: "Bearer nf_test_key" } });
  expect(one.limits).toEqual({
    rate: { limit: 600, remaining: 599, resetSeconds: 37 },
    month: { limit: 100_000, remaining: null, resetSeconds: null },
    cost: 3,
  });
});

test("values of questions cannot leave their place in the URL", async () => {
  server.script(json(examples.ip));
  await client().ip("../me?x=1#y");
  expect(server.asked[0]?.url).toBe("/api/v1/ip/..%2Fme%3Fx%3D1%23y");
});

test("a time of the past goes with every question about data, as a text or a Date", async () => {
  const asOf = new Date("2026-11-20T12:00:00Z");
  const one = client();
  for (const [ask, path] of [
    [() => one.ip("192.0.2.1", { asOf: "2026-11-20" }), "ip/192.0.2.1?as_of=2026-11-20"],
    [() => one.routing("192.0.2.1", { asOf, limit: 5 }), "routing/192.0.2.1?limit=5&as_of=2026-11-20T12%3A00%3A00.000Z"],
    [() => one.asn(1, { asOf: "2026-11-20", family: 4 }), "asn/1?family=4&as_of=2026-11-20"],
    [() => one.prefix("192.0.2.0/24", { asOf: "2026-11-20" }), "prefix/192.0.2.0/24?as_of=2026-11-20"],
    [() => one.validity(1, "192.0.2.0/24", { asOf: "2026-11-20" }), "validity?asn=1&prefix=192.0.2.0%2F24&as_of=2026-11-20"],
    [() => one.asnVrps(1, { asOf: "2026-11-20", announced: false, loose: true }), "vrps/1?announced=false&loose=true&as_of=2026-11-20"],
  ] as const) {
    server.script(json(examples.ip));
    await ask();
    expect(server.asked.at(-1)?.url).toBe(`/api/v1/${path}`);
  }
});

test("a prefix goes as it was written: what is wrong with it is for the API to say", async () => {
  for (const [prefix, path] of [
    ["2001:db8::/32", "2001%3Adb8%3A%3A/32"],
    ["193.0.0.0/21/24", "193.0.0.0/21%2F24"],
    ["193.0.0.0", "193.0.0.0/"],
  ] as const) {
    server.script(json(examples.prefix));
    await client().prefix(prefix);
    expect(server.asked.at(-1)?.url).toBe(`/api/v1/prefix/${path}`);
  }
});

test("a used up rate is waited for as long as it says, then asked again", async () => {
  server.script(problem(429, "rate_limit_exceeded", 1), json(examples.me));
  await client().me();
  const [first, second] = server.asked;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
});

test("a used up month is thrown at once, and told from the rate", async () => {
  server.script(problem(429, "quota_exceeded", 1));
  const failure = await client()
    .me()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(NetfactsProblem);
  expect(failure).toMatchObject({
    code: "quota_exceeded",
    status: 429,
    isQuota: true,
    isRateLimit: false,
    retryAfterSeconds: 1,
    requestId: "r1",
  });
  expect(server.asked).toHaveLength(1);
});

test("a wait that is longer than allowed is thrown at once", async () => {
  server.script(problem(429, "rate_limit_exceeded", 61));
  await expect(client().me()).rejects.toMatchObject({ isRateLimit: true });
  expect(server.asked).toHaveLength(1);
});

test.each([
  [400, "invalid_ip"],
  [401, "invalid_api_key"],
  [403, "insufficient_scope"],
  [410, "cursor_expired"],
  [429, "too_many_failed_keys"],
  [500, "internal_error"],
])("%d %s is not asked again", async (status, code) => {
  server.script(problem(status, code));
  await expect(client().me()).rejects.toMatchObject({ code, status });
  expect(server.asked).toHaveLength(1);
});

test.each([
  [503, "data_not_ready"],
  [503, "shutting_down"],
  [502, "upstream_error"],
  [504, "upstream_timeout"],
  [429, "concurrency_limit_exceeded"],
])("%d %s is asked again", async (status, code) => {
  server.script(problem(status, code, 0), json(examples.me));
  expect(await client().me()).toEqual(examples.me);
  expect(server.asked).toHaveLength(2);
});

test("tries end at their bound", async () => {
  server.script(problem(503, "data_not_ready", 0));
  await expect(client({ retry: { attemptsMax: 3 } }).me()).rejects.toMatchObject({ code: "data_not_ready" });
  expect(server.asked).toHaveLength(3);
});

test("an answer that breaks off, and one of a proxy, are asked again and then told as no answer", async () => {
  server.script(
    (response) => response.writeHead(200, { "content-length": "100" }).write("{", () => response.destroy()),
    (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
    json(examples.me),
  );
  expect(await client().me()).toEqual(examples.me);
  server.script((response) => response.writeHead(404, { "content-type": "text/html" }).end("<h1>nginx</h1>"));
  const failure = await client()
    .me()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(NetfactsUnreachable);
  expect(failure).toMatchObject({ status: 404 });
  expect(server.asked).toHaveLength(1);
});

test("a proxy's Retry-After is waited for, and one that asks for more than allowed is told at once", async () => {
  server.script(
    (response) => response.writeHead(503, { "content-type": "text/html", "retry-after": "1" }).end("<h1>Later</h1>"),
    json(examples.me),
  );
  expect(await client().me()).toEqual(examples.me);
  const [first, second] = server.asked;
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
  server.script((response) => response.writeHead(429, { "content-type": "text/html", "retry-after": "300" }).end("<h1>Slower</h1>"));
  await expect(client().me()).rejects.toMatchObject({ name: "NetfactsUnreachable", status: 429, retryAfterSeconds: 300 });
  expect(server.asked).toHaveLength(1);
});

test.each([
  ["120", null, 120],
  ["Sun, 29 Nov 2026 12:02:00 GMT", "Sun, 29 Nov 2026 12:00:00 GMT", 120],
  ["Sun, 29 Nov 2026 11:00:00 GMT", "Sun, 29 Nov 2026 12:00:00 GMT", 0],
  ["Sun, 06 Nov 1994 08:49:37 GMT", null, 0],
  ["soon", null, null],
])("Retry-After %s in a response of %s is %s seconds", (after, date, seconds) => {
  expect(retryAfterSecondsOf(new Headers({ "retry-after": after, ...(date !== null && { date }) }))).toBe(seconds);
});

test.each([{}, null, [], "text"])("a response of %j is no record", async (body) => {
  server.script(json(body));
  await expect(client({ retry: { attemptsMax: 1 } }).me()).rejects.toThrow("no record of Netfacts");
});

test("silence ends at the time bound", async () => {
  server.script(() => {});
  await expect(client({ timeoutMs: 100, retry: { attemptsMax: 1 } }).me()).rejects.toThrow("no response within 100 ms");
});

test.each([Number.POSITIVE_INFINITY, 2 ** 31])("a time of %d ms is no short one", async (timeoutMs) => {
  server.script((response, asked) => setTimeout(() => json(examples.me)(response, asked), 50));
  expect(await client({ timeoutMs, retry: { attemptsMax: 1 } }).me()).toEqual(examples.me);
});

test("a wait that no timer can be is thrown at once, whatever is allowed", async () => {
  server.script(problem(503, "data_not_ready", 2 ** 31), json(examples.me));
  await expect(client({ retry: { waitSecondsMax: Number.POSITIVE_INFINITY } }).me()).rejects.toMatchObject({ code: "data_not_ready" });
  expect(server.asked).toHaveLength(1);
});

test("a caller's signal ends a question and its waits, with the caller's reason", async () => {
  server.script(problem(429, "rate_limit_exceeded", 30));
  const own = new AbortController();
  const asked = client().me({ signal: own.signal });
  setTimeout(() => own.abort(new Error("enough")), 100);
  await expect(asked).rejects.toThrow("enough");
});

test("what cannot be meant is refused before anything is asked", () => {
  expect(() => new NetfactsClient({ url: "netfacts.example" })).toThrow("url must be");
  expect(() => client({ key: "two words" })).toThrow("key must be");
  expect(() => client({ retry: { attemptsMax: 0 } })).toThrow("attemptsMax");
  expect(() => client({ timeoutMs: 0 })).toThrow("timeoutMs");
});

test("waits grow from try to try, are spread, and never end before the time that was told", () => {
  const away = new NetfactsUnreachable("away");
  const delays = [1, 2, 3, 4].map((attempt) => retryDelayMs(away, attempt, 60_000, 0));
  expect(delays).toEqual([100, 200, 400, 800]);
  expect(retryDelayMs(away, 1, 60_000, 1)).toBe(200);
  const rate = new NetfactsProblem({ ...examples.problem, status: 429, code: "rate_limit_exceeded", retry_after_seconds: 5 }, null);
  for (const random of [0, 0.5, 1]) expect(retryDelayMs(rate, 1, 60_000, random)).toBeGreaterThanOrEqual(5_000);
});
