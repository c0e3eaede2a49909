/** The distributed form: each service as separate processes, over a real nats-server and a server with MongoDB's protocol. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./free-ports.ts";
import { type Mongodb, startMongodb } from "./mongodb.ts";
import { type NatsServer, startNatsServer } from "./nats-server.ts";
import { accessOf, natsUsersConfig, testUser } from "./nats-users.ts";
import type { SnapshotOrigin } from "./publish-snapshot.ts";
import { type ServiceName, type ServicePorts, ServiceProcess } from "./service-process.ts";

export type { ServiceName, ServiceProcess } from "./service-process.ts";

/** Chosen ports; 0: any free one. */
export interface DistributedPorts {
  readonly nats: number;
  readonly mongo: number;
  of(service: ServiceName, index: number): ServicePorts;
}

export interface DistributedOptions {
  /** Number of processes of each service. Default: one, and none of ingest. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** Environment of every process. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Environment of one process; overrides `settings`. */
  readonly settingsOf?: (service: ServiceName, index: number) => Readonly<Record<string, string>>;
  /**
   * The first snapshot. Default: the samples, imported once in a run of tests. "by-ingest": the one that a process of ingest imports. null: none,
   * and the start does not wait until pods are ready.
   */
  readonly snapshot?: SnapshotOrigin | "by-ingest" | null;
  /** False: nats-server may be a shared one. Default: a separate one, which can be stopped, killed and frozen, with the documented rights. */
  readonly own?: boolean;
  /** True: a separate server with MongoDB's protocol, which can be stopped, killed and frozen. Default: the one of the run, and a new database. */
  readonly ownMongodb?: boolean;
  /** Additional text for nats-server's configuration file. */
  readonly natsConfig?: string;
  /** Whether acknowledged writes survive a kill -9 of MongoDB's server. */
  readonly durable?: boolean;
  /**
   * Returns the URLs for the services, given those of the servers, so that a test can put proxies between them. Default: the same URLs.
   * `natsUrl` and `mongoUrl` for a test's own connections are always those of the servers.
   */
  readonly route?: (servers: { readonly natsUrl: string; readonly mongoUrl: string }) => Promise<{ natsUrl: string; mongoUrl: string }>;
  /** Default: free ones. */
  readonly ports?: DistributedPorts;
  /** Aborts a start: all started processes are ended. */
  readonly signal?: AbortSignal;
  /** Called with each piece of a process's output. */
  readonly onOutput?: (process: ServiceProcess, text: string) => void;
}

export interface Distributed {
  readonly services: Readonly<Record<ServiceName, readonly ServiceProcess[]>>;
  readonly gateways: readonly ServiceProcess[];
  /** All processes, in the order of their start. */
  readonly processes: readonly ServiceProcess[];
  /** URLs of the servers: `natsUrl` with a user that has all rights, `mongoUrl` with the database. */
  readonly natsUrl: string;
  readonly mongoUrl: string;
  /** The running server; a new one after `restartNats`. */
  readonly nats: NatsServer;
  readonly mongo: Mongodb;
  /** Folder for the files of nats-server and ingest; removed by `stop`. */
  readonly folder: string;
  /** Environment for the command line, and for other processes beside the services. */
  readonly env: Readonly<Record<string, string>>;
  /** Copies a snapshot into JetStream and publishes it. @returns its id. */
  publish(origin: SnapshotOrigin): Promise<string>;
  /** Sends the signal (default SIGKILL) and waits for the process's end. */
  kill(service: ServiceName, index: number, signal?: NodeJS.Signals): Promise<void>;
  /** Starts a killed process on the same ports; resolves when it is ready. */
  restart(service: ServiceName, index: number): Promise<void>;
  /** Starts nats-server again with the same port and files, after `nats.stop()` or `nats.kill()`. */
  restartNats(): Promise<void>;
  /** Output of all processes since their first start, one process after the other. */
  logs(): string;
  /** Ends services, then servers, and removes their folders. Does nothing the second time. */
  stop(): Promise<void>;
}

const bucket = "netfacts-snapshots";
const database = "netfacts";
/** On a shared server each start has a database of its own. */
let databases = Date.now();
/** Services that answer requests start before those that send them. */
const startOrder: readonly ServiceName[] = ["ip-routing", "asn-prefix", "rdns-resolver", "ingest", "gateway-auth-quota"];

/** Resolves when all processes are ready. If one does not start, all others are ended before it rejects. */
export async function startDistributed(options: DistributedOptions = {}): Promise<Distributed> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    return await start(options, undo, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: DistributedOptions, undo: (() => Promise<unknown>)[], stop: () => Promise<void>): Promise<Distributed> {
  const {
    settings = {},
    settingsOf,
    snapshot,
    own = true,
    ownMongodb = false,
    natsConfig,
    durable = false,
    route,
    ports,
    signal,
    onOutput,
  } = options;
  const folder = await mkdtemp(join(tmpdir(), "netfacts-distributed-"));
  undo.push(() => rm(folder, { recursive: true, force: true }));

  const natsOptions = {
    jetstream: true,
    ...(own && { own, storeDir: join(folder, "jetstream") }),
    // A user for each service, with only the documented rights.
    ...(own && { config: `${natsUsersConfig()}\n${natsConfig ?? ""}` }),
    ...(ports && { port: ports.nats }),
  };
  let nats = await startNatsServer(natsOptions);
  undo.push(() => nats.stop());
  signal?.throwIfAborted();
  const mongo = await startMongodb({ own: ownMongodb, durable, ...(ports && { port: ports.mongo }) });
  undo.push(() => mongo.stop());
  signal?.throwIfAborted();
  const natsUrl = own ? nats.url.replace("//", `//${testUser}@`) : nats.url;
  const mongoUrl = mongo.database(mongo.pid === null ? `netfacts_${process.pid}_${++databases}` : database);
  const routed = (await route?.({ natsUrl: nats.url, mongoUrl })) ?? { natsUrl: nats.url, mongoUrl };

  const common = {
    NATS_URL: routed.natsUrl,
    MONGODB_URI: routed.mongoUrl,
    SNAPSHOT_BUCKET: bucket,
    // No server listens there, so that no test asks the system's nameservers by accident.
    RESOLVERS: "127.0.0.1:9",
    // Authenticates gateways to ingest.
    PROXY_TOKEN: randomBytes(32).toString("hex"),
    ...settings,
  };
  const envOf: EnvOf = (service, index, ingestUrl) => ({
    ...common,
    ...(own && accessOf(service)),
    ...(service === "gateway-auth-quota" && ingestUrl !== null && { INGEST_URL: ingestUrl }),
    ...(service === "ingest" && { INGEST_STATE_DIR: join(folder, `ingest-${index}`) }),
    ...settingsOf?.(service, index),
  });
  const processes = await placeProcesses(options, envOf, onOutput);
  // `make dev` publishes nothing itself, and starts without the modules that can.
  const publish = async (origin: SnapshotOrigin) => (await import("./publish-snapshot.ts")).publishSnapshot(natsUrl, bucket, origin);
  undo.push(() => endProcesses(processes));
  for (const process of processes) process.launch();
  // Publish while the services start.
  if (snapshot === undefined) {
    const { sampleFolder } = await import("./sample-snapshot.ts");
    await publish(await sampleFolder(join(folder, "samples")));
  } else if (snapshot !== null && snapshot !== "by-ingest") {
    await publish(snapshot);
  }
  const path = snapshot === null ? "/healthz" : "/readyz";
  await Promise.all(processes.map((process) => process.untilReady(path, signal)));

  const of = (service: ServiceName) => processes.filter((process) => process.service === service);
  const services = Object.fromEntries(startOrder.map((service) => [service, of(service)])) as unknown as Distributed["services"];
  const at = (service: ServiceName, index: number): ServiceProcess => {
    const process = services[service][index];
    if (process === undefined) throw new Error(`there is no ${service}-${index}`);
    return process;
  };
  return {
    services,
    gateways: services["gateway-auth-quota"],
    processes,
    natsUrl,
    mongoUrl,
    get nats() {
      return nats;
    },
    mongo,
    folder,
    env: { NATS_URL: nats.url, ...(own && accessOf("netfacts-cli")), MONGODB_URI: mongoUrl },
    publish,
    async kill(service, index, signal = "SIGKILL") {
      await at(service, index).end(signal);
    },
    async restart(service, index) {
      at(service, index).launch();
      await at(service, index).untilReady();
    },
    async restartNats() {
      nats = await startNatsServer({ ...natsOptions, port: nats.port });
    },
    logs: () => processes.map((process) => process.log()).join(""),
    stop,
  };
}

/** @param ingestUrl  URL of the first process of ingest; null: there is none. */
type EnvOf = (service: ServiceName, index: number, ingestUrl: string | null) => Readonly<Record<string, string>>;

async function placeProcesses(
  { replicas = {}, ports: chosen }: DistributedOptions,
  envOf: EnvOf,
  onOutput: DistributedOptions["onOutput"],
): Promise<ServiceProcess[]> {
  const places = startOrder.flatMap((service) =>
    Array.from({ length: replicas[service] ?? (service === "ingest" ? 0 : 1) }, (_, index) => ({ service, index })),
  );
  const ports = chosen === undefined ? await freePorts(places.length * 3) : [];
  const portsOf = (place: number): ServicePorts => {
    const { service, index } = places[place] as (typeof places)[number];
    if (chosen !== undefined) return chosen.of(service, index);
    const [http = 0, operations = 0, operator = 0] = ports.slice(3 * place);
    return { http, operations, operator };
  };
  const ingest = places.findIndex(({ service }) => service === "ingest");
  const ingestUrl = ingest === -1 ? null : `http://127.0.0.1:${portsOf(ingest).http}`;
  return places.map(({ service, index }, place) => {
    const process: ServiceProcess = new ServiceProcess({
      service,
      index,
      env: envOf(service, index, ingestUrl),
      ports: portsOf(place),
      ...(onOutput && { onOutput: (text) => onOutput(process, text) }),
    });
    return process;
  });
}

/** Ends gateways first, so that their requests are still answered. */
async function endProcesses(processes: readonly ServiceProcess[]): Promise<void> {
  const isGateway = ({ service }: ServiceProcess) => service === "gateway-auth-quota";
  await Promise.all(processes.filter(isGateway).map((process) => process.end()));
  await Promise.all(processes.map((process) => process.end()));
}
