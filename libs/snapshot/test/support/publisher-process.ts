/** Another process that publishes: `node publisher-process.ts FOLDER`, then one message per snapshot, its number. */

import { openFolderStore } from "../../src/index.ts";
import { madeNames, madeRoutes, route } from "./made-sections.ts";
import { publishMade } from "./made-snapshot.ts";

const store = openFolderStore(process.argv[2] as string);
const routes = madeRoutes([route("192.0.2.0/24", [64500, 3])]);

process.on("message", async (number: number) => {
  const asOf = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(".000Z", "Z");
  const { id } = await publishMade(store, { routes, names: madeNames({ 1: `NUMBER-${number}` }), asOf });
  process.send?.({ id, atMs: Date.now() });
});
