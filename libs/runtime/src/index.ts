/** @netfacts/runtime: the common parts of every service: settings, logs, metrics, health, stop. Knows no domain. */

export { authorityFault, readAuthorities } from "./authorities.ts";
export { type Clock, systemClock } from "./clock.ts";
export { Closing } from "./closing.ts";
export { ConfigError, configFaults, loadConfig, loadConfigs } from "./config.ts";
export { endOnInternalError, type InternalErrorOptions } from "./internal-error.ts";
export { addressOf, checkAddresses, type ListenPlace, listenAt, listenFault, openableUrl, urlHost } from "./listen-place.ts";
export { logExports } from "./log-exports.ts";
export { type LogFileOptions, openLogFile } from "./log-file.ts";
export { createLogger, infoLines, type Logger, type LoggerOptions, type LogLevel, logLevels } from "./logger.ts";
export { runMain } from "./main.ts";
export { createMessageTracing } from "./message-tracing.ts";
export {
  type Count,
  type Counter,
  createMetrics,
  createRegistry,
  type Gauge,
  type GaugeOptions,
  type Histogram,
  type HistogramOptions,
  type Labels,
  type MetricOptions,
  type Metrics,
  type MetricsRegistry,
  type Observer,
} from "./metrics.ts";
export { type OperationsServer, type OperationsServerOptions, startOperationsServer } from "./operations-server.ts";
export { measureProcess } from "./process-metrics.ts";
export { processConfigSchema, runService, type ServiceApp, type ServiceContext, type ServiceOptions } from "./service.ts";
export { installStop, type StopOptions } from "./stop.ts";
export type { Telemetry } from "./telemetry.ts";
