/** Connections are bounded in total, by address and by key; so is what waits on one of them, and what its client does not read. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import type { Store } from "@netfacts/storage";
import { exampleReply, type GatewayOptions, type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";
import { readAnswers } from "../support/raw.ts";

let harness: Harness;
const sockets: Socket[] = [];
/** Answers that are not given so far. */
const held: (() => void)[] = [];
afterEach(async () => {
  for (const release of held.splice(0)) release();
  for (const socket of sockets.splice(0)) socket.destroy();
  await harness.stop();
});

async function start(config: NonNullable<GatewayOptions["config"]>): Promise<string> {
  harness = await startGateway({ config });
  return harness.gateway.listen();
}

/** A connection from one of the addresses of loopback. */
async function open(url: string, localAddress = "127.0.0.1"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  sockets.push(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

const ofEveryAnswer = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", date: expect.stringMatching(/ GMT$/) };

const ask = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const askMe = (key: string, more = "") => ask("/api/v1/me", `Authorization: Bearer ${key}\r\n${more}`);

/** The head of the next answer on a connection. */
async function head(socket: Socket): Promise<string> {
  const [piece] = (await once(socket, "data")) as [Buffer];
  return piece.toString("latin1").split("\r\n\r\n", 1)[0] ?? "";
}

async function metric(pattern: RegExp): Promise<string | undefined> {
  return pattern.exec(await harness.registry.text())?.[1];
}

/** Connections on each of which a question waits for its answer, one from each address. */
async function busy(url: string, key: string, from: readonly string[]): Promise<Socket[]> {
  let asked = 0;
  harness.answers.set("ip", () => {
    asked += 1;
    return new Promise((answer) => held.push(() => answer(exampleReply("ip"))));
  });
  const opened: Socket[] = [];
  for (const address of from) {
    const socket = await open(url, address);
    socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${key}\r\n`));
    socket.resume();
    opened.push(socket);
    while (asked < opened.length) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return opened;
}

test("a lone address may have all connections, and loses one for each that another opens, down to a quarter", async () => {
  const url = await start({ CONNECTIONS_MAX: 4 });
  const greedy = await busy(url, await harness.key(), Array(4).fill("127.0.0.1"));
  const ended = once(greedy[3] as Socket, "close");
  const refused = await open(url);
  const [answer] = await readAnswers(refused);
  expectProblem(answer as NonNullable<typeof answer>, "temporarily_overloaded");
  expect(answer?.headers).toMatchObject({ connection: "close", ...ofEveryAnswer });
  const other = await open(url, "127.0.0.2");
  other.write(ask("/api/v1/status"));
  expect(await head(other)).toMatch(/^HTTP\/1\.1 200 /);
  await ended;
  // One is a quarter: another of this address replaces its own.
  const replaced = once(other, "close");
  const next = await open(url, "127.0.0.2");
  next.write(ask("/api/v1/status"));
  expect(await head(next)).toMatch(/^HTTP\/1\.1 200 /);
  await replaced;
  expect(greedy.map(({ closed }) => closed)).toEqual([false, false, false, true]);
  for (const [message, fields] of [
    ["connections are refused", { reason: "share", client: "127.0.0.1" }],
    ["connections are closed to make room for other clients", { client: "127.0.0.1" }],
  ] as const)
    expect(harness.log).toContainEqual(expect.objectContaining({ level: "warn", message, fields: expect.objectContaining(fields) }));
  expect(await metric(/netfacts_shortages_total\{[^}]*resource="connections",reason="share"[^}]*\} (\d+)/)).toBe("1");
  expect(await metric(/netfacts_connections_ended_total\{[^}]*reason="surplus"[^}]*\} (\d+)/)).toBe("1");
  expect(await metric(/netfacts_places_used\{[^}]*resource="connections"[^}]*\} (\d+)/)).toBe("4");
});

test("without a key, too, the address with the most connections loses one, and not the one that was idle longest", async () => {
  const url = await start({ CONNECTIONS_MAX: 4 });
  const innocent = (await open(url, "127.0.0.2")).resume();
  const greedy: Socket[] = [];
  for (let count = 0; count < 3; count++) greedy.push((await open(url)).resume());
  const ended = Promise.race([innocent, ...greedy].map((socket) => once(socket, "close").then(() => socket)));
  const late = await open(url, "127.0.0.3");
  late.write(ask("/api/v1/status"));
  expect(await head(late)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ended).toBe(greedy[0]);
  expect(innocent.closed).toBe(false);
});

test("the connections of a trusted proxy are those of many clients", async () => {
  const url = await start({ CONNECTIONS_MAX: 8, TRUSTED_PROXIES: ["127.0.0.1"] });
  for (let count = 0; count < 6; count++) {
    const socket = await open(url);
    socket.write(ask("/api/v1/status"));
    expect(await head(socket)).toMatch(/^HTTP\/1\.1 200 /);
  }
});

test("a connection that ends before its key is verified is not counted for the key, and others still make room", async () => {
  const reading = Promise.withResolvers<void>();
  let reads = 0;
  const storeSeen = (store: Store): Store => {
    const find: Store["keys"]["find"] = async (id) => {
      reads += 1;
      await reading.promise;
      return store.keys.find(id);
    };
    return { ...store, keys: { ...store.keys, find } };
  };
  harness = await startGateway({ config: { CONNECTIONS_MAX: 4 }, storeSeen });
  const url = await harness.gateway.listen();
  const key = await harness.key();
  const asking = [await open(url, "127.0.0.1"), await open(url, "127.0.0.2")];
  for (const socket of asking) socket.write(askMe(key));
  while (reads === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  // Both wait for one reading. The second is taken by now.
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const socket of asking) socket.destroy();
  while ((await metric(/netfacts_places_used\{[^}]*resource="connections"[^}]*\} (\d+)/)) !== "0")
    await new Promise((resolve) => setTimeout(resolve, 5));
  reading.resolve();
  while ((await metric(/netfacts_key_verifications_total\{[^}]*"ok"[^}]*\} (\d+)/)) !== "2")
    await new Promise((resolve) => setTimeout(resolve, 5));
  for (let last = 1; last <= 4; last++) (await open(url, `127.0.0.${last}`)).resume();
  const late = await open(url, "127.0.0.5");
  late.write(ask("/api/v1/status"));
  expect(await head(late)).toMatch(/^HTTP\/1\.1 200 /);
});

test("when all are taken, one on which nothing is asked makes room", async () => {
  const url = await start({ CONNECTIONS_MAX: 4 });
  const idle = [];
  for (let last = 1; last <= 4; last++) idle.push(await open(url, `127.0.0.${last}`));
  const ended = once(idle[0] as Socket, "close");
  (idle[0] as Socket).resume();
  const late = await open(url, "127.0.0.5");
  late.write(ask("/api/v1/status"));
  expect(await head(late)).toMatch(/^HTTP\/1\.1 200 /);
  await ended;
});

test("a lone key may have all connections, and loses one for another client, from however many addresses it came", async () => {
  const url = await start({ CONNECTIONS_MAX: 8 });
  const from = Array.from({ length: 8 }, (_, last) => `127.0.0.${last + 1}`);
  const greedy = await busy(url, await harness.key(), from);
  const ended = once(greedy[7] as Socket, "close");
  const other = await open(url, "127.0.0.9");
  other.write(askMe(await harness.key()));
  expect(await head(other)).toMatch(/^HTTP\/1\.1 200 /);
  await ended;
  expect(greedy.filter(({ closed }) => closed)).toHaveLength(1);
});

test("a connection counts for the key that asked last", async () => {
  const url = await start({ CONNECTIONS_MAX: 4 });
  const [first, second] = [await harness.key(), await harness.key()];
  const shared = await open(url);
  for (const key of [first, second, first, second]) {
    shared.write(askMe(key));
    expect(await head(shared)).toMatch(/^HTTP\/1\.1 200 /);
  }
  // The first key has none, so it is the second that has too many.
  await busy(url, second, ["127.0.0.2", "127.0.0.3"]);
  await busy(url, first, ["127.0.0.4"]);
  const late = await open(url, "127.0.0.5");
  late.write(ask("/api/v1/status"));
  expect(await head(late)).toMatch(/^HTTP\/1\.1 200 /);
});

test("more unanswered requests than a connection may have end it after the answers to those before", async () => {
  const url = await start({ PIPELINE_MAX: 4 });
  const answers: (() => void)[] = [];
  harness.answers.set("ip", () => new Promise((done) => answers.push(() => done(exampleReply("ip")))));
  const socket = await open(url);
  const key = await harness.key();
  socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${key}\r\n`).repeat(20));
  const reading = readAnswers(socket);
  while (answers.length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const answer of answers) answer();
  const got = await reading;
  expect(got.map(({ status }) => status)).toEqual([200, 200, 200, 200, 503]);
  expect(got[4]?.headers).toMatchObject({ connection: "close", ...ofEveryAnswer });
  expect(JSON.parse(got[4]?.body ?? "")).toMatchObject({ instance: "/api/v1/ip/193.0.6.139" });
  expect(answers).toHaveLength(4);
});

const large = Buffer.alloc(24 << 20, " ");
const answerLarge = () => harness.answers.set("ip", () => ({ ...exampleReply("ip"), body: large }));

test("a client that does not read its answer is cut off, and its memory freed", async () => {
  const url = await start({ WRITE_STALL_MS: 400 });
  answerLarge();
  const socket = await open(url);
  socket.pause();
  socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${await harness.key()}\r\n`));
  const used = /netfacts_places_used\{[^}]*resource="connections"[^}]*\} (\d+)/;
  while ((await metric(used)) !== "1") await new Promise((resolve) => setTimeout(resolve, 5));
  while ((await metric(used)) !== "0") await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await metric(/netfacts_connections_ended_total\{[^}]*reason="unread"[^}]*\} (\d+)/)).toBe("1");
  expect(harness.log).toContainEqual(expect.objectContaining({ level: "warn", message: "a client does not read its answer" }));
});

test("a client that reads slowly, and for whom too many answers wait, is cut off, and no other client", async () => {
  const url = await start({ WRITE_STALL_MS: 1_000 });
  answerLarge();
  const readSlowly = async (answers: number): Promise<Socket> => {
    const socket = await open(url);
    socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${await harness.key()}\r\n`).repeat(answers));
    socket.on("data", () => {
      socket.pause();
      setTimeout(() => socket.resume(), 20);
    });
    return socket;
  };
  const polite = await readSlowly(1);
  const greedy = await readSlowly(8);
  await once(greedy, "close");
  expect(polite.closed).toBe(false);
});

test("a gateway that stood still cuts off no client for that time", async () => {
  const url = await start({ WRITE_STALL_MS: 1_000 });
  answerLarge();
  const socket = await open(url);
  socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${await harness.key()}\r\nConnection: close\r\n`));
  await once(socket, "readable");
  // It is seen that the answer waits for its client.
  await new Promise((resolve) => setTimeout(resolve, 250));
  for (const since = performance.now(); performance.now() - since < 1_100; );
  let bytes = 0;
  for await (const piece of socket) bytes += (piece as Buffer).length;
  expect(bytes).toBeGreaterThan(large.length);
});

test("a client that reads slowly gets all of its answer", async () => {
  const url = await start({ WRITE_STALL_MS: 1_000 });
  answerLarge();
  const socket = await open(url);
  socket.write(ask("/api/v1/ip/193.0.6.139", `Authorization: Bearer ${await harness.key()}\r\nConnection: close\r\n`));
  let bytes = 0;
  for await (const piece of socket) {
    // About four seconds for all, four times what a client has that does not read at all.
    if (Math.floor(bytes / (1 << 20)) !== Math.floor((bytes + (piece as Buffer).length) / (1 << 20)))
      await new Promise((resolve) => setTimeout(resolve, 150));
    bytes += (piece as Buffer).length;
  }
  expect(bytes).toBeGreaterThan(large.length);
});
