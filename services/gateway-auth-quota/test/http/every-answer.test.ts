/** Headers that every answer has, also those that no route gives. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { GatewayConfig } from "../../src/app.ts";
import { type Harness, startGateway } from "../support/gateway.ts";
import { exchange } from "../support/raw.ts";

const app = "https://app.example.com";

type Audience = "callers" | "operators";
let patient: Listening;
/** Waits for the end of headers for a moment only. */
let hurried: Listening;
beforeAll(async () => {
  patient = await start({});
  hurried = await start({ HEADERS_TIMEOUT_MS: 200 });
});
afterAll(async () => {
  await patient.harness.stop();
  await hurried.harness.stop();
});

interface Listening {
  readonly harness: Harness;
  readonly urls: Readonly<Record<Audience, string>>;
}

async function start(config: Partial<GatewayConfig>): Promise<Listening> {
  const harness = await startGateway({
    config: { CORS_ORIGINS: [app], HSTS_SECONDS: 60, HEADER_BYTES_MAX: 8_192, OPERATOR_PORT: 0, ...config },
  });
  const callers = await harness.gateway.listen();
  return { harness, urls: { callers, operators: harness.gateway.operator?.listeningOrigin ?? "" } };
}

const origin = `Origin: ${app}\r\n`;
const preflight = `${origin}Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization\r\n`;
const ask = (method: string, path: string, headers = "") => `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`;

async function answerTo(url: string, text: string) {
  const [answer] = await exchange(url, text);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

type Case = readonly [name: string, gateway: () => Listening, text: string, status: number];
const cases: readonly Case[] = [
  ["what is no request", () => patient, "GARBAGE\r\n\r\n", 400],
  ["CONNECT", () => patient, "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["headers that never end", () => hurried, "GET / HTTP/1.1\r\nHost: x\r\n", 408],
  ["headers that are too large", () => patient, ask("GET", "/", `A: ${"a".repeat(9_000)}\r\n`), 431],
  ["a path that cannot be decoded", () => patient, ask("GET", "/api/v1/ip/%"), 400],
  ["an unknown path", () => patient, ask("GET", "/nope"), 404],
];
const ofCallers: readonly Case[] = [["a preflight", () => patient, ask("OPTIONS", "/api/v1/me", preflight), 204]];

describe.each<[Audience, readonly Case[]]>([
  ["callers", [...cases, ...ofCallers]],
  ["operators", cases],
])("to %s", (audience, asked) => {
  test.each(asked)("%s", async (_case, gateway, text, status) => {
    const answer = await answerTo(gateway().urls[audience], text);
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
    const before = await answerTo(patient.urls.callers, ask("OPTIONS", path, preflight));
    expect([before.status, before.headers["access-control-allow-headers"]]).toEqual([204, expect.stringMatching(/Authorization/)]);
    const { status, headers } = await answerTo(patient.urls.callers, ask("GET", path, origin));
    expect([status, headers["access-control-allow-origin"]]).toEqual([400, app]);
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });

  test("of another origin", async () => {
    const { status, headers } = await answerTo(patient.urls.callers, ask("GET", path, "Origin: https://evil.example\r\n"));
    expect([status, headers["access-control-allow-origin"]]).toEqual([400, undefined]);
    expect(headers.vary).toMatch(/\bOrigin\b/);
  });
});

test("the log names the client of a preflight", async () => {
  const { headers } = await answerTo(patient.urls.callers, ask("OPTIONS", "/api/v1/me", preflight));
  const line = patient.harness.log.find(({ fields }) => fields.request_id === headers["x-request-id"]);
  expect(line?.fields).toMatchObject({ status: 204, client: "127.0.0.1" });
});
