/**
 * `make console-pictures`: takes pictures of the console's pages into docs/guides/console, as after `make up` with the samples, on a small, a
 * medium and a large screen. Needs Chromium. It asks no nameserver, so the pictures show names in DNS as unknown.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { type Browser, findChromium, startChromium } from "../test/support/chromium.ts";
import { freePorts } from "../test/support/free-ports.ts";
import { webpOf } from "./pictures/webp.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "docs/guides/console");
/** The screens; the large one is dark. */
const screens = [
  { width: 360, height: 740, theme: "light" },
  { width: 1_024, height: 768, theme: "light" },
  { width: 1_920, height: 1_080, theme: "dark" },
] as const;
const quality = 60;
/** Longest picture in px; the rest of a longer page is cut off. */
const heightMax = 2_400;
/** Where the repository is in the pictures: its real path says something about the machine that drew them. */
const shownRoot = "/opt/netfacts";
/** Time in which maps are painted and texts of times settle. */
const settleMs = 800;

interface Shown {
  readonly name: string;
  readonly path: string;
  /** The page needs no key. */
  readonly isOpen?: true;
  /** Actions on the page before the picture. */
  readonly act?: (page: Page) => Promise<unknown>;
}

const log = [
  '193.0.6.139 - - [25/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 512',
  '1.1.1.1 - - [25/Nov/2026:10:00:01 +0000] "GET /robots.txt HTTP/1.1" 200 51',
  '2001:500:2f::f - - [25/Nov/2026:10:00:02 +0000] "GET / HTTP/1.1" 200 512',
  '10.0.0.1 - - [25/Nov/2026:10:00:03 +0000] "POST /login HTTP/1.1" 401 90',
  '8.8.8.8 - - [25/Nov/2026:10:00:04 +0000] "GET /style.css HTTP/1.1" 200 4096',
];

const forEverybody: readonly Shown[] = [
  { name: "home", path: "/", isOpen: true },
  { name: "address", path: "/address/193.0.6.139" },
  { name: "prefix", path: "/prefix/193.0.0.0/21" },
  { name: "as", path: "/as/AS3333" },
  { name: "validity", path: "/validity/AS15169/1.1.1.0/24" },
  { name: "compare", path: "/compare/193.0.6.139,1.1.1.1" },
  { name: "search", path: "/search?q=ripe" },
  {
    name: "bulk",
    path: "/bulk",
    async act(page) {
      await page.fill("#list", log.join("\n"));
      await page.locator("main button[type=submit]").click();
      await page.locator("main .grid a").first().waitFor();
    },
  },
  { name: "data", path: "/data", isOpen: true },
  { name: "key", path: "/key" },
];

const forOperators: readonly Shown[] = [
  { name: "operator-keys", path: "/keys" },
  { name: "operator-sources", path: "/sources" },
  { name: "operator-snapshots", path: "/snapshots" },
  { name: "operator-usage", path: "/usage" },
  { name: "operator-audit", path: "/audit" },
  { name: "operator-plans", path: "/plans" },
];

async function main(): Promise<void> {
  const chromium = await findChromium();
  if (!chromium.found) throw new Error(`chromium is needed: ${chromium.remedy}`);
  const home = mkdtempSync(join(tmpdir(), "netfacts-pictures-"));
  const [port = 0, telemetry = 0, operator = 0] = await freePorts(3);
  const settings = { PORT: port, TELEMETRY_PORT: telemetry, OPERATOR_PORT: operator, NETFACTS_HOME: home, RESOLVERS: "127.0.0.1:9" };
  const env = { ...process.env, ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)])) };
  const child = spawn(join(root, "scripts/run.sh"), ["services/standalone/src/main.ts"], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const key = await printedKey(child);
    const created = execFileSync(
      join(root, "bin/netfacts"),
      ["keys", "create", "--label", "operator", "--scopes", "admin", "--data-dir", home, "--json"],
      {
        cwd: root,
        encoding: "utf8",
      },
    );
    const { secret } = JSON.parse(created) as { readonly secret: string };
    const browser = await startChromium(chromium);
    try {
      mkdirSync(folder, { recursive: true });
      for (const screen of screens) {
        for (const shown of forEverybody) await draw(browser, `http://127.0.0.1:${port}`, key, shown, screen);
      }
      for (const shown of forOperators) await draw(browser, `http://127.0.0.1:${operator}`, secret, shown, screens[1]);
    } finally {
      await browser.stop();
    }
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
    rmSync(home, { recursive: true });
  }
}

async function printedKey(child: ChildProcess): Promise<string> {
  let printed = "";
  for await (const text of child.stdout ?? []) {
    printed += text;
    const key = /nf_live_\w+/.exec(printed)?.[0];
    if (key !== undefined && /^ready/m.test(printed)) {
      child.stdout?.resume();
      return key;
    }
  }
  throw new Error(`the services did not start:\n${printed}`);
}

async function draw(
  { context }: Browser,
  url: string,
  key: string,
  { name, path, isOpen, act }: Shown,
  screen: (typeof screens)[number],
): Promise<void> {
  const page = await context.newPage();
  try {
    page.setDefaultTimeout(120_000);
    await page.route("**/admin/v1/ingest/sources", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replaceAll(root, shownRoot) });
    });
    await page.goto(url + path);
    if (isOpen === undefined) {
      await page.fill("#key", key);
      await page.press("#key", "Enter");
    }
    await page.selectOption("nav select", screen.theme);
    await page.setViewportSize(screen);
    await page.locator("main h1:not(.loading)").waitFor();
    await act?.(page);
    await page.waitForLoadState("networkidle");
    await new Promise((done) => setTimeout(done, settleMs));
    const picture = await webpOf(page, { quality, heightMax });
    const target = join(folder, `${name}-${screen.width}.webp`);
    writeFileSync(target, picture);
    console.log(`${target.slice(root.length + 1)}: ${Math.ceil(picture.length / 1_000)} kB`);
  } finally {
    await page.close();
  }
}

await main();
process.exit();
