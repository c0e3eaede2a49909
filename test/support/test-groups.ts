/** What a test file needs of the machine, read from its text: whether it starts processes, and whether it must run alone. */

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readImports } from "../../scripts/imports/read-sources.ts";

const processModules = new Set(["node:child_process", "child_process", "playwright-core"]);

/** `@alone` and `@large` in the comment that the file begins with. */
const alonePragma = pragma("alone");
const largePragma = pragma("large");

interface Reach {
  readonly startsProcesses: boolean;
  /** Paths of the files that it imports by a relative path. */
  readonly imported: readonly string[];
}

const reaches = new Map<string, Reach>();

/**
 * Whether the file or one that it imports, directly or through others, can start a process. Follows relative imports only: the sources
 * of packages start none.
 */
export function startsProcesses(path: string): boolean {
  const seen = new Set([path]);
  // The set grows while it is walked.
  for (const file of seen) {
    const reach = reachOf(file);
    if (reach.startsProcesses) return true;
    for (const imported of reach.imported) seen.add(imported);
  }
  return false;
}

/** Whether the file computes for seconds, as its inputs are large or very many. */
export function isLarge(path: string): boolean {
  return largePragma.test(textOf(path));
}

/** Whether the file promises deadlines, which hold only where nothing else takes the processors. */
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

/** Empty for a file that is not there: the import of it fails when the test runs. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
