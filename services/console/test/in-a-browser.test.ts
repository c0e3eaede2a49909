/** The console in a real browser, in front of a real gateway: each page full, empty, refused and slow; the keyboard; both themes; hostile text; the key. */

import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { exampleReply, type Harness } from "../../gateway-auth-quota/test/support/gateway.ts";
import { sampleAddresses } from "../src/domain/sample-addresses.ts";
import { browserTest, type ConsoleInBrowser, faultsInBothThemes, startConsole, violations } from "./support/console-browser.ts";

const inBrowser = browserTest(16);

let site: ConsoleInBrowser;
let harness: Harness;
let url: string;
let open: ConsoleInBrowser["open"];
let answer: ConsoleInBrowser["answer"];
beforeAll(async () => {
  site = await startConsole();
  ({ harness, url, open, answer } = site);
});
afterEach(() => harness.answers.clear());
afterAll(() => site.stop());

const pages = [
  ["/address/193.0.6.139", "ip", "193.0.6.139 is in 193.0.0.0/21, announced by AS3333 RIPE-NCC-AS, RPKI valid."],
  ["/prefix/193.0.0.0/21", "prefix", "193.0.0.0/21 is announced by AS3333 RIPE-NCC-AS, RPKI valid."],
  ["/as/AS3333", "asn", "AS3333 RIPE-NCC-AS (Netherlands) announces 10 prefixes, none of them RPKI invalid."],
  ["/validity/AS3333/193.0.0.0/21", "validity", "AS3333 may announce 193.0.0.0/21: a ROA allows it."],
  ["/search?q=ripe+ncc", "search", "2 results for “ripe ncc”"],
  ["/reverse-dns/193.0.6.139", "reverse_dns", "193.0.6.139 is www.ripe.net, and a name leads back to it."],
] as const;

inBrowser("each page answers in a sentence, then shows what is behind it, without a fault that axe finds in either theme", async () => {
  for (const [path, op, sentence] of pages) {
    const { page, complaints, heading } = await open(path);
    await page.locator(".snippets").waitFor();
    expect(await heading()).toBe(sentence);
    await page.locator("summary", { hasText: "JSON" }).click();
    expect(JSON.parse((await page.locator("pre").textContent()) ?? "")).toMatchObject({ ...examples[op], meta: expect.anything() });
    expect([path, await faultsInBothThemes(page)]).toEqual([path, []]);
    expect([path, complaints]).toEqual([path, []]);
    await page.close();
  }
});

inBrowser("pages that need no key ask for none, and axe finds no fault in them", async () => {
  const { page, complaints, heading, goTo } = await open("/", null);
  for (const [path, title] of [
    ["/", "What is this address?"],
    ["/data", "1 section of data is loaded, and it is not stale."],
    ["/search", "Search"],
    ["/validity", "May this AS announce this prefix?"],
    ["/key", "Your key"],
  ] as const) {
    await goTo(path);
    if (path === "/data") await page.locator(".snippets").waitFor();
    expect(await heading()).toBe(title);
    expect([path, await faultsInBothThemes(page)]).toEqual([path, []]);
  }
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("the first page loads its own code only, below 120 kB, and each page what it needs, from files that are kept", async () => {
  const { page, requests } = await open("/", null);
  await page.locator("main h1").waitFor();
  const scripts = () => requests.filter((request) => request.endsWith(".js"));
  expect(scripts().filter((script) => /\/(address|as|bulk|compare|data|prefix|reverse-dns|search|validity)-[^/]+$/.test(script))).toEqual(
    [],
  );
  const bytes = await page.evaluate("performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)");
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(120_000);
  await page.locator("header a", { hasText: "Data" }).click();
  await page.locator(".snippets").waitFor();
  expect(scripts().filter((script) => script.includes("/data-"))).toHaveLength(1);
  const loaded = scripts().length;
  await page.locator(".brand").click();
  await page.locator("header a", { hasText: "Data" }).click();
  await page.locator(".snippets").waitFor();
  expect(scripts()).toHaveLength(loaded);
  await page.close();
});

inBrowser("a page whose code cannot be loaded says so and offers a reload", async () => {
  const { page } = await open("/", null);
  await page.route("**/console/data-*.js", (route) => route.abort());
  await page.locator("header a", { hasText: "Data" }).click();
  await page.locator(".failed h1", { hasText: "This page could not be loaded" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.unroute("**/console/data-*.js");
  await page.locator(".failed button").click();
  await page.locator(".snippets").waitFor();
  await page.close();
});

inBrowser("what nothing is known about is shown as unknown, with the reason", async () => {
  const none = { announced: false, prefix: null, origins: [], as_set_origins: [], visibility: null };
  answer("ip", { allocation: null, network_type: null, network_types: [], location: null, routing: { ...examples.ip.routing, ...none } });
  const { page, complaints, heading } = await open("/address/193.0.6.139");
  await page.locator(".snippets").waitFor();
  expect(await heading()).toBe("193.0.6.139 is not announced, and no registry lists it.");
  const text = (await page.locator("main").textContent()) ?? "";
  for (const reason of ["no registry lists it", "no source says what kind of network this is", "there are no observations and no geofeed"])
    expect(text).toContain(reason);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a problem is shown with its title, what to do and the request id; too many requests with a countdown", async () => {
  const wrong = await open("/address/193.0.6.1390");
  await wrong.page.locator(".failed h1").waitFor();
  expect(await wrong.page.locator(".failed").textContent()).toMatch(/Request id: [0-9A-Z]{26}/);
  expect(await violations(wrong.page)).toEqual([]);
  await wrong.page.close();

  const slowKey = await harness.key({ rate: { limit: 1, windowSeconds: 60 } });
  const { page } = await open("/validity/AS3333/193.0.0.0/21", slowKey);
  await page.locator(".snippets").waitFor();
  await page.locator("header a", { hasText: "RPKI" }).click();
  await page.fill("#asn", "3333");
  await page.fill("#prefix", "193.0.0.0/20");
  await page.press("#prefix", "Enter");
  await page.locator(".countdown").waitFor();
  expect(await page.locator(".failed h1").textContent()).toBe("Rate limit exceeded");
  expect(await page.locator(".countdown").textContent()).toMatch(/^You can try again in \d+ s\.$/);
  expect(await page.locator(".countdown").getAttribute("aria-live")).toBe("off");
  expect(await page.locator(".failed button").first().isDisabled()).toBe(true);
  await page.close();

  // The address costs the one answer of the month, and its routing is refused. If that refusal took long to arrive, its end is some minutes late.
  const spent = await open("/address/193.0.6.139", await harness.key({ month: { limit: 1 } }));
  await spent.page.locator(".countdown").waitFor();
  expect(await spent.page.locator(".countdown").textContent()).toMatch(/^You can try again at \d{4}-\d\d-01 00:0\d UTC\.$/);
  await spent.page.close();
});

inBrowser("a prefix with host bits is refused once in words, with the prefix that was meant", async () => {
  const { page } = await open("/prefix/193.0.6.139/21");
  await page.locator(".failed h1").waitFor();
  const text = ((await page.locator(".failed").textContent()) ?? "").replaceAll(/\s+/g, " ");
  expect(text).toContain("193.0.6.139/21 has bits set beyond its length. Did you mean 193.0.0.0/21?");
  await page.close();
});

inBrowser("a slow answer is awaited and told as slow; a lost connection can be tried again", async () => {
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  harness.answers.set("prefix", async () => {
    await held;
    return { ...exampleReply("prefix"), cacheable: false };
  });
  const { page, heading } = await open("/prefix/193.0.0.0/21");
  await page.locator(".loading").waitFor();
  release();
  await page.locator(".snippets").waitFor();
  expect(await heading()).toContain("193.0.0.0/21 is announced by");

  await page.route("**/api/**", (route) => route.abort());
  await page.fill("#search", "AS3333");
  await page.press("#search", "Enter");
  await page.locator(".failed").waitFor();
  expect(await page.locator(".failed h1").textContent()).toBe("The API cannot be reached");
  await page.unroute("**/api/**");
  await page.locator(".failed button", { hasText: "Try again" }).click();
  await page.locator(".snippets").waitFor();
  expect(await heading()).toContain("AS3333 RIPE-NCC-AS");
  await page.close();
});

inBrowser("the keyboard alone leads from the first page to an answer, to the help and back", async () => {
  const { page, heading } = await open("/key");
  await page.locator(".gauge").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("not an address");
  await page.keyboard.press("Enter");
  await page.locator(".snippets").waitFor();
  expect([page.url(), await heading()]).toEqual([`${url}/search?q=not+an+address`, "2 results for “not an address”"]);
  await page.keyboard.press("/");
  await page.keyboard.type("193.0.6.139");
  await page.keyboard.press("Enter");
  await page.locator(".snippets").waitFor();
  expect(page.url()).toBe(`${url}/address/193.0.6.139`);
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await page.locator("main a", { hasText: "193.0.0.0/21" }).first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${url}/prefix/193.0.0.0/21`);
  await page.locator(".snippets").waitFor();
  expect(await heading()).toContain("193.0.0.0/21 is announced");
  await page.goBack();
  await page.waitForURL(`${url}/address/193.0.6.139`);
  await page.locator(".snippets").waitFor();
  expect(await heading()).toContain("193.0.6.139 is in");
  await page.close();
});

inBrowser("names that carry scripts, directions or ten thousand letters are text, and break no page", async () => {
  const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>\u202egnirts\u2066${"W".repeat(10_000)}`;
  answer("asn", { name: hostile, organisation: hostile });
  answer("reverse_dns", { names: [{ name: hostile, ttl_seconds: 60, forward: { status: "ok", confirmed: false, addresses: [] } }] });
  for (const path of ["/as/AS3333", "/reverse-dns/193.0.6.139"]) {
    const { page, complaints } = await open(path);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.locator(".snippets").waitFor();
    expect(await page.evaluate("[typeof window.broken, document.querySelectorAll('main img[src=x], main script').length]")).toEqual([
      "undefined",
      0,
    ]);
    expect(await page.locator(".card").first().textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  }
});

inBrowser("the key is in no URL, cookie, log or storage, unless its owner asks to keep it for the tab", async () => {
  const { page, requests, key } = await open("/address/193.0.6.139");
  await page.locator(".snippets").waitFor();
  const secret = key ?? "";
  expect(requests.filter((request) => request.includes(secret) || !request.startsWith(`${url}/`))).toEqual([]);
  expect(await page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")).toEqual([0, 0, ""]);
  expect(await page.content()).not.toContain(secret);
  expect(JSON.stringify(harness.log)).not.toContain(secret);
  await page.reload();
  await page.fill("#key", secret);
  await page.check("input[name=keep]");
  await page.press("#key", "Enter");
  await page.locator(".snippets").waitFor();
  await page.reload();
  await page.locator(".snippets").waitFor();
  await page.locator("header a", { hasText: "Key" }).click();
  await page.locator("button", { hasText: "Forget the key" }).click();
  await page.locator("#key").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await page.close();
});

inBrowser("a list of 100,000 lines becomes a table that can be filtered, sorted and downloaded", async () => {
  const key = await harness.key({ scopes: ["ip", "batch"], rate: { limit: 10_000, windowSeconds: 60 } });
  const { page, complaints } = await open("/bulk", key);
  await page.locator("#list").waitFor();
  const list = Array.from({ length: 100_000 }, (_, at) => `line ${at} 10.${at % 7}.${(at >> 3) & 63}.${at % 8} x`).join("\n");
  await page.locator("#file").setInputFiles({ name: "access.log", mimeType: "text/plain", buffer: Buffer.from(list) });
  await page.locator("main h1", { hasText: "in 100,000 lines." }).waitFor();
  await page.fill(".tools input", "10.3.63.");
  await page.locator(".virtual li", { hasText: "10.3.63." }).first().waitFor();
  await page.locator(".grid.head button", { hasText: "Address" }).click();
  expect(await faultsInBothThemes(page)).toEqual([]);
  const download = page.waitForEvent("download");
  await page.locator("button", { hasText: "Download CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trimEnd()
    .split("\r\n");
  expect(lines[0]).toBe("ip,lines,prefix,as,name,country,rpki,problem");
  expect(lines.slice(1).every((line) => line.includes("10.3.63."))).toBe(true);
  expect(complaints).toEqual([]);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/bulk.png`, fullPage: true });
  // Columns have their titles on paper.
  await page.emulateMedia({ media: "print" });
  expect(await page.locator(".grid.head button:visible").count()).toBe(8);
  await page.close();
});

inBrowser("two subjects stand side by side, and the facts that differ are marked", async () => {
  const { page, complaints, heading } = await open("/compare/193.0.6.139,AS3333");
  await page.locator("table.compare").waitFor();
  expect(await heading()).toBe("193.0.6.139 and AS3333 do not differ in any known fact.");
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(complaints).toEqual([]);
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/compare.png`, fullPage: true });
  await page.close();
});

inBrowser("pages fit screens from 320 px on", async () => {
  const { page, goTo } = await open("/key", await harness.key({ rate: { limit: 10_000, windowSeconds: 1 } }));
  for (const path of ["/key", ...pages.map(([path]) => path), "/", "/data"]) {
    // The key is gone with the document.
    if (path === "/") await page.reload();
    await goTo(path);
    if (path !== "/") await page.locator(".snippets").waitFor();
    for (const width of [320, 360, 1_024, 1_920]) {
      await page.setViewportSize({ width, height: 900 });
      const fits = await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth");
      expect([path, width, fits]).toEqual([path, width, true]);
      for (const theme of process.env.SCREENSHOTS ? ["light", "dark"] : []) {
        await page.selectOption("nav select", theme);
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${path.replaceAll("/", "_")}.${width}.${theme}.png`, fullPage: true });
      }
    }
  }
  await page.close();
});

const links = "main a";

/** Runs in the page. */
const hrefs = (links: { getAttribute(name: string): string | null }[]) => links.map((link) => link.getAttribute("href"));

inBrowser("the first page names addresses of the samples only while these are in service", async () => {
  const own = await open("/", null);
  await own.page.locator(links).first().waitFor();
  expect(await own.page.locator(links).evaluateAll(hrefs)).toEqual(["/data"]);
  await own.page.close();

  const { meta } = examples.status;
  answer("status", { meta: { ...meta, warnings: [{ code: "sample_data", detail: "this response uses the sample dataset" }] } });
  const { page, complaints } = await open("/", null);
  await page.locator(".examples").waitFor();
  expect(await page.locator(links).evaluateAll(hrefs)).toEqual(sampleAddresses.map(({ ip }) => `/address/${ip}`));
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("nothing is named while it is not known which data are in service", async () => {
  harness.answers.set("status", () => {
    throw new Error("no answer");
  });
  const { page, complaints, requests, heading } = await open("/", null);
  await page.waitForLoadState("networkidle");
  expect(requests.filter((url) => url.endsWith("/api/v1/status"))).not.toEqual([]);
  expect(await heading()).toBe("What is this address?");
  expect(await page.locator(links).count()).toBe(0);
  expect(complaints).toEqual([]);
  await page.close();
});
