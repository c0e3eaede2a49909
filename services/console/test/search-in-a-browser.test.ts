/** Search in a real browser: suggestions with the keyboard, what is asked for and what is not, hostile names, and the page of results. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples, type SearchRecord, type SearchResult } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { violationsInThemes } from "../../../test/support/accessibility.ts";
import { until } from "../../../test/support/http.ts";
import { removeFolders, startStandalone, temporaryFolder } from "../../../test/support/processes.ts";
import { withSamples } from "../../../test/support/sample-snapshot.ts";
import { exampleReply, type Harness } from "../../gateway-auth-quota/test/support/gateway.ts";
import { browserTest, type ConsoleInBrowser, faultsInBothThemes, startConsole, violations } from "./support/console-browser.ts";

const inBrowser = browserTest(8);

let site: ConsoleInBrowser;
let harness: Harness;
let url: string;
let open: ConsoleInBrowser["open"];
beforeAll(async () => {
  site = await startConsole();
  ({ harness, url, open } = site);
});
afterEach(() => harness.answers.clear());
afterAll(async () => {
  await site.stop();
  removeFolders();
});

const field = "#search";
const options = "#suggestions [role=option]";
const searches = (requests: readonly string[]) => requests.filter((request) => request.includes("/api/v1/search?"));

function result(title: string, members: Partial<SearchResult> = {}): SearchResult {
  return { type: "asn", match: "exact", title, subtitle: null, link: "/api/v1/asn/AS3333", highlights: [], ...members };
}

function searchReply(items: readonly SearchResult[]) {
  const record = { ...examples.search, results: { ...examples.search.results, items, total: items.length } };
  return { ...exampleReply("search"), cacheable: false, etag: "", body: Buffer.from(JSON.stringify(record)) };
}

/** What an answer can wait for. */
function held() {
  let release = () => {};
  const done = new Promise<void>((end) => {
    release = end;
  });
  return { done, release: () => release() };
}

function found(items: readonly SearchResult[], members: Partial<SearchRecord> = {}): void {
  const results = { items: [...items], total: items.length, limit: 100, next_cursor: null };
  site.answer("search", { ...examples.search, results, ...members });
}

/** In one go, as a fast writer does: on a busy machine the time between two letters can be any. */
const write = (page: Page, text: string) => page.keyboard.insertText(text);
const said = (page: Page) => page.locator("header [role=status]").textContent();
const chosen = (page: Page) => page.locator(field).getAttribute("aria-activedescendant");

async function ready(path = "/key", key?: string | null) {
  const opened = await open(path, key);
  if (key !== null) await opened.page.locator(".gauge").first().waitFor();
  return opened;
}

inBrowser(
  "the keyboard alone chooses a suggestion, leaves them, and asks for all results; axe finds no fault in either theme",
  async () => {
    const { page, complaints } = await ready();
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await write(page, "ripe ncc");
    await page.locator(options).first().waitFor();
    await page.keyboard.press("ArrowDown");
    // The choice of the theme would take the focus.
    const faults = await violationsInThemes(page, async (theme) => {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/suggestions.${theme}.png` });
    });
    expect(faults).toEqual([]);
    expect(await page.locator(options).allTextContents()).toEqual([
      "AS3333 RIPE-NCC-ASASReseaux IP Europeens Network Coordination Centre (RIPE NCC)",
      "Reseaux IP Europeens Network Coordination Centre (RIPE NCC)organisationAS3333, AS12654, AS25152 and 4 more",
    ]);
    expect(await page.locator(`${options} mark`).allTextContents()).toEqual(["RIPE", "NCC", "RIPE", "NCC"]);
    expect(await said(page)).toContain("2 of 2 suggestions");
    expect(await chosen(page)).toBe("suggestion-0");
    expect(await page.locator("[role=option][aria-selected=true]").getAttribute("id")).toBe("suggestion-0");

    await page.keyboard.press("ArrowDown");
    expect(await chosen(page)).toBe("suggestion-1");
    await page.keyboard.press("ArrowDown");
    expect(await chosen(page)).toBe(null);
    await page.keyboard.press("ArrowUp");
    expect(await chosen(page)).toBe("suggestion-1");
    await page.keyboard.press("Escape");
    expect([await page.locator("#suggestions").isVisible(), await page.locator(field).getAttribute("aria-expanded")]).toEqual([
      false,
      "false",
    ]);
    expect(await page.locator(field).inputValue()).toBe("ripe ncc");
    await page.keyboard.press("ArrowDown");
    expect(await chosen(page)).toBe("suggestion-0");
    const renewed = held();
    harness.answers.set("search", async () => {
      await renewed.done;
      return searchReply([result("AS3333 NEW")]);
    });
    await write(page, "x");
    expect([await page.locator(options).count(), await chosen(page)]).toEqual([2, null]);
    renewed.release();
    await page.locator(options, { hasText: "NEW" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/as/AS3333`);
    await page.locator(".snippets").waitFor();
    expect([await page.locator(field).inputValue(), await page.evaluate("document.activeElement.id")]).toEqual(["", "answer"]);

    await page.keyboard.press("/");
    await write(page, "ripe ncc");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/search?q=ripe+ncc`);
    await page.locator("ol.results a").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/as/AS3333`);
    await page.goBack();
    await page.locator("ol.results").waitFor();
    expect(await page.locator(field).inputValue()).toBe("ripe ncc");
    expect(complaints).toEqual([]);
    await page.close();
  },
);

inBrowser("nothing is asked for without a key or for a complete address, and letters in quick succession ask once", async () => {
  const keyless = await ready("/", null);
  await keyless.page.locator(field).focus();
  await write(keyless.page, "ripe");
  await keyless.page.waitForTimeout(500);
  expect(searches(keyless.requests)).toEqual([]);
  await keyless.page.keyboard.press("Enter");
  await keyless.page.locator("main #key").waitFor();
  expect([await keyless.heading(), keyless.page.url()]).toEqual(["Search", `${url}/search?q=ripe`]);
  await keyless.page.close();

  const { page, requests } = await ready();
  for (const text of ["193.0.6.139", "2001:db8::/32", "r"]) {
    await page.fill(field, text);
    await page.waitForTimeout(400);
  }
  expect(searches(requests)).toEqual([]);
  await page.evaluate(`for (const text of ["r", "ri", "rip", "ripe", "ripe n", "ripe nc", "ripe ncc"]) {
    document.querySelector("#search").value = text;
    document.querySelector("#search").dispatchEvent(new InputEvent("input", { bubbles: true }));
  }`);
  await page.locator(options).first().waitFor();
  expect(searches(requests)).toEqual([`${url}/api/v1/search?q=ripe+ncc&limit=8`]);
  await page.locator("nav a").first().focus();
  expect(await page.locator("#suggestions").isVisible()).toBe(false);
  await page.close();
});

inBrowser("an answer that was overtaken is given up and never shown", async () => {
  const old = held();
  let asked = 0;
  harness.answers.set("search", async () => {
    asked += 1;
    if (asked > 1) return searchReply([result("AS2 NEW")]);
    await old.done;
    return searchReply([result("AS1 OLD")]);
  });
  const { page } = await ready();
  const given: string[] = [];
  page.on("requestfailed", (request) => given.push(request.url()));
  await page.locator(field).focus();
  await write(page, "ripe");
  // The request may be given up on its way: then the next one would be the first.
  await until(() => asked === 1, { timeoutMs: 60_000 });
  await write(page, " n");
  await page.locator(options, { hasText: "NEW" }).waitFor();
  old.release();
  await page.waitForTimeout(300);
  expect(await page.locator(options).allTextContents()).toEqual(["AS2 NEWAS"]);
  expect(given).toEqual([`${url}/api/v1/search?q=ripe&limit=8`]);
  await page.close();
});

inBrowser("suggestions stop silently at a limit and return after it, and leave its last units to the pages", async () => {
  const key = await harness.key({ rate: { limit: 1, windowSeconds: 6 } });
  const { page, requests, complaints } = await ready("/key", key);
  await page.locator(field).focus();
  // Just before, and early in a window, so that the limit holds while the page is slow.
  for (let secondsLeft = 0; secondsLeft < 4; ) {
    const { headers } = await fetch(`${url}/api/v1/ip/193.0.6.139`, { headers: { authorization: `Bearer ${key}` } });
    secondsLeft = Number(headers.get("retry-after") ?? 0);
  }
  const refused = page.waitForResponse("**/api/v1/search?*");
  await write(page, "ri");
  expect((await refused).status()).toBe(429);
  // A word that comes before the page has read the refusal is asked for.
  await (await refused).finished();
  await page.waitForTimeout(200);
  await write(page, "pe");
  await page.waitForTimeout(400);
  expect(searches(requests)).toHaveLength(1);
  expect([await page.locator("#suggestions").isVisible(), await said(page), await page.locator("[role=alert]").allTextContents()]).toEqual([
    false,
    "",
    [],
  ]);
  await page.locator(options).first().waitFor();
  expect(searches(requests).at(-1)).toContain("q=ripe&");
  expect(complaints).toEqual([]);
  await page.close();

  const scarce = await ready("/key", await harness.key({ rate: { limit: 4, windowSeconds: 600 } }));
  await scarce.page.locator(field).focus();
  await write(scarce.page, "ripe");
  await scarce.page.locator(options).first().waitFor();
  await write(scarce.page, " ncc");
  await scarce.page.waitForTimeout(500);
  expect(searches(scarce.requests)).toHaveLength(1);
  await scarce.page.fill(field, "193.0.6.139");
  await scarce.page.keyboard.press("Enter");
  await scarce.page.locator(".snippets").waitFor();
  expect(await scarce.heading()).toContain("193.0.6.139 is in 193.0.0.0/21");
  await scarce.page.close();
});

inBrowser("hostile names are inert text in suggestions and results, lead nowhere, and fit a small screen", async () => {
  const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>\u202egnirts\u2066${"W".repeat(10_000)}`;
  found([
    result(hostile, { subtitle: hostile, highlights: [{ start: 0, end: 60 }], link: "javascript:window.broken=1" }),
    result("AS1 A", { highlights: [{ start: -5, end: 99 }] }),
    result("AS1 A", { link: "//example.net/api/v1/asn/AS1" }),
  ]);
  const { page, requests, complaints } = await ready();
  await page.setViewportSize({ width: 320, height: 600 });
  await page.locator(field).focus();
  await write(page, "img");
  await page.locator(options).first().waitFor();
  const inert = async () => {
    expect(await page.evaluate("[typeof window.broken, document.querySelectorAll('img[src=x], body script').length]")).toEqual([
      "undefined",
      0,
    ]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(true);
    expect(await page.locator("body").textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await violations(page)).toEqual([]);
  };
  await inert();
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/hostile.png` });
  await page
    .locator(options)
    .first()
    .click({ position: { x: 20, y: 10 }, force: true });
  expect(page.url()).toBe(`${url}/key`);
  // Only the second one has a page.
  await page.keyboard.press("ArrowDown");
  expect(await chosen(page)).toBe("suggestion-1");
  await page.keyboard.press("ArrowDown");
  expect(await chosen(page)).toBe(null);
  await page.keyboard.press("Enter");
  await page.locator("ol.results").waitFor();
  await inert();
  expect(await page.locator("ol.results a").count()).toBe(1);
  expect(requests.filter((request) => !request.startsWith(url))).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("the page of results says what cannot be found, and what has no page", async () => {
  const version = { version: "1", as_of: "2026-11-21T08:00:00Z", age_seconds: 60, stale: false };
  const meta = { ...examples.search.meta, data: { as_names: version } };
  found([result("Netherlands (NL)", { type: "country", link: null }), result("AS2 RIPEN", { match: "edit" })], { meta });
  const some = await open("/search?q=netherlands");
  await some.page.locator(".snippets").waitFor();
  expect(await some.heading()).toBe("2 results for “netherlands”");
  const text = await some.page.locator("main").textContent();
  expect(text).toContain("A country has no page of its own.");
  expect(text).toContain("similar spelling");
  expect(text).toContain("organisations cannot be found");
  expect(text).not.toContain("No AS names are loaded");
  expect(await some.page.locator("ol.results a").allTextContents()).toEqual(["AS2 RIPEN"]);
  expect(await some.page.title()).toBe("Results for “netherlands” · Netfacts");
  expect(await faultsInBothThemes(some.page)).toEqual([]);
  for (const theme of process.env.SCREENSHOTS ? ["light", "dark"] : []) {
    await some.page.selectOption("nav select", theme);
    await some.page.screenshot({ path: `${process.env.SCREENSHOTS}/results.${theme}.png` });
  }
  await some.page.close();

  found([], { meta: { ...examples.search.meta, data: {} } });
  const none = await open("/search?q=%3Cb%3E%E2%80%AEno");
  await none.page.locator(".snippets").waitFor();
  expect(await none.heading()).toBe("No results for “<b>\ufffdno”");
  expect(await none.page.locator("main").textContent()).toContain("No AS names are loaded here");
  expect(await violations(none.page)).toEqual([]);
  await none.page.close();

  const long = await open(`/search?q=${"x".repeat(101)}`);
  expect(await long.heading()).toBe("This text is too long");
  expect(searches(long.requests)).toEqual([]);
  await long.page.close();
});

inBrowser("a slow search, one that is refused, and a gateway without search are each said", async () => {
  const late = held();
  harness.answers.set("search", async () => {
    await late.done;
    return searchReply([result("AS1 LATE")]);
  });
  const slow = await open("/search?q=ripe");
  await slow.page.locator(".loading", { hasText: "has not answered yet" }).waitFor();
  late.release();
  await slow.page.locator("ol.results").waitFor();
  await slow.page.close();

  const refused = await open("/search?q=ripe", await harness.key({ scopes: ["asn"] }));
  await refused.page.locator(".failed h1").waitFor();
  expect(await refused.page.locator(".failed").textContent()).toMatch(/Request id: [0-9A-Z]{26}/);
  // Nor are suggestions asked for, once the key has been refused.
  await refused.page.fill(field, "ripen");
  await refused.page.waitForTimeout(400);
  await refused.page.fill(field, "ripencc");
  await refused.page.waitForTimeout(400);
  expect(searches(refused.requests)).toHaveLength(2);
  await refused.page.close();

  // What the gateway answers at a path that it does not have.
  const older = await open("/", null);
  await older.page.route("**/api/v1/search?*", (route) => route.continue({ url: `${url}/api/v1/none` }));
  await older.page.fill(field, "ripe");
  await older.page.press(field, "Enter");
  await older.page.fill("#key", await harness.key());
  await older.page.press("#key", "Enter");
  await older.page.locator("main h1", { hasText: "Names cannot be searched here" }).waitFor();
  expect(await older.page.locator(".failed").count()).toBe(0);
  await older.page.close();
});

inBrowser(
  "with the samples, part of a name leads to its AS, part of an address to its prefix, and further results are loaded",
  async () => {
    const standalone = await startStandalone(await withSamples(temporaryFolder()));
    try {
      const { page, heading, complaints } = await open("/key", standalone.key, standalone.url);
      await page.locator(".gauge").first().waitFor();
      await page.locator(field).focus();
      await write(page, "ripe network coord");
      const named = page.locator(options, { hasText: "AS3333 RIPE-NCC-AS" });
      await named.waitFor();
      expect(await named.locator("mark").allTextContents()).toEqual(["RIPE", "RIPE", "Network", "Coord"]);
      await named.click();
      await page.waitForURL("**/as/AS3333");
      await page.locator(".snippets").waitFor();
      expect(await heading()).toContain("AS3333 RIPE-NCC-AS");

      await page.keyboard.press("/");
      await write(page, "193.0.");
      await page.locator(options, { hasText: "193.0.0.0/16" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/prefix/193.0.0.0/16");

      await page.keyboard.press("/");
      await write(page, "germany");
      await page.keyboard.press("Enter");
      await page.locator("ol.results li").first().waitFor();
      expect(await page.locator("ol.results li").first().textContent()).toContain("Germany (DE) countryA country has no page");
      await page.keyboard.press("/");
      await write(page, "network");
      await page.keyboard.press("Enter");
      await page.locator("main h1", { hasText: "“network”" }).waitFor();
      expect(await page.locator("ol.results li").count()).toBe(100);
      await page.locator("main button", { hasText: "Load more" }).click();
      await page.locator("ol.results li:nth-child(101)").waitFor();
      expect(new Set(await page.locator("ol.results li").allTextContents()).size).toBe(200);
      expect(complaints).toEqual([]);
      await page.close();
    } finally {
      await standalone.stop();
    }
  },
);
