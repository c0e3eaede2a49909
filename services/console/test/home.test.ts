/** The first page in a real browser: what it names depends on the data in service. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { sampleAddresses } from "../src/domain/sample-addresses.ts";
import { browserTest, type ConsoleInBrowser, startConsole, violations } from "./support/console-browser.ts";

const inBrowser = browserTest(2);

let site: ConsoleInBrowser;
beforeAll(async () => {
  site = await startConsole();
});
afterEach(() => site.harness.answers.clear());
afterAll(() => site.stop());

const links = "main a";

/** Runs in the page. */
const hrefs = (links: { getAttribute(name: string): string | null }[]) => links.map((link) => link.getAttribute("href"));

inBrowser("the first page names addresses of the samples only while these are in service", async () => {
  const own = await site.open("/", null);
  await own.page.locator(links).first().waitFor();
  expect(await own.page.locator(links).evaluateAll(hrefs)).toEqual(["/data"]);
  await own.page.close();

  const { meta } = examples.status;
  site.answer("status", { meta: { ...meta, warnings: [{ code: "sample_data", detail: "this response uses the sample dataset" }] } });
  const { page, complaints } = await site.open("/", null);
  await page.locator(".examples").waitFor();
  expect(await page.locator(links).evaluateAll(hrefs)).toEqual(sampleAddresses.map(({ ip }) => `/address/${ip}`));
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("nothing is named while it is not known which data are in service", async () => {
  site.harness.answers.set("status", () => {
    throw new Error("no answer");
  });
  const { page, complaints, requests, heading } = await site.open("/", null);
  await page.waitForLoadState("networkidle");
  expect(requests.filter((url) => url.endsWith("/api/v1/status"))).not.toEqual([]);
  expect(await heading()).toBe("What is this address?");
  expect(await page.locator(links).count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.close();
});
