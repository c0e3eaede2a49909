/** Whose turn a question takes on its way to a service, and how much of it. */

import { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, expect, jest, test } from "@jest/globals";
import { createKey, generateKeyText } from "@netfacts/keys";
import type { ReplyItem, RequestItem } from "@netfacts/messaging";
import { CallerTurns } from "../../src/edge/caller-turns.ts";
import { ResultTexts } from "../../src/lookups/batch/result-texts.ts";
import { type BatchHarness, linesOf, ndjson, startBatchGateway } from "../batch/support.ts";
import { exampleReply } from "../support/gateway.ts";
import { exchange } from "../support/raw.ts";

let gateway: BatchHarness;
const seen: RequestItem[] = [];
beforeAll(async () => {
  gateway = await startBatchGateway();
  for (const op of ["asn", "prefix", "routing", "ip"] as const)
    gateway.answers.set(op, (item) => {
      seen.push(item);
      return exampleReply(op);
    });
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => gateway.stop());

test("each key takes turns of its own, and an answer with a long list several units", async () => {
  const scopes = ["ip", "routing", "asn", "prefix", "batch"] as const;
  const [one, two] = await Promise.all(["one", "two"].map((label) => createKey(gateway.store, { label, scopes: [...scopes] })));
  const as = (key: typeof one) => ({ authorization: `Bearer ${key?.secret}` });
  await gateway.get("/api/v1/asn/AS3333", as(one));
  await gateway.get("/api/v1/asn/AS3333?limit=1000", as(one));
  await gateway.get("/api/v1/prefix/193.0.0.0/16?limit=101", as(two));
  await gateway.get("/api/v1/routing/193.0.6.139?limit=1000", as(two));
  await gateway.get("/api/v1/routing/193.0.6.139?include=more_specifics&limit=1000", as(two));
  const items = '{"kind":"ip","value":"193.0.6.139"}\n{"kind":"asn","value":"AS3333","limit":250}\n';
  const answered = await gateway.post(items, { ...ndjson, ...as(two) });
  expect(linesOf(answered).summary).toMatchObject({ count: 2, failed_count: 0 });
  const [first, second] = [one?.key.id, two?.key.id];
  expect(seen.map(({ op, caller, units }) => [op, caller, units])).toEqual([
    ["asn", first, 1],
    ["asn", first, 10],
    ["prefix", second, 2],
    ["routing", second, 1],
    ["routing", second, 10],
    ["ip", second, 1],
    ["asn", second, 3],
  ]);
});

test("an answer that has come is written in a turn of its key", async () => {
  const { secret, key } = await createKey(gateway.store, { label: "answered", scopes: ["ip"] });
  const callers: string[] = [];
  let letGo = () => {};
  const turn = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  jest.spyOn(CallerTurns.prototype, "next").mockImplementation((caller) => {
    callers.push(caller);
    return turn;
  });
  let isAnswered = false;
  const answer = gateway.get("/api/v1/ip/193.0.6.139", { authorization: `Bearer ${secret}` }).then(({ status }) => {
    isAnswered = true;
    return status;
  });
  while (callers.length === 0) await new Promise(setImmediate);
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  expect([callers, isAnswered]).toEqual([[key.id], false]);
  letGo();
  expect(await answer).toBe(200);
});

test("answers that are ready early leave behind the first of their connection, each in a turn of its key", async () => {
  const { secret, key } = await createKey(gateway.store, { label: "pipelining", scopes: ["ip", "asn"] });
  const ask = (path: string, more = "") => `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n${more}\r\n`;
  const values = ["193.0.6.1", "193.0.6.2", "193.0.6.3", "193.0.6.4"];
  let answerFirst = (_reply: ReplyItem) => {};
  gateway.answers.set("asn", () => new Promise((resolve) => (answerFirst = resolve)));
  const ended = jest.spyOn(ServerResponse.prototype, "end");
  const written = jest.spyOn(CallerTurns.prototype, "next");
  const taken = jest.spyOn(CallerTurns.prototype, "take");
  const paths = values.map((value, index) => ask(`/ip/${value}`, index === values.length - 1 ? "Connection: close\r\n" : ""));
  const answers = exchange(gateway.url, ask("/asn/AS3333") + paths.join(""));
  while (written.mock.calls.length < values.length) await new Promise(setImmediate);
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
  expect(ended).not.toHaveBeenCalled();
  taken.mockClear();
  answerFirst(exampleReply("asn"));
  const [first, ...others] = (await answers).map(({ status, body }) => [status, body]);
  expect(first).toEqual([200, `${exampleReply("asn").body}`]);
  expect(others).toEqual(values.map(() => [200, `${exampleReply("ip").body}`]));
  expect(taken.mock.calls.map(([caller]) => caller)).toEqual(values.map(() => key.id));
});

test("a new connection takes turns of the key that it names, once that was found valid", async () => {
  const { secret, key } = await createKey(gateway.store, { label: "new connections", scopes: ["ip"] });
  const taken = jest.spyOn(CallerTurns.prototype, "take");
  const authorization = `Bearer ${secret}`;
  for (let count = 0; count < 2; count++)
    await exchange(gateway.url, `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`);
  const wrong = generateKeyText("live").text;
  await exchange(gateway.url, `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${wrong}\r\nConnection: close\r\n\r\n`);
  expect(taken.mock.calls.map(([caller]) => caller)).toEqual([authorization, key.id, `Bearer ${wrong}`]);
});

test("a line that is no question is answered before the next one is read, and not held", async () => {
  const authorization = `Bearer ${await gateway.batchKey()}`;
  jest.spyOn(CallerTurns.prototype, "hasTime").mockReturnValue(true);
  const texts = jest.spyOn(ResultTexts.prototype, "problem");
  const held: number[] = [];
  jest.spyOn(CallerTurns.prototype, "next").mockImplementation(() => {
    held.push(held.length - texts.mock.calls.length);
    return null;
  });
  const answered = linesOf(await gateway.post("x\n".repeat(256), { ...ndjson, authorization }));
  expect(answered.results.map(({ index }) => index)).toEqual(Array.from({ length: 256 }, (_, index) => index));
  expect(held).toEqual(Array.from({ length: 256 }, () => 0));
});

test("results of a batch are written a few at a time, in turns of its key", async () => {
  const authorization = `Bearer ${await gateway.batchKey()}`;
  let looks = 0;
  jest.spyOn(CallerTurns.prototype, "hasTime").mockImplementation(() => ++looks % 2 === 0);
  const turns = jest.spyOn(CallerTurns.prototype, "take").mockImplementation((_caller, _line, work) => void setImmediate(work));
  jest.spyOn(CallerTurns.prototype, "next").mockReturnValue(null);
  const answered = linesOf(await gateway.post('{"kind":"ip","value":"193.0.6.139"}\n'.repeat(256), { ...ndjson, authorization }));
  expect(answered.summary).toMatchObject({ count: 256, failed_count: 0 });
  expect(answered.results.map(({ index }) => index)).toEqual(Array.from({ length: 256 }, (_, index) => index));
  // One look for each eight results, and a turn for each two looks; one for the request, and the first.
  expect(turns.mock.calls.length).toBeGreaterThanOrEqual(16);
});
