/** The load of the fault tests must see every way of not being right, so each is planted here once, in a server that is none of ours. */

import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "@jest/globals";
import type { Generation } from "@netfacts/snapshot";
import { madeGeneration } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { madeWorld, worldQuestions } from "../load/worlds.ts";
import { FaultLoad, requestsPerSecond } from "./fault-load.ts";

const worlds = [madeGeneration(madeWorld(0)), madeGeneration(madeWorld(1))] as const;

/** What one world answers; `of` is the world that its `meta` names. */
function answer(path: string, world: Generation, of: number): string {
  const dns = /^\/reverse-dns\/(.*)$/.exec(path)?.[1];
  if (dns !== undefined) return JSON.stringify({ status: "ok", names: [{ name: `host-${dns.split(".").reverse().join("-")}.example` }] });
  const question = worldQuestions.find((one) => one.path === path);
  if (question === undefined) throw new Error(`nobody asks for ${path}`);
  const { text, sections } = question.record(world);
  return JSON.stringify({
    ...JSON.parse(text),
    meta: { data: Object.fromEntries(sections.map((name) => [name, { version: `world-${of}` }])) },
  });
}

function problem(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/problem+json", "x-request-id": "one", ...headers });
  response.end(JSON.stringify({ code, status, request_id: "one" }));
}

const planted: readonly { readonly sees: RegExp | "problem" | "hung"; react(response: ServerResponse, path: string): void }[] = [
  { sees: /the record is not of it/, react: (response, path) => response.end(answer(path, worlds[1], 0)) },
  { sees: /the connection broke/, react: (response) => response.destroy() },
  { sees: /500 internal_error is not documented/, react: (response) => problem(response, 500, "internal_error") },
  { sees: /503 data_not_ready is not documented/, react: (response) => problem(response, 503, "data_not_ready", { "retry-after": "5" }) },
  { sees: /502 without a problem/, react: (response) => response.writeHead(502).end("bad gateway") },
  { sees: /limits_unavailable without Retry-After/, react: (response) => problem(response, 503, "limits_unavailable") },
  { sees: "problem", react: (response) => problem(response, 503, "limits_unavailable", { "retry-after": "1" }) },
  { sees: "hung", react: () => undefined },
];

test("tells right answers, documented problems, wrong answers and requests without an end apart", async () => {
  let asked = 0;
  let faulty = false;
  const server = createServer((request, response) => {
    const path = request.url?.replace("/api/v1", "") ?? "";
    // Reverse DNS has no second world to mix in.
    if (!faulty || path.startsWith("/reverse-dns")) response.end(answer(path, worlds[0], 0));
    else planted[asked++ % planted.length]?.react(response, path);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const load = new FaultLoad([`http://127.0.0.1:${(server.address() as AddressInfo).port}`], { endless: "a", month: "b" });
  const tally = await load.meet({
    name: "planted",
    problems: ["limits_unavailable"],
    lastsMs: 1_000,
    make() {
      faulty = true;
    },
    mend() {
      faulty = false;
    },
  });
  await load.stop();
  server.close();

  // Of a second at the least.
  expect(tally.right).toBeGreaterThan(requestsPerSecond / 2);
  expect(tally.hung.length).toBeGreaterThan(0);
  expect([...tally.problems.keys()]).toEqual(["limits_unavailable"]);
  for (const { sees } of planted) if (sees instanceof RegExp) expect(tally.wrong).toContainEqual(expect.stringMatching(sees));
  expect(tally.requests).toBe(
    tally.right + tally.hung.length + tally.cut + tally.wrong.length + (tally.problems.get("limits_unavailable") ?? 0),
  );
});
