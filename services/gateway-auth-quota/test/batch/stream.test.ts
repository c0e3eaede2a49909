/** Batches as streams of lines: any length, in both directions at once, at the pace of the slower side. */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Problem } from "@netfacts/contracts";
import { problemReply, type ReplyItem } from "@netfacts/messaging";
import { Value } from "typebox/value";
import { exampleReply } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";
import { addresses, asLines, type BatchHarness, codesOf, linesOf, ndjson, openLines, restOf, startBatchGateway, until } from "./support.ts";

let gateway: BatchHarness;
let impatient: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway({ config: { BATCHES_MAX: 4 } });
  impatient = await startBatchGateway({ config: { BATCH_IDLE_MS: 400 } });
});
afterAll(async () => {
  await gateway.stop();
  await impatient.stop();
});

/** For a machine that is busy with much else. */
const slowMs = 120_000;
const line = '{"kind":"ip","value":"193.0.6.139"}';
const authorized = async (spec: Parameters<BatchHarness["batchKey"]>[0] = {}, of = gateway) => ({
  authorization: `Bearer ${await of.batchKey(spec)}`,
});

/** What is left of the month of the key, once all batches have ended. */
async function monthLeft(headers: Record<string, string>): Promise<string | undefined> {
  return (await gateway.request("GET", "/api/v1/me", headers)).headers["x-quota-remaining"];
}

/** Counts the addresses that are asked, and answers each when it is let. */
function heldAnswers(op: "ip" | "reverse_dns", { answers } = gateway) {
  const held: (() => void)[] = [];
  const counts = { asked: 0, answered: 0, most: 0 };
  answers.set(op, () => {
    counts.asked += 1;
    counts.most = Math.max(counts.most, counts.asked - counts.answered);
    return new Promise<ReplyItem>((resolve) => {
      held.push(() => {
        counts.answered += 1;
        resolve(exampleReply(op));
      });
    });
  });
  return {
    counts,
    release: (count = Number.POSITIVE_INFINITY) => {
      for (const answer of held.splice(0, count)) answer();
    },
  };
}

test("lines may be cut anywhere, end anyhow, and be bad: each has its result in its place", async () => {
  const pieces: [Uint8Array | string, string | null][] = [
    [`\ufeff${line}\r\n`, "ok"],
    ["\n \t\r\n", null],
    ['{"kind":"ip","value":"193.0.6.139"\n', "batch_item_invalid"],
    [`${line}\n`, "ok"],
    [Buffer.concat([Buffer.from('{"kind":"ip","value":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}\n')]), "batch_item_invalid"],
    [`{"kind":"ip","value":"${"1".repeat(9_000)}"}\n`, "batch_item_invalid"],
    ['{"kind":"ip","value":"ünïcode"}\n', "invalid_ip"],
    ["[]\n", "batch_item_invalid"],
    [`${" ".repeat(4_000)}${line}\n`, "ok"],
    [`\ufeff${line}\n`, "batch_item_invalid"],
    ['{"kind":"asn","value":1}', "ok"],
  ];
  const body = Buffer.concat(pieces.map(([piece]) => Buffer.from(piece)));
  const expected = pieces.flatMap(([, code]) => (code === null ? [] : [code]));
  for (const step of [1, 7, body.length]) {
    const stream = openLines(gateway.url, await authorized());
    for (let start = 0; start < body.length; start += step) {
      stream.send(body.subarray(start, start + step));
      // So that pieces leave apart, now and then.
      if (start % (97 * step) === 0) await new Promise(setImmediate);
    }
    stream.end();
    const { results, summary } = await restOf(stream);
    expect([step, codesOf(results)]).toEqual([step, expected]);
    expect(results.map(({ index }) => index)).toEqual(expected.map((_, index) => index));
    expect(summary).toMatchObject({ count: expected.length, failed_count: 6 });
    expect(results[1]?.problem?.detail).toContain("line 4");
    for (const { problem } of results) if (problem !== undefined) expect([...Value.Errors(Problem, problem)]).toEqual([]);
  }
});

test("what a batch has reserved of the quota is refused for a while, and counted as something else than a store that is away", async () => {
  const key = { authorization: `Bearer ${await gateway.batchKey({ month: { limit: 100 } })}` };
  const stream = openLines(gateway.url, key);
  stream.send(`${line}\n`);
  expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ index: 0 });
  const problem = expectProblem(await gateway.request("GET", "/api/v1/ip/193.0.6.139", key), "limits_unavailable");
  expect(problem.detail).toBe("The rest of the quota is reserved by batches of the key that are in progress, and may come back.");
  expect(problem.retry_after_seconds).toBe(1);
  const metrics = await gateway.registry.text();
  expect(metrics).toMatch(/netfacts_limit_decisions_total\{[^}]*decision="units_reserved"[^}]*\} 1\n/);
  expect(metrics).toMatch(/netfacts_limit_decisions_total\{[^}]*decision="limits_unavailable"[^}]*\} 0\n/);
  stream.end();
  expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ count: 1 });
});

test("each line is answered without waiting for the next", async () => {
  const stream = openLines(gateway.url, await authorized());
  for (let index = 0; index < 3; index++) {
    stream.send(`${line}\n`);
    expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ index });
  }
  stream.end();
  expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ count: 3, failed_count: 0 });
  expect([await stream.next(), stream.isWhole()]).toEqual([null, true]);
});

test(
  "the order is kept while answers come in any order",
  async () => {
    let asked = 0;
    gateway.answers.set("ip", async () => {
      const wait = (asked++ * 7_919) % 13;
      for (let turn = 0; turn < wait; turn++) await new Promise(setImmediate);
      return exampleReply("ip");
    });
    const questions = addresses(3_000);
    const { results, summary } = linesOf(await gateway.post(asLines(questions), ndjson));
    gateway.answers.clear();
    expect(results.map(({ question }) => question)).toEqual(questions);
    expect(summary).toMatchObject({ count: 3_000, failed_count: 0 });
  },
  slowMs,
);

test(
  "when the client disconnects midway, asking stops, what was asked costs its units, and the others go back",
  async () => {
    const headers = await authorized({ month: { limit: 10_000 } });
    const { counts, release } = heldAnswers("ip");
    const stream = openLines(gateway.url, headers);
    stream.send(asLines(addresses(5_000)));
    await stream.response();
    // The first answer decides of which snapshot all are; only then the rest is asked.
    await until(() => counts.asked === 256, "the first frame");
    release(1);
    await until(() => counts.asked > 256, "the next question");
    // However slow this machine is: the window shrinks if answers are late.
    await until(() => {
      release(16);
      return counts.asked >= 700 && counts.answered >= 256;
    }, "more questions in the places of those that are answered");
    for (let count = 0; count < 256; count++) await stream.next();
    const { asked } = counts;
    stream.request.destroy();
    await until(async () => Number(await monthLeft(headers)) === 10_000 - counts.asked, "the units that were not used");
    expect(counts.asked).toBeLessThan(asked + 400);
    release();
    await new Promise(setImmediate);
    release();
    gateway.answers.clear();
    // Its place is free again, and so is every place at the gate.
    for (let count = 0; count < 5; count++) expect(linesOf(await gateway.post(asLines(addresses(10)), ndjson)).summary.count).toBe(10);
  },
  slowMs,
);

test("when the month ends midway, the rest are problems in their places", async () => {
  const headers = await authorized({ month: { limit: 700 } });
  const questions = addresses(1_000);
  const { results, summary } = linesOf(await gateway.post(`{}\n${asLines(questions)}`, { ...ndjson, ...headers }));
  expect(codesOf(results)).toEqual(["batch_item_invalid", ...Array(700).fill("ok"), ...Array(300).fill("quota_exceeded")]);
  expect(results[701]).toMatchObject({
    question: questions[700],
    problem: { "violated-policies": ["month"], retry_after_seconds: expect.any(Number) },
  });
  expect(summary).toMatchObject({ count: 1_001, failed_count: 301 });
  expect(await monthLeft(headers)).toBe("0");
});

test("units of items that our side failed at go back", async () => {
  const headers = await authorized({ month: { limit: 1_000 } });
  let asked = 0;
  gateway.answers.set("ip", () => (asked++ % 2 === 0 ? problemReply({ code: "internal_error" }) : exampleReply("ip")));
  const { results } = linesOf(await gateway.post(asLines(addresses(600)), { ...ndjson, ...headers }));
  gateway.answers.clear();
  expect(codesOf(results).filter((code) => code === "ok")).toHaveLength(300);
  expect(await monthLeft(headers)).toBe("700");
});

test("a client that falls silent is told, with all that it had asked", async () => {
  const stream = openLines(impatient.url, await authorized({}, impatient));
  stream.send(`${line}\n${line}\n{"kind":`);
  const { results, summary } = await restOf(stream);
  expect(codesOf(results)).toEqual(["ok", "ok"]);
  expect(summary).toMatchObject({ count: 2, failed_count: 0, problem: { code: "request_timeout" } });
});

test("silence is not the client's while it waits for an answer", async () => {
  const { counts, release } = heldAnswers("ip", impatient);
  const stream = openLines(impatient.url, await authorized({}, impatient));
  stream.send(`${line}\n`);
  await until(() => counts.asked === 1, "the question");
  // Twice the idle time: an end would have come.
  await new Promise((resolve) => setTimeout(resolve, 800));
  release();
  impatient.answers.clear();
  expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ index: 0, record: { ip: "193.0.6.139" } });
  stream.end();
  expect((await restOf(stream)).summary).toMatchObject({ count: 1 });
});

test(
  "a client that never reads is cut off",
  async () => {
    const stream = openLines(impatient.url, await authorized({}, impatient));
    const text = asLines(addresses(1_000));
    let cut = false;
    stream.request.once("close", () => {
      cut = true;
    });
    await stream.response();
    const send = () => {
      if (!cut) stream.request.write(text, () => setImmediate(send));
    };
    send();
    await until(() => cut, "the end of the connection");
  },
  slowMs,
);

test(
  "gzip is unpacked as it comes; where it breaks, what came before is answered",
  async () => {
    const packed = gzipSync(asLines(addresses(5_000)));
    const whole = linesOf(await gateway.post(packed, { ...ndjson, "content-encoding": "gzip" }));
    expect(whole.summary).toMatchObject({ count: 5_000, failed_count: 0 });
    const { results, summary } = linesOf(await gateway.post(packed.subarray(0, -100), { ...ndjson, "content-encoding": "gzip" }));
    expect(summary).toMatchObject({ count: results.length, problem: { code: "invalid_body" } });
  },
  slowMs,
);

test("lines without a question cost a unit of the rate for each hundred, and end the batch when the rate is used up", async () => {
  const headers = await authorized({ rate: { limit: 5, windowSeconds: 86_400 } });
  const some = await gateway.post("x\n".repeat(250), { ...ndjson, ...headers });
  expect(linesOf(some).summary).toMatchObject({ count: 250, failed_count: 250 });
  // One for the batch, two for the lines.
  expect((await gateway.request("GET", "/api/v1/me", headers)).headers["x-ratelimit-remaining"]).toBe("1");
  const rest = linesOf(await gateway.post("x\n".repeat(5_000), { ...ndjson, ...headers }));
  expect(rest.summary).toMatchObject({ count: 99, failed_count: 99, problem: { code: "rate_limit_exceeded" } });
  expect(await monthLeft(await authorized())).toBe("100000");
});

test.each([
  ["the month", { month: { limit: 1 } }, "quota_exceeded", '{"kind":"ip","value":"193.0.6.139"}'],
  ["the rate", {}, "rate_limit_exceeded", '{"kind":"asn","value":"AS3333","limit":400}'],
  ["the price", {}, "cost_exceeds_limit", '{"kind":"prefix","value":"0.0.0.0/0","limit":1000}'],
])(
  "lines that %s refuses cost as those without a question do, and who still sends gets the whole answer",
  async (_limit, spec, code, line) => {
    // The connection closes with the answer, in the middle of the body.
    const headers = await authorized({ rate: { limit: 8, windowSeconds: 86_400 }, ...spec });
    const { results, summary } = linesOf(await gateway.post(`${line}\n`.repeat(5_000), { ...ndjson, ...headers }));
    expect(results.at(-1)).toMatchObject({ problem: { code } });
    expect(summary).toMatchObject({ problem: { code: "rate_limit_exceeded" } });
    expect(summary.count).toBeLessThanOrEqual(801);
  },
);

test("the problem of a line that is no JSON is short", async () => {
  const { results } = linesOf(await gateway.post("x\n", ndjson));
  expect(JSON.stringify(results[0]).length).toBeLessThan(400);
});

test(
  "a body that unpacks to a hundred times its size is given up, whatever its lines are",
  async () => {
    const headers = await authorized({ rate: { limit: 1_000_000, windowSeconds: 60 } });
    const bomb = gzipSync(`${"x".repeat(1_023)}\n`.repeat(8 << 10));
    const answer = await gateway.post(bomb, { ...ndjson, ...headers, "content-encoding": "gzip", "accept-encoding": "gzip" });
    const { count, problem } = linesOf(answer).summary;
    expect(problem).toMatchObject({ code: "invalid_body", detail: "The body expands to more than 100 times its compressed size." });
    expect(count).toBeLessThanOrEqual(1_024 + (bomb.length * 100) / 1_024 + 64);
  },
  slowMs,
);

test.each([
  ["blanks", Buffer.alloc(64 << 20, "\n")],
  ["letters", Buffer.alloc(64 << 20, "x")],
])(
  "%s without end are given up",
  async (_name, bytes) => {
    const answer = await gateway.post(gzipSync(bytes), { ...ndjson, "content-encoding": "gzip" });
    expect(linesOf(answer).summary).toMatchObject({ count: 0, problem: { code: "invalid_body" } });
  },
  slowMs,
);

test(
  "a slow answer holds up no other question, and a batch leaves a quarter of what a resolver bears to other keys",
  async () => {
    const slow = heldAnswers("reverse_dns");
    let asked = 0;
    gateway.answers.set("ip", () => {
      asked += 1;
      return exampleReply("ip");
    });
    const names = addresses(600).map(({ value }) => ({ kind: "reverse_dns", value }));
    const stream = openLines(gateway.url, await authorized());
    stream.send(asLines([...names, ...addresses(300)]));
    stream.end();
    await until(() => asked === 300, "the questions behind the slow ones");
    expect(slow.counts).toMatchObject({ asked: 192, answered: 0 });
    // Another key's names are asked at once, whatever the first still has to ask.
    const polite = openLines(gateway.url, await authorized());
    polite.send(asLines(names.slice(0, 100)));
    polite.end();
    await until(() => slow.counts.asked === 256, "the names of another key");
    const [reading, politely] = [restOf(stream), restOf(polite)];
    await until(() => {
      slow.release();
      return slow.counts.answered === 700;
    }, "the names");
    gateway.answers.clear();
    const { results, summary } = await reading;
    expect(slow.counts.most).toBe(256);
    expect(summary).toMatchObject({ count: 900, failed_count: 0 });
    expect((await politely).summary).toMatchObject({ count: 100, failed_count: 0 });
    expect(results.map(({ question }) => question?.kind)).toEqual([...Array(600).fill("reverse_dns"), ...Array(300).fill("ip")]);
  },
  slowMs,
);

test("more batches than the gateway takes at a time are refused", async () => {
  const keys = await Promise.all(Array.from({ length: 4 }, () => authorized()));
  const streams = keys.map((headers) => openLines(gateway.url, headers));
  await Promise.all(streams.map((stream) => stream.response()));
  expect((await gateway.post(asLines(addresses(1)), ndjson)).status).toBe(503);
  for (const stream of streams) stream.end();
  for (const stream of streams) expect((await restOf(stream)).summary).toMatchObject({ count: 0 });
  expect((await gateway.post(asLines(addresses(1)), ndjson)).status).toBe(200);
});

test(
  "a client that goes away before its key is known leaves nothing behind",
  async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => authorized()));
    for (let count = 0; count < 8; count++) {
      const { request } = openLines(gateway.url, keys[count % 4] as (typeof keys)[0]);
      request.write(`${line}\n`);
      await new Promise(setImmediate);
      request.destroy();
    }
    // Each of the four places is free again, a key's quarter too.
    for (const headers of keys)
      await until(async () => (await gateway.post(asLines(addresses(1)), { ...ndjson, ...headers })).status === 200, "a place");
    const streams = keys.map((headers) => openLines(gateway.url, headers));
    for (const stream of streams) expect((await stream.response()).statusCode).toBe(200);
    for (const stream of streams) stream.request.destroy();
    // Of the eight some were answered in time.
    for (const headers of keys) await until(async () => Number(await monthLeft(headers)) >= 99_996, "the units");
  },
  slowMs,
);

test("a stop ends streams with what they have asked, and says so", async () => {
  const own = await startBatchGateway();
  const stream = openLines(own.url, { authorization: `Bearer ${await own.batchKey()}` });
  stream.send(`${line}\n`);
  expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ index: 0 });
  const stopped = own.stop();
  const { summary } = await restOf(stream);
  expect(summary).toMatchObject({ count: 1, problem: { code: "shutting_down" } });
  await stopped;
});

test("records whose ending came apart are written whole, in documents and in streams", async () => {
  const { answers } = gateway;
  const body = Buffer.from(exampleReply("ip").body);
  try {
    const texts: string[] = [];
    for (const cut of [body.length, body.length - 40]) {
      const parts = { body: body.subarray(0, cut), ending: body.subarray(cut) };
      answers.set("ip", () => ({ ...exampleReply("ip"), ...parts }));
      const lines = await gateway.post(asLines(addresses(300)), ndjson);
      const document = await gateway.post(JSON.stringify({ questions: addresses(300) }));
      expect(linesOf(lines).results.length).toBe(300);
      texts.push(
        ...[lines, document].map((answer) =>
          answer.body.replace(/"meta":\{"request_id":"[^"]*","generated_at":"[^"]*","data":\{\}.*/s, ""),
        ),
      );
    }
    expect(texts.slice(2)).toEqual(texts.slice(0, 2));
    expect(texts[0]).toContain(body.toString());
  } finally {
    answers.delete("ip");
  }
});
