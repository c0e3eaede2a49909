/** Pages with their layout mirrored, for languages that are written from right to left, and on paper. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { browserTest, type ConsoleInBrowser, startConsole } from "./support/console-browser.ts";

const inBrowser = browserTest(5);

let site: ConsoleInBrowser;
beforeAll(async () => {
  site = await startConsole();
});
afterEach(() => site.harness.answers.clear());
afterAll(() => site.stop());

const pages = [
  "/address/2001:67c:2e8::1",
  "/prefix/193.0.0.0/21",
  "/as/AS3333",
  "/validity/AS3333/193.0.0.0/21",
  "/search?q=ripe+ncc",
  "/reverse-dns/193.0.6.139",
  "/compare/193.0.6.139,193.0.6.140",
] as const;
const withoutAnswer = ["/", "/data", "/bulk", "/key"] as const;

function answerIPv6(): void {
  const { ip, prefix } = examples;
  site.answer("ip", { ip: "2001:67c:2e8::1", version: 6, routing: { ...ip.routing, prefix: "2001:67c:2e8::/48" } } as Partial<typeof ip>);
  site.answer("prefix", {
    less_specifics: [{ ...related(0), prefix: "2001:600::/23" }],
    more_specifics: { ...prefix.more_specifics, count: 1, items: [{ ...related(0), prefix: "2001:67c:2e8:1::/64" }] },
  });
}

function related(at: number) {
  const prefix = `193.0.${at >> 5}.${(at & 31) * 8}/29`;
  return { prefix, origins: [3333], as_set_origins: [], rpki_state: "valid" as const, visibility_ratio: 1 };
}

/** Pixels that the page is wider than its window. */
async function overflow(page: Page): Promise<unknown> {
  return await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** Addresses and prefixes whose first character is shown to the right of the last. */
async function disordered(page: Page): Promise<unknown> {
  return await page.evaluate(`(() => {
    const found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      for (const { 0: text, index } of node.data.matchAll(/(?:[0-9a-f]*:){2,}[0-9a-f:]*(?:[/]\\d+)?|\\d+(?:[.]\\d+){3}(?:[/]\\d+)?/g)) {
        const at = (place) => {
          const range = document.createRange();
          range.setStart(node, place);
          range.setEnd(node, place + 1);
          return range.getBoundingClientRect();
        };
        const first = at(index), last = at(index + text.length - 1);
        if (first.width > 0 && first.top === last.top && first.left > last.left) found.push(text);
      }
    }
    return found;
  })()`);
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, fullPage: true });
}

const nameOf = (path: string) => path.replaceAll(/[^a-zA-Z0-9]+/g, "_");

inBrowser("each page can be mirrored: nothing leaves the window, and addresses keep their order", async () => {
  const { page, heading, goTo } = await site.open("/key", await site.harness.key({ rate: { limit: 10_000, windowSeconds: 1 } }));
  answerIPv6();
  for (const path of [...pages, ...withoutAnswer]) {
    // The key is gone with the document.
    if (path === withoutAnswer[0]) await page.reload();
    await page.evaluate('document.documentElement.dir = "ltr"');
    await goTo(path);
    await heading();
    // 180 is a small screen, zoomed to 200 %: there only the header must fit.
    await page.setViewportSize({ width: 180, height: 900 });
    expect([path, await page.evaluate("document.querySelector('header').scrollWidth <= innerWidth")]).toEqual([path, true]);
    for (const width of [320, 1_024]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate('document.documentElement.dir = "ltr"');
      expect([path, width, await overflow(page)]).toEqual([path, width, 0]);
      await page.evaluate('document.documentElement.dir = "rtl"');
      await picture(page, `rtl${nameOf(path)}.${width}`);
      expect([path, width, await overflow(page), await disordered(page)]).toEqual([path, width, 0, []]);
    }
  }
  await page.close();
});

inBrowser("each page fits on paper, dark on light, without what only a screen needs", async () => {
  const { page, goTo } = await site.open("/key", await site.harness.key({ rate: { limit: 10_000, windowSeconds: 1 } }));
  await page.selectOption("nav select", "dark");
  for (const path of pages) {
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    await page.emulateMedia({ media: null });
    await page.setViewportSize({ width: 1_280, height: 900 });
    await goTo(path);
    await page.locator("main .detail code").first().waitFor();
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    await page.emulateMedia({ media: "print" });
    // A4 with margins of 1 cm, in pixels of the style sheet.
    await page.setViewportSize({ width: 718, height: 1_047 });
    await picture(page, `print${nameOf(path)}`);
    const seen = await page.evaluate(`(() => {
      const { color, backgroundColor } = getComputedStyle(document.body);
      const shown = (selector) => [...document.querySelectorAll(selector)].some((each) => each.getClientRects().length > 0);
      return { color, backgroundColor, controls: shown("header, button, input, select, .snippets"), answer: shown("main h1"), requestId: shown("main .detail code") };
    })()`);
    expect([path, seen, await overflow(page)]).toEqual([
      path,
      { color: "rgb(27, 36, 48)", backgroundColor: "rgba(0, 0, 0, 0)", controls: false, answer: true, requestId: true },
      0,
    ]);
  }
  await page.close();
});

inBrowser("all loaded rows of a list are printed, up to 2,000, and what is left out is told", async () => {
  /** Printing takes long; `paper` tells whether to. */
  const pagesOf = async (rows: number, paper: boolean) => {
    const items = Array.from({ length: rows }, (_, at) => related(at));
    site.answer("prefix", { more_specifics: { ...examples.prefix.more_specifics, count: rows, items } });
    const { page } = await site.open("/prefix/193.0.0.0/16");
    await page.locator(".snippets").waitFor();
    const printout = paper ? (await page.pdf({ format: "A4" })).toString("latin1") : "";
    const left = page.locator(".left-out");
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    const rest = (await left.count()) === 0 ? null : await left.textContent();
    const printed = await page.locator("[role=treeitem]").count();
    await page.evaluate('dispatchEvent(new Event("afterprint"))');
    const onScreen = await page.locator("[role=treeitem]").count();
    await page.close();
    return { papers: printout.match(/\/Type \/Page\b/g)?.length ?? 0, printed, rest, onScreen };
  };
  const few = await pagesOf(4, true);
  const many = await pagesOf(400, true);
  expect(few).toMatchObject({ printed: 5, rest: null, onScreen: 5 });
  expect(many).toMatchObject({ printed: 401, rest: null });
  // A page holds 29 rows of 36 pixels.
  expect(many.papers).toBeGreaterThanOrEqual(few.papers + 12);
  expect(many.onScreen).toBeLessThan(30);
  expect(await pagesOf(2_100, false)).toMatchObject({ printed: 2_000, rest: "The first 2,000 of 2,101 rows are printed." });
});

inBrowser("rows of a list are as high as the letters that the reader chose in the browser", async () => {
  const { page } = await site.open("/", null);
  await page.addInitScript(`new MutationObserver((_, observer) => {
    document.documentElement.style.fontSize = "32px";
    observer.disconnect();
  }).observe(document, { childList: true })`);
  await page.goto(`${site.url}/as/AS3333`);
  await page.fill("#key", await site.harness.key());
  await page.press("#key", "Enter");
  await page.locator(".virtual li").first().waitFor();
  expect(await page.evaluate('getComputedStyle(document.querySelector(".virtual li")).blockSize')).toBe("72px");
  await page.close();
});

inBrowser("a map is printed in light colours, and shown in those of the theme again", async () => {
  const { page } = await site.open("/prefix/193.0.0.0/21");
  await page.locator(".pad canvas").waitFor();
  await page.selectOption("nav select", "dark");
  const middle = () =>
    page.evaluate(`(() => {
      const canvas = document.querySelector(".pad canvas");
      return [...canvas.getContext("2d").getImageData(canvas.width / 3, canvas.height / 3, 1, 1).data].join(" ");
    })()`);
  const inDark = await middle();
  const printed = await page.evaluate(`new Promise((resolve) => {
    dispatchEvent(new Event("beforeprint"));
    queueMicrotask(() => queueMicrotask(() => resolve(getComputedStyle(document.querySelector(".legend .state-valid")).color)));
  })`);
  expect(printed).toBe("rgb(14, 100, 51)");
  expect(await middle()).toBe("14 100 51 255");
  await page.evaluate('dispatchEvent(new Event("afterprint"))');
  expect(await middle()).toBe(inDark);
  expect(inDark).toBe("127 217 163 255");
  await page.close();
});
