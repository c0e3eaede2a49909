/** The generated files of the repository: `scripts/run.sh scripts/generated.ts` writes them, `--check` lists those that are out of date. */

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as bzip2Loops from "./generate-bzip2-loops.ts";
import { documents as charts } from "./generate-charts.ts";
import { documents as dashboards } from "./generate-dashboards.ts";
import * as decisionIndex from "./generate-decision-index.ts";
import * as errorDocs from "./generate-error-docs.ts";
import * as layers from "./generate-layers.ts";
import * as natsDocs from "./generate-nats-docs.ts";
import { documents } from "./generate-openapi.ts";
import { documents as recordPages } from "./generate-record-docs.ts";
import { documents as routePages } from "./generate-route-docs.ts";
import * as rules from "./generate-rules.ts";

/** One generated file: its path from the repository's root, and its expected content. */
export interface Generated {
  readonly path: string;
  content(): string | Promise<string>;
}

/** All generated files. Add new ones here. */
export const generated: readonly Generated[] = [
  errorDocs,
  bzip2Loops,
  ...documents,
  ...recordPages,
  ...routePages,
  decisionIndex,
  layers,
  natsDocs,
  ...charts,
  rules,
  ...dashboards,
];

const root = new URL("../", import.meta.url);

/** Paths of the files that differ from the output of their generator. */
async function drifted(): Promise<string[]> {
  const paths: string[] = [];
  for (const { path, content } of generated) {
    const found = await readFile(new URL(path, root), "utf8").catch(() => null);
    if (found !== (await content())) paths.push(path);
  }
  return paths;
}

async function main(check: boolean): Promise<void> {
  const paths = await drifted();
  for (const { path, content } of generated) {
    if (!paths.includes(path)) continue;
    console.log(check ? `${path} is out of date; run: scripts/run.sh scripts/generated.ts` : `written: ${path}`);
    if (!check) await writeFile(fileURLToPath(new URL(path, root)), await content());
  }
  if (check && paths.length > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(process.argv.includes("--check"));
