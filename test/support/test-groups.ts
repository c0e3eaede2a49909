/** Properties of test files, read from their text: whether they start processes, have large inputs, or must run alone. */

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readImports } from "../../scripts/imports/read-sources.ts";

const processModules = new Set(["node:child_process", "child_process", "playwright-core"]);

/** `@alone` and `@large` in the first comment of a file. */
const alonePragma = pragma("alone");
const largePragma = pragma("large");

interface Reach {
  readonly startsProcesses: boolean;
  /** Files that it imports by relative paths. */
  readonly imported: readonly string[];
}

const reaches = new Map<string, Reach>();

/**
 * Whether the file can start a process, itself or through its imports. Follows only relative imports, because the sources of packages start no
 * processes.
 */
export function startsProcesses(path: string): boolean {
  const seen = new Set([path]);
  // The set grows during the loop.
  for (const file of seen) {
    const reach = reachOf(file);
    if (reach.startsProcesses) return true;
    for (const imported of reach.imported) seen.add(imported);
  }
  return false;
}

/** Whether the file computes for seconds, because its inputs are large or very many. */
export function isLarge(path: string): boolean {
  return largePragma.test(textOf(path));
}

/** Whether the file tests deadlines, which hold only if nothing else uses the processors. */
export function runsAlone(path: string): boolean {
  return alonePragma.test(textOf(path));
}

function reachOf(path: string): Reach {
  let reach = reaches.get(path);
  if (reach === undefined) {
    const specifiers = readImports(textOf(path)).flatMap(({ specifier, typeOnly }) => (typeOnly ? [] : [specifier]));
    const imported = specifiers.filter((specifier) => specifier.startsWith(".")).map((specifier) => resolve(dirname(path), specifier));
    reach = { startsProcesses: specifiers.some((specifier) => processModules.has(specifier)), imported };
    reaches.set(path, reach);
  }
  return reach;
}

function pragma(name: string): RegExp {
  return new RegExp(String.raw`^/\*\*(?:(?!\*/)[\s\S])*?\s@${name}\b`);
}

/** Empty for a missing file: its import fails when the test runs. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
