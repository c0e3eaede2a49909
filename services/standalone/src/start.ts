/** Start and stop of the one-process form, step by step. */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { listenPlaces, loadGatewayConfig } from "@netfacts/gateway-auth-quota/app";
import { startLocalIngest } from "@netfacts/ingest/app";
import { createFirstKey } from "@netfacts/keys";
import { loadRdnsConfig } from "@netfacts/rdns-resolver/app";
import {
  createLogger,
  createMetrics,
  installStop,
  loadConfig,
  loadConfigs,
  measureProcess,
  openableUrl,
  openLogFile,
  startOperationsServer,
  systemClock,
  type Telemetry,
  urlHost,
} from "@netfacts/runtime";
import { openDataFolder, pastOptionsOf, retentionOf, type SnapshotStore, snapshotsFolder } from "@netfacts/snapshot";
import { observationsFile, openSqliteObservations, openSqliteStore } from "@netfacts/storage";
import { buildApp } from "./app.ts";
import { standaloneConfigSchema } from "./config.ts";
import { ensureData } from "./first-data.ts";
import { takeHome } from "./home.ts";
import { noSnapshotText } from "./no-snapshot.ts";
import { checkPorts } from "./port-owner.ts";
import { welcomeText } from "./welcome.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const samples = join(root, "samples", "sources.yaml");

/**
 * Takes the state folder, imports what is missing, starts all services and prints the welcome.
 *
 * @throws ConfigError with the faults of all settings; else the error of the failed step, after all earlier steps were undone.
 */
export async function start(telemetry: Telemetry): Promise<void> {
  const { own, gateway, resolver } = loadConfigs({
    own: () => loadConfig(standaloneConfigSchema),
    // One process has no load balancer, so by default its stop does not wait for draining.
    gateway: () => loadGatewayConfig({ DRAIN_SECONDS: "0", ...process.env }),
    resolver: () => loadRdnsConfig(),
  });
  const folder = resolve(root, own.NETFACTS_HOME);
  const home = takeHome(folder, `http://${urlHost(gateway.HOST)}:${gateway.PORT}`);
  // Undo steps for all that was taken or started so far, oldest first. A failed start runs them in reverse.
  const undo: (() => Promise<void> | void)[] = [() => telemetry.stop(), () => home.release()];
  const stopping = new AbortController();
  const stopAll = async () => {
    stopping.abort();
    for (const step of undo.splice(0).reverse()) await step();
  };

  try {
    const logFile = openLogFile(join(folder, "netfacts.log"), {
      bytesMax: own.LOG_BYTES_MAX,
      ageMsMax: own.LOG_AGE_HOURS_MAX * 3_600_000,
      onFault: (reason) => process.stderr.write(`netfacts: the log ${join(folder, "netfacts.log")} cannot be written: ${reason}\n`),
    });
    const logOf = (service: string) => createLogger({ service, level: own.LOG_LEVEL, to: logFile });
    const log = logOf("standalone");
    telemetry.onExport((fault) => {
      if (fault === null) log.info({}, "traces are exported again");
      else log.warn({ fault }, "traces cannot be exported; the service continues without them");
    });
    installStop({ log, stop: stopAll, drainMs: gateway.DRAIN_SECONDS * 1_000 });
    const places = listenPlaces(gateway);
    await checkPorts([
      places.http,
      { portSetting: "TELEMETRY_PORT", hostSetting: "TELEMETRY_HOST", host: own.TELEMETRY_HOST, port: own.TELEMETRY_PORT },
      places.operator,
      places.whois,
    ]);
    const metrics = createMetrics("standalone");
    measureProcess(metrics);
    let isListening = false;
    const ready = () => isListening && !stopping.signal.aborted;
    // Start this before the services, so that it closes after them: probes can see a start and a stop.
    const operations = await startOperationsServer({
      host: own.TELEMETRY_HOST,
      port: own.TELEMETRY_PORT,
      ready,
      reasons: () => (stopping.signal.aborted ? ["the process stops"] : isListening ? [] : ["the process starts"]),
      metrics,
    });
    undo.push(() => operations.close());
    const store = await openSqliteStore(join(folder, "store.sqlite"));
    undo.push(() => store.close());
    const observationsPath = join(folder, observationsFile);
    const observations = await openSqliteObservations(observationsPath);
    undo.push(() => observations.close());
    const retention = retentionOf(own);
    const snapshots = openDataFolder(folder, { retention });
    const sources = own.SOURCES === "" ? "" : resolve(own.SOURCES);
    const stateFolder = join(folder, "ingest");
    await ensureData({
      snapshots,
      store,
      stateFolder,
      fetching: own,
      observations: { kind: "sqlite", path: observationsPath },
      sources,
      samples,
      out: process.stdout,
      signal: stopping.signal,
    });
    // The samples have no new versions, but observations may be uploaded in addition.
    const followed = sources === "" && (await isSample(snapshots)) ? samples : sources;
    const ingest = await startLocalIngest({
      config: own,
      errorDocsBase: gateway.ERROR_DOCS_BASE,
      sources: followed,
      stateFolder,
      store,
      snapshots,
      snapshotSource: { kind: "folder", path: join(folder, snapshotsFolder), retention },
      observations: { repository: observations, source: { kind: "sqlite", path: observationsPath } },
      clock: systemClock,
      log: logOf("ingest"),
      metrics: createMetrics("ingest"),
    });
    undo.push(() => ingest.stop());
    const app = await buildApp({
      gateway: gateway.INGEST_URL === "" ? { ...gateway, INGEST_URL: ingest.url, PROXY_TOKEN: ingest.proxyToken } : gateway,
      resolver,
      snapshots,
      snapshotsFolder: join(folder, snapshotsFolder),
      answersFile: join(folder, "reverse-dns.sqlite"),
      ipv4Index: own.IPV4_INDEX,
      past: pastOptionsOf(own),
      store,
      clock: systemClock,
      log: logOf,
    });
    undo.push(() => app.stop());
    await app.start();
    const generation = app.dataset.current();
    const refused = [...app.refused.values()].map(({ message }) => message);
    if (generation === null) throw new Error(await noSnapshotText(refused, snapshots, join(folder, snapshotsFolder)));
    for (const reason of refused) process.stdout.write(`rejected: ${reason}; an older snapshot is in service\n`);
    const url = await app.gateway.listen();
    isListening = true;
    home.answersAt(url);
    if (followed !== "") await ingest.follow({ sources: followed, fetching: own });
    const operatorOrigin = app.gateway.operator?.listeningOrigin;
    // Create the key last: its secret is shown only once, and a failed start would lose it.
    const firstKey = await createFirstKey(store);
    process.stdout.write(
      welcomeText({
        url,
        operationsUrl: operations.url,
        operatorUrl: operatorOrigin === undefined ? null : openableUrl(operatorOrigin),
        folder,
        generation,
        firstKey,
        hasConsole: gateway.CONSOLE,
      }),
    );
    log.info({ url, snapshot: generation.id }, "ready");
  } catch (error) {
    if (stopping.signal.aborted) return;
    await stopAll();
    throw error;
  }
}

async function isSample(snapshots: SnapshotStore): Promise<boolean> {
  const id = await snapshots.currentId();
  if (id === null) return false;
  const manifest = await snapshots.getManifest(id).catch(() => null);
  return manifest?.sample_data === true;
}
