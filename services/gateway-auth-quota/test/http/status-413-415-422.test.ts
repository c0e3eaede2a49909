/** 413, 415, 422 and what else a body can be refused for: batches that are too large, of a wrong type, or cannot be read. */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { errors, type ProblemCode } from "@netfacts/contracts";
import { addresses, asLines, type BatchHarness, codesOf, documentOf, json, linesOf, ndjson, startBatchGateway } from "../batch/support.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange } from "../support/raw.ts";

let gateway: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway();
});
afterAll(() => gateway.stop());

/** Registers a test: an item of a batch must be a problem of this code. */
function provokesInBatch(code: ProblemCode, sentence: string, line: string): void {
  test(`${code}: ${sentence}`, async () => {
    const { results } = linesOf(await gateway.post(`${line}\n`, ndjson));
    expect(codesOf(results)).toEqual([code]);
    expect(results[0]?.problem?.status).toBe(errors[code].status);
  });
}

const document = (questions: readonly unknown[]) => JSON.stringify({ questions });

describe("413", () => {
  provokes("batch_too_large", "a document of 1,001 questions", () => gateway.post(document(addresses(1_001))));
  provokes("batch_too_large", "1,001 lines to be answered as a document", () =>
    gateway.post(asLines(addresses(1_001)), { ...ndjson, accept: "application/json" }),
  );
  provokes("payload_too_large", "a document of more than 1 MiB, told by its length", () => gateway.post(" ".repeat((1 << 20) + 1)));
  provokes("payload_too_large", "a document that unpacks to more, long before it is unpacked", () =>
    gateway.post(gzipSync(Buffer.alloc(256 << 20, " ")), { ...json, "content-encoding": "gzip" }),
  );

  test("1,000 questions and 1 MiB are read", async () => {
    const text = document(addresses(1_000));
    expect(documentOf(await gateway.post(text + " ".repeat((1 << 20) - text.length))).count).toBe(1_000);
  });
});

describe("415", () => {
  for (const type of ["text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "nonsense", ""]) {
    provokes("unsupported_media_type", `a body of type "${type}"`, async () => {
      const { "content-type": _, ...none } = json;
      return gateway.post(document([]), type === "" ? none : { "content-type": type });
    });
  }
  provokes("unsupported_media_type", "a body packed with something else than gzip", async () => {
    const answer = await gateway.post(document([]), { ...json, "content-encoding": "br" });
    expect(answer.headers["accept-encoding"]).toBe("gzip");
    return answer;
  });
  provokes("not_acceptable", "an answer as HTML", () => gateway.post(document([]), { ...json, accept: "text/html" }));
  provokes("invalid_parameter", "a parameter that batches do not have", () => gateway.post(document([]), json, "?limit=3"));
});

describe("400", () => {
  const places: [string, string | Uint8Array, string][] = [
    ["a comma too many", '{"questions":[\n  {"kind":"ip","value":"193.0.6.139"},\n]}', "line 3, column 1"],
    ["an end too early", '{"questions":[{"kind":"ip"', "line 1, column 27"],
    ["text behind the end", '{"questions":[]} x', "line 1, column 18"],
    ["single quotes", "{'questions':[]}", "line 1, column 2"],
    ["nothing at all", "", "line 1, column 1"],
    ["bytes that are not UTF-8", Buffer.concat([Buffer.from('{"questions":\n["'), Buffer.from([0xff]), Buffer.from('"]}')]), "line 2"],
    ["another member", '{"questions":[],"options":{}}', "options"],
    ["no questions", "{}", "questions"],
    ["questions that are no list", '{"questions":{}}', "questions"],
    ["a list as the whole", "[]", "body"],
    ["nesting without end", "[".repeat(10_000), "line 1, column 65"],
    ["much nesting without end", "[".repeat(100_000), "body"],
    ["an item without end", `{"questions":[${"[".repeat(100_000)}`, "line 1, column 100015"],
    ["a second member", `{"questions":[\n],"more":1}`, "more"],
    ["a second member behind much", `{"questions":[${"\n".repeat(20_000)}],"more":1}`, "line 20001, column 2"],
  ];
  for (const [name, body, location] of places) {
    provokes("invalid_body", `${name}, told with its place`, async () => {
      const answer = await gateway.post(body);
      const { detail, errors } = expectProblem(answer, "invalid_body");
      expect(errors).toContainEqual(expect.objectContaining({ location }));
      expect(detail).toContain(location.startsWith("line") ? "cannot be parsed" : "is not a batch");
      return answer;
    });
  }
  const whole = gzipSync(document(addresses(100)));
  const damaged = Buffer.from(whole);
  damaged.writeUInt32LE((whole.readUInt32LE(whole.length - 8) ^ 1) >>> 0, whole.length - 8);
  const unpackable = [
    ["what is not gzip", "{}", "it has no gzip header, or something follows the compressed data"],
    [
      "gzip with more behind it",
      Buffer.concat([whole, Buffer.from("{}")]),
      "it has no gzip header, or something follows the compressed data",
    ],
    ["gzip that ends too early", whole.subarray(0, -20), "its data end too early"],
    ["gzip of another checksum", damaged, "its data are damaged"],
    ["gzip of an unknown method", Buffer.from([0x1f, 0x8b, 9, ...whole.subarray(3)]), "its data are damaged"],
  ] as const;
  for (const [name, body, reason] of unpackable)
    provokes("invalid_body", name, async () => {
      const answer = await gateway.post(body, { ...json, "content-encoding": "gzip" });
      expect(expectProblem(answer, "invalid_body").detail).toBe(`The body is not valid gzip: ${reason}.`);
      return answer;
    });
});

describe("408", () => {
  provokes("request_timeout", "a document that does not end", async () => {
    const impatient = await startBatchGateway({ config: { REQUEST_TIMEOUT_MS: 300 } });
    const head = `POST /api/v1/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await impatient.batchKey()}\r\n`;
    const [answer] = await exchange(impatient.url, `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    await impatient.stop();
    return answer as NonNullable<typeof answer>;
  });
});

describe("405", () => {
  for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
    test(`${method} is told what is`, async () => {
      const answer = await gateway.request(method, "/api/v1/batch", { authorization: `Bearer ${await gateway.batchKey()}` });
      expect([answer.status, answer.headers.allow]).toEqual([405, "POST"]);
    });
  }
});

describe("422", () => {
  provokesInBatch("batch_item_invalid", "a line that is not JSON", '{"kind":"ip",}');
  provokesInBatch("batch_item_invalid", "a question of no kind", '{"value":"193.0.6.139"}');
});

describe("403 and 429", () => {
  provokes("insufficient_scope", "a key without the scope of batches", async () =>
    gateway.post(document([]), { ...json, authorization: `Bearer ${await gateway.key({ scopes: ["ip"] })}` }),
  );
  provokes("quota_exceeded", "a document that the month has too few units for: nothing of it is asked or charged", async () => {
    const authorization = `Bearer ${await gateway.batchKey({ month: { limit: 5 } })}`;
    const answer = await gateway.post(document(addresses(6)), { ...json, authorization });
    expect(answer.headers["x-quota-remaining"]).toBe("5");
    expect(documentOf(await gateway.post(document(addresses(5)), { ...json, authorization })).failed_count).toBe(0);
    return answer;
  });
  provokes("quota_exceeded", "lines, when nothing is left of the month", async () => {
    const authorization = `Bearer ${await gateway.batchKey({ month: { limit: 1 } })}`;
    await gateway.post(document(addresses(1)), { ...json, authorization });
    return gateway.post(asLines(addresses(1)), { ...ndjson, authorization });
  });
});

describe("early refusals", () => {
  provokes("payload_too_large", "arrives before anything of the body was sent, where its length tells", async () => {
    const headers = [
      "host: x",
      `authorization: Bearer ${await gateway.batchKey()}`,
      "content-type: application/json",
      `content-length: ${(1 << 20) + 1}`,
    ];
    const [answer] = await exchange(gateway.url, `POST /api/v1/batch HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    if (answer === undefined) throw new Error("no answer");
    return answer;
  });

  provokes("missing_api_key", "arrives though the body is still being sent", () => {
    const { authorization: _, ...headers } = { authorization: "", ...json };
    return gateway.post("x".repeat(900_000), { ...headers, authorization: "" });
  });
});
