/** The process of a service: settings, log, metrics, telemetry port, and an orderly stop. */

import type { Tracing } from "@netfacts/messaging";
import Type from "typebox";
import { Closing } from "./closing.ts";
import { loadConfig, loadConfigs } from "./config.ts";
import { endOnInternalError } from "./internal-error.ts";
import { checkAddresses, type ListenPlace } from "./listen-place.ts";
import { logExports } from "./log-exports.ts";
import { createLogger, type Logger, type LogLevel, logLevels } from "./logger.ts";
import { createMessageTracing } from "./message-tracing.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { startOperationsServer } from "./operations-server.ts";
import { measureProcess } from "./process-metrics.ts";
import { installStop } from "./stop.ts";
import type { Telemetry } from "./telemetry.ts";

/** Settings of every service's process, in addition to its own. */
export const processConfigSchema = Type.Object({
  LOG_LEVEL: Type.Unsafe<LogLevel>({
    type: "string",
    enum: [...logLevels],
    default: "info",
    description: "Minimum level of log lines",
  }),
  TELEMETRY_HOST: Type.String({
    default: "127.0.0.1",
    minLength: 1,
    description: "Address for metrics and health: loopback or the pod's own, never public",
  }),
  TELEMETRY_PORT: Type.Integer({
    default: 9464,
    minimum: 0,
    maximum: 65_535,
    description: "Port for metrics and health; 0 selects any free port, which the log line `started` reports",
  }),
});

/** The result of a service's `buildApp`. */
export interface ServiceApp {
  start(): Promise<void>;
  /** Takes nothing new, and finishes what it has taken. */
  stop(): Promise<void>;
  /** Whether requests would be answered now. */
  ready(): boolean;
}

export interface ServiceContext<Config> {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** For messaging; null if telemetry is off. */
  readonly tracing: Tracing | null;
  /** Aborted by the first signal, even while the service is starting. */
  readonly stopping: AbortSignal;
  /** Sets what `/readyz` reports as missing, whether the process is ready or not; null: nothing any more. One text per topic. */
  explain(topic: string, reason: string | null): void;
  /**
   * Adds a step that closes what was opened for the app. Steps run after the app has stopped, latest first; at once if the process is stopping
   * already.
   */
  onStop(close: () => Promise<void> | void): void;
}

export interface ServiceOptions<Config> {
  readonly service: string;
  readonly telemetry: Telemetry;
  /** @throws ConfigError */
  loadConfig(): Config;
  /** Time that the app plans for its stop before it ends work in progress, in ms: the time limit of the whole stop is extended by it. */
  drainMs?(config: Config): number;
  /**
   * Where the app will listen. Addresses that this machine does not have, and a port that two listeners have, end the start before `build`, which may
   * wait for servers.
   */
  places?(config: Config): readonly ListenPlace[];
  /** Opens connections and wires the app; does not start it. */
  build(context: ServiceContext<Config>): Promise<ServiceApp>;
}

/**
 * Starts the process of a service within `runMain`. Metrics and health are served from the beginning; `/readyz` answers 503 until the app is ready,
 * and again as soon as a stop begins. A stop ends the app, the steps of `onStop` (latest first), the telemetry port, and telemetry. A step that
 * fails does not prevent the others, and makes the status 1.
 *
 * @throws ConfigError with the faults of all settings; errors of `build` and of the app's `start`, after everything was closed again.
 */
export async function runService<Config>({
  service,
  telemetry,
  loadConfig: loadOwn,
  drainMs = () => 0,
  places = () => [],
  build,
}: ServiceOptions<Config>): Promise<void> {
  const { own, config } = loadConfigs({ own: () => loadConfig(processConfigSchema), config: loadOwn });
  const log = createLogger({ service, level: own.LOG_LEVEL });
  const metrics = createMetrics(service);
  measureProcess(metrics);
  const closing = new Closing();
  logExports(telemetry, log);
  closing.add(() => telemetry.stop());
  installStop({ log, stop: () => closing.run(), drainMs: drainMs(config) });
  endOnInternalError(log);

  await closing.start(async () => {
    let app: ServiceApp | null = null;
    const ready = () => !closing.signal.aborted && app?.ready() === true;
    const reasons = new Map<string, string>();
    const operations = await startOperationsServer({
      host: own.TELEMETRY_HOST,
      port: own.TELEMETRY_PORT,
      ready,
      reasons: () => [...reasons.values()],
      metrics,
    });
    closing.add(() => operations.close());
    const telemetryPlace = {
      host: own.TELEMETRY_HOST,
      port: own.TELEMETRY_PORT,
      hostSetting: "TELEMETRY_HOST",
      portSetting: "TELEMETRY_PORT",
    };
    await checkAddresses([telemetryPlace, ...places(config)]);
    const built = await build({
      config,
      log,
      metrics,
      tracing: createMessageTracing(),
      stopping: closing.signal,
      explain(topic, reason) {
        if (reason === null) reasons.delete(topic);
        else reasons.set(topic, reason);
      },
      onStop: (close) => closing.add(close),
    });
    closing.add(() => built.stop());
    app = built;
    await built.start();
    log.info({ operations_url: operations.url }, "started");
  });
}
