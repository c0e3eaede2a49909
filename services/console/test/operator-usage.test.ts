/** The operators' pages of usage, the audit and plans in a real browser, in front of a real gateway. */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { browserTest } from "./support/console-browser.ts";
import { faultsInBothThemes, type OperatorInBrowser, startOperator, tooNarrow } from "./support/operator-browser.ts";

const inBrowser = browserTest(5);

let operator: OperatorInBrowser;
beforeAll(async () => {
  operator = await startOperator({ USAGE_FLUSH_MS: 50 });
});
afterAll(() => operator.stop());

inBrowser("usage is shown as bars and rows, and saved as CSV with every row", async () => {
  const key = await operator.harness.key({ label: "reader" });
  for (let at = 0; at < 3; at++)
    await fetch(`${operator.publicUrl}/api/v1/ip/193.0.6.139`, { headers: { authorization: `Bearer ${key}` } });
  const id = key.split("_")[2] ?? "";
  const from = new Date().toISOString().slice(0, 10);
  while ((await operator.harness.store.usage.list({ from, to: from, keyId: id })).length === 0)
    await new Promise((done) => setTimeout(done, 20));
  const { page, complaints } = await operator.open("/usage");
  await page.fill("input[name=key]", id);
  await page.press("input[name=key]", "Enter");
  await page.locator(".lead", { hasText: "3 requests counted towards quotas" }).waitFor();
  await page.locator("table.rows td", { hasText: id }).waitFor();
  expect(await page.locator("table.rows th").allTextContents()).toEqual(["Key", "Day", "Kind", "Counted towards quota", "Not counted"]);
  expect(await page.locator("select[name=by] option").last().textContent()).toBe("key, day, kind");
  await page.locator("figure svg").waitFor();
  expect(await page.locator("figure svg").getAttribute("aria-label")).toContain("most on");
  expect(await page.locator("ul.bars li").allTextContents()).toEqual([`${id}3`, "ip3"]);
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  const download = page.waitForEvent("download");
  await page.locator("button", { hasText: "Download CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split(/\r?\n/);
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(id);
  await page.fill("input[name=key]", "NOSUCHKEY");
  await page.press("input[name=key]", "Enter");
  await page.locator(".unknown", { hasText: "No usage is stored" }).first().waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a plan is created, changed and deleted; one that keys refer to is not deleted, and the dialog says why", async () => {
  const { page, complaints } = await operator.open("/plans");
  await page.locator("main button", { hasText: "Create a plan" }).click();
  await page.fill("dialog input[name=name]", "team");
  await page.fill("dialog input[name=rate]", "20");
  await page.fill("dialog input[name=month]", "50000");
  expect(await faultsInBothThemes(page)).toEqual([]);
  // A new plan does not replace one that exists.
  await page.fill("dialog input[name=name]", "default");
  await page.press("dialog input[name=month]", "Enter");
  await page.locator("dialog input[name=name]:focus:invalid").waitFor();
  await page.fill("dialog input[name=name]", "team");
  await page.press("dialog input[name=month]", "Enter");
  await page.locator("table.rows tr", { hasText: "team" }).waitFor();
  expect(await page.locator("table.rows tr", { hasText: "team" }).textContent()).toContain(
    "20 units per second50,000 requests per monthno limit",
  );
  await page.locator("button[aria-label='Change team']").click();
  await page.fill("dialog input[name=concurrency]", "4");
  await page.press("dialog input[name=concurrency]", "Enter");
  await page.locator("table.rows tr", { hasText: "4 at a time" }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  await operator.harness.key({ plan: "team" });
  await page.locator("button[aria-label='Delete team']").click();
  await page.locator("dialog[open]").waitFor();
  expect(await page.locator("dialog h2").textContent()).toBe("Delete the plan team?");
  await page.locator("dialog button", { hasText: "Delete" }).click();
  await page.locator("dialog .failed").waitFor();
  expect(await page.locator("dialog .failed").textContent()).toMatch(/Request id: [0-9A-Z]{26}/);
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("the audit is shown in pages, newest first, with filters", async () => {
  const { page, complaints } = await operator.open("/plans");
  await page.locator("table.rows").waitFor();
  const headers = { authorization: `Bearer ${operator.adminKey}`, "content-type": "application/json" };
  const cidrs = Array.from({ length: 90 }, (_, at) => `10.${at}.0.0/16`);
  const many = { label: "many networks", scopes: ["ip"], allowed_cidrs: cidrs };
  await fetch(`${operator.url}/admin/v1/keys`, { method: "POST", headers, body: JSON.stringify(many) });
  for (let at = 0; at < 150; at++)
    await fetch(`${operator.url}/admin/v1/plans/p${at}`, {
      method: "PUT",
      headers,
      body: JSON.stringify({ rate: { limit: 1, window_seconds: 1 }, month: { limit: at + 1 } }),
    });
  await page.locator("nav a", { hasText: "Audit" }).click();
  await page.locator("[role=status]", { hasText: "100 entries are loaded; there are more" }).waitFor();
  expect(await page.locator("table.rows tbody tr").first().textContent()).toContain("p149");
  await page.locator("button", { hasText: "Load more" }).click();
  await page.locator("table.rows td", { hasText: /^p0$/ }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  await page.fill("input[name=target]", "p7");
  await page.press("input[name=target]", "Enter");
  await page.locator("[role=status]", { hasText: "1 entry" }).waitFor();
  await page.locator("summary", { hasText: "Details" }).press("Enter");
  expect(await page.locator("table.rows code").textContent()).toContain('"month"');
  await page.fill("input[name=target]", "");
  await page.fill("input[name=action]", "key.create");
  await page.press("input[name=action]", "Enter");
  await page.locator("table.rows td", { hasText: "key.create" }).first().waitFor();
  const details = await page.locator("table.rows code").allTextContents();
  expect(details.map((text) => JSON.parse(text)).filter(({ allowed_cidrs }) => allowed_cidrs.length === cidrs.length)).toHaveLength(1);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("filters are in the address: a link, a reload and the way back show the same", async () => {
  const key = await operator.harness.key({ label: "one of many" });
  await operator.harness.key({ label: "another" });
  const id = key.split("_")[2] ?? "";
  const query = () => page.evaluate<string>("location.search");
  const { page, complaints } = await operator.open("/keys");
  const filter = page.getByRole("searchbox", { name: "Filter" });
  await filter.fill("one of");
  await page.getByRole("link", { name: "one of many" }).click();
  await page.getByRole("link", { name: "Entries of the audit log" }).waitFor();
  await page.goBack();
  await page.locator("[role=status]", { hasText: "1 of " }).waitFor();
  expect([await filter.inputValue(), await query()]).toEqual(["one of", "?filter=one+of"]);
  await page.locator("main select").selectOption("default");
  await page.waitForURL(/plan=default/);
  expect(await query()).toBe("?plan=default&filter=one+of");
  await page.getByRole("link", { name: "one of many" }).click();
  await page.getByRole("link", { name: "Usage of the key" }).click();
  await page.locator(".unknown", { hasText: "No usage is stored" }).first().waitFor();
  expect([await page.inputValue("input[name=key]"), await query()]).toEqual([id, `?key=${id}`]);
  await page.locator("select[name=by]").selectOption("day");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/by=day/);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes("by="));
  expect(await page.inputValue("select[name=by]")).toBe("key,day,route_class");
  await page.goBack();
  await page.getByRole("link", { name: "Entries of the audit log" }).click();
  await page.locator(".unknown", { hasText: "No entry matches." }).waitFor();
  expect(await page.inputValue("input[name=target]")).toBe(id);
  await page.fill("input[name=target]", "");
  await page.fill("input[name=from]", "2026-11-30");
  await page.getByRole("button", { name: "Show" }).press("Enter");
  await page.waitForURL(/\/audit\?from=2026-11-30$/);
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Show");
  await page.goBack();
  await page.locator(".unknown", { hasText: "No entry matches." }).waitFor();
  expect([await page.inputValue("input[name=target]"), await page.inputValue("input[name=from]")]).toEqual([id, ""]);
  await page.reload();
  await page.fill("#key", operator.adminKey);
  await page.press("#key", "Enter");
  await page.locator(".unknown", { hasText: "No entry matches." }).waitFor();
  expect(await page.inputValue("input[name=target]")).toBe(id);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("an address with a filter that cannot be is told so, and the page goes on", async () => {
  const { page } = await operator.open("/audit?from=yesterday");
  await page.locator(".failed").waitFor();
  expect(await page.locator(".failed").textContent()).toContain("From must be a time");
  await page.getByRole("button", { name: "Show" }).click();
  await page.locator("table.rows").waitFor();
  await page.goto(`${operator.url}/keys?plan=gone`);
  await page.fill("#key", operator.adminKey);
  await page.press("#key", "Enter");
  await page.locator(".unknown", { hasText: "There is no key of this plan." }).waitFor();
  expect(await page.locator("main select").inputValue()).toBe("gone");
  await page.close();
});
