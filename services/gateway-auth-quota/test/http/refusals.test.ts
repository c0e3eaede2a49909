/** Floods of refused requests of a valid key: they wait, and nobody else does. */

import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { generateKeyText } from "@netfacts/keys";
import { RefusalGate } from "../../src/edge/refusal-gate.ts";
import { type GatewayOptions, type Harness, startGateway } from "../support/gateway.ts";
import { openSocket, readAnswers } from "../support/raw.ts";

let harness: Harness;
const started: Harness[] = [];
afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
});

async function start(config: NonNullable<GatewayOptions["config"]>): Promise<string> {
  harness = await startGateway({ config });
  started.push(harness);
  return harness.gateway.listen();
}

const held = (): Promise<number> =>
  harness.registry.text().then((text) => Number(/netfacts_shortages_total\{[^}]*resource="refusals"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0));

/** Statuses of so many requests, one after the other, on a connection of their own. */
async function ask(url: string, path: string, key: string, count: number): Promise<number[]> {
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  const socket = await openSocket(url);
  socket.write(`${`${head}\r\n`.repeat(count - 1)}${head}Connection: close\r\n\r\n`);
  return (await readAnswers(socket)).map(({ status }) => status);
}

test("a key of which too many requests are refused waits, and no other key does", async () => {
  const url = await start({ REFUSALS_PER_SECOND_MAX: 1, DEFAULT_RATE_LIMIT: 1 });
  const [greedy, polite] = [await harness.key(), await harness.key()];
  const began = performance.now();
  const answers: Promise<number[]>[] = [];
  while ((await held()) === 0 && performance.now() - began < 15_000) {
    answers.push(ask(url, "/api/v1/ip/nonsense", greedy, 2));
    await sleep(20);
  }
  // They are answered as always, those that had to wait after a second.
  expect(new Set((await Promise.all(answers)).flat())).toEqual(new Set([400, 429]));
  expect(performance.now() - began).toBeGreaterThan(900);
  const heldBefore = await held();
  expect(heldBefore).toBeGreaterThan(0);
  expect(await ask(url, "/api/v1/ip/193.0.6.139", polite, 1)).toEqual([200]);
  expect(await held()).toBe(heldBefore);
  const [line] = harness.log.filter(({ message }) => message === "requests of a key are held back, because too many of them were refused");
  expect(line).toMatchObject({ level: "warn", fields: { key_id: greedy.split("_")[2] } });
}, 30_000);

test("a request that is answered makes up for one that is refused, and a second refills the budget", () => {
  let now = 0;
  const gate = new RefusalGate(2, () => now);
  const { text, id } = generateKeyText("live");
  const request = { headers: { authorization: `Bearer ${text}` } } as IncomingMessage;
  const other = { headers: { authorization: `Bearer ${generateKeyText("live").text}` } } as IncomingMessage;
  for (const status of [404, 200, 429, 400, 200, 304, 412, 403, 410]) {
    expect(gate.judge(request)).toBeNull();
    gate.ended(request, status);
  }
  // The fourth beyond those that were answered: a burst of two seconds.
  gate.ended(request, 429);
  expect([gate.judge(request), gate.judge(other)]).toEqual([id, null]);
  // Our own fault makes up for nothing.
  gate.ended(request, 503);
  expect(gate.judge(request)).toBe(id);
  now += 500;
  expect(gate.judge(request)).toBeNull();
});

test("who has the id of a key and not its secret cannot make it wait", async () => {
  const url = await start({ REFUSALS_PER_SECOND_MAX: 1, DEFAULT_RATE_LIMIT: 1_000_000 });
  const key = await harness.key();
  const forged = generateKeyText("live", key.split("_")[2]).text;
  expect(await ask(url, "/api/v1/ip/193.0.6.139", forged, 8)).toEqual(Array.from({ length: 8 }, () => 401));
  expect(await ask(url, "/api/v1/ip/193.0.6.139", key, 2)).toEqual([200, 200]);
  expect(await held()).toBe(0);
}, 20_000);
