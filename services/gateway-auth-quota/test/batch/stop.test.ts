/** A gateway stops while batches are under way: each answer comes whole, and the units of what was not answered are back in the store. */

import { expect, test } from "@jest/globals";
import { exampleReply } from "../support/gateway.ts";
import { asLines, codesOf, documentOf, json, openLines, post, restOf, startBatchGateway, until } from "./support.ts";

const slowMs = 60_000;
const month = { limit: 100_000 };

/** Leased units of the month, as the store counts them. */
async function leasedOf(gateway: Awaited<ReturnType<typeof startBatchGateway>>, secret: string): Promise<number> {
  const bucket = (await gateway.store.keys.find(secret.split("_")[2] ?? ""))?.bucket ?? "";
  const now = new Date();
  const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) / 1_000;
  return (await gateway.store.limits.read({ bucket, policy: "month", start, expiresAt: Number.MAX_SAFE_INTEGER })).leased;
}

test(
  "items without an answer after 5 s are problems in their places, and only what was answered costs a unit",
  async () => {
    const gateway = await startBatchGateway();
    const secret = await gateway.batchKey({ month });
    const authorization = `Bearer ${secret}`;
    const waiting: (() => void)[] = [];
    gateway.answers.set("reverse_dns", () => new Promise((done) => waiting.push(() => done(exampleReply("reverse_dns")))));
    const questions = [{ kind: "ip", value: "193.0.6.139" }, ...Array(20).fill({ kind: "reverse_dns", value: "193.0.6.139" })];
    const codes = ["ok", ...Array(20).fill("shutting_down")];

    const document = post(gateway.url, { ...json, authorization }, JSON.stringify({ questions }));
    const lines = openLines(gateway.url, { authorization });
    lines.send(asLines(questions));
    // Its client goes on sending, and would be answered at once.
    const endless = openLines(gateway.url, { authorization });
    const sending = setInterval(() => endless.send(asLines(questions.slice(0, 1))), 5);
    await until(() => waiting.length === 40, "the questions");
    await endless.next();

    const stopped = gateway.gateway.stop();
    const ofEndless = await restOf(endless);
    clearInterval(sending);
    expect(ofEndless.summary?.problem?.code).toBe("shutting_down");
    const ofLines = await restOf(lines);
    expect([codesOf(ofLines.results), ofLines.summary?.problem?.code, lines.isWhole()]).toEqual([codes, "shutting_down", true]);
    const ofDocument = await document;
    expect([ofDocument.status, ofDocument.complete, codesOf(documentOf(ofDocument).results)]).toEqual([200, true, codes]);
    await stopped;
    expect(await leasedOf(gateway, secret)).toBe(1 + 1 + (ofEndless.summary?.count ?? 0));

    for (const answer of waiting) answer();
    await gateway.stop();
  },
  slowMs,
);

test(
  "a client that does not read its answer holds no stop up",
  async () => {
    const gateway = await startBatchGateway();
    const stream = openLines(gateway.url, {
      authorization: `Bearer ${await gateway.batchKey({ month, rate: { limit: 100_000, windowSeconds: 60 } })}`,
    });
    const response = await stream.response();
    response.pause();
    const sending = setInterval(() => stream.send(asLines(Array(500).fill({ kind: "ip", value: "193.0.6.139" }))), 5);
    await until(() => stream.request.writableNeedDrain, "a stand");
    const since = performance.now();
    await gateway.gateway.stop();
    clearInterval(sending);
    // It is 12 s at most; on a busy machine still less than the grace period of 30 s.
    expect(performance.now() - since).toBeLessThan(25_000);
    stream.request.destroy();
    await gateway.stop();
  },
  slowMs,
);
