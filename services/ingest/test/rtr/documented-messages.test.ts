/** The messages that docs/operations/rtr.md explains are those that the log has. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "../../../..");
const page = readFileSync(join(root, "docs/operations/rtr.md"), "utf8");
const section = page.slice(page.indexOf("## Log messages"), page.indexOf("## What to watch"));

/** Whole messages, or their beginnings before `…`. */
const documented = [...section.matchAll(/^- (`[^`]+`(?:, `[^`]+`)*):/gm)].flatMap(([, names = ""]) =>
  [...names.matchAll(/`([^`…]+)…?`/g)].map(([, text = ""]) => text.trim()),
);

function sourceOf(folder: string): string {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return files.map((name) => readFileSync(join(root, folder, name), "utf8")).join("\n");
}

test("each message of the page is in the code", () => {
  const source = sourceOf("services/ingest/src") + sourceOf("libs/rpki/src/rtr");
  expect(documented.length).toBeGreaterThan(8);
  expect(documented.filter((text) => !source.includes(text))).toEqual([]);
});

test("each log message about RTR is on the page", () => {
  const calls = sourceOf("services/ingest/src/rtr").matchAll(/\blog\.(?:info|warn|error)\(\s*(?:\{[^;]*?\}|\w+),\s*"([^"]+)"/g);
  const logged = [...calls].map(([, text = ""]) => text);
  expect(logged.length).toBeGreaterThan(5);
  expect(logged.filter((text) => !documented.some((known) => text.startsWith(known)))).toEqual([]);
});
