/** Messages that two readers could cut differently (RFC 9112 §11.2), and bytes that are no message: one refusal, and the connection ends. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { exchange, openSocket } from "../support/raw.ts";

let harness: Harness;
let url: string;
beforeAll(async () => {
  harness = await startGateway({ config: { HEADERS_TIMEOUT_MS: 1_000, REQUEST_TIMEOUT_MS: 2_000 } });
  url = await harness.gateway.listen();
});
afterAll(() => harness.stop());

/** What a message in front would let through. */
const hidden = "GET /api/v1/status HTTP/1.1\r\nHost: x\r\nX-Request-Id: hidden\r\n\r\n";
const post = (headers: string, body: string) => `POST /api/v1/status HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}${hidden}`;

describe("one refusal, and no answer to what is hidden behind", () => {
  test.each([
    ["both lengths", post("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n")],
    ["both lengths, the other way round", post("Transfer-Encoding: chunked\r\nContent-Length: 3", "1\r\nA\r\n0\r\n\r\n")],
    ["two lengths that differ", post("Content-Length: 0\r\nContent-Length: 44", "")],
    ["a list of lengths that differ", post("Content-Length: 0, 44", "")],
    ["a signed length", post("Content-Length: +0", "")],
    ["a length in hexadecimal", post("Content-Length: 0x0", "")],
    ["an empty length", post("Content-Length:", "")],
    ["a negative length", post("Content-Length: -1", "")],
    ["a length beyond all numbers", post("Content-Length: 99999999999999999999999", "")],
    ["a coding that is not known", post("Transfer-Encoding: xchunked", "0\r\n\r\n")],
    ["a coding before the chunks", post("Transfer-Encoding: gzip, chunked", "0\r\n\r\n")],
    ["a coding before the chunks, in a header of its own", post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "0\r\n\r\n")],
    ["two types of one body", post("Content-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 0", "")],
    ["chunked, but not last", post("Transfer-Encoding: chunked, identity", "0\r\n\r\n")],
    ["a blank before the colon", post("Transfer-Encoding : chunked", "0\r\n\r\n")],
    ["a vertical tab in the coding", post("Transfer-Encoding: \x0bchunked", "0\r\n\r\n")],
    ["a folded header", post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n")],
    ["a bare line feed between headers", post("A: b\nTransfer-Encoding: chunked", "0\r\n\r\n")],
    ["a bare carriage return in a header", post("A: b\rTransfer-Encoding: chunked", "0\r\n\r\n")],
    ["a NUL in a header", post("A: b\0c", "")],
    ["a chunk size that is no number", post("Transfer-Encoding: chunked", "zz\r\n\r\n")],
    ["a chunk size beyond all numbers", post("Transfer-Encoding: chunked", "fffffffffffffffffffff\r\n")],
    ["a name with a blank", post("Content Length: 5", "")],
    ["a method with a control character", `G\x01T / HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
    ["a tunnel", `CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
    ["a version that is none", `GET / HTTP/1.9.1\r\nHost: x\r\n\r\n${hidden}`],
    ["HTTP/2 without asking", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["a blank in the target", `GET /a b HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
    ["no target", `GET HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
    ["nothing but line ends and garbage", "\r\n\r\n\x00\xff\xfe\r\n\r\n"],
  ])("%s", async (_name, bytes) => {
    const answers = await exchange(url, bytes);
    expect(answers.map(({ status }) => status)).toEqual([expect.any(Number)]);
    expect(answers[0]?.status).toBeGreaterThanOrEqual(400);
    expect(answers[0]?.status).toBeLessThan(500);
    expect(answers[0]?.headers.connection).toBe("close");
    expect(answers[0]?.headers["content-type"]).toMatch(/^application\/problem\+json/);
    expect(JSON.stringify(answers)).not.toContain("hidden");
  });
});

test("a whole URL as the target is answered as its path", async () => {
  const answers = async (target: string) => exchange(url, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  for (const target of ["http://x/api/v1/status", "HTTPS://x:8080/api/v1/status?"])
    expect((await answers(target)).map(({ status }) => status)).toEqual([200]);
  const [unknown] = await answers("http://x/nope?a=1");
  expect(JSON.parse(unknown?.body ?? "")).toMatchObject({ code: "route_not_found", instance: "/nope" });
});

test("a body that no route takes is not read as the next request", async () => {
  const answers = await exchange(
    url,
    `GET /api/v1/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  );
  expect(JSON.stringify(answers)).not.toContain("hidden");
});

test("a request that asks to change the protocol is answered in HTTP/1.1, and the connection ends", async () => {
  const upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__";
  const answers = await exchange(url, `GET /api/v1/status HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n${hidden}`);
  expect(answers.map(({ status }) => status)).toEqual([200]);
});

test.each([
  ["two hosts", "Host: a\r\nHost: b\r\n"],
  ["no host", ""],
  ["two hosts that a proxy made one of", "Host: a, b\r\n"],
  ["a host with a path", "Host: a/b\r\n"],
  ["a host with a name before it", "Host: a@b\r\n"],
  ["a host with a blank", "Host: a b\r\n"],
  ["a host that is no text", "Host: a\xff\r\n"],
  ["two keys", "Host: a\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n"],
])("%s: one refusal, and the connection ends", async (_name, hosts) => {
  const answers = await exchange(url, `GET /api/v1/status HTTP/1.1\r\n${hosts}\r\n${hidden}`);
  expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[400, "close"]]);
});

test.each(["", "a", "a:80", "a:", "127.0.0.1:8080", "[::1]:8080", "[::ffff:127.0.0.1]", "a_b.example.", "xn--e1afmkfd"])(
  'Host "%s" is one',
  async (host) => {
    const answers = await exchange(url, `GET /api/v1/status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answers.map(({ status }) => status)).toEqual([200]);
  },
);

test("a GET whose body does not come is answered once, and the connection ends without a late 408", async () => {
  const answers = await exchange(url, "GET /api/v1/status HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
  expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[200, "close"]]);
});

test("connections that send nothing, or a byte now and then, are ended in time", async () => {
  const began = performance.now();
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(url)));
  const ends = sockets.map(async (socket, index) => {
    const drip = index % 2 === 0 ? setInterval(() => socket.write("G"), 200) : undefined;
    socket.on("error", () => undefined).resume();
    await new Promise((resolve) => socket.once("close", resolve));
    clearInterval(drip);
  });
  for (const [index, socket] of sockets.entries()) if (index % 2 === 1) socket.write("GET / HTTP/1.1\r\nHost: x\r\nA: ");
  await Promise.all(ends);
  expect(performance.now() - began).toBeLessThan(20_000);
});
