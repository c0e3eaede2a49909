/** Pages behind networks that are slow, break, fall silent or are gone: what they show, and that they go on. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { browserTest, type ConsoleInBrowser, startConsole, violations } from "./support/console-browser.ts";
import { type OperatorInBrowser, startOperator } from "./support/operator-browser.ts";

const inBrowser = browserTest(6);

let site: ConsoleInBrowser;
let operator: OperatorInBrowser;
let proxy: TcpProxy;
beforeAll(async () => {
  site = await startConsole();
  operator = await startOperator();
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
