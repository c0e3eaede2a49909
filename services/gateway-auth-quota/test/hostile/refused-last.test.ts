/** What is no request, behind requests on the same connection: they are answered first, in their order, and then it is refused. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { exampleReply, type GatewayOptions, type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";
import { readAnswers, readUntilClosed } from "../support/raw.ts";

let harness: Harness;
const sockets: Socket[] = [];
/** Requests to ip-routing that are not answered so far, by what answers them. */
const held: (() => void)[] = [];
afterEach(async () => {
  for (const answer of held.splice(0)) answer();
  for (const socket of sockets.splice(0)) socket.destroy();
  await harness.stop();
});

/** A gateway that answers `/ip` when the test says so. */
async function start(config: NonNullable<GatewayOptions["config"]> = {}): Promise<string> {
  harness = await startGateway({ config });
  harness.answers.set("ip", () => new Promise((done) => held.push(() => done(exampleReply("ip")))));
  return harness.gateway.listen();
}

async function open(url: string, { allowHalfOpen = false } = {}): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", allowHalfOpen });
  sockets.push(socket);
  await once(socket, "connect");
  return socket;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(5);
}

const used = async () => /netfacts_places_used\{[^}]*resource="connections"[^}]*\} (\d+)/.exec(await harness.registry.text())?.[1];

async function getIp(more = ""): Promise<string> {
  return `GET /api/v1/ip/193.0.6.139 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await harness.key()}\r\n${more}\r\n`;
}

/** Sends requests and what follows them in one piece; the requests are answered when what follows was read, the last one first. */
async function answersTo(url: string, requests: string, count: number, tail: string, readMs = 50) {
  const socket = await open(url);
  const reading = readUntilClosed(socket);
  socket.write(requests + tail);
  await until(() => held.length === count);
  await sleep(readMs);
  for (const answer of held.splice(0).reverse()) answer();
  return reading;
}

test.each([
  ["garbage", "bad_request", "GARBAGE\r\n\r\n"],
  ["headers that are too large", "headers_too_large", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(9_000)}\r\n\r\n`],
  ["headers that never end", "request_timeout", "GET / HTTP/1.1\r\nHost: x\r\n"],
  ["CONNECT", "bad_request", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"],
] as const)("%s behind requests is refused after their answers", async (_name, code, tail) => {
  const url = await start({ HEADERS_TIMEOUT_MS: 200, HEADER_BYTES_MAX: 8_192 });
  const answers = await answersTo(url, (await getIp()).repeat(3), 3, tail, 600);
  expect(answers.map(({ status }) => status).slice(0, 3)).toEqual([200, 200, 200]);
  expect(answers).toHaveLength(4);
  expectProblem(answers[3] as NonNullable<(typeof answers)[3]>, code);
  expect(answers[3]?.headers.connection).toBe("close");
});

test("what is no request does not cut off an answer that has begun", async () => {
  const url = await start();
  const body = Buffer.alloc(24 << 20, " ");
  harness.answers.set("ip", () => ({ ...exampleReply("ip"), body }));
  const socket = await open(url);
  socket.write(await getIp());
  await once(socket, "readable");
  socket.write("GARBAGE\r\n\r\n");
  await sleep(50);
  const answers = await readAnswers(socket);
  expect(answers.map((answer) => [answer.status, answer.body.length > 1_000])).toEqual([
    [200, true],
    [400, false],
  ]);
  expect(answers[0]?.body.length).toBe(body.length);
});

test.each(["GARBAGE\r\n\r\n", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"])(
  "a batch before it is answered to its end, at the pace of its client (%j)",
  async (tail) => {
    const url = await start();
    // It stays large when it is compressed.
    const filler = () => Buffer.from(JSON.stringify({ filler: randomBytes(10_000).toString("hex") }));
    harness.answers.set("ip", () => ({ ...exampleReply("ip"), body: filler() }));
    const key = await harness.key({ scopes: ["ip", "batch"] });
    const body = '{"kind":"ip","value":"193.0.6.139"}\n'.repeat(1_000);
    const head = `Authorization: Bearer ${key}\r\nAccept-Encoding: gzip\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n`;
    const socket = await open(url);
    socket.write(`POST /api/v1/batch HTTP/1.1\r\nHost: x\r\n${head}\r\n${body}`);
    await once(socket, "readable");
    socket.write(tail);
    await sleep(200);
    let text = "";
    for await (const piece of socket.setEncoding("latin1")) text += piece;
    expect(text.length).toBeGreaterThan(10_000_000);
    // The last chunk, which only a whole answer has.
    expect(/\r\n0\r\n\r\nHTTP\/1\.1 400 /.test(text)).toBe(true);
  },
);

test("a request whose body cannot be read is refused in its place, after the answers before it", async () => {
  const url = await start();
  const broken = `${await getIp("Transfer-Encoding: chunked\r\n")}nonsense\r\n`;
  const answers = await answersTo(url, await getIp(), 2, broken);
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});

test("a request whose body does not come is refused in its place, after the answers before it", async () => {
  const url = await start({ REQUEST_TIMEOUT_MS: 200 });
  const late = await getIp("Content-Length: 10\r\n");
  const answers = await answersTo(url, await getIp(), 2, late, 500);
  expect(answers.map(({ status }) => status)).toEqual([200, 408]);
});

test("what follows it is dropped, and a client that does not close loses its connection", async () => {
  const url = await start();
  const socket = await open(url, { allowHalfOpen: true });
  const request = await getIp();
  let text = "";
  socket.setEncoding("latin1").on("data", (piece) => {
    text += piece;
  });
  socket.on("error", () => {});
  socket.write(`${request}GARBAGE\r\n\r\n`);
  await until(() => held.length === 1);
  for (let count = 0; count < 5; count++) {
    socket.write(`GARBAGE\r\n\r\n${request}`);
    await sleep(10);
  }
  for (const answer of held.splice(0)) answer();
  await until(() => text.includes("HTTP/1.1 400 "));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 400"]);
  socket.write("GARBAGE\r\n\r\n");
  await until(async () => (await used()) === "0");
  expect(text.match(/HTTP\/1\.1 \d+/g)).toHaveLength(2);
});

test.each(["GARBAGE\r\n\r\n", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"])(
  "a client that goes away while it waits leaves nothing behind (%j)",
  async (tail) => {
    const url = await start();
    const socket = await open(url);
    socket.write((await getIp()).repeat(3) + tail);
    await until(() => held.length === 3);
    await sleep(50);
    socket.resetAndDestroy();
    await until(async () => (await used()) === "0");
    const aborted = () => harness.log.filter(({ fields }) => fields.status === "aborted");
    await until(() => aborted().length === 3);
    expect(harness.log.filter(({ message }) => message === "malformed HTTP request")).toEqual([]);
  },
);
