/** The pages for operators: on the operator listener, and nowhere else. */

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type OperatorHarness, startOperatorHarness } from "../support/operator.ts";

let harness: OperatorHarness;
beforeAll(async () => {
  harness = await startOperatorHarness();
});
afterAll(() => harness.stop());

const open = (path: string) => harness.ask("GET", path, { key: null });
const filesOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path ?? "");
const pages = ["/keys", "/keys/7Q9M3W8K", "/sources", "/runs/r1", "/snapshots", "/usage", "/audit", "/plans", "/observations"];

test("every page is the same HTML, which runs only our own files and needs no key to be shown", async () => {
  const { body } = await open("/");
  expect(body).toContain("Netfacts operator");
  expect(body).not.toMatch(/https?:|<style|<script>|\sstyle=/);
  for (const path of ["/", ...pages, "/keys/", "/sources/", "/plans/"]) {
    const answer = await open(path);
    expect([path, answer]).toMatchObject([path, { status: 200, body, headers: { "cache-control": "no-cache" } }]);
    const policy = String(answer.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(answer.headers).not.toHaveProperty("set-cookie");
  }
  expect((await harness.ask("POST", "/keys")).status).toBe(405);
});

test("a program that takes a page for a route of the operator API is refused", async () => {
  expect(await harness.ask("GET", "/keys")).toMatchObject({ status: 404, body: expect.stringContaining("route_not_found") });
});

test("the public listener has neither the pages for operators nor their files, and the operator listener not the public ones", async () => {
  const files = filesOf((await open("/")).body);
  const publicFiles = filesOf((await harness.gateway.request("GET", "/")).body);
  expect([files.length, publicFiles.length]).toEqual([2, 2]);
  for (const file of files)
    expect(await open(file)).toMatchObject({ status: 200, headers: { "cache-control": "public, max-age=31536000, immutable" } });
  for (const path of [...pages, ...files, "/operator.html", "/console/operator.html", "/console/operator/operator.html"])
    expect([path, (await harness.gateway.request("GET", path)).status]).toEqual([path, 404]);
  for (const path of [...publicFiles, "/address/193.0.6.139", "/bulk", "/operator.html", "/console/operator.html"])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
});

test("public scripts hold nothing of the pages for operators", () => {
  const site = resolve(import.meta.dirname, "../../../console/dist/site");
  const scripts = readdirSync(site).filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(5);
  for (const name of scripts)
    expect([name, readFileSync(resolve(site, name), "utf8")]).toEqual([name, expect.not.stringContaining("/admin/v1")]);
});

test("with CONSOLE=false, / of the operator listener leads to the reference page, and no page is there", async () => {
  const without = await startOperatorHarness({ CONSOLE: false });
  try {
    const answer = await fetch(`${without.url}/`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, "/docs"]);
    expect((await without.ask("GET", "/keys")).status).toBe(404);
  } finally {
    await without.stop();
  }
});
