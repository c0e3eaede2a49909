/** Light and dark themes of our pages differ in colours only, so tests audit the second one by the rules that read colours. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");
const gateway = createRequire(join(root, "services/gateway-auth-quota/package.json"));

/** Conditions and rules of a style sheet: each selector, or condition, with what its braces hold directly. */
function rulesOf(css: string): [head: string, declarations: string][] {
  const rules: [string, string][] = [];
  const open: { head: string; held: string }[] = [];
  let text = "";
  for (const [part] of css.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/"[^"]*"|[{};]|[^"{};]+/g)) {
    if (part === "{") {
      const outer = open.at(-1)?.head ?? "";
      open.push({ head: `${outer} ${text.trim()}`.trim(), held: "" });
      text = "";
    } else if (part === "}" || part === ";") {
      const innermost = open.at(-1);
      if (innermost !== undefined) innermost.held += `${text.trim()};`;
      if (part === "}" && innermost !== undefined) {
        rules.push([innermost.head, innermost.held]);
        open.pop();
      }
      text = "";
    } else text += part;
  }
  return rules;
}

const ofTheme = ([head]: [string, string]) => /data-theme|prefers-color-scheme|dark-mode/.test(head);

test("themes of the console and of the documentation differ in the colour scheme only", () => {
  const found = ["services/console/src/style.css", "services/console/src/operator/operator.css", "scripts/docs-site/site.css"].flatMap(
    (path) => rulesOf(readFileSync(join(root, path), "utf8")).filter(ofTheme),
  );
  expect(found).toEqual([
    [':root[data-theme="light"]', "color-scheme: light;;"],
    [':root[data-theme="dark"]', "color-scheme: dark;;"],
  ]);
});

test("the dark theme of the API reference hides, moves and sizes nothing", () => {
  const css = readFileSync(gateway.resolve("@fastify/swagger-ui/static/swagger-ui.css"), "utf8");
  // The bar with the button for the theme is not on our page.
  const rules = rulesOf(css).filter((rule) => ofTheme(rule) && !rule[0].includes(".topbar"));
  expect(rules.length).toBeGreaterThan(50);
  const structure =
    /(?:^|;)(?:display|visibility|content|position|inset|top|left|float|clip|overflow|transform|(?:min-|max-)?(?:width|height)|font|letter-spacing|line-height|text-(?:decoration|indent|transform)|margin|padding)[\w-]*:|(?:^|;)opacity: ?0;/;
  expect(rules.filter(([, declarations]) => structure.test(declarations))).toEqual([]);
});
