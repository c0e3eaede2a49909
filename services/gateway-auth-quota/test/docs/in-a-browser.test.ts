/** The documentation in a real browser: its pages and their search; the reference, which shows every operation, takes a key, and calls the API. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { publicRoutes } from "@netfacts/contracts/openapi";
import { violations, violationsInThemes } from "../../../../test/support/accessibility.ts";
import { type Browser, findChromium, startChromium } from "../../../../test/support/chromium.ts";
import { toolOrNotRun } from "../../../../test/support/debian.ts";
import { type Harness, startGateway } from "../support/gateway.ts";

const tool = toolOrNotRun(await findChromium(), "Chromium", 4);
const inBrowser = tool === null ? test.skip : test;

let harness: Harness;
let browser: Browser | null = null;
let url: string;
beforeAll(async () => {
  harness = await startGateway();
  url = await harness.gateway.listen();
  if (tool !== null) browser = await startChromium(tool);
});
afterAll(async () => {
  await browser?.stop();
  await harness.stop();
});

/** Opens a page and notes what it complains about: errors of scripts, and what the policy forbids. */
async function open(path: string) {
  const page = await (browser as Browser).context.newPage();
  // As the time-outs of Jest, these only end what hangs.
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(url + path);
  return { page, complaints };
}

/** The reference, for several tests: to load it takes seconds. */
let reference: ReturnType<typeof open> | undefined;
const openReference = () => (reference ??= open("/docs/reference"));

inBrowser(
  "/docs/reference has no fault of access but those of Swagger UI's own structure, and leads to the routes as a plain page",
  async () => {
    const { page, complaints } = await openReference();
    await page.locator('[id$="-getMe"]').waitFor();
    const faults = await violationsInThemes(page, async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html${colorScheme === "dark" ? ".dark-mode" : ":not(.dark-mode)"}`).waitFor();
    });
    const rules = faults.map((found) => found.split(" ", 2).join(" "));
    expect(["light: heading-order", "light: nested-interactive", "light: region"]).toEqual(expect.arrayContaining(rules));
    const opened = page.context().waitForEvent("page");
    await page.locator("nav a").click({ modifiers: ["ControlOrMeta"] });
    const routes = await opened;
    await routes.locator("h1", { hasText: "Routes of the API" }).waitFor();
    expect(await violations(routes)).toEqual([]);
    expect(complaints).toEqual([]);
    await routes.close();
  },
);

inBrowser("/docs/reference shows every operation, and asks one with the key that it was given", async () => {
  const key = await harness.key();
  const { page, complaints } = await openReference();
  for (const { id, summary } of publicRoutes) {
    const operation = page.locator(`[id$="-${id}"]`);
    await operation.waitFor();
    expect(await operation.textContent()).toContain(summary);
  }
  await page.locator("button.authorize").first().click();
  await page.locator('input[type="text"], input[type="password"]').last().fill(key);
  await page.locator(".auth-btn-wrapper button.authorize").click();
  await page.locator(".auth-btn-wrapper button.btn-done").click();

  // One operation, because the page computes for seconds until its fields and its answer are there.
  const operation = page.locator('[id$="-getAsn"]');
  await operation.locator(".opblock-summary").first().click();
  await operation.locator("button.execute").click();
  const answer = operation.locator(".live-responses-table .response-col_status");
  await answer.last().waitFor();
  // Without a key it would be 401.
  expect(await answer.last().textContent()).toContain("200");
  const [text = ""] = await operation.locator(".live-responses-table .highlight-code").allTextContents();
  expect(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))).toMatchObject({ asn: 3333 });
  // What must stand is filled in by its example, and nothing else is asked for.
  const asked = await operation.locator(".request-url pre").textContent();
  expect(asked).toContain("/api/v1/asn/AS3333");
  expect(asked).not.toMatch(/fields|format|family|rpki/);
  expect(complaints).toEqual([]);
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });
  await page.close();
});

inBrowser("the icon is one that a browser can decode", async () => {
  const { page, complaints } = await open("/docs/errors");
  const size = await page.evaluate(
    "const icon = new Image(); icon.src = '/favicon.ico'; icon.decode().then(() => [icon.naturalWidth, icon.naturalHeight])",
  );
  expect(size).toEqual([16, 16]);
  expect(complaints).toEqual([]);
});

inBrowser("a problem's page can be read", async () => {
  const { page, complaints } = await open("/docs/errors/rate_limit_exceeded");
  expect(await page.locator("h1").textContent()).toBe("Rate limit exceeded");
  await page.locator("nav a", { hasText: "Problems" }).click();
  await page.locator("td", { hasText: "prefix_has_host_bits" }).first().waitFor();
  expect(complaints).toEqual([]);
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.errors.png` });
});

inBrowser("the documentation is read and searched by keyboard, in both themes, without a fault that axe finds", async () => {
  const { page, complaints } = await open("/docs/");
  expect(await page.locator("h1").first().textContent()).toBe("Netfacts");
  await page.keyboard.press("/");
  await page.keyboard.type("expired vrps");
  const first = page.locator("#site-found a").first();
  await first.waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/.+#/);
  await page.keyboard.press("/");
  await page.keyboard.type("nothing has xyzzy");
  await page.locator("#site-found", { hasText: "Nothing found." }).waitFor();
  await page.keyboard.press("Escape");
  expect(await page.locator("#site-found").textContent()).toBe("");

  for (const path of ["/docs/", "/docs/operations/sources", "/docs/api/records/ip", "/docs/decisions/"]) {
    await page.goto(url + path);
    expect([path, await violationsInThemes(page, (colorScheme) => page.emulateMedia({ colorScheme }))]).toEqual([path, []]);
  }
  expect(complaints).toEqual([]);
  if (process.env.SCREENSHOT) await page.screenshot({ path: `${process.env.SCREENSHOT}.docs.png` });
});

inBrowser("a page of the documentation fits a narrow screen", async () => {
  const { page } = await open("/docs/operations/sources");
  await page.setViewportSize({ width: 320, height: 600 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
});

inBrowser("a page of the documentation is printed in light colours, and nothing of it is cut off", async () => {
  const { page } = await open("/docs/guides/check-roas");
  // A sheet of A4 between its margins.
  await page.setViewportSize({ width: 700, height: 1000 });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  for (const path of ["/docs/guides/check-roas", "/docs/operations/sources", "/docs/api/errors"]) {
    await page.goto(url + path);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    const cut = await page.evaluate(
      "[...document.querySelectorAll('pre, .wide')].filter((one) => one.scrollWidth > one.clientWidth).length",
    );
    expect([path, cut]).toEqual([path, 0]);
  }
});
