/** The client against a whole installation with the sample data: every call, its examples, and the same in a browser. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type BatchQuestion, type BatchResult, NetfactsClient } from "@netfacts/client";
import { findChromium, startChromium } from "../support/chromium.ts";
import { compileCache } from "../support/compile-cache.ts";
import { toolOrNotRun } from "../support/debian.ts";
import { endAll, removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";
import { withSamples } from "../support/sample-snapshot.ts";

const root = resolve(import.meta.dirname, "../..");
const source = join(root, "libs/client/src");
const browserTool = toolOrNotRun(await findChromium(), "Chromium", 1);
const inBrowser = browserTool === null ? test.skip : test;

let pages: Server;
let pageOrigin: string;
let running: Standalone;
let client: NetfactsClient;
beforeAll(async () => {
  // A page of somebody else, with the client as browsers load it: the sources without their types.
  pages = createServer((request, response) => {
    const path = request.url ?? "/";
    if (!path.endsWith(".ts")) return response.setHeader("content-type", "text/html").end("<!doctype html><title>a page</title>");
    const code = stripTypeScriptTypes(readFileSync(join(source, path.replaceAll("..", "")), "utf8"));
    return response.setHeader("content-type", "text/javascript").end(code);
  }).listen(0, "127.0.0.1");
  await once(pages, "listening");
  pageOrigin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  running = await startStandalone(await withSamples(temporaryFolder()), { CORS_ORIGINS: pageOrigin, RESOLVERS: "127.0.0.1:9" });
  client = new NetfactsClient({ url: running.url, key: running.key });
});
afterAll(async () => {
  pages.close();
  await endAll();
  removeFolders();
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

test("every call gets its record", async () => {
  expect(await client.ip("193.0.6.139")).toMatchObject({ ip: "193.0.6.139", routing: { prefix: "193.0.0.0/21" } });
  expect(await client.routing("193.0.6.139", { include: ["upstreams", "more_specifics"], limit: 5 })).toMatchObject({
    match: { prefix: "193.0.0.0/21" },
  });
  expect(await client.asn("AS3333", { family: 4, limit: 1 })).toMatchObject({ asn: 3333, prefixes: { limit: 1 } });
  expect(await client.prefix("193.0.0.0/21")).toMatchObject({ match: { type: "exact" } });
  expect(await client.validity(3333, "193.0.0.0/21")).toMatchObject({ route: { asn: 3333 } });
  expect(await client.asnVrps(3333, { announced: true, family: 4, limit: 1 })).toMatchObject({ asn: 3333, vrps: { limit: 1 } });
  const vrps: string[] = [];
  for await (const { prefix } of client.vrpsOfAs(3333, { limit: 3 })) vrps.push(prefix);
  expect(vrps).toHaveLength(7);
  expect(await client.me()).toMatchObject({ key: { display: expect.any(String) } });
  expect(await client.status()).toMatchObject({ ready: true });
  expect(client.limits?.rate.limit).toBeGreaterThan(0);
  await client.asn("AS3333", { limit: 201 });
  expect(client.limits?.cost).toBe(3);
  await expect(
    new NetfactsClient({ url: running.url, key: running.key, retry: { attemptsMax: 1 } }).reverseDns("193.0.6.139"),
  ).rejects.toMatchObject({
    code: "resolver_unavailable",
  });
});

test("pages of an AS are the whole list, each prefix once", async () => {
  const whole = await client.asn("AS3741", { limit: 1_000 });
  const paged = await all(client.asnPrefixes("AS3741", { limit: 7 }));
  expect(paged.length).toBeGreaterThan(7);
  expect(paged).toEqual(whole.prefixes.items);
});

test("pages of more specifics are the whole list", async () => {
  const paged = await all(client.moreSpecifics("196.0.0.0/8", { limit: 500 }));
  const { more_specifics } = await client.prefix("196.0.0.0/8", { limit: 1 });
  expect(more_specifics.count).toBeGreaterThan(500);
  expect(paged).toHaveLength(more_specifics.count ?? -1);
  expect(new Set(paged.map(({ prefix }) => prefix)).size).toBe(more_specifics.count);
});

test("a batch answers each question in its place", async () => {
  const questions: BatchQuestion[] = [
    { kind: "ip", value: "193.0.6.139" },
    { kind: "asn", value: "AS3333" },
    { kind: "ip", value: "nowhere" },
    { kind: "validity", asn: 3333, prefix: "193.0.0.0/21" },
    { kind: "ip", value: "193.0.6.139", fields: ["routing", "rpki"] },
  ];
  const results: BatchResult[] = await all(client.batch(questions, { blockSize: 3 }));
  expect(results.map(({ index, problem, record }) => [index, problem?.code ?? "", record !== undefined])).toEqual([
    [0, "", true],
    [1, "", true],
    [2, "invalid_ip", false],
    [3, "", true],
    [4, "", true],
  ]);
  expect(Object.keys(results[4]?.record ?? {})).toEqual(["routing", "rpki", "meta"]);
});

/** Runs an example as its reader would. @returns what it prints. */
async function runExample(name: string, args: readonly string[], input = ""): Promise<string> {
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--disable-warning=ExperimentalWarning", join(root, "libs/client/examples", name), ...args],
    {
      env: { ...compileCache, NETFACTS_URL: running.url, NETFACTS_KEY: running.key },
    },
  );
  child.stdin.end(input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  expect([child.exitCode, err]).toEqual([0, ""]);
  return out;
}

test("the examples run", async () => {
  expect(await runExample("one-address.ts", ["193.0.6.139"])).toMatch(
    /^ripencc registered it, 193\.0\.0\.0\/21 covers it, RPKI says \w+\n\d+ requests are left/,
  );
  expect((await runExample("all-prefixes.ts", ["AS3333"])).split("\n")).toContainEqual(expect.stringMatching(/^193\.0\.0\.0\/21 /));
  expect(await runExample("many-addresses.ts", [], "193.0.6.139\nnowhere\n")).toBe("193.0.6.139 193.0.0.0/21\nnowhere invalid_ip\n");
  expect(await runExample("when-refused.ts", ["193.0.6.139/21"])).toBe("prefix_has_host_bits 193.0.0.0/21\n");
});

inBrowser("a page of another origin, which is allowed, asks, pages and sends a batch", async () => {
  if (browserTool === null) return;
  const browser = await startChromium(browserTool);
  try {
    const page = await browser.context.newPage();
    await page.goto(pageOrigin);
    const told = await page.evaluate(
      async ({ url, key, origin }) => {
        const { NetfactsClient: Client } = (await import(`${origin}/index.ts`)) as typeof import("@netfacts/client");
        const netfacts = new Client({ url, key });
        const { routing } = await netfacts.ip("193.0.6.139");
        const prefixes: string[] = [];
        for await (const { prefix } of netfacts.asnPrefixes(3333, { limit: 2 })) prefixes.push(prefix);
        const results: (string | undefined)[] = [];
        for await (const { problem } of netfacts.batch([
          { kind: "ip", value: "::1" },
          { kind: "ip", value: "x" },
        ]))
          results.push(problem?.code);
        return { prefix: routing.prefix, prefixes: prefixes.length, results, rate: netfacts.limits?.rate.limit };
      },
      { url: running.url, key: running.key, origin: pageOrigin },
    );
    expect(told).toEqual({
      prefix: "193.0.0.0/21",
      prefixes: (await client.asn(3333)).prefixes.total,
      results: [undefined, "invalid_ip"],
      rate: client.limits?.rate.limit,
    });
    expect(told.prefixes).toBeGreaterThan(2);
  } finally {
    await browser.stop();
  }
});
