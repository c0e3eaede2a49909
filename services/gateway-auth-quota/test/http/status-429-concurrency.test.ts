/** A key's requests at a time, through HTTP: whatever way a request ends, the next may come. */

import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { MeRecord } from "@netfacts/contracts";
import type { LimitRepository } from "@netfacts/storage";
import { exampleReply, type Harness, type HttpAnswer, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { openSocket } from "../support/raw.ts";

const path = "/api/v1/ip/193.0.6.139";
const limit = 3;

let harness: Harness;
let url: string;
/** Takes of the limits' store wait for this. */
let storeAnswers: Promise<void> = Promise.resolve();

beforeAll(async () => {
  harness = await startGateway({
    // No window of the rate ends in between.
    config: { DEFAULT_RATE_WINDOW_SECONDS: 86_400 },
    storeSeen: (store) => ({ ...store, limits: slowTakes(store.limits) }),
  });
  url = await harness.gateway.listen();
});
afterAll(() => harness.stop());
afterEach(() => {
  harness.answers.clear();
  storeAnswers = Promise.resolve();
});

function slowTakes(limits: LimitRepository): LimitRepository {
  return {
    ...limits,
    async take(...args) {
      await storeAnswers;
      return limits.take(...args);
    },
  };
}

const newKey = async (): Promise<string> => `Bearer ${await harness.key({ concurrency: { limit } })}`;
const get = (authorization: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
  harness.request("GET", path, { authorization, ...headers });

/** How many are under way besides the one that asks. */
async function underWay(authorization: string): Promise<number> {
  const { status, body } = await harness.request("GET", "/api/v1/me", { authorization });
  if (status === 429) return limit;
  const standing = (JSON.parse(body) as MeRecord).limits.find(({ name }) => name === "concurrency");
  expect(standing).toEqual({ name: "concurrency", limit, used: expect.any(Number), remaining: expect.any(Number) });
  return (standing?.used ?? Number.NaN) - 1;
}

/** Answers of `ip` wait until they are let go. */
function holdAnswers(to = harness): { readonly entered: () => number; readonly letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let entered = 0;
  to.answers.set("ip", async () => {
    entered += 1;
    await promise;
    return exampleReply("ip");
  });
  return { entered: () => entered, letGo: resolve };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5);
}

async function abandon(socket: Socket): Promise<void> {
  const closed = once(socket, "close");
  socket.destroy();
  await closed;
}

test("the bound is per key, costs nothing when it refuses, and ends with the requests", async () => {
  const [authorization, other] = [await newKey(), await newKey()];
  const held = holdAnswers();
  const waiting = Array.from({ length: limit }, () => get(authorization));
  await until(() => held.entered() === limit);
  const refused = await get(authorization);
  expect(expectProblem(refused, "concurrency_limit_exceeded")["violated-policies"]).toEqual(["concurrency"]);
  expect(refused.headers).toMatchObject({ "x-ratelimit-remaining": "597", "x-quota-remaining": "99997" });
  expect(refused.headers["ratelimit-policy"]).toContain(`"concurrency";q=${limit};qu="concurrent-requests"`);
  expect(refused.headers.ratelimit).toMatch(/, "concurrency";r=0$/);
  expect(await underWay(other)).toBe(0);
  held.letGo();
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
  expect(await underWay(authorization)).toBe(0);
});

test("whatever is answered frees its place: HEAD, 304, 400, 403, 404, 405, 429", async () => {
  const authorization = await newKey();
  const etag = (await get(authorization)).headers.etag ?? "";
  const ask = (method: string, target: string, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    harness.request(method, target, { authorization, ...headers });
  const statuses = [
    await ask("HEAD", path),
    await ask("GET", path, { "if-none-match": etag }),
    await ask("GET", "/api/v1/ip/nonsense"),
    await ask("GET", "/api/v1/nowhere"),
    await ask("PUT", path),
  ].map(({ status }) => status);
  expect(statuses).toEqual([200, 304, 400, 404, 405]);
  const narrow = `Bearer ${await harness.key({ scopes: ["asn"], concurrency: { limit }, rate: { limit: 3, windowSeconds: 3_600 } })}`;
  for (const status of [403, 403, 403, 429]) expect((await get(narrow)).status).toBe(status);
  expect(await underWay(authorization)).toBe(0);
});

test("a request that is not answered in time frees its place", async () => {
  const hasty = await startGateway({ config: { LOOKUP_BUDGET_MS: 200 } });
  try {
    const authorization = `Bearer ${await hasty.key({ concurrency: { limit } })}`;
    const held = holdAnswers(hasty);
    for (let i = 0; i < limit + 1; i++) expect((await hasty.request("GET", path, { authorization })).status).toBe(504);
    held.letGo();
  } finally {
    await hasty.stop();
  }
});

test("clients that disconnect free their places: before the answer, in a pipeline, and while their lease is awaited", async () => {
  const authorization = await newKey();
  const request = `GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`;
  for (let round = 0; round < 3; round++) {
    const held = holdAnswers();
    const sockets = await Promise.all(Array.from({ length: limit }, () => openSocket(url)));
    for (const socket of sockets) socket.write(request);
    await until(() => held.entered() === limit);
    await Promise.all(sockets.map(abandon));
    await until(async () => (await underWay(authorization)) === 0);
    held.letGo();
  }

  const held = holdAnswers();
  const piped = await openSocket(url);
  piped.write(request.repeat(limit));
  await until(() => held.entered() === limit);
  await abandon(piped);
  await until(async () => (await underWay(authorization)) === 0);
  held.letGo();

  // A key of its own: nothing is leased for it yet, so its first requests wait for the store.
  const unleased = await newKey();
  const { promise, resolve } = Promise.withResolvers<void>();
  storeAnswers = promise;
  const lines = harness.log.length;
  const sockets = await Promise.all(Array.from({ length: limit }, () => openSocket(url)));
  for (const socket of sockets) socket.write(request.replace(authorization, unleased));
  const inFlight = async () => Number(/netfacts_http_requests_in_flight\{[^}]*\} (\d+)/.exec(await harness.registry.text())?.[1]);
  await until(async () => (await inFlight()) === limit);
  await Promise.all(sockets.map(abandon));
  await until(() => harness.log.slice(lines).filter(({ fields }) => fields.status === "aborted").length === limit);
  resolve();
  await until(async () => (await underWay(unleased)) === 0);
});

test("a batch that is streamed holds its place until it ends, and gives it back when its client goes away", async () => {
  const authorization = `Bearer ${await harness.key({ scopes: ["ip", "batch"], concurrency: { limit } })}`;
  const head = `POST /api/v1/batch HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\ncontent-type: application/x-ndjson\r\naccept: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n`;
  const line = `{"kind":"ip","value":"193.0.6.139"}\n`;
  const sockets = await Promise.all(Array.from({ length: limit - 1 }, () => openSocket(url)));
  const answered = sockets.map((socket) => once(socket, "data"));
  for (const socket of sockets) socket.write(`${head}${line.length.toString(16)}\r\n${line}\r\n`);
  await Promise.all(answered);
  expect(await underWay(authorization)).toBe(limit - 1);
  await Promise.all(sockets.map(abandon));
  await until(async () => (await underWay(authorization)) === 0);
  const whole = await openSocket(url);
  whole.write(`${head.replace("host: a", "host: a\r\nconnection: close")}${line.length.toString(16)}\r\n${line}\r\n0\r\n\r\n`);
  whole.resume();
  await once(whole, "close");
  await until(async () => (await underWay(authorization)) === 0);
});

test("a key without a bound is told of none", async () => {
  const answer = await harness.get(path);
  expect(answer.headers["ratelimit-policy"]).not.toContain("concurrency");
  const { body } = await harness.get("/api/v1/me");
  expect((JSON.parse(body) as MeRecord).limits.map(({ name }) => name)).toEqual(["rate", "month"]);
});

provokes("concurrency_limit_exceeded", "when as many as may be are under way", async () => {
  const authorization = await newKey();
  const held = holdAnswers();
  const waiting = Array.from({ length: limit }, () => get(authorization));
  await until(() => held.entered() === limit);
  const answer = await get(authorization);
  held.letGo();
  await Promise.all(waiting);
  return answer;
});
