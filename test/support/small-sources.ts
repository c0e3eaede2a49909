/** Lists of sources that are imported fast: one registry file with one block, whose country a test chooses, and a route for it. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peerIndexRecord, ribRecord } from "../../libs/mrt/test/support/mrt-writer.ts";

/** The same, and a table of routes with 193.0.0.0/21 of AS3333. @returns the path of the sources.yaml. */
export function smallSourcesWithRoute(folder: string, country: string): string {
  const path = smallSources(folder, country);
  const index = peerIndexRecord([{ address: "192.0.2.1", asn: 64500 }]);
  writeFileSync(join(folder, "rib"), Buffer.concat([index, ribRecord("193.0.0.0/21", [{ peer: 0, path: "64500 3333" }])]));
  const full = "full_feed_min: {ipv4: 1, ipv6: 1}\n";
  const routes = "  - {name: rib, section: routes, format: mrt, location: rib, stale_after: never}\n";
  writeFileSync(path, full + readFileSync(path, "utf8") + routes);
  return path;
}

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
