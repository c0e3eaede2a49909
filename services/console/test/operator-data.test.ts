/** The operators' pages of sources, runs and observations in a real browser, in front of a real gateway and a real ingest. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { reloadSubjects } from "@netfacts/contracts";
import { startLocal } from "../../ingest/test/support/local.ts";
import { proxyToken, type ServiceHarness, startedRun, startService } from "../../ingest/test/support/service.ts";
import { observation } from "../../ingest/test/support/uploading.ts";
import { browserTest } from "./support/console-browser.ts";
import { faultsInBothThemes, type OperatorInBrowser, startOperator, tooNarrow } from "./support/operator-browser.ts";

const inBrowser = browserTest(7);

let ingest: ServiceHarness;
let operator: OperatorInBrowser;
beforeAll(async () => {
  ingest = await startService({
    deps: (deps) => ({ ...deps, config: { ...deps.config, OBSERVATIONS_INTERVAL_SECONDS: 3_600 } }),
  });
  await startedRun(ingest).then((id) => ingest.ended(id));
  operator = await startOperator({ INGEST_URL: ingest.app.url(), PROXY_TOKEN: proxyToken });
});
afterAll(async () => {
  await operator.stop();
  await ingest.stop();
});

const hostile = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>\u202egnirts\u2066`;

inBrowser("a run is started with the keyboard, followed to its end, and its report names skipped records with examples", async () => {
  const folder = join(ingest.folder, "sources");
  writeFileSync(
    join(folder, "ripencc.txt"),
    [
      "2|ripencc|20261121|201|19930901|20261120|+0000",
      "ripencc|*|ipv4|*|201|summary",
      ...Array.from({ length: 200 }, (_, at) => `ripencc|NL|ipv4|193.0.${at}.0|256|19930901|assigned`),
      `ripencc|NL|ipv4|${hostile}|256|19930901|assigned`,
      "",
    ].join("\n"),
  );
  const { page, complaints } = await operator.open("/sources");
  await page.locator("main h1", { hasText: "1 source, and none fails or is stale." }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.locator("main button", { hasText: "Start a run" }).press("Enter");
  await page.locator("dialog[open]").waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\//);
  await page.locator("main h1 .badge", { hasText: "succeeded" }).waitFor();
  const skipped = page.locator(".part summary", { hasText: "skipped" }).first();
  await skipped.press("Enter");
  expect(await page.locator(".part li code").first().textContent()).toContain("onerror");
  expect(await page.locator(".part li code").first().textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await page.evaluate("[typeof window.broken, document.querySelectorAll('main img, main script').length]")).toEqual([
    "undefined",
    0,
  ]);
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a source that fails comes first, with its reason and what to do; a list with faults is shown with its lines", async () => {
  const folder = join(ingest.folder, "sources");
  // Longer than other texts from outside are shown.
  const deep = join(folder, ...Array.from({ length: 10 }, () => "a-folder-with-a-name-of-its-own"));
  mkdirSync(deep, { recursive: true });
  const list = (names: readonly string[]) =>
    writeFileSync(
      join(folder, "sources.yaml"),
      [
        "sources:",
        ...names.map(
          (name) =>
            `  - {name: ${name}, section: allocations, format: delegated, location: ${name === "broken" ? deep : folder}/${name}.txt, stale_after: never}`,
        ),
        "",
      ].join("\n"),
    );
  writeFileSync(join(deep, "broken.txt"), `<html>${hostile}</html>\n`);
  list(["ripencc", "broken"]);
  const { page, complaints } = await operator.open("/sources");
  await page.locator("main button", { hasText: "Start a run" }).click();
  await page.locator("dialog button", { hasText: "Start a run" }).click();
  await page.waitForURL(/\/runs\//);
  await page.locator(".failed", { hasText: "it looks like a web page" }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.locator("nav a", { hasText: "Sources" }).click();
  await page.locator("main h1", { hasText: "failed: broken" }).waitFor();
  await page.locator(".failed", { hasText: "it looks like a web page" }).waitFor();
  await page.locator(".card .note", { hasText: "it looks like a web page" }).waitFor();
  expect(await page.locator(".card h2").first().textContent()).toContain("broken");
  expect(await page.locator(".card").first().textContent()).toContain("Check the file and its format in the list of sources");
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  writeFileSync(join(folder, "sources.yaml"), "sources:\n  - {name: ripencc, formt: delegated}\n");
  await page.reload();
  await page.fill("#key", operator.adminKey);
  await page.press("#key", "Enter");
  await page.locator(".failed li", { hasText: "formt" }).first().waitFor();
  expect(await page.locator("main h1").textContent()).toBe("The list of sources cannot be used.");
  list(["ripencc"]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("kept snapshots are listed and compared, with the pods that serve them, and one is rolled back to", async () => {
  const report = {
    ...{ service: "ip-routing", serving: null, snapshot: "20261120T000000Z-68c25abe", outcome: "refused" },
    reason: hostile,
  };
  ingest.broadcast.publish(reloadSubjects.loaded, { ...report, pod: "pod-b" });
  ingest.broadcast.publish(reloadSubjects.loaded, { ...report, pod: "pod-a", serving: report.snapshot, outcome: "loaded", reason: null });
  const { page, complaints } = await operator.open("/snapshots");
  await page.locator("main h1", { hasText: "the current one is served." }).waitFor();
  expect(await page.locator("ul.plain li").allTextContents()).toEqual([`${report.snapshot}: 1 pod pod-a`, "no snapshot yet: 1 pod pod-b"]);
  expect(await page.locator(".note").textContent()).toContain("pod-b rejected");
  expect(await page.evaluate("[typeof window.broken, document.querySelectorAll('main img, main script').length]")).toEqual([
    "undefined",
    0,
  ]);
  const [current, previous] = await page.locator("table.rows tbody th").allTextContents();
  expect(await page.locator("table.rows").last().textContent()).toMatch(/allocations.*ipv4.*1 → 200 \(\+199\)/);
  await page.locator("select[name=section]").selectOption("allocations");
  await page.locator("button", { hasText: "Show each change" }).press("Enter");
  await page.locator("main p", { hasText: "200 added, 1 removed, 0 changed." }).waitFor();
  const address = await page.evaluate<string>("location.search");
  expect(Object.fromEntries(new URLSearchParams(address))).toEqual({ from: previous, to: current, section: "allocations" });
  await page.goBack();
  await page.locator("section[aria-label='Changes']").waitFor({ state: "detached" });
  await page.goForward();
  const rows = page.locator("section[aria-label='Changes'] li");
  await rows.first().waitFor();
  expect(await rows.nth(2).textContent()).toMatch(/^added start 193\.0\.\d+\.0, end 193\.0\.\d+\.255, registry ripencc/);
  const kind = page.locator("select", { hasText: "removed" });
  await kind.selectOption("changed");
  await page.locator("main p", { hasText: "None of the changes listed here is of this kind." }).waitFor();
  await kind.selectOption("removed");
  expect(await rows.count()).toBe(1);
  await kind.selectOption("");
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 900 });
  expect(await rows.evaluateAll((all) => all.filter((row) => row.scrollHeight > row.clientHeight).length)).toBe(0);
  await page.locator(`button[aria-label="Roll back to ${previous}"]`).press("Enter");
  const dialog = page.locator("dialog[open]");
  expect(await dialog.textContent()).toContain(`${previous} becomes the current snapshot, and replaces ${current}.`);
  expect(await faultsInBothThemes(page)).toEqual([]);
  // Enter alone gives up.
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await page.locator(`button[aria-label="Roll back to ${previous}"]`).click();
  await dialog.locator("button.danger").click();
  await page.waitForURL(/\/runs\//);
  await page.locator("[role=status]", { hasText: "The rollback is in progress." }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.locator("main h1 .badge", { hasText: "succeeded" }).waitFor();
  expect(await page.locator("main h1").textContent()).toContain("Rollback");
  expect(await page.locator(".card").first().textContent()).toContain(`Replaces${current}`);
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  await page.locator("nav a", { hasText: "Sources" }).click();
  await page.locator("table.rows td", { hasText: `${previous}, rollback from ${current}` }).waitFor();
  // What another has published meanwhile is not taken back.
  const stale = await fetch(`${operator.url}/admin/v1/ingest/rollbacks`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ snapshot: previous, replaces: current }),
  });
  expect([stale.status, await stale.json()]).toMatchObject([409, { code: "snapshot_conflict" }]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a file of observations is sent, and its bad lines are shown by number and reason", async () => {
  const { page, complaints } = await operator.open("/observations");
  await page.locator(".unknown", { hasText: "Nothing was uploaded yet." }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await page.setInputFiles("#file", { name: `${"a-long-name-".repeat(9)}.ndjson`, mimeType: "", buffer: Buffer.from("") });
  expect(await tooNarrow(page)).toEqual([]);
  const lines = [observation("192.0.2.1"), "{", observation("192.0.2.2", { observed_at: "2099-01-01T00:00:00Z" })];
  await page.setInputFiles("#file", { name: "probes.ndjson", mimeType: "", buffer: Buffer.from(`${lines.join("\n")}\n`) });
  await page.fill("#source", "probes");
  await page.fill("#upload", "first");
  await page.press("#upload", "Enter");
  await page.locator("[role=status]", { hasText: "1 line stored, 2 bad lines." }).waitFor();
  await page.locator("summary", { hasText: "Bad lines" }).first().press("Enter");
  expect(await page.locator("table.rows tbody tr").allTextContents()).toEqual(
    expect.arrayContaining(["2is not JSON", "3observed_at is in the future"]),
  );
  expect(await faultsInBothThemes(page)).toEqual([]);
  expect(await tooNarrow(page)).toEqual([]);
  expect((await ingest.observations.find("first"))?.rows).toBe(1);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a file of another format is refused with the reason, and the list says that nothing of it is stored", async () => {
  const { page } = await operator.open("/observations");
  await page.setInputFiles("#file", { name: "table.ndjson", mimeType: "", buffer: Buffer.from("ip,country\n192.0.2.1,NL\n") });
  await page.fill("#upload", "another-format");
  await page.press("#upload", "Enter");
  await page.locator(".failed", { hasText: "2 of 2 lines are invalid: line 1 is not JSON. Stored are 0 bytes" }).waitFor();
  const card = page.locator(".cards .card", { hasText: "another-format" });
  await card.locator("p", { hasText: "Nothing of the file is stored." }).waitFor();
  expect(await card.textContent()).toContain("if it is refused, this page says why");
  expect(await card.textContent()).not.toContain("end of the file");
  await page.close();
});

inBrowser("an upload that the connection breaks is resumed behind what is stored, and stores each line once", async () => {
  const line = (at: number) => observation(`198.51.${at >> 8}.${at & 255}`, { lat: 50 + (at % 7) });
  const text = Array.from({ length: 4_000 }, (_, at) => `${line(at)}\n`).join("");
  // What an earlier try brought before its connection broke.
  const begun = text.slice(0, 100_000);
  await fetch(`${operator.url}/admin/v1/ingest/observations?upload=broken&source=probes&part=true`, {
    method: "POST",
    headers: { authorization: `Bearer ${operator.adminKey}`, "content-type": "application/x-ndjson" },
    body: begun,
  });
  const offset = (await ingest.observations.find("broken"))?.offset ?? 0;
  expect(offset).toBeGreaterThan(90_000);
  const { page } = await operator.open("/observations");
  await page.locator(".cards .card", { hasText: "broken" }).locator(".note", { hasText: "The end of the file is not stored." }).waitFor();
  let breaks = 1;
  await page.route("**/observations?*", (route) => (breaks-- > 0 ? route.abort() : route.continue()));
  await page.setInputFiles("#file", { name: "probes.ndjson", mimeType: "", buffer: Buffer.from(text) });
  await page.fill("#source", "probes");
  await page.fill("#upload", "broken");
  await page.press("#upload", "Enter");
  await page.locator(".failed", { hasText: "cannot be reached" }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/observations?"));
  await page.locator("button", { hasText: "Send the rest" }).click();
  expect(new URL((await sent).url()).searchParams.get("offset")).toBe(String(offset));
  await page.locator("[role=status]", { hasText: "4,000 lines stored, 0 bad lines." }).waitFor();
  await page.close();
});

inBrowser("another file under the id of a complete upload is refused, and nothing of it is stored", async () => {
  const { page } = await operator.open("/observations");
  const send = async (addresses: readonly string[]) => {
    const text = addresses.map((ip) => `${observation(ip)}\n`).join("");
    await page.setInputFiles("#file", { name: "probes.ndjson", mimeType: "", buffer: Buffer.from(text) });
    await page.fill("#upload", "daily");
    await page.press("#upload", "Enter");
  };
  await send(["192.0.2.1"]);
  await page.locator("[role=status]", { hasText: "1 line stored, 0 bad lines." }).waitFor();
  await page.locator("button", { hasText: "Another file" }).click();
  await send(["192.0.2.2", "192.0.2.3"]);
  await page.locator(".failed", { hasText: "differs from that of the upload" }).waitFor();
  expect(await page.locator("button", { hasText: "Send the rest" }).count()).toBe(0);
  expect(await ingest.observations.find("daily")).toMatchObject({ rows: 1 });
  await page.close();
});

inBrowser("an upload that is stopped says so, and the rest can be sent", async () => {
  const { page } = await operator.open("/observations");
  const isSent = Promise.withResolvers<void>();
  // It is not answered, so that it cannot end before it is stopped.
  await page.route("**/observations?*", () => isSent.resolve());
  await page.setInputFiles("#file", { name: "probes.ndjson", mimeType: "", buffer: Buffer.from(`${observation("203.0.113.9")}\n`) });
  await page.fill("#upload", "stopped");
  await page.press("#upload", "Enter");
  await isSent.promise;
  await page.locator("button", { hasText: "Stop" }).click();
  await page.locator(".note", { hasText: "You stopped the upload. What is stored is kept." }).waitFor();
  expect(await ingest.observations.find("stopped")).toBeNull();
  await page.unroute("**/observations?*");
  await page.locator("button", { hasText: "Send the rest" }).click();
  await page.locator("[role=status]", { hasText: "1 line stored, 0 bad lines." }).waitFor();
  await page.close();
});

inBrowser("the one-process form without a list of sources says so, and that pods are unknown there", async () => {
  const local = await startLocal(ingest.snapshots);
  const one = await startOperator({ INGEST_URL: local.url, PROXY_TOKEN: local.proxyToken }, operator.browser);
  try {
    const { page, complaints } = await one.open("/sources");
    await page.locator(".failed li", { hasText: "SOURCES does not name a sources.yaml" }).waitFor();
    await page.locator("main button", { hasText: "Start a run" }).click();
    await page.locator("dialog button", { hasText: "Start a run" }).click();
    await page.locator("dialog .failed", { hasText: "start with SOURCES=" }).waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.locator("nav a", { hasText: "Snapshots" }).click();
    await page.locator(".unknown", { hasText: "In the one-process form there are no pods" }).waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  } finally {
    await one.stop();
    await local.stop();
  }
});

inBrowser("a gateway without ingest says so, and what to do instead", async () => {
  const without = await startOperator({}, operator.browser);
  try {
    const { page, complaints, goTo } = await without.open("/");
    for (const path of ["/sources", "/snapshots", "/observations", "/runs/r1"]) {
      await goTo(path);
      await page.locator(".note", { hasText: "netfacts ingest" }).waitFor();
      expect(await page.locator("main").textContent()).toContain("This gateway has no ingest service");
      expect([path, await faultsInBothThemes(page)]).toEqual([path, []]);
    }
    expect(complaints).toEqual([]);
    await page.close();
  } finally {
    await without.stop();
  }
});
