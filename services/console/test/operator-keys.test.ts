/** The pages for operators in a real browser, in front of a real gateway: keys from their first to their last day, the keyboard, both themes, hostile text. */

import { afterAll, beforeAll, expect } from "@jest/globals";
import { browserTest } from "./support/console-browser.ts";
import { faultsInBothThemes, type OperatorInBrowser, startOperator, tooNarrow } from "./support/operator-browser.ts";

const inBrowser = browserTest(7);

let operator: OperatorInBrowser;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator.stop());

const statusAt = async (path: string, key: string) =>
  (await fetch(operator.publicUrl + path, { headers: { authorization: `Bearer ${key}` } })).status;

inBrowser("a key is created, shown once, rotated, disabled, enabled and revoked, with the keyboard alone", async () => {
  const { page, complaints, requests } = await operator.open("/keys");
  await page.locator("button", { hasText: "Create a key" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("#label:focus").waitFor();
  await page.keyboard.type("siem-prod");
  // A fault in a folded part of the form unfolds it.
  await page.locator("main form summary").press("Enter");
  await page.fill("#rate", "0");
  await page.locator("main form summary").press("Enter");
  await page.press("#label", "Enter");
  await page.locator("#rate:focus").waitFor();
  await page.fill("#rate", "");
  await page.locator("#label").focus();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.locator("main:focus .secret input").waitFor();
  const secret = await page.inputValue(".secret input");
  expect(await statusAt("/api/v1/ip/193.0.6.139", secret)).toBe(200);
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.locator("button", { hasText: "Copy" }).press("Enter");
  await page.locator("button", { hasText: "Copied" }).waitFor();
  await page.locator("nav a", { hasText: "Plans" }).click();
  await page.locator("main h1", { hasText: "Plans" }).waitFor();
  expect(await page.inputValue(".secret input")).toBe(secret);
  await page.goBack();
  await page.locator("main h1", { hasText: "Keys" }).waitFor();
  await page.locator("button", { hasText: "I have stored it" }).press("Enter");
  expect(await page.content()).not.toContain(secret);

  await page.fill("input[type=search]", "siem-prod active");
  await page.locator(".virtual a", { hasText: "siem-prod" }).press("Enter");
  await page.locator("main h1", { hasText: "siem-prod" }).waitFor();
  expect(await page.locator("main").textContent()).toContain("of the plan");
  expect(await faultsInBothThemes(page)).toEqual([]);
  const id = new URL(page.url()).pathname.slice("/keys/".length);

  const act = async (action: string, state: string) => {
    await page.locator(".tools button", { hasText: action }).press("Enter");
    await page.locator("dialog[open]").waitFor();
    expect(await page.locator("dialog h2").textContent()).toBe(`${action} “siem-prod” (${id})?`);
    expect([action, await faultsInBothThemes(page)]).toEqual([action, []]);
    await page.locator("dialog button", { hasText: action }).press("Enter");
    await page.locator("main h1 .badge", { hasText: state }).waitFor();
    await page.locator("main:focus").waitFor();
  };
  await page.locator(".tools button", { hasText: "Change" }).press("Enter");
  await page.locator("dialog[open]").waitFor();
  await page.fill("dialog #cidrs", "127.0.0.0/8");
  await page.fill("dialog #rate", "7");
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.press("dialog #rate", "Enter");
  await page.locator(".card dd", { hasText: "7 units per second (of the key)" }).waitFor();
  expect(await page.locator(".card").first().textContent()).toContain("127.0.0.0/8");

  await act("Disable", "disabled");
  expect(await statusAt("/api/v1/ip/193.0.6.139", secret)).toBe(403);
  // The dialog stays until the change is made or refused: its button to cancel would not stop it.
  const held = Promise.withResolvers<void>();
  await page.route("**/enable", async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.locator(".tools button", { hasText: "Enable" }).press("Enter");
  await page.locator("dialog button", { hasText: "Enable" }).press("Enter");
  await page.locator("dialog button[aria-disabled=true]", { hasText: "Cancel" }).press("Enter");
  await page.keyboard.press("Escape");
  expect(await page.locator("dialog[open]").count()).toBe(1);
  held.resolve();
  await page.locator("main h1 .badge", { hasText: "active" }).waitFor();
  expect(await statusAt("/api/v1/ip/193.0.6.139", secret)).toBe(200);

  await page.locator(".tools button", { hasText: "Rotate" }).press("Enter");
  await page.fill("dialog input", "0.5");
  await page.keyboard.press("Enter");
  await page.locator(".secret input").waitFor();
  const successor = await page.inputValue(".secret input");
  expect(await statusAt("/api/v1/ip/193.0.6.139", successor)).toBe(200);
  expect(await faultsInBothThemes(page)).toEqual([]);

  await page.locator(".tools button", { hasText: "Revoke" }).press("Enter");
  await page.locator("dialog[open]").waitFor();
  // Enter alone cancels what is final.
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  await act("Revoke", "revoked");
  expect(await statusAt("/api/v1/ip/193.0.6.139", secret)).toBe(401);
  expect(await tooNarrow(page)).toEqual([]);
  expect(complaints).toEqual([]);
  expect(requests.filter((request) => request.includes(secret) || !request.startsWith(`${operator.url}/`))).toEqual([]);
  await page.close();
});

inBrowser("each new secret is shown until its own confirmation", async () => {
  const { page, complaints } = await operator.open("/keys");
  const create = async (label: string) => {
    await page.locator("button", { hasText: "Create a key" }).click();
    await page.fill("#label", label);
    await page.press("#label", "Enter");
    await page.locator(".secret", { hasText: label }).waitFor();
  };
  const first = page.locator(".secret", { hasText: "first of two" });
  const second = page.locator(".secret", { hasText: "second of two" });
  await create("first of two");
  const secret = await first.locator("input").inputValue();
  await first.locator("button", { hasText: "Copy" }).click();
  await first.locator("button", { hasText: "Copied" }).waitFor();
  await create("second of two");
  expect(await first.locator("input").inputValue()).toBe(secret);
  expect(await second.locator("input").inputValue()).not.toBe(secret);
  expect([await first.locator("button").first().textContent(), await second.locator("button").first().textContent()]).toEqual([
    "Copied",
    "Copy",
  ]);
  expect(await faultsInBothThemes(page)).toEqual([]);
  await first.locator("button", { hasText: "I have stored it" }).click();
  await first.waitFor({ state: "detached" });
  expect(await second.locator("button").first().textContent()).toBe("Copy");
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a change of one member leaves the others of a key as they are", async () => {
  const text = await operator.harness.key({ label: "before", plan: "team", scopes: ["ip", "batch"], month: { limit: 7 } });
  const id = text.split("_")[2] ?? "";
  const before = await operator.harness.store.keys.find(id);
  const { page, complaints } = await operator.open(`/keys/${id}`);
  await page.locator(".tools button", { hasText: "Change" }).click();
  await page.fill("dialog #label", "after");
  await page.press("dialog #label", "Enter");
  await page.locator("main h1", { hasText: "after" }).waitFor();
  expect(await operator.harness.store.keys.find(id)).toEqual({ ...before, label: "after", version: 2 });
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a refused change is shown in its dialog with what to do and the request id", async () => {
  const own = operator.adminKey.split("_")[2];
  const { page, complaints } = await operator.open(`/keys/${own}`);
  await page.locator(".note", { hasText: "You are using this key" }).waitFor();
  await page.locator(".tools button", { hasText: "Revoke" }).click();
  await page.locator("dialog button", { hasText: "Revoke" }).click();
  await page.locator("dialog .failed").waitFor();
  expect(await page.locator("dialog .failed").textContent()).toMatch(/^Last admin key.*Nothing was changed.*Request id: [0-9A-Z]{26}/);
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a page shows a key as it is after a change that was refused because somebody else had revoked it", async () => {
  const id = (await operator.harness.key({ label: "shared" })).split("_")[2] ?? "";
  const { page } = await operator.open(`/keys/${id}`);
  await page.locator(".tools button", { hasText: "Disable" }).click();
  await page.locator("dialog[open]").waitFor();
  const revoked = await fetch(`${operator.url}/admin/v1/keys/${id}/revoke`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator.adminKey}` },
  });
  expect(revoked.status).toBe(200);
  await page.locator("dialog button", { hasText: "Disable" }).click();
  await page.locator("dialog .failed").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("main h1 .badge", { hasText: "revoked" }).waitFor();
  await page.close();
});

inBrowser("labels that carry scripts are text; a list of 2,500 keys is loaded in pages and filtered", async () => {
  const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>${"W".repeat(30)}`;
  await operator.harness.key({ label: hostile });
  // With a hyphen, which no id has: an id may hold any digits.
  for (let at = 0; at < 2_500; at++) await operator.harness.key({ label: `probe-${at}` });
  const { page, complaints } = await operator.open("/keys");
  const more = page.locator("button", { hasText: "Load more" });
  await more.click();
  await page.locator("[role=status]", { hasText: "2,000 keys" }).waitFor();
  await more.click();
  await more.waitFor({ state: "detached" });
  await page.fill("input[type=search]", "probe-2499");
  await page.locator(".virtual a", { hasText: "probe-2499" }).waitFor();
  expect(await page.locator(".virtual li").count()).toBe(1);
  await page.fill("input[type=search]", "onerror");
  await page.locator(".virtual a", { hasText: "onerror" }).click();
  await page.locator("main h1", { hasText: "onerror" }).waitFor();
  await page.locator(".tools button", { hasText: "Revoke" }).click();
  expect(await page.evaluate("[typeof window.broken, document.querySelectorAll('main img, main script').length]")).toEqual([
    "undefined",
    0,
  ]);
  expect(await tooNarrow(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("without a key a page asks for one; a key without the scope is refused with the reason", async () => {
  const { page, complaints } = await operator.open("/", null);
  await page.locator("#key").waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  await page.fill("#key", await operator.harness.key());
  await page.press("#key", "Enter");
  await page.locator("main a", { hasText: "Keys" }).click();
  await page.locator(".failed").first().waitFor();
  expect(await page.locator(".failed").first().textContent()).toMatch(/scope.*admin.*Request id/s);
  await page.locator(".failed button", { hasText: "Use another key" }).click();
  await page.locator("#key").waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("the admin key is in no URL, cookie or log, and in storage only if its owner asks", async () => {
  const { page, requests } = await operator.open("/keys");
  await page.locator(".virtual").waitFor();
  expect(requests.filter((request) => request.includes(operator.adminKey))).toEqual([]);
  expect(await page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]")).toEqual([0, 0, ""]);
  expect(await page.content()).not.toContain(operator.adminKey);
  expect(JSON.stringify(operator.harness.log)).not.toContain(operator.adminKey);
  await page.reload();
  await page.fill("#key", operator.adminKey);
  await page.check("input[name=keep]");
  await page.press("#key", "Enter");
  await page.locator(".virtual").waitFor();
  expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual(["netfacts-operator-key"]);
  await page.reload();
  await page.locator(".virtual").waitFor();
  await page.locator("button", { hasText: "Forget the key" }).click();
  await page.locator("#key").waitFor();
  expect(await page.evaluate("sessionStorage.length")).toBe(0);
  await page.close();
});
