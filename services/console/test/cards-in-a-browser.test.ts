/** The cards that draw, in a real browser: each full, empty and too large, with the keyboard, in both themes. */

import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { decodeQuery, encodeCursor, examples, type RecordOf } from "@netfacts/contracts";
import type { Page } from "playwright-core";
import { until } from "../../../test/support/http.ts";
import { exampleReply } from "../../gateway-auth-quota/test/support/gateway.ts";
import { browserTest, type ConsoleInBrowser, faultsInBothThemes, startConsole, violations } from "./support/console-browser.ts";

const inBrowser = browserTest(14);

let site: ConsoleInBrowser;
beforeAll(async () => {
  site = await startConsole();
});
afterEach(() => site.harness.answers.clear());
afterAll(() => site.stop());

/** Nothing that axe finds in either theme, and nothing that the browser complains about, on small and large screens. */
async function expectNoFault(page: Page, complaints: readonly string[], name: string): Promise<void> {
  expect([name, await faultsInBothThemes(page)]).toEqual([name, []]);
  for (const width of [320, 360, 1_024]) {
    await page.setViewportSize({ width, height: 900 });
    expect([name, width, await page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")]).toEqual([
      name,
      width,
      true,
    ]);
    for (const theme of process.env.SCREENSHOTS ? ["light", "dark"] : []) {
      await page.selectOption("nav select", theme);
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.${width}.${theme}.png`, fullPage: true });
    }
  }
  expect([name, complaints]).toEqual([name, []]);
}

const snapshotId = "20261121T085500Z-1a2b3c4d";

/** Serves the prefixes inside 10.0.0.0/8 in pages, as the service does. */
function servePrefixes(inside: readonly string[], members: Partial<RecordOf<"prefix">> = {}): void {
  site.harness.answers.set("prefix", ({ query }) => {
    const { question, view } = decodeQuery("prefix", query);
    const start = view.page?.start ?? 0;
    const end = start + question.limit;
    const items = inside
      .slice(start, end)
      .map((prefix) => ({ prefix, origins: [64_500, 64_501], as_set_origins: [], rpki_state: "valid", visibility_ratio: 0.5 }));
    const next_cursor =
      end < inside.length ? encodeCursor("prefix", question, { snapshotId, page: { list: "more_specifics", start: end } }) : null;
    const record = {
      ...examples.prefix,
      prefix: "10.0.0.0/8",
      match: { prefix: "10.0.0.0/8", type: "exact" },
      less_specifics: [{ prefix: "10.0.0.0/7", origins: [64_500], as_set_origins: [], rpki_state: "not-found", visibility_ratio: 1 }],
      more_specifics: { count: inside.length, items, announced_share: 0.25, next_cursor },
      ...members,
    };
    return { ...exampleReply("prefix"), cacheable: false, etag: "", body: Buffer.from(JSON.stringify(record)) };
  });
}

inBrowser("prefixes around a prefix are a tree, which the keyboard reads, folds and leaves", async () => {
  servePrefixes(["10.0.0.0/16", "10.0.0.0/24", "10.0.1.0/24", "10.2.0.0/16"]);
  const { page, complaints } = await site.open("/prefix/10.0.0.0/8");
  const tree = page.locator("[role=tree]");
  await tree.waitFor();
  const rows = () =>
    page
      .locator("[role=treeitem]")
      .evaluateAll((items) => items.map((item) => `${item.getAttribute("aria-level")} ${item.querySelector("a")?.textContent}`));
  expect(await rows()).toEqual(["1 10.0.0.0/7", "2 10.0.0.0/8", "3 10.0.0.0/16", "4 10.0.0.0/24", "4 10.0.1.0/24", "3 10.2.0.0/16"]);
  expect(await page.locator(".card", { has: tree }).textContent()).toContain(
    "1 prefix around it, 4 inside it. 25% of its addresses are announced.",
  );
  expect(await page.locator("[aria-current=true]").textContent()).toContain("this prefix");
  await expectNoFault(page, complaints, "tree");
  const active = async () => {
    const id = await tree.getAttribute("aria-activedescendant");
    return await page.locator(`[id="${id}"] a`).textContent();
  };
  await tree.focus();
  expect(await active()).toBe("10.0.0.0/8");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  expect(await page.locator("[aria-expanded=false] a").textContent()).toBe("10.0.0.0/16");
  expect(await rows()).toHaveLength(4);
  await page.keyboard.press("ArrowDown");
  expect(await active()).toBe("10.2.0.0/16");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${site.url}/prefix/10.2.0.0/16`);
  await page.close();
});

inBrowser("a tree of more than 100,000 prefixes loads up to that many in pages, and says that it is cut", async () => {
  const inside = Array.from({ length: 100_500 }, (_, at) => `10.${at >> 13}.${(at >> 5) & 255}.${(at & 31) << 3}/29`);
  servePrefixes(inside);
  const key = await site.harness.key({ rate: { limit: 100_000, windowSeconds: 60 } });
  const { page, complaints } = await site.open("/prefix/10.0.0.0/8", key);
  const card = page.locator(".card", { has: page.locator("[role=tree]") });
  await card.waitFor();
  expect(await card.textContent()).toContain("Only the first 100 of 100,500 are shown.");
  await card.locator("button", { hasText: "Load more" }).click();
  await card.locator("[role=status]", { hasText: "the first 1,100 of" }).waitFor();
  await card.locator("button", { hasText: "Load 100,000 with 99 requests" }).click();
  await card
    .locator("[role=status]", { hasText: "the first 100,100 of 100,500 are shown. This page loads no more; the API has all." })
    .waitFor();
  expect(await card.locator("button").count()).toBe(0);
  await page.locator("[role=tree]").focus();
  await page.keyboard.press("End");
  await page.locator("[role=treeitem].active", { hasText: inside[100_099] ?? "" }).waitFor();
  expect(await page.locator("[role=treeitem]").count()).toBeLessThan(60);
  expect(await violations(page)).toEqual([]);
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("a list whose data were replaced while it was read offers to start again", async () => {
  servePrefixes(Array.from({ length: 500 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`));
  const { page } = await site.open("/prefix/10.0.0.0/8");
  await page.locator("[role=tree]").waitFor();
  const whole = site.harness.answers.get("prefix");
  const problem = { code: "cursor_expired", detail: "The request refers to a version of the data that is no longer available." };
  site.harness.answers.set("prefix", () => ({
    ...exampleReply("prefix"),
    status: 410,
    contentType: "problem",
    cacheable: false,
    body: Buffer.from(JSON.stringify(problem)),
  }));
  await page.locator("button", { hasText: "Load more" }).click();
  await page.locator(".failed").waitFor();
  if (whole !== undefined) site.harness.answers.set("prefix", whole);
  await page.locator("button", { hasText: "Start again with the current data" }).click();
  await page.locator(".failed").waitFor({ state: "detached" });
  await page.locator("button", { hasText: "Load more" }).click();
  await page.locator("[role=status]", { hasText: "Only the first" }).waitFor({ state: "detached" });
  await page.close();
});

inBrowser("a prefix with nothing around it has no tree, and the reason", async () => {
  site.answer("prefix", { less_specifics: [], more_specifics: { count: 0, items: [], announced_share: 1, next_cursor: null } });
  const { page } = await site.open("/prefix/193.0.0.0/21");
  await page.locator(".snippets").waitFor();
  expect(await page.locator("main").textContent()).toContain("No announced prefix is around it or inside it.");
  site.answer("prefix", {
    announced: null,
    less_specifics: [],
    more_specifics: { count: null, items: [], announced_share: null, next_cursor: null },
    meta: { ...examples.prefix.meta, data: {} },
  });
  await page.reload();
  await page.fill("#key", await site.harness.key());
  await page.press("#key", "Enter");
  await page.locator(".snippets").waitFor();
  expect(await page.locator(".card", { hasText: "Announced prefixes around it" }).textContent()).toContain("unknown: no routes are loaded");
  await page.close();
});

const neighbour = (
  asn: number,
  position: "left" | "right" | "uncertain",
  share: number | null,
  name: string | null = `NAME-OF-${asn}`,
) => ({
  asn,
  name,
  position,
  paths_left: position === "right" ? 0 : 10,
  paths_right: position === "right" ? 20 : 0,
  share,
  ipv4: true,
  ipv6: false,
  aspa: position === "left" ? "provider" : null,
});

inBrowser("neighbours are drawn on their side, as many as fit, and are a table, too", async () => {
  const items = [
    ...Array.from({ length: 12 }, (_, at) => neighbour(100 + at, "left", 0.9 / (at + 1))),
    neighbour(200, "right", 1, `<script>${"long ".repeat(30)}`),
    neighbour(201, "right", null, null),
    neighbour(300, "uncertain", null),
  ];
  const neighbours = { method: "observed-paths", counts: { left: 512, right: 2, uncertain: 4 }, items, next_cursor: null };
  site.answer("asn", { neighbours });
  const { page, complaints, heading } = await site.open("/as/AS3333");
  const card = page.locator(".card", { hasText: "Neighbours in paths" });
  await card.locator("svg").waitFor();
  await expectNoFault(page, complaints, "neighbours");
  const text = (await card.textContent()) ?? "";
  expect(text).toContain("502 more on the left.");
  expect(text).toContain("4 ASes seen only as a collector’s own peer: the position is uncertain.");
  expect(text).not.toMatch(/provider|customer|upstream|downstream/i);
  // At once: the drawing may follow the last change of the screen's width in between.
  const [middle, ...places] = (await page.evaluate(
    "[...document.querySelectorAll('.graph text.middle, .graph a')].map((part) => part.matches('a') ? part.textContent + ' ' + part.querySelector('text').getAttribute('x') : part.getAttribute('x')).sort((a, b) => a.startsWith('AS') - b.startsWith('AS'))",
  )) as string[];
  expect(places).toHaveLength(12);
  for (const place of places) {
    const [as = "", x] = place.split(" ");
    expect([as, Number(x) < Number(middle)]).toEqual([as, as.startsWith("AS1")]);
  }
  await card.locator("summary").click();
  const rows = await card
    .locator("tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent).join("|")));
  expect(rows).toHaveLength(15);
  expect(rows[0]).toBe("AS100 NAME-OF-100|left|10|0|90%");
  expect(rows[14]).toBe("AS300 NAME-OF-300|uncertain|10|0|unknown");
  expect(await violations(page)).toEqual([]);
  await card.locator("svg a", { hasText: "AS200" }).click();
  await page.waitForURL(`${site.url}/as/AS200`);
  // The key is in memory: a page that was loaded anew would ask for it.
  await page.locator(".snippets").waitFor();
  expect(await heading()).toContain("AS3333");
  await page.close();
});

inBrowser("the ROAs of an AS are asked for when their list is opened, all or those that no announcement uses", async () => {
  const [item] = examples.asn_vrps.vrps.items;
  if (item === undefined) throw new Error("the example has no VRP");
  const vrps = [
    { ...item, announced_prefixes: 1, max_length_loose: true },
    { ...item, prefix: "2001:db8:ffff:ffff:ffff:ffff:ffff:0/112", max_length: 128, announced_prefixes: 0 },
    { ...item, prefix: "10.0.0.0/8", announced_prefixes: null, max_length_loose: null },
    { ...item, prefix: "11.0.0.0/21" },
  ];
  const asked: (boolean | null)[] = [];
  site.harness.answers.set("asn_vrps", ({ query }) => {
    const { announced } = decodeQuery("asn_vrps", query).question;
    asked.push(announced);
    const items = announced === false ? vrps.filter(({ announced_prefixes }) => announced_prefixes === 0) : vrps;
    const counts = { vrps: 12, unannounced: 1, max_length_loose: 1 };
    const record = { ...examples.asn_vrps, counts, vrps: { items, total: items.length, limit: 100, next_cursor: null } };
    return { ...exampleReply("asn_vrps"), cacheable: false, etag: "", body: Buffer.from(JSON.stringify(record)) };
  });
  const { page, complaints } = await site.open("/as/AS3333");
  const card = page.locator(".card", { hasText: "ROAs for this AS (12)" });
  await card.locator("summary").waitFor();
  expect(asked).toEqual([]);
  await card.locator("summary").press("Enter");
  const rows = card.locator(".row");
  await until(async () => (await rows.count()) === 4);
  expect(await rows.allTextContents()).toEqual([
    "193.0.0.0/21loose",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:0/112up to /128not announced",
    "10.0.0.0/8up to /21unknown",
    "11.0.0.0/21announced",
  ]);
  expect(await card.textContent()).toContain("Announcements do not use 1 of 12.");
  await expectNoFault(page, complaints, "vrps");
  await card.locator("input").check();
  await until(async () => (await rows.count()) === 1);
  expect(asked).toEqual([null, false]);
  await page.close();
  // ROAs for AS 0 allow nothing, so that none of them is left over.
  site.answer("asn", { asn: 0 });
  site.answer("asn_vrps", {
    asn: 0,
    vrps: { ...examples.asn_vrps.vrps, items: [{ ...item, announced_prefixes: null, max_length_loose: null }] },
  });
  const zero = await site.open("/as/AS0");
  await zero.page.locator(".card summary", { hasText: "List the ROAs" }).press("Enter");
  const forbidden = zero.page.locator(".card", { hasText: "Nobody may announce these prefixes" });
  await forbidden.locator(".row").waitFor();
  expect(await forbidden.locator(".badge, input").count()).toBe(0);
  await zero.page.close();
  site.answer("asn", { rpki: null });
  const unknown = await site.open("/as/AS3333");
  await unknown.page.locator(".snippets").waitFor();
  expect(await unknown.page.locator(".card", { hasText: "ROAs for this AS" }).count()).toBe(0);
  await unknown.page.close();
});

inBrowser("names of neighbours in capitals fit into the drawing, with their shares next to it", async () => {
  const names = ["DOUBLELCICK-AS Dummy object for GOOGLE", "CHINANET-BACKBONE No.31,Jin-rong Street", "WWWWWWWWMMMMMMMMWWWWWWWW", "UUNET"];
  const items = ["left", "right"].flatMap((side, base) =>
    names.map((name, at) => neighbour(100 * base + at + 1, side as "left", 0.1391 / (at + 1), name)),
  );
  site.answer("asn", { neighbours: { method: "observed-paths", counts: { left: 4, right: 4, uncertain: 0 }, items, next_cursor: null } });
  const { page } = await site.open("/as/AS3333");
  await page.locator(".graph svg").waitFor();
  for (const width of [320, 360, 1_024, 1_280, 1_920]) {
    await page.setViewportSize({ width, height: 900 });
    await until(() =>
      page.evaluate("Math.abs(document.querySelector('.graph svg').clientWidth - document.querySelector('.graph').clientWidth) < 2"),
    );
    const cut = await page.evaluate(`(() => {
      const graph = document.querySelector(".graph").getBoundingClientRect();
      const texts = [...document.querySelectorAll(".graph text")];
      return texts.filter((text) => text.getBoundingClientRect().left < graph.left || text.getBoundingClientRect().right > graph.right).map((text) => text.textContent);
    })()`);
    expect([width, cut]).toEqual([width, []]);
  }
  const details = (await page.locator(".graph text.detail").allTextContents()).map((text) => text.trim());
  expect(details[0]).toMatch(/^DOUBLELCICK-AS.* 13[.]9%$/);
  expect(details[4]).toMatch(/^13[.]9% DOUBLELCICK-AS/);
  await page.close();
});

inBrowser("an AS without neighbours has no drawing, and the reason", async () => {
  for (const [neighbours, reason] of [
    [null, "unknown: the loaded routes have no paths"],
    [
      { method: "observed-paths", counts: { left: 0, right: 0, uncertain: 0 }, items: [], next_cursor: null },
      "No neighbour was seen in paths.",
    ],
  ] as const) {
    site.answer("asn", { neighbours: neighbours as never });
    const { page } = await site.open("/as/AS3333");
    const card = page.locator(".card", { hasText: "Neighbours in paths" });
    await card.waitFor();
    expect(await card.textContent()).toContain(reason);
    expect(await card.locator("svg").count()).toBe(0);
    await page.close();
  }
});

/** Waits until the map has a colour at a place, from 0 to 1: it is painted after the document has changed. */
async function waitForColour(page: Page, x: number, y: number, colour: string): Promise<void> {
  // As text, since the types of tests know no documents; asked again from here, as the page's policy forbids itself to read a program from text.
  const look = `(() => {
    const canvas = document.querySelector(".pad canvas");
    const pixel = canvas?.getContext("2d")?.getImageData(Math.floor(canvas.width * ${x}), Math.floor(canvas.height * ${y}), 1, 1).data;
    return pixel && \`rgb(\${pixel[0]}, \${pixel[1]}, \${pixel[2]})\`;
  })()`;
  await until(async () => (await page.evaluate(look)) === colour);
}

/** A prefix that is not announced, and that nothing covers. */
const silent = { announced: false, match: { prefix: null, type: "none" as const }, origins: [], less_specifics: [] };

async function colourOf(page: Page, selector: string, property: string): Promise<string> {
  return String(
    await page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue("${property}")`),
  );
}

inBrowser("a prefix is a map of squares in the colours of the theme, which pointer and keyboard read and enlarge", async () => {
  // The first quarter of the square (upper left), and a little of the last one (upper right).
  servePrefixes(["10.0.0.0/10", "10.192.1.0/24", "10.192.2.0/24"], silent);
  const { page, complaints } = await site.open("/prefix/10.0.0.0/8");
  const card = page.locator(".card", { has: page.locator(".pad") });
  await card.waitFor();
  await expectNoFault(page, complaints, "map");
  for (const theme of ["dark", "light"]) {
    await page.selectOption("nav select", theme);
    const ground = await colourOf(page, ".pad canvas", "background-color");
    const valid = await colourOf(page, ".legend .state-valid", "color");
    await waitForColour(page, 0.3, 0.3, valid);
    await waitForColour(page, 0.7, 0.7, ground);
  }
  const said = () => card.locator("[role=status].cell").textContent();
  await page.locator(".pad").focus();
  expect(await said()).toBe("10.0.0.0/16: inside 10.0.0.0/10 (valid).");
  await page.keyboard.press("ArrowRight");
  expect(await said()).toContain("10.1.0.0/16: inside 10.0.0.0/10 (valid).");
  // Beyond the edge the mark stays.
  for (let step = 0; step < 20; step++) await page.keyboard.press("ArrowRight");
  expect(await said()).toBe("10.255.0.0/16: no announced prefix.");
  // 10.192.0.0/16 begins the last quarter, whose line ends in the corner.
  for (let step = 0; step < 7; step++) await page.keyboard.press("ArrowDown");
  expect(await said()).toBe("10.192.0.0/16: holds 2 prefixes: 2 valid.");
  await page.keyboard.press("Enter");
  expect(await card.textContent()).toContain("The square is 10.192.0.0/16");
  await page.keyboard.press("ArrowDown");
  expect(await said()).toContain("10.192.");
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  expect(await card.textContent()).toContain("The square is 10.0.0.0/8");
  const box = await page.locator(".pad canvas").boundingBox();
  if (box === null) throw new Error("no map");
  await page.mouse.move(box.x + box.width * 0.02, box.y + box.height * 0.02);
  expect(await said()).toBe("10.0.0.0/16: inside 10.0.0.0/10 (valid).");
  await card.locator("select").selectOption("origin");
  expect(await card.locator(".legend").textContent()).toContain("AS64500 and AS64501: 3 prefixes");
  expect(complaints).toEqual([]);
  await page.close();
});

inBrowser("an AS has a map of each IP version, the square of IPv6 relative to what it announces", async () => {
  const prefixes = {
    items: [
      { prefix: "193.0.0.0/21", visibility_ratio: 1, rpki_state: "valid" as const, is_moas: false },
      { prefix: "193.0.12.0/23", visibility_ratio: 1, rpki_state: "invalid" as const, is_moas: true },
      { prefix: "2001:67c:2e8::/48", visibility_ratio: 1, rpki_state: "not-found" as const, is_moas: false },
      { prefix: "2001:67c:2e9::/48", visibility_ratio: 1, rpki_state: null, is_moas: null },
    ],
    total: 4,
    limit: 100,
    next_cursor: null,
  };
  site.answer("asn", { prefixes });
  const { page, complaints } = await site.open("/as/AS3333");
  const card = page.locator(".card", { has: page.locator(".pad") });
  await card.waitFor();
  expect(await card.textContent()).toContain("The square is 193.0.0.0/20");
  expect(await card.locator(".legend li").allTextContents()).toEqual(
    ["valid: 1 prefix", "invalid: 1 prefix", "not-found: 0 prefixes", "unknown: 0 prefixes"].map((text) => ` ${text}`),
  );
  await expectNoFault(page, complaints, "map-as");
  await card.locator("select").first().selectOption("6");
  expect(await card.textContent()).toContain("The square is 2001:67c:2e8::/46");
  await card.locator("select").last().selectOption("origin");
  expect((await card.locator(".legend").textContent())?.trim()).toBe("only AS3333: 1 prefix unknown: 1 prefix");
  await page.close();
});

inBrowser("a prefix in which nothing is announced has no map, and the reason", async () => {
  servePrefixes([], silent);
  const { page } = await site.open("/prefix/10.0.0.0/8");
  await page.locator(".snippets").waitFor();
  expect(await page.locator(".card", { hasText: "Map of addresses" }).textContent()).toContain(
    "No announced prefix is known that could be on a map.",
  );
  expect(await page.locator(".pad").count()).toBe(0);
  await page.close();
});

const locationOf = (members: Partial<NonNullable<RecordOf<"ip">["location"]>>) => {
  if (examples.ip.location === null) throw new Error("the example has a location");
  return { ...examples.ip.location, ...members };
};

inBrowser("a location is a circle on a map without a request to anybody else, and the same in words", async () => {
  const { page, complaints, requests } = await site.open("/address/193.0.6.139");
  const card = page.locator(".card", { has: page.locator("h2", { hasText: "Location" }) });
  await card.locator("svg").waitFor();
  await expectNoFault(page, complaints, "location");
  expect(requests.filter((request) => !request.startsWith(`${site.url}/`))).toEqual([]);
  expect(await card.locator("svg").getAttribute("aria-label")).toBe("Map: 52.37° N, 4.9° E, within 10 km");
  const text = (await card.textContent()) ?? "";
  expect(text).toContain("Confidence that this is right: very likely (93%).");
  expect(text).toContain("2 observations of other places");
  expect(text).toContain("Berlin, DE-BE, Germany · 2 observations · 576 km away");
  // The ring of the other place is as far away as it says: 57.6 times the radius of the circle, in the middle of the drawing.
  // In one look: it is drawn anew when the page finds its width.
  const ratio = await page.evaluate(`(() => {
    const widthOf = (selector) => document.querySelector(".world " + selector).getBBox().width;
    return widthOf("path.outlier") / widthOf("path.radius");
  })()`);
  expect(ratio).toBeCloseTo(57.6, 0);
  await page.close();
});

inBrowser("a location at the edge of the world is drawn, too", async () => {
  for (const [latitude, longitude] of [
    [-17.7, 179.9],
    [90, 0],
    [-90, -180],
  ] as const) {
    site.answer("ip", { location: locationOf({ latitude, longitude, radius_km: 5_000, outliers: null }) });
    const { page, complaints } = await site.open("/address/193.0.6.139");
    await page.locator(".world svg").waitFor();
    expect(await page.locator(".world path").evaluateAll((paths) => paths.every((path) => !path.getAttribute("d")?.includes("NaN")))).toBe(
      true,
    );
    expect(complaints).toEqual([]);
    await page.close();
  }
});

inBrowser("a location without coordinates has no map, and the reason; nor has one whose map cannot be loaded", async () => {
  site.answer("ip", {
    location: locationOf({ latitude: null, longitude: null, radius_km: null, basis: "geofeed", confidence: null, outliers: null }),
  });
  const { page, requests } = await site.open("/address/193.0.6.139");
  await page.locator(".snippets").waitFor();
  expect(await page.locator("main").textContent()).toContain("no map: a geofeed has no coordinates");
  expect(await page.locator(".world").count()).toBe(0);
  expect(requests.filter((request) => request.includes("world-map"))).toEqual([]);
  site.harness.answers.clear();
  await page.route("**/console/world-map-*.js", (route) => route.abort());
  await page.fill("#search", "193.0.6.140");
  await page.press("#search", "Enter");
  await page.locator(".unknown", { hasText: "The map could not be loaded." }).waitFor();
  expect(await page.locator("main").textContent()).toContain("52.37° N, 4.9° E, within 10 km");
  await page.close();
});
