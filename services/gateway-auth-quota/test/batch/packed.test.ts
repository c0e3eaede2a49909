/** Batches whose answers are packed: as the caller takes them, each line at once, at the pace of the reader. */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  addresses,
  asLines,
  type BatchHarness,
  codesOf,
  documentOf,
  json,
  linesOf,
  ndjson,
  openLines,
  restOf,
  startBatchGateway,
  until,
} from "./support.ts";

let gateway: BatchHarness;
let authorization: string;
beforeAll(async () => {
  gateway = await startBatchGateway({ config: { BATCHES_MAX: 4 } });
  authorization = `Bearer ${await gateway.batchKey({ month: { limit: 10_000_000 } })}`;
});
afterAll(() => gateway.stop());

const line = '{"kind":"ip","value":"193.0.6.139"}';
const codings = ["zstd", "br", "gzip"];

describe.each(codings)("in %s", (coding) => {
  const accepting = (): Record<string, string> => ({ authorization, "accept-encoding": coding });

  test("a document and a stream say the same as they do unpacked", async () => {
    const questions = [...addresses(999), { kind: "ip", value: "nowhere ünïcode" }];
    for (const [type, body] of [
      [json, JSON.stringify({ questions })],
      [ndjson, asLines(questions)],
    ] as const) {
      const packed = await gateway.post(body, { ...type, ...accepting() });
      const plain = await gateway.post(body, { ...type, authorization });
      expect(packed.headers).toMatchObject({ "content-encoding": coding, vary: expect.stringContaining("Accept-Encoding") });
      expect(plain.headers).toMatchObject({ vary: expect.stringContaining("Accept-Encoding") });
      expect(plain.headers["content-encoding"]).toBeUndefined();
      const read = type === json ? (documentOf(packed).results as object[]) : linesOf(packed).results;
      const expected = type === json ? (documentOf(plain).results as object[]) : linesOf(plain).results;
      expect(read).toHaveLength(1_000);
      const withoutId = (list: readonly object[]) => JSON.stringify(list).replaceAll(/"request_id":"[^"]*"/g, "");
      expect(withoutId(read)).toBe(withoutId(expected));
    }
  });

  test("each line is out before the next is sent", async () => {
    const stream = openLines(gateway.url, accepting());
    for (let index = 0; index < 20; index++) {
      stream.send(`${line}\n`);
      expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ index, record: { ip: "193.0.6.139" } });
    }
    stream.end();
    expect(JSON.parse((await stream.next()) ?? "")).toMatchObject({ count: 20, failed_count: 0 });
    expect([await stream.next(), stream.isWhole()]).toEqual([null, true]);
  });

  test("a body that breaks has its summary all the same", async () => {
    const body = gzipSync(asLines(addresses(3_000))).subarray(0, -100);
    const answer = await gateway.post(body, { ...ndjson, ...accepting(), "content-encoding": "gzip" });
    expect(linesOf(answer).summary).toMatchObject({ count: linesOf(answer).results.length, problem: { code: "invalid_body" } });
  });

  test("a client that falls silent is told", async () => {
    // A gateway of its own: on a busy machine a batch that goes on may seem to be as silent.
    const impatient = await startBatchGateway({ config: { BATCH_IDLE_MS: 1_000 } });
    const stream = openLines(impatient.url, { ...accepting(), authorization: `Bearer ${await impatient.batchKey()}` });
    stream.send(`${line}\n{"kind":`);
    const { results, summary } = await restOf(stream);
    expect([codesOf(results), summary?.problem?.code]).toEqual([["ok"], "request_timeout"]);
    stream.request.destroy();
    await impatient.stop();
  });

  test("a client that goes away leaves its place", async () => {
    for (let count = 0; count < 8; count++) {
      const away = openLines(gateway.url, accepting());
      away.send(asLines(addresses(300)));
      await away.next();
      away.request.destroy();
      await until(async () => (await gateway.post(asLines(addresses(1)), ndjson)).status === 200, "a place");
    }
  });
});

test("what the caller weighs is heeded, and a refusal is not packed", async () => {
  const of = async (accepted: string, body = asLines(addresses(1))) =>
    (await gateway.post(body, { ...ndjson, "accept-encoding": accepted })).headers["content-encoding"];
  expect(await of("gzip, deflate, br, zstd")).toBe("zstd");
  expect(await of("gzip;q=1, br;q=0.5")).toBe("gzip");
  expect(await of("identity, *;q=0")).toBeUndefined();
  const refused = await gateway.post("{", { ...json, "accept-encoding": "gzip" });
  expect([refused.status, refused.headers["content-encoding"]]).toEqual([400, undefined]);
});

test("nothing is packed where the operator has packing off", async () => {
  const plain = await startBatchGateway({ config: { COMPRESS_FROM_BYTES: -1 } });
  const answer = await plain.post(asLines(addresses(2)), { ...ndjson, "accept-encoding": "gzip" });
  expect(answer.headers["content-encoding"]).toBeUndefined();
  expect(linesOf(answer).summary).toMatchObject({ count: 2 });
  await plain.stop();
});
