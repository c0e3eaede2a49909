/** Finds requests to other hosts in a built site. Links that a reader follows are no requests. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const host = String.raw`["'(\s]*(?:https?:)?//[a-z0-9]`;

/** Texts that make a browser send a request, by file type. */
const patterns: Readonly<Record<string, RegExp>> = {
  html: new RegExp(
    `<(?:script|link|img|iframe|audio|video|source|object|embed|form)\\b[^>]*?\\b(?:src|srcset|href|data|action)=${host}[^>]*>`,
    "gi",
  ),
  css: new RegExp(`(?:url\\(|@import)${host}[^;)]*`, "gi"),
  js: new RegExp(`(?:\\bfetch\\(|\\bimport\\(|\\bnew (?:WebSocket|EventSource|Worker)\\()${host}[^)]*`, "gi"),
};

/** @returns a line for each request: the file, and the text that causes it. */
export function foreignRequests(folder: string): string[] {
  return Object.entries(patterns).flatMap(([type, pattern]) =>
    globSync(`**/*.${type}`, { cwd: folder })
      .sort()
      .flatMap((path) =>
        [...readFileSync(join(folder, path), "utf8").matchAll(pattern)].map(([found]) => `${path}: ${found.slice(0, 200)}`),
      ),
  );
}
