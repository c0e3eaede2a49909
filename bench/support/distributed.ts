/** The distributed form for benchmarks: nats-server, a MongoDB server, and services as separate processes. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKey } from "@netfacts/keys";
import { connectJetStreamStore } from "@netfacts/pod/jetstream";
import type { SnapshotStore } from "@netfacts/snapshot";
import { openMongoStore } from "@netfacts/storage/mongo";
import { freePort } from "../../test/support/free-ports.ts";
import { startMongodb } from "../../test/support/mongodb.ts";
import { startNatsServer } from "../../test/support/nats-server.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

export interface Backing {
  /** Folder for files of this run. */
  readonly folder: string;
  readonly natsUrl: string;
  readonly natsPid: number;
  readonly mongodbPid: number;
  /** URL of nats-server's monitoring. */
  readonly natsMonitorUrl: string;
  /** Settings with which services find both servers. */
  readonly env: Readonly<Record<string, string>>;
  /** Store of snapshots in JetStream. */
  readonly store: SnapshotStore;
  /** Key with limits that no load reaches. */
  readonly key: string;
  /** Starts a gateway. @returns its public URL, and its process. */
  startGateway(
    name?: string,
    nodeArgs?: readonly string[],
    more?: NodeJS.ProcessEnv,
  ): Promise<{ readonly url: string; readonly process: ServiceProcess }>;
  /** Starts a pod, which is stopped with all the rest. */
  startPod(service: "ip-routing" | "asn-prefix", name?: string, nodeArgs?: readonly string[], more?: NodeJS.ProcessEnv): ServiceProcess;
  /** Adds a process that is stopped with all the rest. */
  own<P extends { stop(): Promise<void> }>(process: P): P;
}

const limitMax = 1_000_000_000;

/** Runs `work`, and then stops all started processes in reverse order. */
export async function withBacking(work: (backing: Backing) => Promise<void>): Promise<void> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const folder = await mkdtemp(join(tmpdir(), "netfacts-bench-"));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const monitorPort = await freePort();
    const config = `http: "127.0.0.1:${monitorPort}"\n`;
    const nats = await startNatsServer({ jetstream: true, own: true, storeDir: join(folder, "jetstream"), config });
    undo.push(() => nats.stop());
    const mongodb = await startMongodb({ own: true });
    undo.push(() => mongodb.stop());
    const opened = await connectJetStreamStore({ connection: { servers: nats.url, name: "bench" } });
    undo.push(() => opened.close());
    const env = { NATS_URL: nats.url, MONGODB_URI: mongodb.database("netfacts") };
    const keys = await openMongoStore(env.MONGODB_URI, { appName: "bench" });
    const month = { limit: limitMax };
    const rate = { limit: limitMax, windowSeconds: 86_400 };
    const { secret: key } = await createKey(keys, { label: "bench", scopes: ["ip", "batch"], rate, month });
    await keys.close();
    const own = <P extends { stop(): Promise<void> }>(process: P): P => {
      undo.push(() => process.stop());
      return process;
    };
    await work({
      folder,
      natsUrl: nats.url,
      natsPid: nats.pid as number,
      mongodbPid: mongodb.pid as number,
      natsMonitorUrl: `http://127.0.0.1:${monitorPort}`,
      env,
      store: opened.store,
      key,
      own,
      startPod: (service, name = service, nodeArgs = [], more = {}) =>
        own(startService(service, { name, folder, env: { ...env, POD_NAME: name, ...more }, nodeArgs })),
      async startGateway(name = "gateway-auth-quota", nodeArgs = [], more = {}) {
        const process = own(startService("gateway-auth-quota", { name, folder, env: { ...env, ...more }, nodeArgs }));
        const [, url = ""] = await process.logged(/"url":"([^"]+)","msg":"listening"/);
        return { url, process };
      },
    });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}
