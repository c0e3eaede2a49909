/** The end of a gateway: connections on which nothing is asked end at once, and a drain loses no request. */

import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";

let harness: Harness;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function open(url: string): Promise<Socket> {
  const socket = await openSocket(url);
  sockets.push(socket);
  socket.on("error", () => {});
  return socket;
}

const question = (key: string) => `GET /api/v1/ip/193.0.6.139 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;

async function head(socket: Socket): Promise<string> {
  const [piece] = (await once(socket, "data")) as [Buffer];
  return piece.toString("latin1").split("\r\n\r\n", 1)[0] ?? "";
}

test("connections that are silent, half-sent or idle end at once, and one that is being answered ends with its answer", async () => {
  harness = await startGateway();
  const url = await harness.gateway.listen();
  const key = await harness.key();
  const [silent, halfSent, idle, asking] = [await open(url), await open(url), await open(url), await open(url)];
  halfSent.write("GET /api/v1/status HTTP/1.1\r\nHost: x\r\nA: ");
  idle.write(question(key));
  await head(idle);
  const asked = Promise.withResolvers<() => void>();
  harness.answers.set("ip", () => new Promise((done) => asked.resolve(() => done(exampleReply("ip")))));
  asking.write(question(key));
  const answer = await asked.promise;
  const ends = [silent, halfSent, idle].map((socket) => once(socket.resume(), "close"));
  const stopped = harness.stop();
  await Promise.all(ends);
  const read = head(asking);
  answer();
  expect(await read).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nconnection: close/i);
  await stopped;
});

test("a request that nobody answers holds a stop up for no longer than promised", async () => {
  harness = await startGateway({ config: { LOOKUP_BUDGET_MS: 60_000 } });
  const url = await harness.gateway.listen();
  const asking = await open(url);
  const asked = Promise.withResolvers<() => void>();
  harness.answers.set("ip", () => new Promise((done) => asked.resolve(() => done(exampleReply("ip")))));
  asking.write(question(await harness.key()));
  const answer = await asked.promise;
  const since = performance.now();
  await harness.gateway.stop();
  // It is 12 s at most; on a busy machine still less than the grace period of 30 s.
  expect(performance.now() - since).toBeLessThan(25_000);
  answer();
  await harness.stop();
}, 120_000);

test("a drain answers everything, on kept and on new connections, each answer the last of its connection, and only then stops", async () => {
  harness = await startGateway({ config: { DRAIN_SECONDS: 1 } });
  const url = await harness.gateway.listen();
  const key = await harness.key();
  const asking = await open(url);
  const kept = await Promise.all(Array.from({ length: 20 }, () => open(url)));
  for (const socket of kept) {
    socket.write(question(key));
    expect(await head(socket)).not.toMatch(/\r\nconnection: close/i);
  }
  const asked = Promise.withResolvers<() => void>();
  harness.answers.set("ip", () => new Promise((done) => asked.resolve(() => done(exampleReply("ip")))));
  asking.write(question(key));
  const answer = await asked.promise;
  harness.answers.delete("ip");
  const stopped = harness.stop();
  const answers = [asking, ...kept.slice(0, 10), await open(url)].map((socket) => {
    if (socket !== asking) socket.write(question(key));
    return Promise.all([head(socket), once(socket, "close")]);
  });
  answer();
  for (const [text] of await Promise.all(answers)) expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nconnection: close/i);
  // Those on which nothing is asked stay open for what their client may send, until the drain is over.
  const late = kept[10] as Socket;
  expect(late.readableEnded || late.destroyed).toBe(false);
  late.write(question(key));
  expect(await head(late)).toMatch(/^HTTP\/1\.1 200 /);
  await stopped;
  await expect(openSocket(url)).rejects.toThrow();
});
