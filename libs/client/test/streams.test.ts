/** Pages and batches as streams. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type BatchQuestion, NetfactsClient } from "@netfacts/client";
import { examples } from "@netfacts/contracts";
import { type Answering, json, problem, type ScriptedServer, startScriptedServer } from "./scripted-server.ts";

let server: ScriptedServer;
let client: NetfactsClient;
beforeAll(async () => {
  server = await startScriptedServer();
  client = new NetfactsClient({ url: server.url, key: "nf_test_key" });
});
afterAll(() => server.stop());

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const asnPage = (names: string[], next: string | null) =>
  json({
    ...examples.asn,
    prefixes: {
      ...examples.asn.prefixes,
      items: names.map((prefix) => ({ ...examples.asn.prefixes.items[0], prefix })),
      next_cursor: next,
    },
  });

test("prefixes of an AS come over all pages, with the same question", async () => {
  server.script(asnPage(["192.0.2.0/24", "198.51.100.0/24"], "AQ"), asnPage(["203.0.113.0/24"], null));
  const items = await all(client.asnPrefixes("AS3333", { family: 4, limit: 2 }));
  expect(items.map(({ prefix }) => prefix)).toEqual(["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"]);
  expect(server.asked.map(({ url }) => url)).toEqual([
    "/api/v1/asn/AS3333?family=4&limit=2",
    "/api/v1/asn/AS3333?family=4&limit=2&cursor=AQ",
  ]);
});

test("a page that is gone is thrown: another version's pages would not fit", async () => {
  server.script(asnPage(["192.0.2.0/24"], "AQ"), problem(410, "cursor_expired"));
  await expect(all(client.asnPrefixes(3333))).rejects.toMatchObject({ code: "cursor_expired" });
});

test("a reader that stops asks for no further page", async () => {
  server.script(asnPage(["192.0.2.0/24"], "AQ"));
  for await (const _ of client.asnPrefixes(3333)) break;
  expect(server.asked).toHaveLength(1);
});

/** Answers each line with its index, as the gateway does. */
const echoBatch: Answering = (response, { body }) => {
  const lines = body.trimEnd().split("\n");
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  for (const [index, line] of lines.entries())
    response.write(`${JSON.stringify({ index, question: JSON.parse(line), record: examples.ip })}\n`);
  response.end(`${JSON.stringify({ count: lines.length, failed_count: 0, meta: { ...examples.ip.meta, snapshots: [] } })}\n`);
};

function* questions(count: number): Generator<BatchQuestion> {
  for (let index = 0; index < count; index++) yield { kind: "ip", value: `192.0.2.${index}` };
}

test("a batch of any length goes in blocks, and its results come in order", async () => {
  server.script(echoBatch);
  const results = await all(client.batch(questions(25), { blockSize: 10 }));
  expect(results.map(({ index, question }) => [index, question?.value])).toEqual(
    [...questions(25)].map((question, index) => [index, "value" in question ? question.value : null]),
  );
  expect(server.asked.map(({ body }) => body.trimEnd().split("\n").length)).toEqual([10, 10, 5]);
});

test("questions are read no further ahead than a block", async () => {
  server.script(echoBatch);
  let read = 0;
  const counted = function* () {
    for (const question of questions(100)) {
      read++;
      yield question;
    }
  };
  for await (const _ of client.batch(counted(), { blockSize: 10 })) break;
  expect(read).toBe(10);
});

test("a block whose answer broke off is asked again, and no result comes twice", async () => {
  const brokenOff: Answering = (response, { body }) => {
    const [line = "{}"] = body.split("\n");
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write(`${JSON.stringify({ index: 0, question: JSON.parse(line), record: examples.ip })}\n`, () => response.destroy());
  };
  server.script(brokenOff, echoBatch);
  const results = await all(client.batch(questions(3)));
  expect(results.map(({ index }) => index)).toEqual([0, 1, 2]);
});

test("an answer without its summary is no whole answer", async () => {
  server.script((response) => response.writeHead(200, { "content-type": "application/x-ndjson" }).end());
  const once = new NetfactsClient({ url: server.url, retry: { attemptsMax: 1 } });
  await expect(all(once.batch(questions(1)))).rejects.toThrow("ended after 0 of 1 results");
});

test("letters that are cut between two pieces are whole again", async () => {
  const line = Buffer.from(
    `${JSON.stringify({ index: 0, question: { kind: "ip", value: "192.0.2.0" }, problem: { detail: "żółć 🇳🇱" } })}\n`,
  );
  server.script(async (response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    for (const byte of line) {
      response.write(Buffer.of(byte));
      if (byte > 127) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end(`${JSON.stringify({ count: 1, failed_count: 1, meta: {} })}\n`);
  });
  const [result] = await all(client.batch(questions(1)));
  expect(result?.problem?.detail).toBe("żółć 🇳🇱");
});
