/** Violations that axe finds on a page in a browser. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "playwright-core";

const axe = readFileSync(resolve(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** @returns rule and element of each violation. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return (await page.evaluate(
    "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))",
  )) as string[];
}
