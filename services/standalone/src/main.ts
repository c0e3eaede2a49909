/** The process of the one-process form: `make up`. */

import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { openDataFolder, snapshotsFolder } from "@netfacts/dataset";
import { loadGatewayConfig } from "@netfacts/gateway-auth-quota/app";
import { loadRdnsConfig } from "@netfacts/rdns-resolver/app";
import {
  ConfigError,
  createLogger,
  createMetrics,
  installStop,
  loadConfig,
  runMain,
  startOperationsServer,
  systemClock,
} from "@netfacts/runtime";
import { createFirstKey, openSqliteStore } from "@netfacts/storage";
import { buildApp } from "./app.ts";
import { standaloneConfigSchema } from "./config.ts";
import { ensureData } from "./first-data.ts";
import { takeHome } from "./home.ts";
import { openLogFile } from "./log-file.ts";
import { checkPort, portFault } from "./port-owner.ts";
import { welcomeText } from "./welcome.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const operationsHost = "127.0.0.1";

/** Reads every group of settings and throws one error with the faults of all. */
function loadSettings() {
  const faults: string[] = [];
  const tried = <T>(load: () => T): T | null => {
    try {
      return load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return null;
    }
  };
  const own = tried(() => loadConfig(standaloneConfigSchema));
  const gateway = tried(() => loadGatewayConfig());
  const resolver = tried(() => loadRdnsConfig());
  if (own === null || gateway === null || resolver === null) throw new ConfigError(faults);
  return { own, gateway, resolver };
}

await runMain(async () => {
  const { own, gateway, resolver } = loadSettings();
  const folder = resolve(root, own.NETFACTS_HOME);
  const home = takeHome(folder, `http://${gateway.HOST}:${gateway.PORT}`);
  // What was taken or started so far, newest first; a start that fails gives it all back.
  const undo: (() => Promise<void> | void)[] = [() => home.release()];
  const stopping = new AbortController();
  const stopAll = async () => {
    stopping.abort();
    for (const step of undo.splice(0).reverse()) await step();
  };

  try {
    const logFile = openLogFile(folder);
    const logOf = (service: string) => createLogger({ service, level: own.LOG_LEVEL, to: logFile });
    const log = logOf("standalone");
    installStop({ log, stop: stopAll });
    await checkPort(gateway.HOST, gateway.PORT, "PORT");
    await checkPort(operationsHost, own.TELEMETRY_PORT, "TELEMETRY_PORT");
    const store = await openSqliteStore(join(folder, "store.sqlite"));
    undo.push(() => store.close());
    const snapshots = openDataFolder(folder);
    await ensureData({
      snapshots,
      store,
      sources: own.SOURCES === "" ? "" : resolve(own.SOURCES),
      samples: join(root, "samples", "sources.yaml"),
      out: process.stdout,
      signal: stopping.signal,
    });
    const app = await buildApp({
      gateway,
      resolver,
      snapshots,
      snapshotsFolder: join(folder, snapshotsFolder),
      store,
      clock: systemClock,
      log: logOf,
    });
    undo.push(() => app.stop());
    await app.start();
    const generation = app.dataset.current();
    const refused = [...app.refused.values()].map(({ message }) => message);
    if (generation === null)
      throw new Error(
        `${refused.join("; ")}; import again with SOURCES=, or remove ${join(folder, snapshotsFolder)} to begin with the samples`,
      );
    for (const reason of refused) process.stdout.write(`refused: ${reason}; a snapshot kept from before serves\n`);
    const operations = await startOperationsServer({
      host: operationsHost,
      port: own.TELEMETRY_PORT,
      ready: () => !stopping.signal.aborted && app.dataset.current() !== null,
      metrics: createMetrics("standalone"),
    });
    undo.push(() => operations.close());
    const url = await app.gateway.listen().catch((error: NodeJS.ErrnoException) => {
      throw new Error(portFault(gateway.HOST, gateway.PORT, "PORT", error.code ?? error.message));
    });
    home.answersAt(url);
    // Last, since its secret is shown once: a start that fails before has not used it up.
    const firstKey = await createFirstKey(store);
    process.stdout.write(
      welcomeText({ url, operationsUrl: operations.url, folder: relative(process.cwd(), folder) || ".", generation, firstKey }),
    );
    log.info({ url, snapshot: generation.id }, "ready");
  } catch (error) {
    if (stopping.signal.aborted) return;
    await stopAll();
    throw error;
  }
});
