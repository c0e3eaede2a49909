/** The rest of a body that an answer came before. */

import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "@jest/globals";
import { discardBody } from "../../src/proxy/request-body.ts";

/** Of the 5 s that a body is waited for at most. */
const soonMs = 3_000;

test("a body is not waited for when its connection closes after the answer", async () => {
  const discarded = Promise.withResolvers<number>();
  const server = createServer(async (request, response) => {
    request.once("data", () => response.end("enough"));
    await once(response, "finish");
    const began = performance.now();
    await discardBody(request);
    discarded.resolve(performance.now() - began);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
  await once(client, "data");
  client.destroy();
  expect(await discarded.promise).toBeLessThan(soonMs);
  server.close();
});

test("an answer is not lost where its client was late to read it, and sent more meanwhile", async () => {
  const server = createServer(async (request, response) => {
    request.once("data", () => response.write("enough"));
    await once(request, "data");
    await discardBody(request);
    response.end();
    response.socket?.destroySoon();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const failed = new Promise<Error>((resolve) => client.once("error", resolve));
  // More than is thrown away at once, in pieces: each is written only when the one before has left, and nothing is read meanwhile.
  client.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n");
  for (let piece = 0; piece < 3; piece++) {
    await Promise.race([new Promise((resolve) => client.write(Buffer.alloc(1 << 20), resolve)), failed]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [answer] = await Promise.race([once(client, "data"), failed.then((error) => [error.message])]);
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 OK/);
  client.destroy();
  server.close();
});

test("the rest is read as it comes for 1 MiB, and then 64 KiB at a time, however small its chunks are", async () => {
  let pauses = 0;
  const request = Object.assign(new EventEmitter(), { socket: new EventEmitter(), pause: () => pauses++, resume: () => undefined });
  const discarded = discardBody(request as unknown as IncomingMessage);
  const pausesAfter = (chunks: number) => {
    for (let chunk = 0; chunk < chunks; chunk++) request.emit("data", Buffer.alloc(4 << 10));
    return pauses;
  };
  expect([255, 1, 15, 1, 15, 1].map(pausesAfter)).toEqual([0, 1, 1, 2, 2, 3]);
  request.emit("end");
  await discarded;
});
