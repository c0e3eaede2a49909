/** The open pages: the OpenAPI document, the reference page and its files, and what each problem means. */

import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { errors, problemCodes } from "@netfacts/contracts";
import { publicDocument } from "@netfacts/contracts/openapi";
import { type Harness, startGateway } from "../support/gateway.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

const open = (url: string, headers: Record<string, string> = {}) => harness.request("GET", url, headers);

test("/openapi.json is the document, to anybody", async () => {
  const answer = await open("/openapi.json");
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json; charset=utf-8" } });
  expect(JSON.parse(answer.body)).toEqual(publicDocument());
});

test("each file that the reference page names is there, and its policy lets the page load it", async () => {
  const page = await open("/docs/reference");
  expect(page).toMatchObject({ status: 200, headers: { "content-type": "text/html; charset=utf-8", "x-content-type-options": "nosniff" } });
  expect(page.body).not.toMatch(/<script>|https?:/);
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? "");
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) expect([file, (await open(file)).status]).toEqual([file, 200]);
});

test("every page and file of the documentation site is there, and all that the pages load and link to", async () => {
  const site = resolve(import.meta.dirname, "../../../../docs/dist");
  const pages = globSync("**/*.html", { cwd: site }).map(
    (path) => `/docs/${path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`,
  );
  expect(pages.length).toBeGreaterThan(150);
  const found = new Map<string, string>();
  for (const path of pages) {
    const { status, body, headers } = await open(path);
    expect([path, status, headers["content-type"]]).toEqual([path, 200, "text/html; charset=utf-8"]);
    expect(String(headers["content-security-policy"])).not.toContain("unsafe");
    expect([path, /<style|<script>|\sstyle=|<!--/.exec(body.replaceAll(/<pre[\s\S]*?<\/pre>|<code>[\s\S]*?<\/code>/g, ""))]).toEqual([
      path,
      null,
    ]);
    for (const [, target = ""] of body.matchAll(/ (?:src|href)="(\/[^"]*)"/g)) found.set(target.replace(/#.*$/, ""), path);
  }
  for (const [target, page] of found) expect([page, target, (await open(target)).status]).toEqual([page, target, 200]);
  expect((await open("/docs/")).body).toBe((await open("/docs")).body);
});

test("a link of the documentation to a heading leads to one", async () => {
  const site = resolve(import.meta.dirname, "../../../../docs/dist");
  for (const path of globSync("**/*.html", { cwd: site }))
    for (const [, target = "", anchor = ""] of readFileSync(join(site, path), "utf8").matchAll(/ href="(\/docs\/[^"#]*)#([^"]+)"/g)) {
      const { body } = await open(target);
      if (!target.includes(".")) expect([path, target, body.includes(` id="${decodeURIComponent(anchor)}"`)]).toEqual([path, target, true]);
    }
});

test("the title of the reference is not that of the console", async () => {
  expect((await open("/docs/reference")).body).toContain("<title>Netfacts API</title>");
});

test("no heading has the id of another part of its page, or of another heading", () => {
  const site = resolve(import.meta.dirname, "../../../../docs/dist");
  for (const path of globSync("**/*.html", { cwd: site })) {
    const ids = [...readFileSync(join(site, path), "utf8").matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect([path, ids.filter((id, at) => ids.indexOf(id) < at)]).toEqual([path, []]);
  }
});

test("what is no page of the documentation is a problem", async () => {
  for (const path of [
    "/docs/nothing",
    "/docs/../package.json",
    "/docs/%2e%2e/package.json",
    "/docs/index.html",
    "/docs/built.json",
    "/docs//",
  ])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
  expect(await harness.request("POST", "/docs/concepts", {})).toMatchObject({ status: 405 });
});

test("pages run their own scripts only, and cannot be framed", async () => {
  for (const path of ["/docs", "/docs/operations/keys", "/docs/reference", "/docs/errors", "/docs/errors/rate_limit_exceeded"]) {
    const directives = String((await open(path)).headers["content-security-policy"]).split("; ");
    expect([path, directives]).toEqual([
      path,
      expect.arrayContaining(["default-src 'none'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]),
    ]);
  }
  // What is no page may be opened as one.
  expect((await open("/docs/page.css")).headers["content-security-policy"]).toBe("default-src 'none'; frame-ancestors 'none'");
});

test("every problem has a page that says what happened, what to do, and whether a retry helps", async () => {
  const index = await open("/docs/errors");
  for (const code of problemCodes) {
    expect(index.body).toContain(`href="/docs/errors/${code}"`);
    const { status, body } = await open(`/docs/errors/${code}`);
    expect([code, status]).toEqual([code, 200]);
    for (const part of ["What happened", "What to do", "Does a retry help?", String(errors[code].status)]) expect(body).toContain(part);
    expect(body).not.toContain("undefined");
  }
  expect((await open("/docs/errors/no_such_code")).status).toBe(404);
});

test("the type of a problem leads to its page", async () => {
  const { type } = JSON.parse((await harness.get("/api/v1/ip/nowhere")).body) as { type: string };
  expect((await open(type)).status).toBe(200);
});

test("pages are packed for those who take it, and not sent again to those who have them", async () => {
  const plain = await open("/docs/swagger-ui.css");
  const packed = await harness.gateway.http.inject({ url: "/docs/swagger-ui.css", headers: { "accept-encoding": "br, gzip;q=0.5" } });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
  expect((await open("/docs/swagger-ui.css", { "accept-encoding": "gzip;q=0" })).headers["content-encoding"]).toBeUndefined();
  expect((await open("/docs/swagger-ui.css", { "if-none-match": plain.headers.etag ?? "" })).status).toBe(304);
});

test("/robots.txt keeps crawlers off the API, and not off the pages", async () => {
  const answer = await open("/robots.txt");
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/plain; charset=utf-8" } });
  expect(answer.body).toBe("User-agent: *\nDisallow: /api/\nDisallow: /admin/\n");
});

test("the icon is an ICO file of one 16 × 16 bitmap, open to all, cached, and answered by its entity tag", async () => {
  const answer = await harness.gateway.http.inject("/favicon.ico");
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({ "content-type": "image/x-icon", "cache-control": "public, max-age=3600" });
  const file = answer.rawPayload;
  expect([...file.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 16, 16]);
  expect(file.readUInt32LE(18) + file.readUInt32LE(14)).toBe(file.length);
  expect((await open("/favicon.ico", { "if-none-match": `${answer.headers.etag}` })).status).toBe(304);
});

test("pages answer GET and HEAD only", async () => {
  expect(await harness.request("POST", "/docs", {})).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  expect(await harness.request("HEAD", "/docs", {})).toMatchObject({ status: 200, body: "" });
});
