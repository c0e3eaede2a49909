/** Violations that axe finds on a page in a browser. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "playwright-core";

const axe = readFileSync(resolve(import.meta.dirname, "../../node_modules/axe-core/axe.min.js"), "utf8");

/** The rules that read colours: those that axe runs unless told otherwise. */
const ofColours = '{ runOnly: ["cat.color"], rules: { "color-contrast-enhanced": { enabled: false } }, resultTypes: ["violations"] }';
const all = '{ resultTypes: ["violations"] }';

/**
 * @param rules  all, or those that read colours.
 * @returns rule and element of each violation.
 *
 * Cost: some 80 ms of processor time; twice as much the first time in a document, which then loads axe.
 */
export async function violations(page: Page, rules: "all" | "colours" = "all"): Promise<string[]> {
  const run = `typeof axe === "undefined" ? null : axe.run(${rules === "all" ? all : ofColours}).then(
    ({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))`;
  const found = (await page.evaluate(run)) as string[] | null;
  if (found !== null) return found;
  await page.evaluate(axe);
  return (await page.evaluate(run)) as string[];
}

/**
 * Audits a page in two themes, which may differ in colours only (`test/house/themes.test.ts`): the second one by the rules that read colours.
 *
 * @param use  shows the page in a theme.
 * @returns theme, rule and element of each violation.
 */
export async function violationsInThemes(page: Page, use: (theme: "light" | "dark") => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  for (const [theme, rules] of [
    ["light", "all"],
    ["dark", "colours"],
  ] as const) {
    await use(theme);
    // Colours that are on their way to those of the theme are not judged.
    await page.evaluate("document.getAnimations().forEach((one) => one instanceof CSSTransition && one.finish())");
    found.push(...(await violations(page, rules)).map((fault) => `${theme}: ${fault}`));
  }
  return found;
}
