/**
 * `make pictures`: draws each dashboard into docs/operations/dashboards, from a run of the services under load for some minutes. The pictures
 * show two faults: a copy of ip-routing is killed and restarted, and the database is frozen for ten seconds. Needs the programs that
 * test/observability needs, and Chromium.
 */

import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ruleFile, times } from "../observability/alerts/index.ts";
import { queryOf, startWatchedSystem, type WatchedSystem } from "../test/observability/watched-system.ts";
import { findChromium, startChromium } from "../test/support/chromium.ts";
import type { Series } from "./pictures/chart.ts";
import { type DashboardFile, dashboardPage, legendOf, type PanelFile, pageWidth } from "./pictures/dashboard-page.ts";
import { webpOf } from "./pictures/webp.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "docs/operations/dashboards");
const scrapeSeconds = 2;
/** Interval in s at which operators evaluate the rules. The run evaluates them every 2 s, with the same windows. */
const evaluationSeconds = 30;

async function main(): Promise<void> {
  const minutes = Number(process.env.MINUTES ?? "4");
  if (!(minutes >= 2)) throw new Error("MINUTES must be a number of at least 2");
  const chromium = await findChromium();
  if (!chromium.found) throw new Error(`chromium is needed: ${chromium.remedy}`);
  console.log(`starting the services; pictures come after ${minutes} minutes of load`);
  const system = await startWatchedSystem({
    rules: ruleFile((seconds) => (seconds === evaluationSeconds ? "2s" : times(seconds))),
    scrapeMs: scrapeSeconds * 1_000,
    load: { pauseMs: 10, newNames: 1 },
    gatewaySettings: {},
  });
  try {
    await sleep(15_000);
    const from = Date.now() / 1_000;
    const to = from + minutes * 60;
    await happen(system, to);
    const browser = await startChromium(chromium);
    try {
      mkdirSync(folder, { recursive: true });
      for (const path of globSync("observability/dashboards/*.json", { cwd: root }).sort()) {
        const dashboard = JSON.parse(readFileSync(join(root, path), "utf8")) as DashboardFile;
        const data = new Map<PanelFile, Series[]>();
        for (const panel of dashboard.panels) data.set(panel, await seriesOf(system, panel, from, to));
        const html = dashboardPage(dashboard, { from, to, gap: 3 * scrapeSeconds, series: (panel) => data.get(panel) ?? [] });
        const page = await browser.context.newPage();
        await page.setViewportSize({ width: pageWidth, height: 600 });
        await page.setContent(html);
        const picture = await webpOf(page);
        await page.close();
        const target = join(folder, `${basename(path, ".json")}.webp`);
        writeFileSync(target, picture);
        console.log(`${target.slice(root.length + 1)}: ${Math.ceil(picture.length / 1_000)} kB`);
      }
    } finally {
      await browser.stop();
    }
  } finally {
    await system.stop();
  }
}

/** Publishes new versions of sources until a time, and causes two faults. */
async function happen({ all, world }: WatchedSystem, to: number): Promise<void> {
  const seconds = to - Date.now() / 1_000;
  let turn = 0;
  const sources = setInterval(() => {
    turn++;
    world.changeVrps(20 + 5 * (turn % 7));
    if (turn % 2 === 0) world.nameVersion(turn);
  }, 12_000);
  await sleep(seconds * 300);
  await all.kill("ip-routing", 1);
  await sleep(20_000);
  await all.restart("ip-routing", 1);
  await sleep(Math.max(0, to * 1_000 - seconds * 300 - Date.now()));
  all.mongo.freeze();
  await sleep(10_000);
  all.mongo.thaw();
  await sleep(Math.max(0, to * 1_000 - Date.now()));
  clearInterval(sources);
}

/** The series of all queries of a panel. Values that are not numbers, such as a quantile of nothing, are left out, as in Grafana. */
async function seriesOf({ prometheus }: WatchedSystem, { targets = [] }: PanelFile, from: number, to: number): Promise<Series[]> {
  const found: Series[] = [];
  for (const { expr, legendFormat } of targets) {
    for (const { metric, points } of await prometheus.range(queryOf(expr, scrapeSeconds * 1_000), from, to, scrapeSeconds))
      found.push({ name: legendOf(legendFormat, metric), points: points.filter(([, value]) => Number.isFinite(value)) });
  }
  return found.filter(({ points }) => points.length > 0);
}

await main();
process.exit();
