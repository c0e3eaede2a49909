/**
 * Pages behind networks that are slow, break, fall silent or are gone, and with answers that are not those of Netfacts but of a proxy or of another
 * version: what they show, and that they go on.
 */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { browserTest, type ConsoleInBrowser, startConsole, violations } from "./support/console-browser.ts";
import { type OperatorInBrowser, startOperator } from "./support/operator-browser.ts";

const inBrowser = browserTest(10);

let site: ConsoleInBrowser;
let operator: OperatorInBrowser;
let proxy: TcpProxy;
beforeAll(async () => {
  site = await startConsole();
  operator = await startOperator({}, site.browser);
  proxy = await startTcpProxy(site.url);
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await proxy.stop();
  await operator.stop();
  await site.stop();
});

/** A page that has its code and an answer, and another subject of the same kind. */
const subjects = [
  ["/address/193.0.6.139", "193.0.6.140"],
  ["/prefix/193.0.0.0/21", "193.0.0.0/22"],
  ["/as/AS3333", "AS3334"],
] as const;

async function answered(path: string): Promise<Page> {
  const { page } = await site.open(path, undefined, proxy.url);
  await page.locator(".snippets").waitFor();
  return page;
}

async function lookUp(page: Page, text: string): Promise<void> {
  await page.fill("#search", text);
  await page.press("#search", "Enter");
}

async function expectUnreachable(page: Page): Promise<void> {
  await page.locator(".failed h1").waitFor();
  expect(await page.locator(".failed h1").textContent()).toBe("The API cannot be reached");
  expect(await violations(page)).toEqual([]);
}

async function expectAnsweredAgain(page: Page): Promise<void> {
  await page.locator(".failed button", { hasText: "Try again" }).click();
  await page.locator(".snippets").waitFor();
  expect(await page.locator(".failed").count()).toBe(0);
  await page.close();
}

inBrowser("a slow network is awaited", async () => {
  for (const [path, next] of subjects) {
    const page = await answered(path);
    proxy.delay(700, "toClient");
    // From before it is there, as it is there for a moment only.
    const isLoading = page.locator(".loading").waitFor();
    await lookUp(page, next);
    await isLoading;
    await page.locator(".snippets").waitFor();
    expect(await page.locator(".failed").count()).toBe(0);
    await proxy.restore();
    await page.close();
  }
});

inBrowser("a network that is gone is said, and the same question can be asked again", async () => {
  for (const [path, next] of subjects) {
    const page = await answered(path);
    await proxy.cut();
    await lookUp(page, next);
    await expectUnreachable(page);
    await proxy.restore();
    await expectAnsweredAgain(page);
  }
});

inBrowser("a connection that breaks before its answer is whole is said", async () => {
  for (const [path, next] of subjects) {
    const page = await answered(path);
    proxy.freeze();
    await lookUp(page, next);
    await page.locator(".loading").waitFor();
    proxy.halfClose();
    await proxy.cut();
    await expectUnreachable(page);
    await proxy.restore();
    await expectAnsweredAgain(page);
  }
});

inBrowser("a network that falls silent for a while delays the answer, and loses nothing", async () => {
  const page = await answered("/address/193.0.6.139");
  proxy.freeze();
  await lookUp(page, "AS3333");
  await page.locator(".loading").waitFor();
  await page.waitForTimeout(1_500);
  expect(await page.locator(".failed").count()).toBe(0);
  await proxy.restore();
  await page.locator(".snippets").waitFor();
  expect(await page.locator("main h1").textContent()).toContain("AS3333");
  await page.close();
});

inBrowser("a browser that is offline says so", async () => {
  const page = await answered("/as/AS3333");
  await page.context().setOffline(true);
  await lookUp(page, "AS3334");
  await expectUnreachable(page);
  expect(await page.locator(".failed").textContent()).toContain("Your browser is offline.");
  await page.context().setOffline(false);
  await expectAnsweredAgain(page);
});

inBrowser("the same holds for the pages of operators", async () => {
  const behind = await startTcpProxy(operator.url);
  try {
    const { page } = await operator.open("/audit", undefined, behind.url);
    await page.locator("main h1").waitFor();
    await behind.cut();
    await page.locator("nav a", { hasText: "Plans" }).click();
    await page.locator(".failed", { hasText: "cannot be reached" }).waitFor();
    expect(await violations(page)).toEqual([]);
    await behind.restore();
    await page.locator(".failed button", { hasText: "Try again" }).click();
    await page.locator("table.rows").waitFor();
    await page.close();
  } finally {
    await behind.stop();
  }
});

const json = "application/json";

async function fulfil(page: Page, url: string, body: string, contentType = json, status = 200): Promise<void> {
  await page.unroute(url);
  await page.route(url, (route) => route.fulfill({ status, contentType, body }));
}

inBrowser("an answer that is no record is said, and can be asked for again", async () => {
  const { page, complaints } = await site.open("/as/AS3333");
  await page.locator(".snippets").waitFor();
  const url = "**/api/v1/asn/*";
  for (const body of ["{}", "null", "[]", '"text"', "<html>"]) {
    await fulfil(page, url, body);
    await page.fill("#search", `AS${64_500 + body.length}`);
    await page.press("#search", "Enter");
    await page.locator(".failed h1", { hasText: "The API cannot be reached" }).waitFor();
  }
  await page.unroute(url);
  await page.locator("button", { hasText: "Try again" }).click();
  await page.locator(".snippets").waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("an answer in another form leaves no page empty", async () => {
  const { page, complaints } = await site.open("/as/AS3333");
  await page.locator(".snippets").waitFor();
  await fulfil(page, "**/api/v1/asn/*", JSON.stringify({ asn: 3334 }));
  await page.fill("#search", "AS3334");
  await page.press("#search", "Enter");
  await page.locator(".failed h1", { hasText: "This answer cannot be shown" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.unroute("**/api/v1/asn/*");
  await page.locator("button", { hasText: "Try again" }).click();
  await page.locator(".snippets").waitFor();
  await fulfil(page, "**/api/v1/status", JSON.stringify({ status: "ok" }));
  await page.locator("a.brand").click();
  await page.locator(".failed button", { hasText: "Reload" }).waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a problem in another form is said with its status", async () => {
  const { page, complaints } = await site.open("/as/AS3333");
  await page.locator(".snippets").waitFor();
  const forms = [{ errors: "none" }, { errors: [null] }, { title: undefined }];
  for (const [at, members] of forms.entries()) {
    const problem = { ...examples.problem, status: 400, ...members };
    await fulfil(page, "**/api/v1/asn/*", JSON.stringify(problem), "application/problem+json", 400);
    await page.fill("#search", `AS${64_500 + at}`);
    await page.press("#search", "Enter");
    await page.locator(".failed", { hasText: "the problem with status 400 is not in the form of Netfacts" }).waitFor();
  }
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("pages for operators say so, too, and an upload ends", async () => {
  const { page, complaints } = await operator.open("/audit");
  await page.locator("main h1").waitFor();
  await fulfil(page, "**/admin/v1/keys*", '{"next_cursor":null}');
  await page.locator("nav a", { hasText: "Keys" }).click();
  await page.locator(".failed", { hasText: "no record of Netfacts" }).waitFor();
  await fulfil(page, "**/admin/v1/ingest/observations/uploads*", '{"items":[],"next_cursor":null}');
  const notFound = JSON.stringify({ ...examples.problem, status: 404, code: "upload_not_found" });
  await fulfil(page, "**/admin/v1/ingest/observations/uploads/*", notFound, "application/problem+json", 404);
  await fulfil(page, "**/admin/v1/ingest/observations?*", "<html>", "text/html");
  await page.locator("nav a", { hasText: "Observations" }).click();
  await page.setInputFiles("#file", { name: "made.ndjson", mimeType: "application/x-ndjson", buffer: Buffer.from("{}\n") });
  await page.locator("button[type=submit]").click();
  await page.locator(".failed", { hasText: "the response is not JSON" }).waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});
