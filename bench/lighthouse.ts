/**
 * Lighthouse on pages of the console and of the documentation, in one process with the sample data: each page with an empty cache, as a desktop
 * computer and as a mobile phone of Lighthouse's model. Lighthouse is downloaded into the cache. Needs a whole Chromium (`chromium` on PATH, or
 * `CHROMIUM`): builds for servers crash while they are traced.
 * `scripts/run.sh bench/lighthouse.ts [--pages /,/as/AS3333] [--operator-pages /keys]`
 */

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { buildConsole } from "../scripts/console.ts";
import { buildDocs } from "../scripts/docs-site/site.ts";
import { findInstalledTool, isProgram } from "../test/support/debian.ts";
import { freePort } from "../test/support/free-ports.ts";
import { toolCache } from "../test/support/tool-cache.ts";
import { keyOf } from "./support/data-folder-key.ts";
import { startProcess } from "./support/service-process.ts";

const defaultPages = [
  ...["/", "/address/193.0.6.139", "/prefix/193.0.0.0/21", "/as/AS3333", "/validity/AS3333/193.0.0.0/21", "/reverse-dns/193.0.6.139"],
  ...["/compare", "/search?q=ripe", "/bulk", "/data", "/key", "/docs/", "/docs/reference"],
];
const defaultOperatorPages = ["/", "/keys", "/usage", "/audit", "/sources", "/snapshots", "/observations"];
const { values } = parseArgs({
  options: {
    pages: { type: "string", default: defaultPages.join(",") },
    "operator-pages": { type: "string", default: defaultOperatorPages.join(",") },
  },
});
const version = "13.5.0";
const categories = ["performance", "accessibility", "best-practices"] as const;
/** Those of Lighthouse's own configurations; the mobile one is its default. */
const forms = {
  desktop: {
    formFactor: "desktop",
    screenEmulation: { mobile: false, width: 1_350, height: 940, deviceScaleFactor: 1, disabled: false },
    throttling: {
      rttMs: 40,
      throughputKbps: 10_240,
      cpuSlowdownMultiplier: 1,
      requestLatencyMs: 0,
      downloadThroughputKbps: 0,
      uploadThroughputKbps: 0,
    },
  },
  mobile: { formFactor: "mobile" },
} as const;

/** What is used of Lighthouse and of the Puppeteer that it brings. */
interface Page {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  createCDPSession(): Promise<{ send(method: string): Promise<unknown> }>;
}
interface Browser {
  newPage(): Promise<Page>;
  close(): Promise<void>;
}
interface Report {
  readonly runtimeError?: { readonly message: string };
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<Record<string, { readonly numericValue?: number }>>;
}
type Lighthouse = (url: string, flags: object, config: undefined, page: Page) => Promise<{ readonly lhr: Report }>;

/** @throws Error when npm cannot install it. */
async function installLighthouse(): Promise<string> {
  const folder = join(toolCache(), `lighthouse-${version}`);
  const modules = join(folder, "node_modules");
  if (await isProgram(join(modules, ".bin/lighthouse"))) return modules;
  await mkdir(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", `lighthouse@${version}`];
  execFileSync("npm", args, { cwd: folder, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" }, stdio: ["ignore", "ignore", "inherit"] });
  return modules;
}

async function measure(chromium: string): Promise<void> {
  const modules = await installLighthouse();
  const load = async (path: string) => (await import(pathToFileURL(join(modules, path)).href)) as { readonly default: unknown };
  const lighthouse = (await load("lighthouse/core/index.js")).default as Lighthouse;
  const puppeteer = (await load("puppeteer-core/lib/puppeteer/puppeteer-core.js")).default as { launch(options: object): Promise<Browser> };
  await buildConsole();
  await buildDocs();
  const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
  const home = join(folder, "home");
  const env = { NETFACTS_HOME: home, OPERATOR_PORT: "0", RESOLVERS: "127.0.0.1:9" };
  const child = startProcess("services/standalone/src/main.ts", { name: "standalone", folder, env });
  try {
    await child.logged(/^ready/m);
    const [, url = ""] = await child.logged(/answers at (\S+) /);
    const [, operatorUrl = ""] = await child.logged(/^Operator API: (\S+)\/docs/m);
    const port = await freePort();
    const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-sync"];
    const browser = await puppeteer.launch({
      executablePath: chromium,
      args: [...args, "--disable-component-update", `--remote-debugging-port=${port}`],
    });
    try {
      const page = await browser.newPage();
      const sites = [
        { url, paths: values.pages, storedName: "netfacts-key", key: keyOf(home, "--rate", "100000/60s") },
        { url: operatorUrl, paths: values["operator-pages"], storedName: "netfacts-operator-key", key: keyOf(home, "--scopes", "admin") },
      ];
      console.log(
        "page                                     form     score: performance, accessibility, best practices; FCP, LCP, blocked ms; shift; KiB",
      );
      for (const site of sites) {
        await page.goto(site.url);
        await page.evaluate(`sessionStorage.setItem("${site.storedName}", "${site.key}")`);
        for (const path of site.paths.split(",").filter(Boolean)) await measurePage(lighthouse, page, site.url, path, port);
      }
    } finally {
      await browser.close();
    }
  } finally {
    await child.stop();
    await rm(folder, { recursive: true });
  }
}

async function measurePage(lighthouse: Lighthouse, page: Page, url: string, path: string, port: number): Promise<void> {
  for (const [name, form] of Object.entries(forms)) {
    await (await page.createCDPSession()).send("Network.clearBrowserCache");
    const flags = { ...form, port, onlyCategories: categories, logLevel: "error", disableStorageReset: true };
    const { lhr } = await lighthouse(url + path, flags, undefined, page);
    if (lhr.runtimeError !== undefined) {
      console.log(`${path.padEnd(40)} ${name.padEnd(8)} no report: ${lhr.runtimeError.message}`);
      continue;
    }
    const scores = categories.map((id) => Math.round((lhr.categories[id]?.score ?? 0) * 100));
    const of = (id: string) => lhr.audits[id]?.numericValue ?? 0;
    const times = ["first-contentful-paint", "largest-contentful-paint", "total-blocking-time"].map((id) => Math.round(of(id)));
    const rest = [of("cumulative-layout-shift").toFixed(3), Math.round(of("total-byte-weight") / 1_024)];
    console.log(`${path.padEnd(40)} ${name.padEnd(8)} ${[...scores, ...times, ...rest].map((value) => `${value}`.padStart(6)).join("")}`);
  }
}

const chromium = await findInstalledTool({ name: "chromium", variable: "CHROMIUM" });
if (chromium?.found === true) await measure(chromium.command);
else console.log(`not run: ${chromium?.remedy ?? "install Debian's chromium, or set CHROMIUM to the path of one"}`);
