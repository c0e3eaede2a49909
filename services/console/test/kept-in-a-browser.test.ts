/** What a reader does not lose: a list when its page is left or another key is used. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { browserTest, type ConsoleInBrowser, startConsole } from "./support/console-browser.ts";

const inBrowser = browserTest(1);

let site: ConsoleInBrowser;
beforeAll(async () => {
  site = await startConsole();
});
afterEach(() => site.harness.answers.clear());
afterAll(() => site.stop());

inBrowser("a list outlives another page and another key, and is asked for once", async () => {
  const { page, complaints, requests } = await site.open("/bulk", await site.harness.key({ scopes: ["ip"] }));
  await page.fill("#list", "host:193.0.6.139\nip:193.0.6.140\nnothing here");
  await page.click("main button[type=submit]");
  await page.locator("button", { hasText: "Use another key" }).click();
  await page.fill("#key", await site.harness.key({ scopes: ["ip", "batch"] }));
  await page.press("#key", "Enter");
  const done = page.locator("h1", { hasText: "2 addresses in 3 lines." });
  await done.waitFor();
  expect(await page.locator(".note").textContent()).toBe("No address was found in 1 line.");
  const asked = () => requests.filter((url) => url.endsWith("/batch")).length;
  const before = asked();
  await page.locator("a", { hasText: "193.0.6.140" }).click();
  await page.waitForURL(`${site.url}/address/193.0.6.140`);
  await page.goBack();
  await done.waitFor();
  await page.locator("a", { hasText: "193.0.6.139" }).waitFor();
  expect(asked()).toBe(before);
  await page.locator("button", { hasText: "Another list" }).click();
  expect(await page.inputValue("#list")).toBe("host:193.0.6.139\nip:193.0.6.140\nnothing here");
  expect(complaints).toEqual([]);
  await page.close();
});
