/** Cross-origin requests from browsers, and the headers that tell browsers what not to do. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";
import { exchange } from "../support/raw.ts";

const url = "/api/v1/ip/193.0.6.139";
const app = "https://app.example.com";
const preflight = { "access-control-request-method": "GET", "access-control-request-headers": "authorization" };

const names = (headers: Readonly<Record<string, string>>) => Object.keys(headers).filter((name) => name.startsWith("access-control-"));

describe("by default", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startGateway({ config: { OPERATOR_PORT: 0 } });
  });
  afterAll(() => harness.stop());

  test("no origin is allowed anything, and a preflight is a method like any other", async () => {
    expect(names((await harness.get(url, { origin: app })).headers)).toEqual([]);
    const answer = await harness.request("OPTIONS", url, { origin: app, ...preflight });
    expectProblem(answer, "method_not_allowed");
    expect(names(answer.headers)).toEqual([]);
  });

  test("every answer forbids guessing and referrers; pages have a policy of their own, and HTTPS is not promised", async () => {
    const paths = [url, "/api/v1/ip/nonsense", "/api/v1/me", "/api/v1/status", "/nowhere", "/api/v1/ip/%zz", "/flags/nl.svg"];
    for (const path of paths) {
      const { headers } = await harness.get(path);
      expect({ path, headers }).toMatchObject({
        headers: {
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
        },
      });
      expect(headers["strict-transport-security"]).toBeUndefined();
    }
    for (const path of ["/docs", "/docs/errors", "/flags/nl.svg"])
      expect([path, (await harness.get(path)).headers["content-security-policy"]]).toEqual([
        path,
        expect.stringContaining("default-src 'none'"),
      ]);
    const operator = await harness.gateway.operator?.inject({ url: "/nowhere" });
    expect(operator?.headers).toMatchObject({ "x-content-type-options": "nosniff" });
  });
});

describe("with listed origins", () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startGateway({
      config: { CORS_ORIGINS: [app, "http://localhost:5173"], OPERATOR_PORT: 0, HSTS_SECONDS: 31_536_000 },
    });
  });
  afterAll(() => harness.stop());

  test.each([app, "http://localhost:5173"])("%s may ask, and read limits and tags", async (origin) => {
    const { status, headers } = await harness.get(url, { origin });
    expect(status).toBe(200);
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect(headers["timing-allow-origin"]).toBe(origin);
    for (const name of ["ratelimit", "ratelimit-policy", "x-quota-remaining", "x-request-id", "etag", "link", "retry-after"])
      expect(headers["access-control-expose-headers"]?.split(", ")).toContain(name);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
    expect(headers.vary).toMatch(/Origin/);
  });

  test.each([
    "https://app.example.com.evil.example",
    "https://evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "https://sub.app.example.com",
    "null",
    "HTTPS://APP.EXAMPLE.COM",
    "",
  ])("%s may not", async (origin) => {
    const answer = await harness.get(url, { origin });
    expect([answer.status, names(answer.headers)]).toEqual([200, []]);
    expect(names((await harness.request("OPTIONS", url, { origin, ...preflight })).headers)).toEqual([]);
  });

  test("a preflight is answered without a key, wherever it asks, and costs nothing", async () => {
    for (const path of [url, "/api/v1/batch", "/api/v1/me", "/api/v1/nowhere"]) {
      const { status, headers, body } = await harness.request("OPTIONS", path, { origin: app, ...preflight });
      expect([path, status, body]).toEqual([path, 204, ""]);
      expect(headers["access-control-allow-origin"]).toBe(app);
      expect(headers["access-control-allow-methods"]).toMatch(/GET, HEAD/);
      expect(headers["access-control-allow-headers"]).toMatch(/Authorization/);
      expect(Number(headers["access-control-max-age"])).toBeGreaterThan(0);
    }
  });

  test("problems can be read too, whatever refused the question", async () => {
    const refused = [
      ["/api/v1/ip/nonsense", {}],
      [url, { authorization: "" }],
      [url, { accept: "text/csv" }],
      ["/api/v1/nowhere", {}],
      [`${url}?key=x`, {}],
      [`/api/v1/ip/${"1".repeat(3_000)}`, {}],
    ] as const;
    for (const [path, headers] of refused) {
      const answer = await harness.get(path, { origin: app, ...headers });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers["access-control-allow-origin"]).toBe(app);
    }
  });

  test("what caches keep is kept by origin", async () => {
    for (const path of [url, "/api/v1/status", "/flags/nl.svg", "/docs/page.css", "/api/v1/ip/nonsense"])
      expect((await harness.get(path)).headers.vary).toMatch(/\bOrigin\b/);
  });

  test("operators' routes have none of it", async () => {
    const answer = await harness.gateway.operator?.inject({
      method: "OPTIONS",
      url: "/admin/v1/keys",
      headers: { origin: app, ...preflight },
    });
    expect(answer?.statusCode).not.toBe(204);
    expect(names((answer?.headers ?? {}) as Record<string, string>)).toEqual([]);
  });

  test("HTTPS is promised where that is configured", async () => {
    expect((await harness.get(url)).headers["strict-transport-security"]).toBe("max-age=31536000");
  });
});

test("any origin, where that is configured, and then caches need not know", async () => {
  const harness = await startGateway({ config: { CORS_ORIGINS: "*" } });
  const { headers } = await harness.get("/api/v1/status", { origin: "https://anything.example" });
  const answer = await harness.request("OPTIONS", url, { origin: "null", ...preflight });
  await harness.stop();
  expect(headers["access-control-allow-origin"]).toBe("*");
  expect(answer.status).toBe(204);
});

describe("refusals before the request reaches a route", () => {
  let harness: Harness;
  afterEach(() => harness.stop());

  /** Refuses the head of a request as too large, and one as malformed. */
  const unreadable = async (origins: "*" | string[]) => {
    harness = await startGateway({ config: { CORS_ORIGINS: origins, HEADER_BYTES_MAX: 8_192 } });
    const base = await harness.gateway.listen();
    const heads = [`GET /${"a".repeat(9_000)} HTTP/1.1`, "GET / HTTP/7"];
    const answers = await Promise.all(heads.map((head) => exchange(base, `${head}\r\nHost: x\r\nOrigin: ${app}\r\n\r\n`)));
    return answers.map(([answer]) => [answer?.status, answer?.headers["access-control-allow-origin"], answer?.headers.vary]);
  };

  test("an unreadable request, where any origin may read", async () => {
    expect(await unreadable("*")).toEqual([
      [431, "*", undefined],
      [400, "*", undefined],
    ]);
  });

  test("an unreadable request, where one origin may read", async () => {
    expect(await unreadable([app])).toEqual([
      [431, app, "Origin"],
      [400, app, "Origin"],
    ]);
  });

  test("an unreadable request: which of several origins asks is unknown", async () => {
    expect(await unreadable([app, "https://other.example"])).toEqual([
      [431, undefined, "Origin"],
      [400, undefined, "Origin"],
    ]);
  });

  test("a body that does not come in time", async () => {
    harness = await startGateway({ config: { CORS_ORIGINS: [app, "https://other.example"], REQUEST_TIMEOUT_MS: 200 } });
    const base = await harness.gateway.listen();
    const head = `POST /api/v1/batch HTTP/1.1\r\nHost: x\r\nOrigin: ${app}\r\nAuthorization: Bearer ${await harness.key({ scopes: ["batch"] })}\r\n`;
    const [answer] = await exchange(base, `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    expect([answer?.status, answer?.headers["access-control-allow-origin"]]).toEqual([408, app]);
  });

  test("a request without a key that is one too many", async () => {
    harness = await startGateway({ config: { CORS_ORIGINS: [app, "https://other.example"], KEYLESS_PER_SECOND_MAX: 1 } });
    const base = await harness.gateway.listen();
    const ask = async (origin: string) => {
      for (;;) {
        const { status, headers } = await fetch(`${base}/api/v1/status`, { headers: { origin } });
        if (status === 503) return [headers.get("access-control-allow-origin"), headers.get("vary")];
      }
    };
    expect(await ask(app)).toEqual([app, "Origin"]);
    expect(await ask("https://evil.example")).toEqual([null, "Origin"]);
  });
});
