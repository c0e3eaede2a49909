/** The files of the console as the gateway serves them. */

import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

const open = (url: string, headers: Record<string, string> = {}) => harness.request("GET", url, headers);
const filesOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path ?? "");

test("every page is the same HTML, which is asked for again each time and runs only our own files", async () => {
  const { body } = await open("/");
  for (const path of [
    "/",
    "/address/193.0.6.139",
    "/prefix/2001:db8::/32",
    "/as/AS3333",
    "/validity/AS1/1.0.0.0/8",
    "/reverse-dns/::1",
    "/data",
    "/bulk",
    "/search?q=ripe",
    "/compare/AS1,AS2",
    "/key",
    "/validity",
    "/data/",
    "/bulk/",
    "/search/?q=ripe",
    "/compare/",
    "/key/",
  ]) {
    const answer = await open(path);
    expect([path, answer]).toMatchObject([
      path,
      { status: 200, body, headers: { "cache-control": "no-cache", "content-type": "text/html; charset=utf-8" } },
    ]);
    const policy = String(answer.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'");
    expect(policy).not.toContain("unsafe");
  }
  expect(body).not.toMatch(/https?:|<style|<script>|\sstyle=/);
  const { etag = "" } = (await open("/")).headers;
  expect((await open("/data", { "if-none-match": etag })).status).toBe(304);
  expect((await harness.request("POST", "/", {})).status).toBe(405);
});

test("metrics count all files as one route, as each build of the console has other names", async () => {
  for (const path of filesOf((await open("/")).body)) await open(path);
  const text = await harness.registry.text();
  expect(new Set(text.match(/route="\/console\/[^"]*"/g))).toEqual(new Set(['route="/console/:file"']));
});

describe("a program that takes the path of a page for a route of the API", () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

  test.each([
    ["/validity?asn=3333&prefix=193.0.0.0/21", "/api/v1/validity"],
    ["/validity/AS3333/193.0.0.0/21", "/api/v1/validity?asn=AS3333&prefix=193.0.0.0/21"],
    ["/prefix/193.0.0.0/21", "/api/v1/prefix/193.0.0.0/21"],
    ["/as/3333", "/api/v1/asn/3333"],
    ["/search?q=ripe", "/api/v1/search"],
    ["/bulk", null],
  ])("%s is no page for it, and means %s", async (path, meant) => {
    for (const answer of [
      await harness.get(path),
      await open(path, { accept: "application/json" }),
      await open(path, { accept: "application/json, text/plain, */*" }),
    ]) {
      expectProblem(answer, "route_not_found");
      expect(JSON.parse(answer.body).errors?.[0].suggestion ?? null).toBe(meant);
    }
    const bare = await open(path, { accept: "*/*" });
    expect(bare).toMatchObject({ status: 200, headers: { vary: "Accept, Accept-Encoding, Authorization" } });
  });

  test("its key is checked and charged", async () => {
    expect((await harness.get("/as/3333")).headers["x-ratelimit-remaining"]).toBeDefined();
    expectProblem(await open("/as/3333", { authorization: "Bearer nf_live_x" }), "invalid_api_key");
  });

  test("a browser behind a proxy that adds credentials gets the page", async () => {
    expect((await open("/as/3333", { accept: browser, authorization: "Bearer of-the-proxy" })).status).toBe(200);
  });
});

test("files have the name of their content and may be kept for ever; unknown ones are problems", async () => {
  const files = filesOf((await open("/")).body);
  expect(files).toHaveLength(2);
  const lazy = readdirSync(resolve(import.meta.dirname, "../../../console/dist/site"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => `/console/${name}`);
  expect(lazy.length).toBeGreaterThan(5);
  for (const file of [...files, ...lazy]) {
    expect(file).toMatch(/-[\w-]{8}\.(js|css)$/);
    expect(await open(file)).toMatchObject({ status: 200, headers: { "cache-control": "public, max-age=31536000, immutable" } });
  }
  for (const path of [
    "/console/",
    "/console/index.html",
    "/console/built.json",
    "/console/../package.json",
    "/console/%2e%2e/%2e%2e/package.json",
  ])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
});

test("files are sent packed to those who take it", async () => {
  for (const path of ["/", ...filesOf((await open("/")).body)]) {
    const plain = (await open(path)).body;
    for (const [accepted, coding, unpack] of [
      ["gzip, br", "br", brotliDecompressSync],
      ["gzip", "gzip", gunzipSync],
    ] as const) {
      const answer = await harness.gateway.http.inject({ url: path, headers: { "accept-encoding": accepted } });
      expect(answer.headers).toMatchObject({ "content-encoding": coding, vary: expect.stringContaining("Accept-Encoding") });
      expect(unpack(answer.rawPayload).toString()).toBe(plain);
    }
  }
});

test("with CONSOLE=false, / leads to the reference page, and no page is there", async () => {
  const without = await startGateway({ config: { CONSOLE: false } });
  try {
    expect(await without.request("GET", "/")).toMatchObject({ status: 302, headers: { location: "/docs", "cache-control": "no-store" } });
    expect((await without.request("GET", "/data")).status).toBe(404);
  } finally {
    await without.stop();
  }
});
