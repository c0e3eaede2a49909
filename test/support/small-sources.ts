/** A list of sources that is imported fast: one registry file with one block, whose country a test chooses. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @returns the path of the sources.yaml. */
export function smallSources(folder: string, country: string): string {
  mkdirSync(folder, { recursive: true });
  const lines = [
    "2|ripencc|20261121|1|19930901|20261120|+0000",
    "ripencc|*|ipv4|*|1|summary",
    `ripencc|${country}|ipv4|193.0.0.0|2048|19930901|assigned`,
  ];
  writeFileSync(join(folder, "ripencc.txt"), `${lines.join("\n")}\n`);
  const path = join(folder, "sources.yaml");
  writeFileSync(
    path,
    "sources:\n  - {name: ripencc, section: allocations, format: delegated, location: ripencc.txt, stale_after: never}\n",
  );
  return path;
}
