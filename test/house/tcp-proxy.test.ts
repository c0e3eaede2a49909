/** The proxy of the fault tests does what it says, and nothing else. */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const quietMs = 150;
let target: Server;
let accepted: Socket[];
let proxy: TcpProxy;

/** An echo that ends when its client does. */
beforeEach(async () => {
  accepted = [];
  target = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  proxy = await startTcpProxy(`nats://127.0.0.1:${(target.address() as AddressInfo).port}`);
});

afterEach(async () => {
  await proxy.stop();
  for (const socket of accepted) socket.destroy();
  target.close();
});

interface Client {
  readonly socket: Socket;
  text(): string;
  /** Resolves when this much has come. */
  received(text: string): Promise<void>;
  readonly errors: string[];
}

async function open(): Promise<Client> {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
  const errors: string[] = [];
  let text = "";
  socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => errors.push(code));
  socket.on("data", (chunk) => (text += chunk));
  await once(socket, "connect");
  return {
    socket,
    text: () => text,
    errors,
    async received(wanted) {
      while (text !== wanted) await once(socket, "data");
    },
  };
}

/** Unlike `once`, no matter how. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once("close", resolve));
}

async function opened(text: string): Promise<Client> {
  const client = await open();
  client.socket.write(text);
  await client.received(text);
  return client;
}

test("keeps the scheme of the target in its own URL", () => {
  expect(proxy.url).toBe(`nats://127.0.0.1:${proxy.port}`);
  expect(proxy.port).not.toBe((target.address() as AddressInfo).port);
});

test("passes every byte on, both ways, and the ends too", async () => {
  const sent = randomBytes(20_000_000);
  const { socket } = await open();
  socket.removeAllListeners("data");
  socket.end(sent);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).equals(sent)).toBe(true);
});

test("counts the connections that are open", async () => {
  const [first] = [await opened("a"), await opened("b")];
  expect(proxy.connections).toBe(2);
  first?.socket.destroy();
  while (proxy.connections !== 1) await sleep(5);
});

test("a cut resets what is open and refuses what is new; restored it serves again on its port", async () => {
  const { port } = proxy;
  const client = await opened("before");
  const closed = closeOf(client.socket);
  await proxy.cut();
  await closed;
  expect(client.errors).toEqual(["ECONNRESET"]);
  await expect(open()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(proxy.connections).toBe(0);
  await proxy.restore();
  expect(proxy.port).toBe(port);
  await opened("after");
});

test("a delay holds each piece back, both ways and in order, and no connection that has nothing to say", async () => {
  const client = await opened("");
  proxy.delay(100);
  const started = performance.now();
  for (const piece of ["a", "b", "c"]) client.socket.write(piece);
  await client.received("abc");
  expect(performance.now() - started).toBeGreaterThanOrEqual(199);
  await proxy.restore();
  client.socket.write("d");
  await client.received("abcd");
});

test("half-closed, the client sees the end, and what it says still arrives", async () => {
  const client = await opened("one");
  const ended = once(client.socket, "end");
  proxy.halfClose();
  await ended;
  const heard = once(accepted[0]!, "data");
  client.socket.write("two");
  expect(String((await heard)[0])).toBe("two");
  await sleep(quietMs);
  expect(client.text()).toBe("one");
  await opened("a new connection is whole");
});

test("frozen, it takes connections and data and passes nothing on; restored, all of it goes on", async () => {
  const old = await opened("one");
  proxy.freeze();
  old.socket.write("two");
  const fresh = await open();
  fresh.socket.write("three");
  await sleep(quietMs);
  expect([old.text(), fresh.text()]).toEqual(["one", ""]);
  await proxy.restore();
  await old.received("onetwo");
  await fresh.received("three");
});

test("frozen, neither side hears that the other is gone, until it is restored", async () => {
  const client = await opened("one");
  const closed = closeOf(client.socket);
  proxy.freeze();
  accepted[0]?.resetAndDestroy();
  await sleep(quietMs);
  expect(client.socket.destroyed).toBe(false);
  await proxy.restore();
  await closed;
  expect(client.errors).toEqual(["ECONNRESET"]);
});

test("a target that is not there is a connection that breaks", async () => {
  for (const socket of accepted) socket.destroy();
  await new Promise((resolve) => target.close(resolve));
  const client = await open();
  await closeOf(client.socket);
  expect(client.errors).toEqual(["ECONNRESET"]);
});
