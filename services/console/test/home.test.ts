/** The first page in a real browser: what it names depends on the data in service. */

import { afterAll, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { sampleAddresses } from "../src/domain/sample-addresses.ts";
import { browserTest, type ConsoleInBrowser, startConsole, violations } from "./support/console-browser.ts";

const inBrowser = browserTest(1);

let site: ConsoleInBrowser;
beforeAll(async () => {
  site = await startConsole();
});
afterAll(() => site.stop());

/** Runs in the page. */
const hrefs = (links: { getAttribute(name: string): string | null }[]) => links.map((link) => link.getAttribute("href"));

inBrowser("the first page names addresses of the samples only while these are in service", async () => {
  const links = "main a";
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
