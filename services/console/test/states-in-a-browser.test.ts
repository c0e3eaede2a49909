/**
 * Every page of a subject in each of its states: nothing known, refused, slow. Full answers, and pages that are opened by their address, are in
 * `in-a-browser.test.ts`.
 */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { exampleReply } from "../../gateway-auth-quota/test/support/gateway.ts";
import { browserTest, type ConsoleInBrowser, faultsInBothThemes, startConsole } from "./support/console-browser.ts";

const inBrowser = browserTest(3);

let site: ConsoleInBrowser;
let key: string;
beforeAll(async () => {
  site = await startConsole();
  // For all pages.
  key = await site.harness.key({ rate: { limit: 10_000, windowSeconds: 1 } });
});
afterEach(() => site.harness.answers.clear());
afterAll(() => site.stop());

const pages = [
  ["/address/193.0.6.139", "ip"],
  ["/prefix/193.0.0.0/21", "prefix"],
  ["/as/AS3333", "asn"],
  ["/validity/AS3333/193.0.0.0/21", "validity"],
  ["/search?q=ripe+ncc", "search"],
  ["/reverse-dns/193.0.6.139", "reverse_dns"],
  ["/compare/193.0.6.139,193.0.6.140", "ip"],
] as const;

async function withoutFault(path: string, page: Page): Promise<void> {
  expect([path, await faultsInBothThemes(page)]).toEqual([path, []]);
  const tooWide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
  expect([path, tooWide]).toEqual([path, false]);
}

inBrowser("what nothing is known about is said in the sentence of each page", async () => {
  const { ip, prefix, asn, validity, search } = examples;
  const unannounced = { announced: false, origins: [], as_set_origins: [], visibility: null };
  const noRpki = { state: "not-found", reason: null, mixed: false, by_state: {}, covering_vrps: 0 } as const;
  const noCounts = { ipv4: { ...asn.counts?.ipv4, prefixes: 0 }, ipv6: { ...asn.counts?.ipv6, prefixes: 0 } };
  const notFound = { ...validity.rpki, state: "not-found", description: "No VRP covers the route's prefix" } as const;
  site.answer("ip", {
    ...{ allocation: null, location: null, network_types: [] },
    routing: { ...ip.routing, ...unannounced, prefix: null },
  });
  site.answer("prefix", {
    ...{ ...unannounced, match: { prefix: null, type: "none" as const }, moas: { is_moas: false, origin_count: 0 }, rpki: noRpki },
    allocation: { ...prefix.allocation, relation: null, total: 0, blocks: [] } as never,
  });
  site.answer("asn", {
    ...{ name: null, organisation: null, registry: null, status: null, announced: false, registration_country: null },
    counts: { ...asn.counts, ...noCounts } as never,
    prefixes: { ...asn.prefixes, items: [], total: 0 } as never,
  });
  site.answer("validity", { rpki: { ...notFound, vrps: { matched: [], unmatched_as: [], unmatched_length: [] } } });
  site.answer("search", { results: { ...search.results, items: [], total: 0 } });
  site.answer("reverse_dns", { status: "nxdomain", names: [], forward_confirmed: null });
  const sentences = [
    "193.0.6.139 is not announced, and no registry lists it.",
    "193.0.0.0/21 is not announced, and no announced prefix covers it.",
    "AS3333 announces no prefix.",
    "No ROA covers 193.0.0.0/21, so RPKI says nothing about AS3333.",
    "No results for “ripe ncc”",
    "193.0.6.139 has no name in DNS.",
    "193.0.6.139 and 193.0.6.140 do not differ in any known fact.",
  ];
  const { page, complaints, heading, goTo } = await site.open("/key", key);
  for (const [at, [path]] of pages.entries()) {
    await goTo(path);
    expect(await heading()).toBe(sentences[at]);
    if (path.startsWith("/prefix/"))
      expect(await page.locator("main").textContent()).toContain("Neither this prefix nor one that covers it is announced.");
    await withoutFault(path, page);
  }
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a key that may not ask is told so on each page, with what to do and the request id", async () => {
  const narrow = await site.harness.key({ scopes: ["batch"], rate: { limit: 10_000, windowSeconds: 1 } });
  const { page, complaints, goTo } = await site.open("/key", narrow);
  const requestIds = new Set<string | undefined>();
  for (const [path] of pages) {
    await goTo(path);
    await page.locator(".failed").first().waitFor();
    const text = (await page.locator(".failed").first().textContent()) ?? "";
    expect([path, text]).toEqual([path, expect.stringMatching(/scope.*Request id: [0-9A-Z]{26}/s)]);
    requestIds.add(/Request id: ([0-9A-Z]{26})/.exec(text)?.[1]);
    await withoutFault(path, page);
  }
  // Each is that of the page's own request.
  expect(requestIds.size).toBe(pages.length);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("each page says that it waits, and shows the answer when it comes", async () => {
  const { page, complaints, goTo } = await site.open("/key", key);
  for (const [path, op] of pages) {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    site.harness.answers.set(op, async () => {
      await held;
      return { ...exampleReply(op), cacheable: false };
    });
    await goTo(path);
    await page.locator(".loading").first().waitFor();
    await withoutFault(path, page);
    release();
    await page.locator("main h1:not(.loading)").waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    expect([path, await page.locator(".failed").count(), complaints]).toEqual([path, 0, []]);
    site.harness.answers.clear();
  }
  await page.close();
});
