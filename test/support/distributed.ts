/** The distributed form: each service as processes of its own, over a real nats-server and a server of MongoDB's protocol. */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileCache } from "./compile-cache.ts";
import { freePorts } from "./free-ports.ts";
import { type Mongodb, startMongodb } from "./mongodb.ts";
import { type NatsServer, startNatsServer } from "./nats-server.ts";
import { accessOf, natsUsersConfig, testUser } from "./nats-users.ts";
import { publishSnapshot, type SnapshotOrigin } from "./publish-snapshot.ts";
import { sampleFolder } from "./sample-snapshot.ts";
import { type ServiceName, type ServicePorts, ServiceProcess } from "./service-process.ts";

export type { ServiceName, ServiceProcess } from "./service-process.ts";

/** Ports that somebody chose; 0: any free one. */
export interface DistributedPorts {
  readonly nats: number;
  readonly mongo: number;
  of(service: ServiceName, index: number): ServicePorts;
}

export interface DistributedOptions {
  /** Processes of each service; default one, and none of ingest. */
  readonly replicas?: Partial<Record<ServiceName, number>>;
  /** In the environment of every process. */
  readonly settings?: Readonly<Record<string, string>>;
  /** In the environment of the processes of one service; goes before `settings`. */
  readonly settingsOf?: (service: ServiceName, index: number) => Readonly<Record<string, string>>;
  /**
   * What is served at first: default the samples, imported anew; "by-ingest": what a process of ingest imports; null: nothing, and
   * nobody waits for pods to be ready.
   */
  readonly snapshot?: SnapshotOrigin | "by-ingest" | null;
  /** False: the server of the environment may be used. Default: one of our own, which can be stopped, killed and frozen. */
  readonly own?: boolean;
  /** Further text of nats-server's configuration file. */
  readonly natsConfig?: string;
  /** True: acknowledged writes survive a kill -9 of MongoDB's server. */
  readonly durable?: boolean;
  /**
   * Gives the URLs that the services get, made of those of the servers: for proxies between them. Default: the servers' own.
   * `natsUrl` and `mongoUrl` of a test's own connections stay those of the servers.
   */
  readonly route?: (servers: { readonly natsUrl: string; readonly mongoUrl: string }) => Promise<{ natsUrl: string; mongoUrl: string }>;
  /** Default: free ones. */
  readonly ports?: DistributedPorts;
  /** Aborts a start that is under way: what was started is ended. */
  readonly signal?: AbortSignal;
  /** Each piece of what a process prints, as it comes. */
  readonly onOutput?: (process: ServiceProcess, text: string) => void;
}

export interface Distributed {
  readonly services: Readonly<Record<ServiceName, readonly ServiceProcess[]>>;
  readonly gateways: readonly ServiceProcess[];
  /** All processes, in the order in which they were started. */
  readonly processes: readonly ServiceProcess[];
  /** Of the servers themselves; `natsUrl` with a user that may do everything, `mongoUrl` with the database. */
  readonly natsUrl: string;
  readonly mongoUrl: string;
  /** The server that runs now: another one after `restartNats`. */
  readonly nats: NatsServer;
  readonly mongo: Mongodb;
  /** What nats-server and ingest write; removed by `stop`. */
  readonly folder: string;
  /** For the command line, and other processes beside the services. */
  readonly env: Readonly<Record<string, string>>;
  /** Copies a snapshot into JetStream and lets it be served. @returns its id. */
  publish(origin: SnapshotOrigin): Promise<string>;
  /** Sends the signal (default SIGKILL) and waits for the end. */
  kill(service: ServiceName, index: number, signal?: NodeJS.Signals): Promise<void>;
  /** Starts what was killed, on the same ports; resolves once it is ready. */
  restart(service: ServiceName, index: number): Promise<void>;
  /** Starts nats-server on its port and files, after `nats.stop()` or `nats.kill()`. */
  restartNats(): Promise<void>;
  /** What all processes printed, over all their starts: those of one after those of the other. */
  logs(): string;
  /** Ends services, then servers, and removes their folders; nothing the second time. */
  stop(): Promise<void>;
}

const bucket = "netfacts-snapshots";
const database = "netfacts";
/** Those who are asked before those who ask. */
const startOrder: readonly ServiceName[] = ["ip-routing", "asn-prefix", "rdns-resolver", "ingest", "gateway-auth-quota"];

/** Resolves when every process is ready. When one does not start, all that was started is ended before it rejects. */
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
  const { settings = {}, settingsOf, snapshot, own = true, natsConfig, durable = false, route, ports, signal, onOutput } = options;
  const folder = await mkdtemp(join(tmpdir(), "netfacts-distributed-"));
  undo.push(() => rm(folder, { recursive: true, force: true }));

  const natsOptions = {
    jetstream: true,
    ...(own && { own, storeDir: join(folder, "jetstream") }),
    // One user per service, with no more rights than the documents list.
    ...(own && { config: `${natsUsersConfig()}\n${natsConfig ?? ""}` }),
    ...(ports && { port: ports.nats }),
  };
  let nats = await startNatsServer(natsOptions);
  undo.push(() => nats.stop());
  signal?.throwIfAborted();
  const mongo = await startMongodb({ own, durable, ...(ports && { port: ports.mongo }) });
  undo.push(() => mongo.stop());
  signal?.throwIfAborted();
  const natsUrl = own ? nats.url.replace("//", `//${testUser}@`) : nats.url;
  const mongoUrl = mongo.database(own ? database : `netfacts_${process.pid}_${Date.now()}`);
  const routed = (await route?.({ natsUrl: nats.url, mongoUrl })) ?? { natsUrl: nats.url, mongoUrl };

  const common = {
    ...compileCache,
    NATS_URL: routed.natsUrl,
    MONGODB_URI: routed.mongoUrl,
    SNAPSHOT_BUCKET: bucket,
    // Nobody is there: no test asks the system's nameservers by accident.
    RESOLVERS: "127.0.0.1:9",
    // Between gateways and ingest.
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
  // While the services start.
  const publish = (origin: SnapshotOrigin) => publishSnapshot(natsUrl, bucket, origin);
  undo.push(() => endProcesses(processes));
  for (const process of processes) process.launch();
  if (snapshot === undefined) {
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

/** @param ingestUrl  of the first process of ingest; null where there is none. */
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

/** Those who ask first, so that what they asked is answered. */
async function endProcesses(processes: readonly ServiceProcess[]): Promise<void> {
  const isGateway = ({ service }: ServiceProcess) => service === "gateway-auth-quota";
  await Promise.all(processes.filter(isGateway).map((process) => process.end()));
  await Promise.all(processes.map((process) => process.end()));
}
