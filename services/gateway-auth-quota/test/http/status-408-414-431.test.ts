/** 408, 414, 431: requests that come too slowly, or are too large. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange, openSocket, readUntilClosed } from "../support/raw.ts";

let harness: Harness;
let base: string;
beforeAll(async () => {
  harness = await startGateway({
    config: { HEADERS_TIMEOUT_MS: 200, REQUEST_TIMEOUT_MS: 400, URL_BYTES_MAX: 1_000, HEADER_BYTES_MAX: 8_192 },
  });
  base = await harness.gateway.listen();
});
afterAll(() => harness.stop());

const raw = async (text: string) => {
  const [answer] = await exchange(base, text);
  if (answer === undefined) throw new Error("no answer");
  return answer;
};

provokes("request_timeout", "headers that never end", () => raw("GET /api/v1/status HTTP/1.1\r\nHost: x\r\n"));

provokes("request_timeout", "headers of which a byte comes now and then", async () => {
  const socket = await openSocket(base);
  socket.write("GET /api/v1/status HTTP/1.1\r\nHost: x\r\nA: ");
  const drip = setInterval(() => socket.write("a"), 20);
  const [answer] = await readUntilClosed(socket).finally(() => clearInterval(drip));
  if (answer === undefined) throw new Error("no answer");
  return answer;
});

test("a body that nobody asked for and that never comes does not hold the answer, nor the connection for long", async () => {
  const socket = await openSocket(base);
  socket.write("GET /api/v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc");
  // Ends when the other side closes.
  const [answer] = await readUntilClosed(socket);
  expect(answer?.status).toBe(200);
});

provokes("uri_too_long", "a long path", () => harness.get(`/api/v1/ip/${"1".repeat(1_000)}`));
provokes("uri_too_long", "a long query", () => harness.get(`/api/v1/ip/193.0.6.139?limit=${"1".repeat(1_000)}`));
provokes("uri_too_long", "whether or not there is such a route", () => harness.request("GET", `/${"1".repeat(1_000)}`));
provokes("uri_too_long", "whether or not it can be decoded", () => harness.request("GET", `/${"%zz".repeat(400)}`));

test("a URL of exactly the bound is read", async () => {
  const url = "/api/v1/ip/";
  expectProblem(await harness.get(url + "1".repeat(1_000 - url.length)), "invalid_ip");
  expectProblem(await harness.get(url + "1".repeat(1_001 - url.length)), "uri_too_long");
});

provokes("headers_too_large", "one large header", () => raw(`GET /api/v1/status HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(9_000)}\r\n\r\n`));
provokes("headers_too_large", "a URL longer than all headers may be", () => raw(`GET /${"a".repeat(9_000)} HTTP/1.1\r\nHost: x\r\n\r\n`));

test("what is no request is logged with the id that it was told", async () => {
  const problem = expectProblem(await raw(`GET /${"a".repeat(9_000)} HTTP/1.1\r\n\r\n`), "headers_too_large");
  expect(harness.log.find(({ fields }) => fields.request_id === problem.request_id)).toMatchObject({
    message: "malformed HTTP request",
    fields: { status: 431, code: "headers_too_large" },
  });
});
