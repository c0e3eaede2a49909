/** Answers that are not those of Netfacts: of a proxy, or of another version. Pages say so, and can ask again. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { browserTest, type ConsoleInBrowser, startConsole, violations } from "./support/console-browser.ts";
import { type OperatorInBrowser, startOperator } from "./support/operator-browser.ts";

const inBrowser = browserTest(4);

let site: ConsoleInBrowser;
let operator: OperatorInBrowser;
beforeAll(async () => {
  site = await startConsole();
  operator = await startOperator();
});
afterEach(() => site.harness.answers.clear());
afterAll(async () => {
  await operator.stop();
  await site.stop();
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
