/** Batches as one JSON document: every kind, in order, each with a record or a problem. */

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  BatchAnswer,
  BatchQuestion,
  type BatchResult,
  BatchSummary,
  batchKinds,
  decodeQuery,
  examples,
  Problem,
} from "@netfacts/contracts";
import { problemReply } from "@netfacts/messaging";
import { Value } from "typebox/value";
import { CallerTurns } from "../../src/edge/caller-turns.ts";
import { readDocument } from "../../src/lookups/batch/questions.ts";
import { exampleReply } from "../support/gateway.ts";
import { addresses, asLines, type BatchHarness, codesOf, documentOf, json, linesOf, ndjson, startBatchGateway } from "./support.ts";

let gateway: BatchHarness;
beforeAll(async () => {
  gateway = await startBatchGateway();
});
afterAll(() => gateway.stop());

const ofEveryKind = [
  { kind: "ip", value: "193.0.6.139" },
  { kind: "routing", value: "2001:67C:2E8::1", include: ["upstreams"], limit: 7 },
  { kind: "asn", value: "AS3333", family: 6, aggregate: true },
  { kind: "asn", value: 3333 },
  { kind: "prefix", value: "193.0.0.0/21" },
  { kind: "reverse_dns", value: "193.0.6.139" },
  { kind: "validity", asn: "3333", prefix: "193.0.0.0/21" },
  { kind: "search", q: "Société 東京 😀", limit: 3 },
  { kind: "asn_vrps", value: "3333", loose: false },
] as const;

test("answers each kind with the bytes of its record, in the order of the questions, as they were asked", async () => {
  expect(batchKinds.filter((kind) => ofEveryKind.every((question) => question.kind !== kind))).toEqual([]);
  const answer = await gateway.post(JSON.stringify({ questions: ofEveryKind }));
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({ "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  const batch = documentOf(answer);
  expect([...Value.Errors(BatchAnswer, batch)]).toEqual([]);
  expect(batch).toMatchObject({
    count: ofEveryKind.length,
    failed_count: 0,
    meta: { request_id: answer.headers["x-request-id"], warnings: [] },
  });
  for (const [index, question] of ofEveryKind.entries()) {
    expect([...Value.Errors(BatchQuestion, question)]).toEqual([]);
    expect(batch.results[index]).toEqual({ index, question, record: examples[question.kind] });
  }
  expect(answer.body).toContain(`"record":${JSON.stringify(examples.validity)}}`);
});

test.each<[keyof typeof examples, object, string]>([
  ["routing", { value: "2001:67C:2E8::1", include: ["upstreams"], limit: 7 }, "routing/2001:67c:2e8::1?include=upstreams&limit=7"],
  ["ip", { value: "193.0.6.139", fields: ["routing", "ip"] }, "ip/193.0.6.139?fields=ip,routing"],
  ["asn", { value: 3333, family: 4, fields: ["name"] }, "asn/AS3333?family=4&fields=name"],
  ["asn_vrps", { value: 3333, family: 6, announced: false, loose: true }, "vrps/AS3333?family=6&announced=false&loose=true"],
  ["prefix", { value: "193.0.0.0/21", fields: ["more_specifics"], limit: 2 }, "prefix/193.0.0.0/21?fields=more_specifics&limit=2"],
  ["reverse_dns", { value: "193.0.6.139", fields: ["meta"] }, "reverse-dns/193.0.6.139?fields=meta"],
  ["validity", { asn: 1, prefix: "::/0", fields: ["rpki"] }, "validity?asn=1&prefix=::/0&fields=rpki"],
])("a question of kind %s is the one that its route would ask", async (kind, options, path) => {
  const asked: string[] = [];
  gateway.answers.set(kind as "ip", (item) => {
    asked.push(item.query);
    return exampleReply(kind as "ip");
  });
  const question = { kind, ...options };
  expect([...Value.Errors(BatchQuestion, question)]).toEqual([]);
  const { results } = documentOf(await gateway.post(JSON.stringify({ questions: [question] })));
  expect((await gateway.get(`/api/v1/${path}`)).status).toBe(200);
  gateway.answers.clear();
  expect(asked).toHaveLength(2);
  expect(asked[0]).toBe(asked[1]);
  expect(results[0]?.question).toEqual(question);
});

test.each<[readonly string[], string]>([
  [["rooting", "ip"], "rooting,ip"],
  [["ip", "ip"], "ip,ip"],
  [[], ""],
  [["whois"], "whois"],
])("fields %j are refused in the words of the route", async (fields, text) => {
  const question = { kind: "ip", value: "193.0.6.139", fields };
  const [asDocument, asLine] = await Promise.all([
    gateway.post(JSON.stringify({ questions: [question] })).then((answer) => documentOf(answer).results[0]?.problem),
    gateway.post(asLines([question]), ndjson).then((answer) => linesOf(answer).results[0]?.problem),
  ]);
  const ofRoute = JSON.parse((await gateway.get(`/api/v1/ip/193.0.6.139?fields=${text}`)).body) as Problem;
  const [fault] = ofRoute.errors ?? [];
  expect(fault).toMatchObject({ location: "query.fields", code: "invalid_parameter" });
  expect(fault?.suggestion).toBe(fields[0] === "rooting" ? "routing" : undefined);
  const inItem = (words: string | undefined) => words?.replace("must be a comma-separated list", "must be a list");
  expect(inItem(fault?.message)).not.toBe(fault?.message);
  for (const problem of [asDocument, asLine])
    expect(problem).toMatchObject({
      code: ofRoute.code,
      status: 400,
      detail: inItem(ofRoute.detail),
      errors: [{ ...fault, message: inItem(fault?.message), location: "fields" }],
    });
});

test("a bad item is a problem in its place, costs nothing, and harms no other", async () => {
  const authorization = `Bearer ${await gateway.batchKey({ month: { limit: 10 } })}`;
  const items: [unknown, string, string?][] = [
    [{ kind: "ip", value: "193.0.6.139" }, "ok"],
    [{ kind: "ip", value: "193.0.6.999" }, "invalid_ip", "value"],
    [{ kind: "prefix", value: "193.0.6.139/21" }, "prefix_has_host_bits", "value"],
    [{ kind: "asn", value: "AS4294967296" }, "invalid_asn", "value"],
    [{ kind: "validity", asn: "x", prefix: "y" }, "invalid_parameter", "asn"],
    [{ kind: "validity", asn: 1 }, "batch_item_invalid", "prefix"],
    [{ kind: "whois", value: "193.0.6.139" }, "batch_item_invalid", "kind"],
    [{ kind: "ip", value: 7 }, "batch_item_invalid", "value"],
    [{ kind: "ip", value: "193.0.6.139", limit: 7 }, "batch_item_invalid", "limit"],
    [{ kind: "routing", value: "193.0.6.139", limit: "7" }, "batch_item_invalid", "limit"],
    [{ kind: "routing", value: "193.0.6.139", limit: 1_001 }, "batch_item_invalid", "limit"],
    [{ kind: "routing", value: "193.0.6.139", include: ["upstreams", "upstreams"] }, "invalid_parameter", "include"],
    [{ kind: "ip", value: "193.0.6.139", fields: "ip" }, "batch_item_invalid", "fields"],
    [{ kind: "ip", value: "193.0.6.139", fields: ["ip,version"] }, "batch_item_invalid", "fields.0"],
    [{ kind: "ip", value: "193.0.6.139", fields: ["prefixes"] }, "invalid_parameter", "fields"],
    [{ value: "193.0.6.139" }, "batch_item_invalid", "kind"],
    ["193.0.6.139", "batch_item_invalid"],
    [["ip"], "batch_item_invalid"],
    [null, "batch_item_invalid"],
    [{ kind: "ip", value: "2001:db8::1" }, "ok"],
  ];
  const answer = await gateway.post(JSON.stringify({ questions: items.map(([item]) => item) }), { ...json, authorization });
  const { results, count, failed_count } = documentOf(answer);
  expect(codesOf(results)).toEqual(items.map(([, code]) => code));
  expect([count, failed_count]).toEqual([20, 18]);
  for (const [index, [, , location]] of items.entries()) {
    const { problem } = results[index] as BatchResult;
    if (location === undefined) continue;
    expect([index, [...Value.Errors(Problem, problem)]]).toEqual([index, []]);
    expect(problem).toMatchObject({ instance: "/api/v1/batch", errors: expect.arrayContaining([expect.objectContaining({ location })]) });
  }
  expect(results[2]?.problem?.errors?.[0]?.suggestion).toBe("193.0.0.0/21");
  expect(answer.headers["x-quota-remaining"]).toBe("8");
});

test("questions of any characters are repeated as they were, wherever a write of the answer ends", async () => {
  const authorization = `Bearer ${await gateway.batchKey({ rate: { limit: 1_000_000, windowSeconds: 60 } })}`;
  const questions = Array.from({ length: 3_000 }, (_, index) => ({
    kind: "search",
    q: ["a", "é", "東", "😀"].map((char, at) => char.repeat(1 + ((index >> (2 * at)) & 3))).join(""),
  }));
  const { results } = linesOf(await gateway.post(asLines(questions), { ...ndjson, authorization }));
  expect(codesOf(results)).toEqual(questions.map(() => "ok"));
  expect(results.map(({ question }) => question)).toEqual(questions);
});

test("what is wrong with an item is told, each fault once", async () => {
  const authorization = `Bearer ${await gateway.batchKey({})}`;
  const questions = [
    { kind: "asn", value: 3333, family: "4" },
    { kind: "validity", value: "193.0.0.0/21" },
  ];
  const answer = await gateway.post(JSON.stringify({ questions }), { ...json, authorization });
  expect(documentOf(answer).results.map(({ problem }) => [problem?.detail, problem?.errors?.length])).toEqual([
    ["The item's family must be 4 or 6.", 1],
    ["The item's value is unknown; validity accepts kind, asn, prefix, fields and meta. There are more faults: see errors.", 3],
  ]);
});

test("records of a batch have their meta unless the batch or the item says no", async () => {
  const authorization = `Bearer ${await gateway.batchKey({})}`;
  const views: boolean[] = [];
  for (const op of ["ip", "asn"] as const)
    gateway.answers.set(op, (item) => {
      const { view } = decodeQuery(op, item.query);
      views.push(view.meta);
      return exampleReply(op);
    });
  const wanted = async (query: string, questions: readonly unknown[]) => {
    views.length = 0;
    const answer = await gateway.post(JSON.stringify({ questions }), { ...json, authorization }, query);
    expect([answer.status, documentOf(answer).failed_count]).toEqual([200, 0]);
    return [...views];
  };
  const questions = [
    { kind: "ip", value: "193.0.6.139" },
    { kind: "asn", value: 3333 },
    { kind: "ip", value: "2001:db8::1", fields: ["ip"] },
  ];
  expect(await wanted("", questions)).toEqual([true, true, true]);
  expect(await wanted("?meta=false", questions)).toEqual([false, false, false]);
  expect(
    await wanted(
      "",
      questions.map((item) => ({ ...item, meta: false })),
    ),
  ).toEqual([false, false, false]);
  expect(
    await wanted(
      "?meta=false",
      questions.map((item) => ({ ...item, meta: true })),
    ),
  ).toEqual([true, true, true]);
  for (const op of ["ip", "asn"] as const) gateway.answers.delete(op);
});

test("a member that does not fit is told in our words", async () => {
  const authorization = `Bearer ${await gateway.batchKey({})}`;
  const items: [unknown, string, string?][] = [
    [{ kind: "routing", value: "193.0.6.139", include: ["nonsense"] }, "must be more_specifics or upstreams"],
    [{ kind: "routing", value: "193.0.6.139", include: "upstreams" }, "must be a list"],
    [{ kind: "asn", value: 3333, family: 5 }, "must be 4 or 6"],
    [{ kind: "asn", value: 3333, rpki: "good" }, "must be valid, invalid or not-found"],
    [{ kind: "asn", value: 3333, aggregate: "yes" }, "must be true or false"],
    [{ kind: "asn", value: 3333, limit: 1.5 }, "must be a whole number from 1 to 1000"],
    [{ kind: "asn", value: [3333] }, "must be a non-empty string or a whole number"],
    [{ kind: "prefix", value: null }, "must be a non-empty string"],
    [{ kind: "search", q: "a".repeat(101) }, "must be a string of 1 to 100 characters that is not all spaces"],
    [{ kind: "search", q: "a\ud83d" }, "has half of a surrogate pair, which is not a character"],
    [{ kind: "search", q: " " }, "must be a string of 1 to 100 characters that is not all spaces"],
    [{ kind: "ip", value: "193.0.6.139", fields: [7] }, "must be a name without commas"],
    [{ kind: "ip", value: "193.0.6.139", feilds: ["ip"] }, "is unknown; ip accepts kind, value, fields and meta", "fields"],
    [{ kind: "IP", value: "x" }, "must be search, ip, routing, asn, prefix, reverse_dns, validity or asn_vrps", "ip"],
    [{ kind: "ip", value: "193.0.6.139", fields: new Array(65).fill(7) }, "must have at most 64 items"],
    [{ kind: "routing", value: "193.0.6.139", include: new Array(65).fill("upstreams") }, "must have at most 64 items"],
    [{ kind: "ip", value: new Array(65).fill("193.0.6.139") }, "must have at most 64 items"],
    [{ kind: "whois", value: "x" }, "must be search, ip, routing, asn, prefix, reverse_dns, validity or asn_vrps"],
    // The path of another route is no value of an item.
    [{ kind: "ip", value: "AS3333" }, "is not an IPv4 or IPv6 address: it is an AS number"],
  ];
  const answer = await gateway.post(JSON.stringify({ questions: items.map(([item]) => item) }), { ...json, authorization });
  const told = documentOf(answer).results.map(({ problem }) => problem?.errors?.map(({ message, suggestion }) => [message, suggestion]));
  expect(told).toEqual(items.map(([, message, suggestion]) => [[message, suggestion]]));
  const none = await gateway.post(JSON.stringify({ questions: [{ kind: "routing", value: "193.0.6.139", include: [] }] }), {
    ...json,
    authorization,
  });
  expect(codesOf(documentOf(none).results)).toEqual(["ok"]);
});

test("reading a thousand bad items leaves the event loop to others", async () => {
  const members = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`m${index}`, 1]));
  const body = Buffer.from(JSON.stringify({ questions: Array.from({ length: 1_000 }, () => ({ kind: "ip", value: "x", ...members })) }));
  const pieces = [body, null];
  let turns = 0;
  const others = setInterval(() => {
    turns += 1;
  });
  try {
    const callers = new CallerTurns();
    const items = await readDocument(
      { next: async () => pieces.shift() ?? null },
      { meta: true, nextTurn: () => callers.next("", pieces), onRead: () => {} },
    );
    expect(items).toHaveLength(1_000);
  } finally {
    clearInterval(others);
  }
  expect(turns).toBeGreaterThan(0);
});

test("what a bad item tells of itself is bounded, and never a key", async () => {
  const secret = await gateway.key();
  const questions = [
    { kind: "ip", value: secret },
    { kind: secret, value: "x".repeat(10_000) },
  ];
  const { body } = await gateway.post(JSON.stringify({ questions }));
  expect(body).not.toContain(secret.slice(17));
  expect(body.length).toBeLessThan(2_500);
});

test("an item that is longer than a line may be is a problem in its place", async () => {
  const padded = (length: number, tail: string) => `{"kind":"ip","value":"193.0.6.139"${tail.padStart(length - 34)}`;
  const items = [padded(8_192, "}"), padded(8_193, "}"), padded(8_192, ',"é":1}'), padded(50_000, "}"), padded(35, "}")];
  const { results } = documentOf(await gateway.post(`{"questions":[${items.join(" , ")}]}`));
  const long = "The item is longer than 8192 bytes.";
  expect(results.map(({ problem }) => problem?.detail)).toEqual([undefined, long, long, long, undefined]);
});

test("an item of a kind that the key has no scope for is a problem in its place, and is not asked", async () => {
  const authorization = `Bearer ${await gateway.key({ scopes: ["batch", "ip"] })}`;
  const questions = [
    { kind: "ip", value: "193.0.6.139" },
    { kind: "asn", value: "AS3333" },
    { kind: "validity", asn: 1, prefix: "::/0" },
  ];
  const answer = await gateway.post(JSON.stringify({ questions }), { ...json, authorization });
  const { results } = documentOf(answer);
  expect(codesOf(results)).toEqual(["ok", "insufficient_scope", "insufficient_scope"]);
  expect(results.map(({ problem }) => problem?.detail)).toEqual([
    undefined,
    expect.stringContaining("asn"),
    expect.stringContaining("routing"),
  ]);
  expect(answer.headers["x-quota-remaining"]).toBe("99999");
});

test("a batch costs one of the rate and one of the month per question; what our side failed at is given back", async () => {
  const authorization = `Bearer ${await gateway.batchKey({ rate: { limit: 10, windowSeconds: 3_600 }, month: { limit: 100 } })}`;
  gateway.answers.set("asn", () => problemReply({ code: "data_not_ready" }));
  const questions = [...addresses(20), { kind: "asn", value: 1 }, { kind: "asn", value: 2 }];
  const { results, failed_count } = documentOf(await gateway.post(JSON.stringify({ questions }), { ...json, authorization }));
  gateway.answers.clear();
  expect(failed_count).toBe(2);
  expect(codesOf(results.slice(-2))).toEqual(["data_not_ready", "data_not_ready"]);
  const me = await gateway.request("GET", "/api/v1/me", { authorization });
  expect(me.headers).toMatchObject({ "x-ratelimit-remaining": "8", "x-quota-remaining": "80" });
});

test.each([
  ["document", json, (count: number) => JSON.stringify({ questions: addresses(count) }), 3],
  ["stream", ndjson, (count: number) => asLines(addresses(count)), 2],
])("a %s that the month refuses costs no rate; one that cannot be read does", async (_name, type, body, used) => {
  const authorization = `Bearer ${await gateway.batchKey({ rate: { limit: 10, windowSeconds: 3_600 }, month: { limit: used } })}`;
  const headers = { ...type, authorization };
  // A stream is refused only where nothing at all is left.
  if (type === ndjson) await gateway.post(body(used), headers);
  const spent = type === ndjson ? 1 : 0;
  for (const _ of [1, 2]) {
    const refused = await gateway.post(body(used + 1), headers);
    expect(JSON.parse(refused.body)).toMatchObject({ status: 429, code: "quota_exceeded", "violated-policies": ["month"] });
    expect(refused.headers["x-ratelimit-remaining"]).toBe(String(10 - spent));
  }
  const unread = await gateway.post("", { ...headers, "content-type": "text/plain" });
  expect([unread.status, unread.headers["x-ratelimit-remaining"]]).toEqual([415, String(9 - spent)]);
});

test("a thousand questions are answered in order, of whatever service and speed", async () => {
  gateway.answers.set("asn", async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return exampleReply("asn");
  });
  const questions = addresses(1_000).map((question, index) => (index % 100 === 0 ? { kind: "asn", value: index } : question));
  const { results, count } = documentOf(await gateway.post(JSON.stringify({ questions })));
  gateway.answers.clear();
  expect(count).toBe(1_000);
  expect(results.map(({ question }) => question)).toEqual(questions);
  expect(results.map(({ index }) => index)).toEqual(questions.map((_, index) => index));
});

test("no questions are a batch too", async () => {
  expect(documentOf(await gateway.post('{"questions":[]}'))).toMatchObject({ results: [], count: 0, failed_count: 0 });
});

test("is read with a byte order mark, with blanks, and packed with gzip", async () => {
  const text = `\ufeff \n{"questions": ${JSON.stringify(addresses(3))}} \n`;
  expect(documentOf(await gateway.post(text)).count).toBe(3);
  expect(documentOf(await gateway.post(gzipSync(text), { ...json, "content-encoding": "gzip" })).count).toBe(3);
});

test.each([
  ["a document as lines", json, { accept: "application/x-ndjson" }, ""],
  ["a document as lines, by the query", json, {}, "?format=ndjson"],
  ["lines as lines", ndjson, {}, ""],
  ["lines as lines, by weight", ndjson, { accept: "application/json;q=0.5, application/x-ndjson" }, ""],
])("answers %s", async (_name, type, accept, query) => {
  const questions = [...addresses(2), { kind: "ip", value: "x" }];
  const answer = await gateway.post(type === json ? JSON.stringify({ questions }) : asLines(questions), { ...type, ...accept }, query);
  expect(answer.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  const { results, summary } = linesOf(answer);
  expect([...Value.Errors(BatchSummary, summary)]).toEqual([]);
  expect(codesOf(results)).toEqual(["ok", "ok", "invalid_ip"]);
  expect(summary).toMatchObject({ count: 3, failed_count: 1 });
});

test("answers lines as a document", async () => {
  const answer = await gateway.post(`${asLines(addresses(2))}{"kind":\n`, { ...ndjson, accept: "application/json" });
  expect([...Value.Errors(BatchAnswer, documentOf(answer))]).toEqual([]);
  expect(codesOf(documentOf(answer).results)).toEqual(["ok", "ok", "batch_item_invalid"]);
});

test("tells the snapshot that answered", async () => {
  expect(documentOf(await gateway.post(JSON.stringify({ questions: addresses(1) }))).meta.snapshots).toEqual(["s1"]);
});
