/** `Expect: 100-continue`: a client that waits is told to send its body only if its request is not refused already (RFC 9110 §10.1.1). */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { exchange, openSocket, readAnswers } from "../support/raw.ts";

let harness: Harness;
let base: string;
let key: string;
beforeAll(async () => {
  harness = await startGateway();
  base = await harness.gateway.listen();
  key = await harness.key({ scopes: ["ip", "batch"] });
});
afterAll(() => harness.stop());

interface Head {
  readonly target?: string;
  readonly type?: string;
  readonly bytes?: number;
  readonly authorization?: string | null;
  readonly expectation?: string;
  readonly version?: string;
}

function head({ target = "POST /api/v1/batch", type = "application/json", bytes = 600_000, ...more }: Head = {}): string {
  const { authorization = `Bearer ${key}`, expectation = "100-continue", version = "HTTP/1.1" } = more;
  const credentials = authorization === null ? "" : `Authorization: ${authorization}\r\n`;
  return `${target} ${version}\r\nHost: x\r\n${credentials}Content-Type: ${type}\r\nContent-Length: ${bytes}\r\nExpect: ${expectation}\r\nConnection: close\r\n\r\n`;
}

const statuses = async (text: string) => (await exchange(base, text)).map(({ status }) => status);

describe("what the head alone refuses is refused at once", () => {
  test.each<[string, Head, number]>([
    ["no key", { authorization: null }, 401],
    ["an unknown key", { authorization: "Bearer nf_live_nonsense" }, 401],
    ["a type that no batch has", { type: "text/plain" }, 415],
    ["a document that is too large", { bytes: 60_000_000 }, 413],
    ["a path that does not exist", { target: "POST /nope" }, 404],
    ["a method that the path does not have", { target: "POST /api/v1/ip/193.0.6.139" }, 405],
  ])("%s", async (_name, spec, status) => {
    expect(await statuses(head(spec))).toEqual([status]);
  });

  test("a key without the scope", async () => {
    expect(await statuses(head({ authorization: `Bearer ${await harness.key({ scopes: ["ip"] })}` }))).toEqual([403]);
  });
});

test("a question that is answered without its body is answered at once", async () => {
  expect(await statuses(head({ target: "GET /api/v1/ip/193.0.6.139" }))).toEqual([200]);
});

const item = '{"kind":"ip","value":"193.0.6.139"}';
describe("a batch is told to go on when its body is read", () => {
  test.each([
    ["a document", "application/json", `{"questions":[${item}]}`],
    ["lines", "application/x-ndjson", `${item}\n`],
  ])("%s", async (_name, type, body) => {
    const socket = await openSocket(base);
    const first = Promise.withResolvers<string>();
    socket.once("data", (piece) => {
      first.resolve(piece.toString("latin1"));
      socket.pause();
    });
    socket.write(head({ type, bytes: body.length }));
    // Lines are answered from now on.
    expect(await first.promise).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n(?:HTTP\/1\.1 200 |$)/);
    socket.write(body);
    let text = await first.promise;
    for await (const piece of socket.setEncoding("latin1")) text += piece;
    expect(text).toMatch(/\r\n\r\nHTTP\/1\.1 200 /);
    expect(text).toContain('"193.0.6.139"');
  });
});

test("other expectations and HTTP/1.0 mean no waiting", async () => {
  const body = `{"questions":[${item}]}`;
  for (const spec of [{ expectation: "patience" }, { version: "HTTP/1.0" }])
    expect((await statuses(head({ bytes: body.length, ...spec }) + body))[0]).toBe(200);
});

test("whoever does not wait may send the rest of a refused body, which would else reset the connection", async () => {
  const socket = await openSocket(base);
  const reading = readAnswers(socket);
  socket.write(head({ type: "text/plain" }) + "x".repeat(300_000));
  await sleep(100);
  expect(socket.readableEnded).toBe(false);
  socket.write("x".repeat(300_000));
  expect((await reading).map(({ status }) => status)).toEqual([415]);
});
