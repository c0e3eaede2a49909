/** Another process that publishes: `node publisher-process.ts URL BUCKET`, then one message per snapshot, its number. */

import { connect } from "@netfacts/messaging/nats-client";
import { madeNames, madeRoutes, route } from "../../../snapshot/test/support/made-sections.ts";
import { publishMade } from "../../../snapshot/test/support/made-snapshot.ts";
import { openJetStreamStore } from "../../src/jetstream/index.ts";

const [servers, bucket] = process.argv.slice(2) as [string, string];
const nc = await connect({ servers, name: "publisher" });
const store = await openJetStreamStore(nc, { bucket });
const routes = madeRoutes([route("192.0.2.0/24", [64500, 3])]);

process.on("message", async (number: number) => {
  const asOf = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString().replace(".000Z", "Z");
  const { id } = await publishMade(store, { routes, names: madeNames({ 1: `NUMBER-${number}` }), asOf });
  process.send?.({ id, atMs: Date.now() });
});
process.on("disconnect", () => void nc.close());
