/** What a reader does not lose: a list when its page is left or another key is used, a copy where the browser forbids it, the focus, a typing error. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { until } from "../../../test/support/http.ts";
import { browserTest, type ConsoleInBrowser, startConsole } from "./support/console-browser.ts";

const inBrowser = browserTest(9);

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

inBrowser("a corrected file can be chosen again, and a dropped file never takes the place of the page", async () => {
  const { page } = await site.open("/bulk");
  await page.setInputFiles("#file", { name: "list.txt", mimeType: "text/plain", buffer: Buffer.from("nothing here") });
  await page.locator(".fault", { hasText: "There is no IP address" }).waitFor();
  expect(await page.inputValue("#file")).toBe("");
  // Returns whether the browser would open the file.
  const drop = (place: string) =>
    page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["193.0.6.139"], "list.txt"));
      return document.querySelector("${place}").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    })()`);
  expect(await drop("h1")).toBe(false);
  await page.locator("h1", { hasText: "of 1 address asked." }).waitFor();
  expect(await drop(".virtual")).toBe(false);
  await page.close();
});

inBrowser("the way back leads to the place on the page, though its answer is asked for anew", async () => {
  const { page, complaints, heading } = await site.open("/as/AS3333");
  await page.setViewportSize({ width: 360, height: 400 });
  await page.locator(".snippets").waitFor();
  const link = page.locator("main a[href^='/prefix/']").first();
  await link.focus();
  const place = await page.evaluate("scrollY");
  expect(place).toBeGreaterThan(0);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${site.url}/prefix/**`);
  await heading();
  expect(await page.evaluate("scrollY")).toBe(0);
  await page.goBack();
  await page.waitForURL(`${site.url}/as/AS3333`);
  await until(async () => (await page.evaluate("scrollY")) === place);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a text is copied without a clipboard, and selected where the browser forbids to copy", async () => {
  const { page, complaints } = await site.open("/address/193.0.6.139");
  await page.locator("summary", { hasText: "curl" }).click();
  const button = page.locator(".snippets button");
  const selected = async () => String(await page.evaluate("getSelection().toString()"));
  // As on a page of http:// that is not of this machine.
  await page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })');
  await page.evaluate("document.execCommand = () => (window.copiedText = getSelection().toString()) !== ''");
  await button.click();
  await page.locator(".snippets button", { hasText: "Copied" }).waitFor();
  expect(await page.evaluate("window.copiedText")).toContain("curl -sS");
  await page.evaluate("document.execCommand = () => false");
  const refused = "{ writeText: () => Promise.reject(new DOMException('no', 'NotAllowedError')) }";
  await page.evaluate(`getSelection().removeAllRanges(); Object.defineProperty(navigator, "clipboard", { value: ${refused} })`);
  await button.click();
  await page.locator(".snippets [role=status]", { hasText: "press Ctrl+C" }).waitFor();
  expect(await selected()).toContain("curl -sS");
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("the form for a key has no text from the URL, and the title of a page has none that turns others", async () => {
  const text = encodeURIComponent(`\u202eevil\u202c ${"please enter your key at evil.example ".repeat(9)}`);
  for (const [path, kind] of [
    [`/address/${text}`, "Address"],
    [`/compare/${text}`, "Compare"],
    [`/validity/${text}/${text}`, "RPKI validity"],
    [`/search?q=${text}`, "Search"],
  ] as const) {
    const { page } = await site.open(path, null);
    expect([await page.locator("main h1").textContent(), await page.title()]).toEqual([kind, `${kind} · Netfacts`]);
    await page.fill("#key", await site.harness.key());
    await page.press("#key", "Enter");
    await until(async () => (await page.title()) !== `${kind} · Netfacts`);
    expect(await page.title()).not.toMatch(/[\u202a-\u202e]/);
    expect((await page.title()).length).toBeLessThan(150);
    await page.close();
  }
});

inBrowser("the focus goes to the answer after a key, and to the field for the key after its button", async () => {
  const { page } = await site.open("/address/193.0.6.139", await site.harness.key({ scopes: ["batch"] }));
  await page.locator("button", { hasText: "Use another key" }).waitFor();
  await page.locator("#answer:focus").waitFor();
  await page.locator("button", { hasText: "Use another key" }).click();
  await page.locator("#key").waitFor();
  await page.locator("#key:focus").waitFor();
  await page.close();
});

inBrowser("the focus stays on the page when what has it is removed, or waits for an answer", async () => {
  const { page } = await site.open("/bulk");
  await page.fill("#list", "193.0.6.139");
  await page.locator("main button[type=submit]").press("Enter");
  await page.locator("button", { hasText: "Another list" }).waitFor();
  await page.locator("#answer:focus").waitFor();
  await page.locator("button", { hasText: "Another list" }).press("Enter");
  await page.locator("#list").waitFor();
  await page.locator("#answer:focus").waitFor();

  const { results } = examples.search;
  const endless = { ...results, total: 500, items: Array.from({ length: 3 }, () => results.items[0]), next_cursor: "cursor" };
  await page.route("**/api/v1/search?*", (route) => route.fulfill({ json: { ...examples.search, results: endless } }));
  await page.fill("#search", "ripe ncc");
  await page.press("#search", "Enter");
  await page.locator("main button", { hasText: "Load more" }).press("Enter");
  await page.locator("ol.results li:nth-child(6)").waitFor();
  await page.locator("button:focus", { hasText: "Load more" }).waitFor();
  await page.close();
});

inBrowser("what cannot be compared is said, and stays in the fields; a form takes what the search field takes", async () => {
  const { page, complaints } = await site.open("/compare/1.1.1.1,foo");
  await page.locator("#first").waitFor();
  expect([await page.inputValue("#first"), await page.inputValue("#second")]).toEqual(["1.1.1.1", "foo"]);
  expect(await page.locator(".fault").textContent()).toContain("This is not an IP address");
  await page.locator("nav a", { hasText: "RPKI" }).click();
  await page.fill("#asn", "AS 3333");
  await page.fill("#prefix", "193.0.0.0/21");
  await page.press("#prefix", "Enter");
  await page.waitForURL(`${site.url}/validity/AS3333/193.0.0.0/21`);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("warnings and errors of sources without a space fit a small screen", async () => {
  const long = "x".repeat(300);
  const [name, section] = Object.entries(examples.status.sections)[0] ?? [];
  const sources = section?.sources.map((source) => ({ ...source, name: long, error: long })) ?? [];
  const meta = { ...examples.status.meta, warnings: [{ code: "sample_data" as const, detail: long }] };
  site.answer("status", { meta, sections: { ...examples.status.sections, [name ?? ""]: { ...section, sources } } as never });
  const { page, heading } = await site.open("/data", null);
  await heading();
  expect(await page.locator(".note").count()).toBeGreaterThan(1);
  await page.setViewportSize({ width: 360, height: 900 });
  expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).toBe(0);
  await page.close();
});
