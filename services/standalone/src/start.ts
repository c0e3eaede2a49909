/** Start and stop of the one-process form, step by step. */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { listenPlaces, loadGatewayConfig } from "@netfacts/gateway-auth-quota/app";
import { fetchContext, type LocalIngest, type ObservationSource, startLocalIngest } from "@netfacts/ingest/app";
import { createFirstKey } from "@netfacts/keys";
import { loadRdnsConfig } from "@netfacts/rdns-resolver/app";
import {
  Closing,
  createLogger,
  createMetrics,
  endOnInternalError,
  installStop,
  type Logger,
  loadConfig,
  loadConfigs,
  logExports,
  measureProcess,
  openableUrl,
  openLogFile,
  startOperationsServer,
  systemClock,
  type Telemetry,
  urlHost,
} from "@netfacts/runtime";
import { openDataFolder, pastOptionsOf, retentionOf, type SnapshotStore, type StoreSource, snapshotsFolder } from "@netfacts/snapshot";
import { type ObservationStore, observationsFile, openSqliteObservations, openSqliteStore, type Store } from "@netfacts/storage";
import { buildApp, type Standalone } from "./app.ts";
import { type StandaloneConfig, standaloneConfigSchema } from "./config.ts";
import { ensureData } from "./first-data.ts";
import { type Home, inHome, takeHome } from "./home.ts";
import { noSnapshotText } from "./no-snapshot.ts";
import { checkPorts } from "./port-owner.ts";
import { servesSamples } from "./sample-data.ts";
import { welcomeText } from "./welcome.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const samples = join(root, "samples", "sources.yaml");

/**
 * Takes the state folder, imports what is missing, starts all services and prints the welcome.
 *
 * @throws ConfigError with the faults of all settings; else the error of the failed step, after all earlier steps were undone.
 */
export async function start(telemetry: Telemetry): Promise<void> {
  const settings = loadSettings();
  const { own, gateway } = settings;
  const folder = resolve(root, own.NETFACTS_HOME);
  const home = takeHome(folder, `http://${urlHost(gateway.HOST)}:${gateway.PORT}`);
  const closing = new Closing();
  closing.add(() => telemetry.stop());
  closing.add(() => home.release());
  const started = closing.start(async () => {
    const logPath = join(folder, "netfacts.log");
    const logOf = openLog(logPath, own);
    const log = logOf("standalone");
    logExports(telemetry, log);
    installStop({ log, stop: () => closing.run(), drainMs: gateway.DRAIN_SECONDS * 1_000 });
    endOnInternalError(log, {
      tell: (message) => process.stderr.write(`netfacts: terminated by an internal error: ${message}; details: ${logPath}\n`),
    });
    await serve({ settings, home, closing, log, logOf });
  });
  await started.catch((error: unknown) => {
    throw inHome(folder, error);
  });
}

type Settings = ReturnType<typeof loadSettings>;

function loadSettings() {
  return loadConfigs({
    own: () => loadOwn(),
    // One process has no load balancer, so by default its stop does not wait for draining.
    gateway: () => loadGatewayConfig({ DRAIN_SECONDS: "0", ...process.env }),
    resolver: () => loadRdnsConfig(),
  });
}

function loadOwn(): StandaloneConfig {
  const config = loadConfig(standaloneConfigSchema);
  // Checked before an import, which can take minutes.
  fetchContext(config);
  return config;
}

/** Loggers by service, all into one file. */
function openLog(path: string, { LOG_BYTES_MAX, LOG_AGE_HOURS_MAX, LOG_LEVEL }: StandaloneConfig): (service: string) => Logger {
  const to = openLogFile(path, {
    bytesMax: LOG_BYTES_MAX,
    ageMsMax: LOG_AGE_HOURS_MAX * 3_600_000,
    onFault: (reason) => process.stderr.write(`netfacts: the log ${path} cannot be written: ${reason}\n`),
  });
  return (service) => createLogger({ service, level: LOG_LEVEL, to });
}

/** What each step of the start needs. */
interface Starting {
  readonly settings: Settings;
  readonly home: Home;
  readonly closing: Closing;
  readonly log: Logger;
  readonly logOf: (service: string) => Logger;
}

async function serve(starting: Starting): Promise<void> {
  const { settings, home, closing, log } = starting;
  const { own, gateway } = settings;
  await checkPlaces(settings);
  let missing: () => string | null = () => "the process starts";
  // Start this before the services, so that it closes after them: probes can see a start and a stop.
  const operationsUrl = await openOperations(starting, () => missing());
  const stored = await openStored(starting);
  const { store, snapshots } = stored;
  const sources = own.SOURCES === "" ? "" : resolve(own.SOURCES);
  await ensureData({
    snapshots,
    store,
    stateFolder: stored.stateFolder,
    fetching: own,
    observations: stored.observations.source,
    sources,
    samples,
    out: process.stdout,
    signal: closing.signal,
  });
  // The samples have no new versions, but observations may be uploaded in addition.
  const followed = sources === "" && (await servesSamples(snapshots, samples)) ? samples : sources;
  const ingest = await openIngest(starting, stored, followed);
  const app = await openApp(starting, stored, ingest);
  await app.start();
  const generation = app.dataset.current();
  const refused = [...app.refused.values()].map(({ message }) => message);
  if (generation === null) throw new Error(await noSnapshotText(refused, snapshots, stored.snapshotSource.path));
  for (const reason of refused) process.stdout.write(`rejected: ${reason}; an older snapshot is in service\n`);
  const url = await app.gateway.listen();
  missing = () => app.storeFault();
  home.answersAt(url, followed === "" ? null : followed);
  if (followed !== "") await ingest.follow({ sources: followed, fetching: own });
  const operatorOrigin = app.gateway.operator?.listeningOrigin;
  // Create the key last: its secret is shown only once, and a failed start would lose it.
  const firstKey = await createFirstKey(store);
  process.stdout.write(
    welcomeText({
      url,
      operationsUrl,
      operatorUrl: operatorOrigin === undefined ? null : openableUrl(operatorOrigin),
      folder: home.folder,
      generation,
      firstKey,
      hasConsole: gateway.CONSOLE,
    }),
  );
  log.info({ url, snapshot: generation.id }, "ready");
}

function checkPlaces({ own, gateway }: Settings): Promise<void> {
  const places = listenPlaces(gateway);
  return checkPorts([
    places.http,
    { portSetting: "TELEMETRY_PORT", hostSetting: "TELEMETRY_HOST", host: own.TELEMETRY_HOST, port: own.TELEMETRY_PORT },
    places.operator,
    places.whois,
  ]);
}

/** Serves metrics and health. @param missing  why the process is not ready; null: it is, unless it stops. @returns the URL */
async function openOperations({ settings: { own }, closing }: Starting, missing: () => string | null): Promise<string> {
  const metrics = createMetrics("standalone");
  measureProcess(metrics);
  const reason = () => (closing.signal.aborted ? "the process stops" : missing());
  const operations = await startOperationsServer({
    host: own.TELEMETRY_HOST,
    port: own.TELEMETRY_PORT,
    ready: () => reason() === null,
    reasons: () => [reason()].filter((text) => text !== null),
    metrics,
  });
  closing.add(() => operations.close());
  return operations.url;
}

/** All state in the folder, and how other threads open it. */
interface Stored {
  readonly store: Store;
  readonly observations: { readonly repository: ObservationStore; readonly source: ObservationSource };
  readonly snapshots: SnapshotStore;
  readonly snapshotSource: Extract<StoreSource, { kind: "folder" }>;
  /** Folder of ingest for fetched files. */
  readonly stateFolder: string;
}

async function openStored({ settings: { own }, home: { folder }, closing }: Starting): Promise<Stored> {
  const store = await openSqliteStore(join(folder, "store.sqlite"));
  closing.add(() => store.close());
  const observationsPath = join(folder, observationsFile);
  const repository = await openSqliteObservations(observationsPath);
  closing.add(() => repository.close());
  const retention = retentionOf(own);
  return {
    store,
    observations: { repository, source: { kind: "sqlite", path: observationsPath } },
    snapshots: openDataFolder(folder, { retention }),
    snapshotSource: { kind: "folder", path: join(folder, snapshotsFolder), retention },
    stateFolder: join(folder, "ingest"),
  };
}

async function openIngest({ settings, closing, logOf }: Starting, stored: Stored, sources: string): Promise<LocalIngest> {
  const ingest = await startLocalIngest({
    ...stored,
    config: settings.own,
    errorDocsBase: settings.gateway.ERROR_DOCS_BASE,
    sources,
    clock: systemClock,
    log: logOf("ingest"),
    metrics: createMetrics("ingest"),
  });
  closing.add(() => ingest.stop());
  return ingest;
}

async function openApp({ settings, home, closing, logOf }: Starting, stored: Stored, ingest: LocalIngest): Promise<Standalone> {
  const { own, gateway, resolver } = settings;
  const app = await buildApp({
    gateway: gateway.INGEST_URL === "" ? { ...gateway, INGEST_URL: ingest.url, PROXY_TOKEN: ingest.proxyToken } : gateway,
    resolver,
    snapshots: stored.snapshots,
    snapshotsFolder: stored.snapshotSource.path,
    answersFile: join(home.folder, "reverse-dns.sqlite"),
    ipv4Index: own.IPV4_INDEX,
    past: pastOptionsOf(own),
    store: stored.store,
    clock: systemClock,
    log: logOf,
  });
  closing.add(() => app.stop());
  return app;
}
