/** Bodies that are too long or of another type, and a store that does not answer. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Store, StoreError } from "@netfacts/storage";
import { ask, audit, keys, plans } from "../support/admin.ts";
import { type HttpAnswer, startGateway } from "../support/gateway.ts";
import { type OperatorHarness, runsPath, startOperatorHarness, uploadPath } from "../support/operator.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange } from "../support/raw.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

const send = (headers: Record<string, string>, body: string) => harness.ask("POST", keys, { headers, body });
const good = JSON.stringify({ label: "a", scopes: ["ip"] });

provokes("payload_too_large", "a body that says it is longer than any key", () =>
  send({ "content-type": "application/json" }, JSON.stringify({ label: "x".repeat(70_000) })),
);
provokes("payload_too_large", "one that only turns out to be", async () => {
  const chunk = `${(20_000).toString(16)}\r\n${"x".repeat(20_000)}\r\n`;
  const head = `POST ${keys} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const [answer] = await exchange(harness.url, `${head}${chunk.repeat(4)}0\r\n\r\n`);
  if (answer === undefined) throw new Error("no answer");
  return answer;
});
provokes("unsupported_media_type", "a form", () => send({ "content-type": "application/x-www-form-urlencoded" }, "label=a"));
provokes("unsupported_media_type", "JSON in another encoding", () => send({ "content-type": "application/json; charset=utf-16" }, good));
provokes("unsupported_media_type", "what is packed", () => send({ "content-type": "application/json", "content-encoding": "gzip" }, good));
test("the encoding that a packed body may have is told", async () => {
  const { headers } = await send({ "content-type": "application/json", "content-encoding": "gzip" }, good);
  expect(headers["accept-encoding"]).toBe("identity");
  expect((await send({ "content-type": "application/json", "content-encoding": "Identity" }, good)).status).toBe(201);
});
provokes("unsupported_media_type", "a body without a type", async () => {
  const text = `POST ${keys} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.adminKey}\r\nConnection: close\r\nContent-Length: ${good.length}\r\n\r\n${good}`;
  const [answer] = await exchange(harness.url, text);
  if (answer === undefined) throw new Error("no answer");
  return answer;
});

test.each([
  ["of the gateway", keys, "csv"],
  ["of the gateway", keys, "application/json, text/csv"],
  ["of ingest", uploadPath, "csv"],
  ["of ingest", uploadPath, "text csv"],
  ["of ingest", uploadPath, "application/x-ndjson, text/csv"],
  ["of ingest", runsPath, "json"],
])("a content type that is none is refused as such at a route %s (%s, %s)", async (_of, path, type) => {
  const answer = await harness.ask("POST", path, { headers: { "content-type": type }, body: good });
  expect(expectProblem(answer, "unsupported_media_type").detail).toContain("Content-Type");
});

test("bytes that are not UTF-8 are no text", async () => {
  const answer = await fetch(harness.url + keys, {
    method: "POST",
    headers: { authorization: `Bearer ${harness.adminKey}`, "content-type": "application/json" },
    body: Buffer.from(good.replace("a", "ÿ"), "latin1"),
  });
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: "invalid_body", detail: "The body is not UTF-8." }]);
});

test("upstream_unavailable: a store that is away, and nothing of it is told", async () => {
  const away = () => Promise.reject(new StoreError("unavailable", "mongodb://db.example/netfacts", "no answer"));
  let isAway = false;
  const failing = <T extends object>(repository: T, names: readonly (keyof T)[]): T =>
    Object.assign(
      { ...repository },
      Object.fromEntries(
        names.map((name) => [
          name,
          (...values: unknown[]) => (isAway ? away() : (repository[name] as (...all: unknown[]) => unknown)(...values)),
        ]),
      ),
    );
  const storeSeen = (store: Store): Store => ({
    ...store,
    keys: failing(store.keys, ["insert", "page", "update"]),
    plans: failing(store.plans, ["list", "put", "delete"]),
    audit: failing(store.audit, ["append", "list"]),
  });
  const gateway = await startGateway({ config: { OPERATOR_PORT: 0 }, storeSeen });
  const authorization = `Bearer ${await gateway.key({ scopes: ["admin"] })}`;
  const limits = JSON.stringify({ rate: { limit: 5, window_seconds: 1 }, month: { limit: 5 } });
  await gateway.gateway.listen();
  const request = async (method: string, path: string, body?: string): Promise<HttpAnswer> => {
    const headers = { authorization, ...(body !== undefined && { "content-type": "application/json" }) };
    const url = `${gateway.gateway.operator?.listeningOrigin}${path}`;
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  };
  expect((await request("GET", keys)).status).toBe(200);
  isAway = true;
  const answers = [
    await request("GET", keys),
    await request("POST", keys, good),
    await request("PUT", `${plans}/team`, limits),
    await request("GET", audit),
  ];
  isAway = false;
  const left = await gateway.store.keys.list();
  await gateway.stop();
  for (const answer of answers) {
    expectProblem(answer, "upstream_unavailable");
    expect(answer.body).not.toContain("db.example");
  }
  expect(left).toHaveLength(1);
});

test("a key that is not valid in the database is an error that says what to correct", async () => {
  const explanation = 'document "7Q9M3W8K" of keys is not valid: scopes must be a list of texts, but is missing';
  const storeSeen = (store: Store): Store => ({
    ...store,
    keys: {
      ...store.keys,
      async find(id) {
        if (id === "7Q9M3W8K") throw new StoreError("invalid", "mongodb://db.example:27017/netfacts", explanation);
        return store.keys.find(id);
      },
    },
  });
  const gateway = await startGateway({ config: { OPERATOR_PORT: 0 }, storeSeen });
  const authorization = `Bearer ${await gateway.key({ scopes: ["admin"] })}`;
  await gateway.gateway.listen();
  const answer = await fetch(`${gateway.gateway.operator?.listeningOrigin}${keys}/7Q9M3W8K`, { headers: { authorization } });
  const body = await answer.text();
  await gateway.stop();
  expectProblem({ status: answer.status, headers: Object.fromEntries(answer.headers), body }, "internal_error");
  expect(JSON.parse(body)).toMatchObject({ detail: `The ${explanation}. Correct it in the database.` });
});

test("who asks before sending is told to go on only with a key that may", async () => {
  const head = (key: string) =>
    `POST ${keys} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${good.length}\r\nConnection: close\r\n\r\n`;
  const [refused] = await exchange(harness.url, head(await harness.gateway.key()));
  expect(refused?.status).toBe(403);
  const [first, second] = await exchange(harness.url, head(harness.adminKey) + good);
  expect([first?.status, second?.status]).toEqual([100, 201]);
  const [other] = await exchange(harness.url, head(harness.adminKey).replace("100-continue", "patience") + good);
  expect(other?.status).toBe(201);
});

test("404 without a body is not held up by one", async () => {
  expectProblem(await ask(harness, "POST", `${keys}/00000000/enable`, { unread: true }), "key_not_found");
});
