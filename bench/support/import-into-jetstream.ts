/** Ingest as a separate process: imports the sources of a folder, publishes to JetStream, and prints its report as JSON. */

import { join } from "node:path";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { connectJetStreamStore } from "@netfacts/pod/jetstream";

const folder = process.argv[2] as string;
const { store, close } = await connectJetStreamStore({ connection: { servers: process.env.NATS_URL as string, name: "ingest" } });
const { snapshot, stages, peak_rss_bytes, sections } = await runIngest({ config: await readSources(join(folder, "sources.yaml")), store });
console.log(`report ${JSON.stringify({ snapshot, stages, peak_rss_bytes, sections })}`);
await close();
