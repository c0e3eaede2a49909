/** Headers that every answer has, also those that no route gives. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { exchange } from "../support/raw.ts";

const app = "https://app.example.com";
let harness: Harness;
let base: string;
let operators: string;
beforeAll(async () => {
  harness = await startGateway({
    config: { CORS_ORIGINS: [app], HSTS_SECONDS: 60, HEADERS_TIMEOUT_MS: 200, HEADER_BYTES_MAX: 8_192, OPERATOR_PORT: 0 },
  });
  base = await harness.gateway.listen();
  operators = harness.gateway.operator?.listeningOrigin ?? "";
});
afterAll(() => harness.stop());

const origin = `Origin: ${app}\r\n`;
const preflight = `${origin}Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n`;
const ask = (method: string, path: string, headers = "") => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`;

async function answerTo(url: string, text: string) {
  const [answer] = await exchange(url, text);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

const cases: readonly (readonly [name: string, text: string, status: number])[] = [
  ["what is no request", "GARBAGE\r\n\r\n", 400],
  ["CONNECT", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["headers that never end", "GET / HTTP/1.1\r\nHost: x\r\n", 408],
  ["headers that are too large", ask("GET", "/", `A: ${"a".repeat(9_000)}\r\n`), 431],
  ["a path that cannot be decoded", ask("GET", "/api/v1/ip/%"), 400],
  ["an unknown path", ask("GET", "/nope"), 404],
];

describe.each([
  ["callers", () => base, [...cases, ["a preflight", ask("OPTIONS", "/api/v1/me", preflight), 204]] as typeof cases],
  ["operators", () => operators, cases],
] as const)("to %s", (_name, url, asked) => {
  test.each(asked)("%s", async (_case, text, status) => {
    const answer = await answerTo(url(), text);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "strict-transport-security": "max-age=60",
      "x-request-id": expect.stringMatching(/^[0-9A-Z]{26}$/),
      date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT$/),
    });
  });
});

describe("a path that cannot be decoded is like any other for scripts", () => {
  const path = "/api/v1/ip/%";

  test("of an origin that may read the problem", async () => {
    const before = await answerTo(base, ask("OPTIONS", path, preflight));
    expect([before.status, before.headers["access-control-allow-headers"]]).toEqual([204, expect.stringMatching(/Authorization/)]);
    const { status, headers } = await answerTo(base, ask("GET", path, origin));
    expect([status, headers["access-control-allow-origin"]]).toEqual([400, app]);
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  test("of another origin", async () => {
    const { status, headers } = await answerTo(base, ask("GET", path, "Origin: https://evil.example\r\n"));
    expect([status, headers["access-control-allow-origin"]]).toEqual([400, undefined]);
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });
});

test("the log names the client of a preflight", async () => {
  const { headers } = await answerTo(base, ask("OPTIONS", "/api/v1/me", preflight));
  const line = harness.log.find(({ fields }) => fields.request_id === headers["x-request-id"]);
  expect(line?.fields).toMatchObject({ status: 204, client: "127.0.0.1" });
});
