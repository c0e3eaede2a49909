/** A batch is answered as long as its key may ask: withdrawal ends it, and other limits or scopes hold from then on. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { BatchResult, BatchSummary } from "@netfacts/contracts";
import { disableKey, revokeKey, updateKey } from "@netfacts/keys";
import type { ReplyItem } from "@netfacts/messaging";
import { exampleReply } from "../support/gateway.ts";
import { asLines, type BatchHarness, codesOf, json, linesOf, openLines, restOf, startBatchGateway, until } from "./support.ts";

let gateway: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway();
});
afterAll(async () => {
  await gateway.stop();
});

const slowMs = 60_000;
const line = '{"kind":"ip","value":"193.0.6.139"}\n';
const idOf = (secret: string): string => secret.split("_")[2] as string;

/** A stream that sends a line every few milliseconds until its answer ends, and reads what comes. */
async function keepAsking(secret: string, everyMs = 5) {
  const stream = openLines(gateway.url, { authorization: `Bearer ${secret}` });
  const results: BatchResult[] = [];
  stream.send(line);
  const timer = setInterval(() => stream.send(line), everyMs);
  const end = (async (): Promise<BatchSummary | null> => {
    for (let text = await stream.next(); text !== null; text = await stream.next()) {
      const value = JSON.parse(text) as BatchResult | BatchSummary;
      if (!("index" in value)) return value;
      results.push(value);
    }
    return null;
  })().finally(() => {
    clearInterval(timer);
    stream.request.destroy();
  });
  await until(() => results.length > 10, "answers");
  return { results, end };
}

test.each([
  ["revoked", (id: string) => revokeKey(gateway.store, id), "revoked_api_key"],
  ["disabled", (id: string) => disableKey(gateway.store, id), "disabled_api_key"],
  ["of another network", (id: string) => updateKey(gateway.store, id, { allowedCidrs: ["203.0.113.0/24"] }), "ip_not_allowed"],
  ["without the scope of batches", (id: string) => updateKey(gateway.store, id, { scopes: ["ip"] }), "insufficient_scope"],
] as const)(
  "the stream of a key that is then %s ends with the problem",
  async (_, withdraw, code) => {
    const secret = await gateway.batchKey();
    const { results, end } = await keepAsking(secret);
    await withdraw(idOf(secret));
    const summary = await end;
    expect(summary?.problem?.code).toBe(code);
    expect(summary?.count).toBe(results.length);
    expect(codesOf(results).filter((result) => result !== "ok" && result !== code)).toEqual([]);
  },
  slowMs,
);

test(
  "the stream of a key that expires ends at its moment",
  async () => {
    const secret = await gateway.batchKey({ expiresAt: Date.now() + 3_600_000 });
    const { end } = await keepAsking(secret);
    gateway.clock.offsetMs = 3_600_001;
    const summary = await end;
    gateway.clock.offsetMs = 0;
    expect(summary?.problem?.code).toBe("expired_api_key");
  },
  slowMs,
);

test(
  "a lower month holds for the next line, and a scope that is gone for the items that need it",
  async () => {
    const secret = await gateway.batchKey({ month: { limit: 5_000 } });
    const { results, end } = await keepAsking(secret, 20);
    await updateKey(gateway.store, idOf(secret), { month: { limit: 1 } });
    await until(() => results.at(-1)?.problem?.code === "quota_exceeded", "the end of the month");
    // Units that were reserved before the change, 256 of them, are not spent after it.
    expect(codesOf(results).filter((code) => code === "ok").length).toBeLessThan(200);
    await updateKey(gateway.store, idOf(secret), { month: null });
    await updateKey(gateway.store, idOf(secret), { scopes: ["batch", "asn"] });
    await until(() => results.at(-1)?.problem?.code === "insufficient_scope", "the end of the scope");
    await revokeKey(gateway.store, idOf(secret));
    expect((await end)?.problem?.code).toBe("revoked_api_key");
  },
  slowMs,
);

test(
  "units that a stream reserved before a lower month are there for its next lines",
  async () => {
    const secret = await gateway.batchKey({ month: { limit: 5_000 } });
    const { results, end } = await keepAsking(secret, 20);
    await updateKey(gateway.store, idOf(secret), { month: { limit: 200 } });
    await until(() => results.at(-1)?.problem?.code === "quota_exceeded", "the end of the month");
    expect(codesOf(results).filter((code) => code !== "quota_exceeded")).toEqual(Array.from({ length: 200 }, () => "ok"));
    await revokeKey(gateway.store, idOf(secret));
    await end;
  },
  slowMs,
);

test(
  "what was asked and not answered when the key was withdrawn is the problem, in a document too, and costs nothing",
  async () => {
    const secret = await gateway.batchKey();
    let asked = 0;
    const held = Promise.withResolvers<ReplyItem>();
    gateway.answers.set("ip", async () => {
      asked += 1;
      return asked === 1 ? exampleReply("ip") : held.promise;
    });
    const questions = Array.from({ length: 3 }, () => ({ kind: "ip", value: "193.0.6.139" }));
    const stream = openLines(gateway.url, { authorization: `Bearer ${secret}` });
    stream.send(asLines(questions));
    expect(JSON.parse((await stream.next()) as string)).toHaveProperty("record");
    const answer = fetch(gateway.url, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, ...json },
      body: JSON.stringify({ questions }),
    });
    await until(() => asked === 6, "all questions");
    await revokeKey(gateway.store, idOf(secret));
    const { results, summary } = await restOf(stream);
    expect(summary).toMatchObject({ count: 3, problem: { code: "revoked_api_key" } });
    expect(results).toHaveLength(2);
    const document = (await (await answer).json()) as { results: BatchResult[]; problem: { code: string } };
    expect(document.problem.code).toBe("revoked_api_key");
    const codes = [...codesOf(results), ...codesOf(document.results)].sort();
    expect(codes).toEqual(Array.from({ length: 5 }, () => "revoked_api_key"));
    gateway.answers.delete("ip");
    // Or the gateway would wait for it at its stop.
    held.resolve(exampleReply("ip"));
  },
  slowMs,
);

test(
  "a key that is withdrawn before the body has come gets the problem as its answer",
  async () => {
    const secret = await gateway.batchKey();
    const stream = openLines(gateway.url, { authorization: `Bearer ${secret}`, ...json });
    stream.send('{"questions":[');
    await until(async () => (await gateway.registry.text()).includes('outcome="ok"'), "the key's check");
    await revokeKey(gateway.store, idOf(secret));
    expect((await stream.response()).statusCode).toBe(401);
    stream.request.destroy();
  },
  slowMs,
);

test("a batch of which nothing changes is answered whole", async () => {
  const secret = await gateway.batchKey();
  const other = await gateway.batchKey();
  const { results, end } = await keepAsking(secret);
  await revokeKey(gateway.store, idOf(other));
  const before = results.length;
  await until(() => results.length > before + 50, "more answers");
  expect(new Set(codesOf(results))).toEqual(new Set(["ok"]));
  expect(linesOf(await gateway.post(line, { "content-type": "application/x-ndjson" })).summary.count).toBe(1);
  await revokeKey(gateway.store, idOf(secret));
  expect((await end)?.problem?.code).toBe("revoked_api_key");
});
