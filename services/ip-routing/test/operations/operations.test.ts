/** The service on the in-process bus: each operation, from its canonical query to its record or problem. */

import { afterAll, expect, test } from "@jest/globals";
import {
  encodeQuery,
  encodeQuestion,
  type OperationName,
  type OperationOf,
  operations,
  type Questions,
  wholeRecord,
} from "@netfacts/contracts";
import { createInProcessMessaging, type ReplyItem } from "@netfacts/messaging";
import type { Generation } from "@netfacts/snapshot";
import { Value } from "typebox/value";
import { madeGeneration } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { world } from "../../../../libs/snapshot/test/support/made-world.ts";
import { address, prefix } from "../../../../libs/snapshot/test/support/text.ts";
import { watchedGeneration } from "../../../../libs/snapshot/test/support/watched-generation.ts";
import { buildApp } from "../../src/app.ts";
import { IpAnswers } from "../../src/domain/ip-answers.ts";
import { answerIpTogether } from "../../src/operations/operations.ts";

const failures: { op: string; cause: unknown }[] = [];
let current: Generation | null = null;
/** Snapshots before it are not kept. */
const older = "20100101T000000Z-00000000";
const messaging = createInProcessMessaging();
const app = buildApp({
  messaging,
  dataset: { current: () => current, at: (id) => (id === current?.id ? current : id < older ? "gone" : "not_yet") },
  clock: { now: () => Date.parse("2026-11-21T09:00:02Z") },
  onFailure: ({ op }, cause) => failures.push({ op, cause }),
});
await app.start();
afterAll(async () => {
  await app.stop();
  await messaging.close();
});

const send = (op: string, query: string): Promise<ReplyItem> =>
  messaging.request("ip-routing", "single", { op, query, requestId: "req-1", traceparent: null, budgetMs: 30_000 });

async function ask<O extends OperationName>(op: O, question: Questions[O]) {
  const reply = await send(op, encodeQuestion(op, question));
  const body = JSON.parse(Buffer.from(reply.body).toString());
  if (reply.contentType === "json") expect([...Value.Errors(operations[op].record, body)]).toEqual([]);
  return { reply, body };
}

const ip = address("193.0.6.139");
const questions = Object.entries({
  ip: () => ask("ip", { ip }),
  routing: () => ask("routing", { ip, moreSpecifics: true, upstreams: true, limit: 10 }),
  validity: () => ask("validity", { asn: 3333, prefix: prefix("193.0.0.0/21") }),
  status: () => ask("status", {}),
} satisfies Readonly<Record<OperationOf<"ip-routing">, () => ReturnType<typeof ask>>>);

test.each(questions)("%s says that there are no data yet, and costs nothing", async (_op, question) => {
  current = null;
  const { reply, body } = await question();
  expect(reply).toMatchObject({ status: 503, contentType: "problem", counted: false, cacheable: false });
  expect(body.code).toBe("data_not_ready");
});

test.each(questions)("%s answers with a record of the contract that names its snapshot and request", async (_op, question) => {
  current = madeGeneration(world);
  const { reply, body } = await question();
  expect(reply).toMatchObject({ status: 200, contentType: "json", snapshotId: current.id });
  expect(reply.etag).not.toBe("");
  expect(body.meta.request_id).toBe("req-1");
});

test.each(questions)("%s notes every section that it reads: age, warnings and tag depend on them", async (op, question) => {
  const { watched, read } = watchedGeneration(madeGeneration(world));
  current = watched;
  const { reply } = await question();
  const noted = [...reply.etag.matchAll(/(?<=^|,)[a-z_]+(?=:)/g)].map(([name]) => name);
  // The status is of the manifest.
  expect(read.size > 0).toBe(op !== "status");
  expect([...read].filter((name) => !noted.includes(name))).toEqual([]);
});

test("an answer is of the generation that is in service when it is asked", async () => {
  current = madeGeneration(world);
  const before = await ask("ip", { ip });
  current = madeGeneration({ peersTotal: { ipv4: 10, ipv6: 10 } });
  const after = await ask("ip", { ip });
  expect([before.body.routing.announced, after.body.routing.announced]).toEqual([true, null]);
  expect(after.reply.etag).not.toBe(before.reply.etag);
});

test("the record is the one asked for, options and all", async () => {
  current = madeGeneration(world);
  const { body } = await ask("routing", { ip: address("11.1.9.9"), moreSpecifics: true, upstreams: false, limit: 1 });
  expect(body).toMatchObject({ ip: "11.1.9.9", match: { prefix: "11.1.0.0/16", type: "longest" }, more_specifics: { count: 1 } });
  const validity = await ask("validity", { asn: 200, prefix: prefix("11.1.0.0/16") });
  expect(validity.body).toMatchObject({ route: { asn: 200, prefix: "11.1.0.0/16" }, rpki: { state: "invalid", reason: "as" } });
});

test("a query that is not canonical, or an operation of another service, fails alone and is told to the operator only", async () => {
  current = madeGeneration(world);
  failures.length = 0;
  const replies = await Promise.all([
    send("ip", "193.0.6.139"),
    send("ip", "193.000.6.139"),
    send("asn", "3333|-|-|-|100"),
    send("ip", "::1"),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 500, 500, 200]);
  expect(JSON.parse(Buffer.from(replies[1].body).toString())).toEqual({
    code: "internal_error",
    detail: expect.not.stringContaining("193.000"),
  });
  expect(failures.map(({ op }) => op)).toEqual(["ip", "asn"]);
});

test("a frame of addresses and other questions answers each item, and a bad one fails alone", async () => {
  current = madeGeneration(world);
  failures.length = 0;
  const addresses = ["193.0.6.139", "12.0.0.1", "9.9.9.9", "2a00:1::1"];
  const replies = await Promise.all([
    ...addresses.map((text) => send("ip", text)),
    send("ip", "no address"),
    send("validity", encodeQuestion("validity", { asn: 3333, prefix: prefix("193.0.0.0/21") })),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 500, 200]);
  const bodies = replies.map(({ body }) => JSON.parse(Buffer.from(body).toString()));
  expect(bodies.slice(0, 4).map(({ ip: text }) => text)).toEqual(addresses);
  expect(bodies[5].route.asn).toBe(3333);
  expect(failures.map(({ op }) => op)).toEqual(["ip"]);
});

test("addresses of a frame are answered together, with `meta` and without it", async () => {
  current = madeGeneration(world);
  const texts = ["193.0.6.139", "12.0.0.1", "9.9.9.9", "2a00:1::1"];
  const views = [{}, { meta: false }, { fields: ["ip"] }].map((view) => ({ ...wholeRecord, ...view }));
  const queries = texts.flatMap((text) => views.map((view) => encodeQuery("ip", { ip: address(text) }, view)));
  const asked = { op: "ip", requestId: "req-1", traceparent: null, budgetMs: 30_000 };
  const answered: number[] = [];
  const left = answerIpTogether(new IpAnswers())(
    queries.map((query) => ({ ...asked, query })),
    { generation: current, nowMs: Date.parse("2026-11-21T09:00:02Z") },
    (index) => answered.push(index),
    (bytes) => Buffer.alloc(bytes),
  );
  expect(answered.sort((a, b) => a - b)).toEqual([0, 1, 3, 4, 6, 7, 9, 10]);
  expect(left).toEqual([2, 5, 8, 11]);
  const bodies = (await Promise.all(queries.map((query) => send("ip", query)))).map(({ body }) => JSON.parse(Buffer.from(body).toString()));
  for (const [index, body] of bodies.entries()) {
    const { meta, ...record } = bodies[index - (index % 3)];
    if (index % 3 === 1) expect(body).toEqual(record);
    if (index % 3 === 2) expect(body).toEqual({ ip: record.ip, meta });
  }
});

test("a pinned snapshot answers while it is here; one to come is data_not_ready, one that is gone cannot come back", async () => {
  current = madeGeneration(world);
  const query = "193.0.6.139";
  const item = { op: "ip", query, requestId: "req-1", traceparent: null, budgetMs: 30_000 };
  const pins = [current.id, "20990101T000000Z-00000000", "20090101T000000Z-00000000"];
  const replies = await Promise.all(pins.map((pin) => messaging.request("ip-routing", "batch", item, pin)));
  expect(replies.map(({ status }) => status)).toEqual([200, 503, 410]);
  expect(replies[0]?.snapshotId).toBe(current.id);
  const codes = replies.slice(1).map(({ body }) => JSON.parse(Buffer.from(body).toString()).code);
  expect(codes).toEqual(["data_not_ready", "cursor_expired"]);
});
