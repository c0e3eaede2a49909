/** What passes the proxy to ingest, and what does not. */

import { createHash } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { internalHeaders } from "@netfacts/contracts";
import { until } from "../../../../test/support/http.ts";
import { type OperatorHarness, proxyToken, runsPath, startOperatorHarness, uploadPath } from "../support/operator.ts";
import { expectProblem } from "../support/provokes.ts";
import { readAnswers } from "../support/raw.ts";
import { sendJson } from "../support/recording-ingest.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());
beforeEach(() => {
  harness.ingest.requests.length = 0;
  harness.ingest.answer = null;
});

const port = () => Number(new URL(harness.url).port);
const keyId = () => harness.adminKey.slice(8, 16);

test("of a request's headers only those of the list reach ingest, with ours beside them", async () => {
  await harness.ask("POST", `${runsPath}?dry=1`, {
    headers: {
      "content-type": "application/x-ndjson",
      accept: "application/json",
      "x-request-id": "op-1",
      cookie: "session=1",
      forwarded: "for=192.0.2.1",
      "x-forwarded-for": "192.0.2.1",
      "x-forwarded-host": "evil.example",
      "x-real-ip": "192.0.2.1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      baggage: "a=b",
      [internalHeaders.proxyToken]: "made-up",
      [internalHeaders.keyId]: "AAAAAAAA",
      [internalHeaders.forwarded]: "1",
      "x-anything": "else",
    },
    body: "{}\n",
  });
  const [seen] = harness.ingest.requests;
  expect(seen).toMatchObject({ method: "POST", url: `${runsPath}?dry=1` });
  const { host, connection, ...headers } = seen?.headers ?? {};
  expect(headers).toEqual({
    "content-type": "application/x-ndjson",
    "content-length": "3",
    accept: "application/json",
    "x-request-id": "op-1",
    "x-forwarded-for": "127.0.0.1",
    [internalHeaders.proxyToken]: proxyToken,
    [internalHeaders.keyId]: keyId(),
  });
  expect(host).toBe(new URL(harness.ingest.url).host);
  // Each once: no second one of the client's beside ours.
  const names = (seen?.rawHeaders ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  expect(new Set(names).size).toBe(names.length);
});

test("of an answer's headers only those of the list reach the operator, and its body as it is", async () => {
  harness.ingest.answer = (_request, response) =>
    sendJson(
      response,
      202,
      { id: "r1" },
      { location: `${runsPath}/r1`, "set-cookie": "a=b", server: "x", [internalHeaders.proxyToken]: proxyToken },
    );
  const answer = await harness.ask("POST", runsPath, { headers: { "x-request-id": "op-2" } });
  expect([answer.status, answer.body]).toEqual([202, '{"id":"r1"}']);
  expect(answer.headers).toMatchObject({
    location: `${runsPath}/r1`,
    "x-request-id": "op-2",
    "content-type": "application/json; charset=utf-8",
  });
  for (const name of ["set-cookie", "server", internalHeaders.proxyToken]) expect(answer.headers).not.toHaveProperty(name);
});

test.each([400, 404, 409, 503])("a problem of ingest reaches the operator as it is: %i", async (status) => {
  harness.ingest.answer = (_request, response) =>
    sendJson(response, status, { status, code: "x" }, { "content-type": "application/problem+json; charset=utf-8", "retry-after": "5" });
  const answer = await harness.ask("GET", runsPath);
  expect(answer).toMatchObject({ status, body: JSON.stringify({ status, code: "x" }) });
  expect(answer.headers).toMatchObject({ "content-type": "application/problem+json; charset=utf-8", "retry-after": "5" });
});

test.each(["text/plain", "application/json", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", undefined])(
  "a body of type %s passes byte for byte",
  async (type) => {
    const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) & 255));
    const seen = Promise.withResolvers<string>();
    harness.ingest.answer = (request, response) => {
      const digest = createHash("sha256");
      request.on("data", (chunk: Uint8Array) => digest.update(chunk));
      request.once("end", () => {
        seen.resolve(digest.digest("hex"));
        sendJson(response, 200, {});
      });
    };
    const response = await fetch(harness.url + uploadPath, {
      method: "PUT",
      headers: { authorization: `Bearer ${harness.adminKey}`, ...(type === undefined ? {} : { "content-type": type }) },
      body: new Blob([bytes]),
    });
    expect(response.status).toBe(200);
    expect(await seen.promise).toBe(createHash("sha256").update(bytes).digest("hex"));
  },
);

test("an upload is taken no faster than ingest takes it", async () => {
  const size = 64 << 20;
  const reached = Promise.withResolvers<() => void>();
  let received = 0;
  harness.ingest.answer = (request, response) => {
    request.pause();
    reached.resolve(() => {
      request.on("data", (chunk: Uint8Array) => {
        received += chunk.length;
      });
      request.once("end", () => sendJson(response, 200, {}));
      request.resume();
    });
  };
  const answered = Promise.withResolvers<number>();
  const client = httpRequest({
    port: port(),
    method: "PUT",
    path: uploadPath,
    headers: { authorization: `Bearer ${harness.adminKey}`, "content-length": size },
  });
  client.once("response", (response) => {
    response.resume();
    answered.resolve(response.statusCode ?? 0);
  });
  const chunk = Buffer.alloc(1 << 20);
  const sending = (async () => {
    for (let sent = 0; sent < size; sent += chunk.length) {
      if (!client.write(chunk)) await new Promise((resolve) => client.once("drain", resolve));
    }
    client.end();
  })();
  const goOn = await reached.promise;
  // What nobody takes comes to rest in the buffers of two sockets, a few MiB each.
  let before = -1;
  while ((client.socket?.bytesWritten ?? 0) !== before) {
    before = client.socket?.bytesWritten ?? 0;
    await sleep(200);
  }
  expect(before).toBeLessThan(size / 2);
  goOn();
  await sending;
  expect([await answered.promise, received]).toEqual([200, size]);
});

test("an answer is taken from ingest no faster than the operator reads it", async () => {
  const size = 64 << 20;
  const chunk = Buffer.alloc(1 << 20);
  let written = 0;
  harness.ingest.answer = (_request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size });
    const write = () => {
      while (written < size) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", write);
      }
      response.end();
    };
    write();
  };
  const answered = Promise.withResolvers<IncomingMessage>();
  const client = httpRequest({ port: port(), path: runsPath, headers: { authorization: `Bearer ${harness.adminKey}` } });
  client.once("response", answered.resolve).end();
  const response = await answered.promise;
  let before = -1;
  while (written !== before) {
    before = written;
    await sleep(200);
  }
  expect(before).toBeLessThan(size / 2);
  let read = 0;
  for await (const piece of response) read += (piece as Uint8Array).length;
  expect([response.statusCode, read]).toEqual([200, size]);
});

test.each([
  "/admin/v1/ingest/..\\keys",
  "/admin/v1/ingest/a\\b",
  "/admin/v1/ingest/..%5ckeys",
  "/admin/v1/ingest/%5Ckeys",
  "/admin/v1/ingest/..;/keys",
  "/admin/v1/ingest/.;x/keys",
  "/admin/v1/ingest/%2e%2e/keys",
  "/admin/v1/ingest/..%2fkeys",
  "http://evil.example/admin/v1/ingest/..%2fkeys",
])("the path %s is refused, and nothing of it reaches ingest", async (target) => {
  const answer = await answerTo(target);
  expect([400, 404]).toContain(answer?.status);
  expect(harness.ingest.requests).toEqual([]);
});

test("a whole URL as target is its path: ingest is asked, whatever host the URL names", async () => {
  expect(await answerTo(`http://evil.example${runsPath}?limit=1`)).toMatchObject({ status: 200 });
  expect(harness.ingest.requests).toMatchObject([{ method: "GET", url: `${runsPath}?limit=1` }]);
});

async function answerTo(target: string) {
  const socket = connect(port(), "127.0.0.1");
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\nConnection: close\r\n\r\n`);
  const [answer] = await readAnswers(socket);
  return answer;
}

test("a refused upload is answered at once, and read on slowly and not for long", async () => {
  const socket = connect(port(), "127.0.0.1");
  const answers = readAnswers(socket).catch(() => []);
  socket.on("error", () => {});
  const size = 64 << 20;
  socket.write(`PUT ${uploadPath} HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`);
  const [answer] = await Promise.all([answers, pump(socket, size)]);
  expect(answer[0]?.status).toBe(401);
  expectProblem(answer[0] as NonNullable<(typeof answer)[0]>, "missing_api_key");
  // And what was in the buffers of the two sockets.
  expect(socket.bytesWritten).toBeLessThan(size / 2);
  expect(harness.ingest.requests).toEqual([]);
});

test("an answer of ingest before the body has ended reaches the operator, who still sends", async () => {
  harness.ingest.answer = (_request, response) => sendJson(response, 409, { code: "run_in_progress" });
  const socket = connect(port(), "127.0.0.1");
  socket.on("error", () => {});
  const answers = readAnswers(socket).catch(() => []);
  const size = 4 << 20;
  socket.write(`PUT ${uploadPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\nContent-Length: ${size}\r\n\r\n`);
  const [answer] = await Promise.all([answers, pump(socket, size)]);
  expect(answer[0]).toMatchObject({ status: 409, body: '{"code":"run_in_progress"}' });
});

test("who asks before sending is told to go on only with a key that may", async () => {
  const ask = async (key: string) => {
    const socket = connect(port(), "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk;
      if (text === "HTTP/1.1 100 Continue\r\n\r\n") socket.write("abc");
    });
    socket.write(
      `PUT ${uploadPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once("close", resolve));
    return text;
  };
  expect(await ask(harness.adminKey)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  expect(await ask(await harness.gateway.key())).toMatch(/^HTTP\/1\.1 403 /);
});

test("a client that goes away in the middle takes its request to ingest with it", async () => {
  const reached = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<boolean>();
  harness.ingest.answer = (request) => {
    request.resume();
    request.on("error", () => {});
    request.once("close", () => closed.resolve(request.complete));
    reached.resolve();
  };
  const socket = connect(port(), "127.0.0.1");
  socket.write(`PUT ${uploadPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\nContent-Length: 100\r\n\r\nabc`);
  await reached.promise;
  const { log } = harness.gateway;
  const before = log.length;
  socket.destroy();
  expect(await closed.promise).toBe(false);
  const told = () => log.slice(before).map(({ level, message }) => `${level} ${message}`);
  await until(async () => told().includes("info the client went away before the end of its body"), { timeoutMs: 10_000 });
  expect(told().filter((line) => line.startsWith("error"))).toEqual([]);
});

/** Sends so many bytes, or what is taken before the other end closes. */
async function pump(socket: ReturnType<typeof connect>, size: number): Promise<void> {
  const chunk = Buffer.alloc(1 << 16);
  const gone = new Promise((resolve) => {
    for (const event of ["close", "end"]) socket.once(event, resolve);
  });
  for (let sent = 0; sent < size && !socket.destroyed && socket.writable; sent += chunk.length) {
    if (!socket.write(chunk)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), gone]);
  }
  socket.end();
}
