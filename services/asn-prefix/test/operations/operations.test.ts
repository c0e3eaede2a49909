/** The service on the in-process bus: each operation, from its canonical query to its record or problem. */

import { afterAll, describe, expect, test } from "@jest/globals";
import {
  type ChangesName,
  decodeCursor,
  encodeQuery,
  encodeQuestion,
  type Format,
  type OperationOf,
  operations,
  type Questions,
  type View,
  wholeRecord,
} from "@netfacts/contracts";
import { createInProcessMessaging, type ReplyItem } from "@netfacts/messaging";
import type { Generation } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { madeRoutes, route } from "../../../../libs/snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { world } from "../../../../libs/snapshot/test/support/made-world.ts";
import { prefix } from "../../../../libs/snapshot/test/support/text.ts";
import { watchedGeneration } from "../../../../libs/snapshot/test/support/watched-generation.ts";
import { buildApp } from "../../src/app.ts";

const failures: string[] = [];
let current: Generation | null = null;
/** Snapshots before it are not kept. */
const older = "20100101T000000Z-00000000";
const messaging = createInProcessMessaging();
const app = buildApp({
  messaging,
  dataset: { current: () => current, at: (id) => (id === current?.id ? current : id < older ? "gone" : "not_yet") },
  clock: { now: () => Date.parse("2026-11-21T09:00:02Z") },
  onFailure: ({ op }) => failures.push(op),
});
await app.start();
afterAll(async () => {
  await app.stop();
  await messaging.close();
});

const send = (op: string, query: string): Promise<ReplyItem> =>
  messaging.request("asn-prefix", "single", { op, query, requestId: "req-1", traceparent: null, budgetMs: 30_000 });

async function ask<O extends OperationOf<"asn-prefix">>(op: O, question: Questions[O]) {
  const reply = await send(op, encodeQuestion(op, question));
  const body = JSON.parse(Buffer.from(reply.body).toString());
  if (reply.contentType === "json") expect([...Value.Errors(operations[op].record, body)]).toEqual([]);
  return { reply, body };
}

const askAsn = (asn: number, options: Partial<Questions["asn"]> = {}) =>
  ask("asn", { asn, family: null, rpki: null, aggregate: false, limit: 100, ...options });

const questions = Object.entries({
  asn: () => askAsn(3333),
  asn_vrps: () => ask("asn_vrps", { asn: 3333, family: null, announced: null, loose: null, limit: 100 }),
  search: () => ask("search", { q: "193.0.6.139", limit: 100 }),
  prefix: () => ask("prefix", { prefix: prefix("193.0.0.0/21"), limit: 100 }),
} satisfies Readonly<Record<Exclude<OperationOf<"asn-prefix">, ChangesName>, () => ReturnType<typeof ask>>>);

test.each(questions)("%s says that there are no data yet, and costs nothing", async (_op, question) => {
  current = null;
  const { reply, body } = await question();
  expect(reply).toMatchObject({ status: 503, contentType: "problem", counted: false, cacheable: false });
  expect(body.code).toBe("data_not_ready");
});

test.each(questions)("%s answers with a record of the contract that names its snapshot and request", async (_op, question) => {
  current = madeGeneration(world);
  const { reply, body } = await question();
  expect(reply).toMatchObject({ status: 200, contentType: "json", counted: true, cacheable: true, snapshotId: current.id });
  expect(body.meta.request_id).toBe("req-1");
});

test.each(questions)("%s notes every section that it reads: age, warnings and tag depend on them", async (_op, question) => {
  const { watched, read } = watchedGeneration(madeGeneration(world));
  current = watched;
  const { reply } = await question();
  const noted = [...reply.etag.matchAll(/(?<=^|,)[a-z_]+(?=:)/g)].map(([name]) => name);
  expect(read.size).toBeGreaterThan(0);
  expect([...read].filter((name) => !noted.includes(name))).toEqual([]);
});

test("the record is the one asked for, filters and all", async () => {
  current = madeGeneration(world);
  expect((await askAsn(3333, { family: 6 })).body.prefixes.items.map((item: { prefix: string }) => item.prefix)).toEqual([
    "2a00:1::/32",
    "2a00:1:1::/48",
  ]);
  expect((await askAsn(3333, { rpki: "valid" })).body.prefixes.total).toBe(1);
  const { body } = await ask("prefix", { prefix: prefix("11.1.1.0/24"), limit: 5 });
  expect(body).toMatchObject({ prefix: "11.1.1.0/24", announced: false, match: { prefix: "11.1.0.0/16", type: "covering" } });
});

test("a query that is not canonical fails alone and is told to the operator only", async () => {
  current = madeGeneration(world);
  failures.length = 0;
  const replies = await Promise.all([
    send("asn", "AS3333"),
    send("asn", encodeQuestion("asn", { asn: 1, family: null, rpki: null, aggregate: false, limit: 1 })),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([500, 200]);
  expect(failures).toEqual(["asn"]);
});

test("an operation that this release does not have fails alone, as a newer gateway asks it", async () => {
  current = madeGeneration(world);
  const query = encodeQuestion("search", { q: "ripe", limit: 10 });
  const [unknown, known] = await Promise.all([send("op-255", query), send("search", query)]);
  expect([unknown.status, known.status]).toEqual([500, 200]);
  expect(JSON.parse(Buffer.from(unknown.body).toString()).code).toBe("internal_error");
});

test("a search as lines has a title in each", async () => {
  current = madeGeneration(world);
  const show = async (format: Format) =>
    Buffer.from((await send("search", encodeQuery("search", { q: "as 3333", limit: 10 }, { ...wholeRecord, format }))).body).toString();
  expect(await show("text")).toBe("AS3333 RIPE-NCC-AS\n");
  expect(await show("csv")).toMatch(/^type,match,title,subtitle,link\r\nasn,exact,AS3333 RIPE-NCC-AS,[^,]*,\/api\/v1\/asn\/AS3333\r\n$/);
});

test("the first page of an AS with very many prefixes stays bounded, and says what it leaves out", async () => {
  const many = 6_000;
  const routes = Array.from({ length: many }, (_, index) => route(`20.${index >> 8}.${index & 0xff}.0/24`, [3333, 10]));
  current = madeGeneration({ ...world, routes: madeRoutes(routes) });
  for (const [limit, most] of [
    [100, 100],
    [1_000, 1_000],
  ] as const) {
    const { reply, body } = await askAsn(3333, { limit });
    expect(body.prefixes).toMatchObject({ total: many, limit, next_cursor: expect.any(String) });
    expect(body.prefixes.items).toHaveLength(most);
    expect(body.counts.ipv4.prefixes).toBe(many);
    expect(body.meta.warnings).toContainEqual({ code: "truncated", detail: `prefixes shows ${limit} of ${many}` });
    // An item takes less than 120 bytes, and nothing else in the record grows with the AS.
    expect(reply.body.length).toBeLessThan(4_000 + most * 120);
  }
  const inside = await ask("prefix", { prefix: prefix("20.0.0.0/8"), limit: 100 });
  expect(inside.body.more_specifics).toMatchObject({ count: many });
  expect(inside.body.more_specifics.items).toHaveLength(100);
});

test("a pinned snapshot answers while it is here; one to come is data_not_ready, one that is gone cannot come back", async () => {
  current = madeGeneration(world);
  const query = encodeQuestion("prefix", { prefix: prefix("193.0.0.0/21"), limit: 10 });
  const item = { op: "prefix", query, requestId: "req-1", traceparent: null, budgetMs: 30_000 };
  const pins = [current.id, "20990101T000000Z-00000000", "20090101T000000Z-00000000"];
  const replies = await Promise.all(pins.map((pin) => messaging.request("asn-prefix", "batch", item, pin)));
  expect(replies.map(({ status }) => status)).toEqual([200, 503, 410]);
  expect(replies[0]?.snapshotId).toBe(current.id);
  const codes = replies.slice(1).map(({ body }) => JSON.parse(Buffer.from(body).toString()).code);
  expect(codes).toEqual(["data_not_ready", "cursor_expired"]);
});

describe("pages of a list", () => {
  /** 700 /24s in pairs that merge, each under a /16 of the same AS, and some of IPv6. */
  const many = madeRoutes([
    ...Array.from({ length: 700 }, (_, index) => route(`20.${index >> 8}.${index & 0xff}.0/24`, [3333, 10])),
    route("20.0.0.0/8", [3333, 10]),
    ...Array.from({ length: 90 }, (_, index) => route(`2a00:${index + 1}::/32`, [3333, 10])),
  ]);
  const big = madeGeneration({ ...world, routes: many });
  const asn: Questions["asn"] = { asn: 3333, family: null, rpki: null, aggregate: false, limit: 1_000 };
  const inside: Questions["prefix"] = { prefix: prefix("20.0.0.0/8"), limit: 1_000 };
  const itemsOf = (body: Record<string, { items: { prefix: string }[] }>, list: string) => body[list]?.items ?? [];

  /** Every page of a list, by the cursors in the records. */
  async function pages<O extends "asn" | "prefix">(op: O, question: Questions[O], list: "prefixes" | "more_specifics") {
    current = big;
    const all: unknown[][] = [];
    let view: View = wholeRecord;
    for (;;) {
      const { body } = answered(await send(op, encodeQuery(op, question, view)));
      all.push(itemsOf(body, list));
      const cursor: string | null = body[list].next_cursor;
      if (cursor === null) return all;
      const place = decodeCursor(op, question, cursor);
      expect(place?.snapshotId).toBe(big.id);
      view = { ...wholeRecord, page: place?.page ?? null };
    }
  }

  const answered = (reply: ReplyItem) => ({ reply, body: JSON.parse(Buffer.from(reply.body).toString()) });

  test.each([
    ["prefixes", "asn", asn, 99],
    ["prefixes of one family", "asn", { ...asn, family: 6 }, 40],
    ["merged prefixes", "asn", { ...asn, aggregate: true }, 13],
    ["prefixes of one state", "asn", { ...asn, rpki: "invalid" }, 500],
    ["more specifics", "prefix", inside, 64],
  ] as const)("%s: put together they are the whole list, each item once", async (_what, op, question, limit) => {
    const list = op === "asn" ? "prefixes" : "more_specifics";
    const whole = (await pages(op, question as never, list)).flat();
    const parts = await pages(op, { ...question, limit } as never, list);
    expect(parts.flat()).toEqual(whole);
    expect(parts).toHaveLength(Math.max(1, Math.ceil(whole.length / limit)));
    expect(whole.length).toBeGreaterThan(limit);
  });

  test("a page behind the end is empty, and the last one", async () => {
    current = big;
    const { body } = answered(await send("asn", encodeQuery("asn", asn, { ...wholeRecord, page: { list: "prefixes", start: 5_000 } })));
    expect(body.prefixes).toMatchObject({ items: [], total: 791, next_cursor: null });
  });

  test("the tag tells snapshots apart where the answer has a cursor, and only there", async () => {
    const etagOf = async (limit: number) => (await send("asn", encodeQuestion("asn", { ...asn, limit }))).etag;
    current = big;
    expect(await etagOf(10)).toContain(big.id);
    expect(await etagOf(1_000)).not.toContain(big.id);
  });

  test("as lines: the list alone, and where it goes on", async () => {
    current = big;
    const show = async (format: Format, limit = 2) => {
      const reply = await send("asn", encodeQuery("asn", { ...asn, limit }, { ...wholeRecord, format }));
      return [Buffer.from(reply.body).toString(), reply.next];
    };
    expect(await show("text")).toEqual(["20.0.0.0/8\n20.0.0.0/24\n", 2]);
    expect(await show("csv")).toEqual([
      "prefix,visibility_ratio,rpki_state,is_moas\r\n20.0.0.0/8,1,invalid,false\r\n20.0.0.0/24,1,invalid,false\r\n",
      2,
    ]);
    expect(await show("ndjson", 1)).toEqual(['{"prefix":"20.0.0.0/8","visibility_ratio":1,"rpki_state":"invalid","is_moas":false}\n', 1]);
    const [lines, next] = await show("text", 1_000);
    expect([String(lines).split("\n").length, next]).toEqual([792, undefined]);
    const reply = await send("prefix", encodeQuery("prefix", { ...inside, limit: 1 }, { ...wholeRecord, format: "csv" }));
    expect(Buffer.from(reply.body).toString()).toBe(
      "prefix,origins,as_set_origins,rpki_state,visibility_ratio\r\n20.0.0.0/24,3333,,invalid,1\r\n",
    );
  });

  test("as lines, a list that is not known is a problem, and no empty list", async () => {
    current = madeGeneration({ allocations: world.allocations });
    for (const format of ["text", "csv", "ndjson"] as const) {
      const reply = await send("asn", encodeQuery("asn", asn, { ...wholeRecord, format }));
      expect([reply.status, reply.counted, reply.cacheable]).toEqual([503, false, false]);
      const detail = "`prefixes` is unknown, because the data that it comes from are not loaded.";
      expect(JSON.parse(Buffer.from(reply.body).toString())).toEqual({ code: "data_not_ready", detail });
    }
  });

  test("only the members that are wanted, and meta", async () => {
    current = big;
    const fields = ["asn", "counts"];
    const { body } = answered(await send("asn", encodeQuery("asn", asn, { ...wholeRecord, fields })));
    expect(Object.keys(body)).toEqual(["asn", "counts", "meta"]);
  });
});
