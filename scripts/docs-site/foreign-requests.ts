/** Finds what a built site would ask of other hosts. Links that a reader follows are no requests. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const host = String.raw`["'(\s]*(?:https?:)?//[a-z0-9]`;

/** By file type, what makes a browser ask. */
const patterns: Readonly<Record<string, RegExp>> = {
  html: new RegExp(
    `<(?:script|link|img|iframe|audio|video|source|object|embed|form)\\b[^>]*?\\b(?:src|srcset|href|data|action)=${host}[^>]*>`,
    "gi",
  ),
  css: new RegExp(`(?:url\\(|@import)${host}[^;)]*`, "gi"),
  js: new RegExp(`(?:\\bfetch\\(|\\bimport\\(|\\bnew (?:WebSocket|EventSource|Worker)\\()${host}[^)]*`, "gi"),
};

/** One line per place: the file and what would be asked for. */
export function foreignRequests(folder: string): string[] {
  return Object.entries(patterns).flatMap(([type, pattern]) =>
    globSync(`**/*.${type}`, { cwd: folder })
      .sort()
      .flatMap((path) =>
        [...readFileSync(join(folder, path), "utf8").matchAll(pattern)].map(([found]) => `${path}: ${found.slice(0, 200)}`),
      ),
  );
}
