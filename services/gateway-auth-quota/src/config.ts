/** Settings of the gateway. Only this file reads the environment. */

import { formatPrefix, parseAddress, parsePrefix } from "@netfacts/address";
import { errorDocsBaseFault, keyBounds } from "@netfacts/contracts";
import { type Peppers, parseKeyText, readPeppers } from "@netfacts/keys";
import { ConfigError, loadConfig } from "@netfacts/runtime";
import { mongoUriFault } from "@netfacts/storage";
import Type, { type Static } from "typebox";
import type { CorsOrigins } from "./edge/cors.ts";
import type { ForwardingHeader } from "./edge/trusted-proxies.ts";

/** All settings with their defaults, by their names in the environment. */
export const gatewayConfigSchema = Type.Object({
  HOST: Type.String({
    default: "127.0.0.1",
    description: "Address to listen on; `::` is every address of both families, `0.0.0.0` every IPv4 address",
  }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535, description: "Port to listen on; 0 selects any free port" }),
  TRUSTED_PROXIES: Type.String({
    default: "",
    description: "Proxies trusted to report the client address: addresses and CIDRs, separated by commas",
  }),
  FORWARDING_HEADER: Type.Unsafe<ForwardingHeader>({
    type: "string",
    enum: ["x-forwarded-for", "forwarded"],
    default: "x-forwarded-for",
    description: "Header from which the client address is read: `x-forwarded-for` or `forwarded` (RFC 7239). The other header is ignored",
  }),
  CORS_ORIGINS: Type.String({
    default: "",
    description:
      "Origins allowed to make cross-origin requests, separated by commas, such as `https://app.example.com`; `*` allows any; empty allows none",
  }),
  CONSOLE: Type.Boolean({
    default: true,
    description:
      "Whether the console, pages for browsers, is served at `/` of the public and of the operator listener; if false, `/` redirects to `/docs`",
  }),
  HSTS_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 315_360_000,
    description: "HSTS max-age in seconds; 0 disables the header. Set it only if clients connect through HTTPS",
  }),
  COMPRESS_FROM_BYTES: Type.Integer({
    default: 1_024,
    minimum: -1,
    description: "Minimum size of a response that is compressed, in bytes; -1 disables compression",
  }),
  SHED_IN_FLIGHT_MAX: Type.Integer({
    default: 1_024,
    minimum: 1,
    description:
      "Maximum number of requests in progress at one service; further ones get 503 immediately. The last quarter is reserved for keys that have less than a quarter",
  }),
  SHED_LOOP_DELAY_MS: Type.Integer({
    default: 1_000,
    minimum: 0,
    maximum: 60_000,
    description: "Event-loop delay in ms that triggers 503 when it is exceeded in three consecutive checks; 0 disables the check",
  }),
  CONNECTIONS_MAX: Type.Integer({
    default: 4_096,
    minimum: 4,
    description:
      "Maximum number of connections of a listener; further ones get 503. Each key, and each IPv4 address or IPv6 /64, is guaranteed a quarter",
  }),
  PIPELINE_MAX: Type.Integer({
    default: 64,
    minimum: 1,
    description: "Maximum number of unanswered requests on one connection; one more gets 503 and ends the connection",
  }),
  STATUS_CACHE_MS: Type.Integer({
    default: 1_000,
    minimum: 0,
    maximum: 60_000,
    description: "Time for which one response of `/status` serves further requests, in ms",
  }),
  KEYLESS_PER_SECOND_MAX: Type.Integer({
    default: 50,
    minimum: 1,
    description:
      "Requests without a valid key per second from one IPv4 address or IPv6 /64, and twice as many in a burst; further ones get 503 after 1 s. 20 times as many CORS preflights",
  }),
  REFUSALS_PER_SECOND_MAX: Type.Integer({
    default: 50,
    minimum: 1,
    description:
      "Refused requests (4xx) per second that a key may have beyond its answered ones, and twice as many in a burst; its further ones wait 1 s",
  }),
  WRITE_STALL_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Time after which a connection is closed if its client has not read 1 KiB of a waiting response, in ms",
  }),
  DRAIN_SECONDS: Type.Integer({
    default: 10,
    minimum: 0,
    maximum: 600,
    description:
      "Time at the start of a stop in which the gateway is not ready but still answers, with `Connection: close`, in seconds. Must be longer than a load balancer takes to notice",
  }),
  URL_BYTES_MAX: Type.Integer({
    default: 2_048,
    minimum: 256,
    maximum: 8_192,
    description: "Maximum length of a URL in bytes; longer URLs get 414",
  }),
  HEADER_BYTES_MAX: Type.Integer({
    default: 16_384,
    minimum: 8_192,
    maximum: 65_536,
    description: "Maximum size of all headers including the URL, in bytes; larger ones get 431",
  }),
  HEADERS_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 100,
    // Node's default limit for a whole request: it refuses to make a listener with a larger value.
    maximum: 300_000,
    description: "Timeout for receiving the headers of a request, in ms; then 408",
  }),
  REQUEST_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Timeout for receiving a whole request, in ms; then 408",
  }),
  KEEP_ALIVE_TIMEOUT_MS: Type.Integer({
    default: 72_000,
    minimum: 1_000,
    maximum: 3_600_000,
    description: "Idle time after which a connection is closed, in ms",
  }),
  LOOKUP_BUDGET_MS: Type.Integer({
    default: 5_000,
    minimum: 1,
    maximum: 60_000,
    description: "Timeout for the response of a service, in ms; then 504",
  }),
  HISTORY_BUDGET_MS: Type.Integer({
    default: 10_000,
    minimum: 500,
    maximum: 60_000,
    description: "Time limit of a request with `as_of`, in ms; within it a pod may have to load a snapshot of the past",
  }),
  REVERSE_DNS_BUDGET_MS: Type.Integer({
    default: 15_000,
    minimum: 1,
    maximum: 60_000,
    description: "Timeout for reverse DNS lookups, in ms; then 504",
  }),
  BATCH_IDLE_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Waiting time in which the client must make the progress that `BATCH_ITEMS_MIN` sets, in ms; otherwise the batch ends",
  }),
  BATCH_ITEMS_MIN: Type.Integer({
    default: 10,
    minimum: 1,
    description: "Minimum progress of a client in each `BATCH_IDLE_MS` of waiting for it: items that it sends, or KiB that it reads",
  }),
  BATCH_MS_MAX: Type.Integer({
    default: 3_600_000,
    minimum: 100,
    maximum: 604_800_000,
    description: "Maximum duration of an NDJSON batch, in ms; then it ends with a summary",
  }),
  BATCH_DOCUMENT_MS: Type.Integer({
    default: 60_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Timeout for answering a batch in one JSON document, in ms; items without a result by then become problems",
  }),
  BATCHES_MAX: Type.Integer({
    default: 64,
    minimum: 1,
    description: "Maximum number of concurrent batches; further ones get 503. Each key is guaranteed a quarter",
  }),
  ERROR_DOCS_BASE: Type.String({ default: "/docs/errors/", description: "URI prefix of the `type` of problems" }),
  DEFAULT_RATE_LIMIT: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: keyBounds.limitMax,
    description: "Default rate limit of a key: units per window. Most requests cost 1 unit",
  }),
  DEFAULT_RATE_WINDOW_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: keyBounds.windowSecondsMax,
    description: "Length of the rate window of the default rate limit, in seconds",
  }),
  DEFAULT_MONTH_LIMIT: Type.Integer({
    default: 100_000,
    minimum: 1,
    maximum: keyBounds.limitMax,
    description: "Default monthly quota of a key: successful requests per calendar month (UTC)",
  }),
  DEFAULT_CONCURRENCY_LIMIT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: keyBounds.concurrencyMax,
    description: "Default limit of concurrent requests of a key, at each gateway; 0 means no limit",
  }),
  LIMITS_DEBT_MAX: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "Units that each gateway admits per key, limit and window while the limit store is unavailable; 0 rejects every request that needs it",
  }),
  USAGE_FLUSH_MS: Type.Integer({
    default: 5_000,
    minimum: 100,
    maximum: 600_000,
    description: "Interval between writes of usage counts, in ms. A gateway that is killed loses at most this much usage",
  }),
  USAGE_KEPT_DAYS: Type.Integer({
    default: 400,
    minimum: 0,
    maximum: 36_500,
    description:
      "Days for which usage counts are kept; 0 keeps them forever. The default covers a year and the same month of the previous year",
  }),
  KEY_CACHE_LIFETIME_MS: Type.Integer({
    default: 30_000,
    minimum: 0,
    maximum: 86_400_000,
    description: "Time after which a cached key is read from the store again, in ms",
  }),
  KEY_CACHE_BLIND_MS: Type.Integer({
    default: 2_000,
    minimum: 0,
    maximum: 86_400_000,
    description: "Time after which a cached key is read again while NATS does not respond, so that no change can be announced, in ms",
  }),
  KEY_CACHE_AWAY_MS: Type.Integer({
    default: 300_000,
    minimum: 0,
    maximum: 604_800_000,
    description: "Time for which cached keys remain valid while the store is unavailable, in ms",
  }),
  FAILED_KEYS_MAX: Type.Integer({
    default: 20,
    minimum: 1,
    description: "Invalid keys per window from one IPv4 address or IPv6 /64; further invalid keys get 429",
  }),
  FAILED_KEY_READS: Type.Integer({
    default: 5,
    minimum: 0,
    description: "Reads of keys from the store per second for an address that exceeded `FAILED_KEYS_MAX`; valid keys are not counted",
  }),
  KEY_TRIES_MAX: Type.Integer({
    default: 500,
    minimum: 1,
    description: "Reads of uncached keys from the store per second, over all addresses; further ones get 503. Valid keys are not counted",
  }),
  FAILED_KEYS_WINDOW_MS: Type.Integer({
    default: 60_000,
    minimum: 1_000,
    maximum: 86_400_000,
    description: "Length of the window for invalid keys, in ms",
  }),
  OPERATOR_HOST: Type.String({ default: "127.0.0.1", description: "Address of the operator listener" }),
  OPERATOR_PORT: Type.Integer({
    default: -1,
    minimum: -1,
    maximum: 65_535,
    description: "Port of the operator listener, which serves `/admin/v1`; 0 selects any free port; -1 disables the listener",
  }),
  OPERATOR_IDLE_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Time without traffic after which an operator's connection is closed, in ms",
  }),
  WHOIS_HOST: Type.String({ default: "127.0.0.1", description: "Address of the whois listener" }),
  WHOIS_PORT: Type.Integer({
    default: -1,
    minimum: -1,
    maximum: 65_535,
    description: "Port of the whois listener (RFC 3912), which needs no key; 0 selects any free port; -1 disables the listener",
  }),
  WHOIS_PER_SECOND_MAX: Type.Integer({
    default: 50,
    // A burst has twice as many units, and the most expensive request costs three.
    minimum: 2,
    description:
      "Maximum number of whois requests per second from one IPv4 address or IPv6 /64, and twice as many in a burst. Further single requests get an error; further lines of a bulk wait",
  }),
  WHOIS_CONNECTIONS_MAX: Type.Integer({
    default: 256,
    minimum: 4,
    description: "Maximum number of whois connections. Each IPv4 address or IPv6 /64 is guaranteed a quarter",
  }),
  WHOIS_IDLE_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    maximum: 3_600_000,
    description: "Time after which a whois connection is closed if its client neither sends nor reads anything, in ms",
  }),
  ADMIN_KEY: Type.String({
    default: "",
    description: "First key of a new installation: a complete key, which gets the scope `admin` only",
  }),
  KEY_PEPPERS: Type.String({
    default: "",
    description:
      "Peppers for hashing keys, as `id:secret` separated by commas or line ends. New hashes use the first; all are accepted; empty means none",
  }),
  INGEST_URL: Type.String({ default: "", description: "URL of ingest's operator API; if empty, the ingest routes are not available" }),
  INGEST_TIMEOUT_MS: Type.Integer({
    default: 25_000,
    minimum: 1,
    maximum: 3_600_000,
    description: "Timeout for ingest to respond or to send more data, in ms; then 504",
  }),
  PROXY_TOKEN: Type.String({ default: "", description: "Shared secret that authenticates the gateway to ingest; at least 32 characters" }),
});

const proxyTokenCharsMin = 32;

/** The store of keys and limits for the process of the gateway. The one-process form has a file instead. */
export const storeConfigSchema = Type.Object({
  MONGODB_URI: Type.String({
    default: "mongodb://127.0.0.1:27017/netfacts",
    minLength: 1,
    description: "MongoDB database of keys and limits: mongodb://user:password@host:27017/database",
  }),
});

/** @throws ConfigError */
export function loadStoreConfig(env: NodeJS.ProcessEnv = process.env): Static<typeof storeConfigSchema> {
  const config = loadConfig(storeConfigSchema, env);
  const fault = mongoUriFault(config.MONGODB_URI);
  if (fault !== null) throw new ConfigError([`MONGODB_URI ${fault}`]);
  return config;
}

type Settings = Static<typeof gatewayConfigSchema>;

export interface GatewayConfig extends Omit<Settings, "TRUSTED_PROXIES" | "CORS_ORIGINS" | "KEY_PEPPERS"> {
  /** The peppers of `KEY_PEPPERS`. */
  readonly PEPPERS: Peppers;
  readonly TRUSTED_PROXIES: readonly string[];
  readonly CORS_ORIGINS: CorsOrigins;
}

/** @throws ConfigError that lists every fault. */
export function loadGatewayConfig(env: NodeJS.ProcessEnv = process.env): GatewayConfig {
  return gatewayConfig(loadConfig(gatewayConfigSchema, env));
}

/** The settings in the form for the application, from values that fit the schema. */
export function gatewayConfig({ KEY_PEPPERS, ...settings }: Settings): GatewayConfig {
  const proxies = settings.TRUSTED_PROXIES.split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  const faults = proxies.flatMap((text) => {
    const reading = parsePrefix(text);
    if (parseAddress(text) !== null || reading.ok) return [];
    const fault = `TRUSTED_PROXIES: "${text}" is not an address or a CIDR`;
    return [reading.fault === "host-bits" ? `${fault}; write ${formatPrefix(reading.corrected)} for that network` : fault];
  });
  const CORS_ORIGINS = readOrigins(settings.CORS_ORIGINS, faults);
  const { peppers: PEPPERS, faults: pepperFaults } = readPeppers(KEY_PEPPERS);
  const docsFault = errorDocsBaseFault(settings.ERROR_DOCS_BASE);
  if (docsFault !== null) faults.push(`ERROR_DOCS_BASE ${docsFault}`);
  faults.push(...adminKeyFaults(settings.ADMIN_KEY), ...pepperFaults.map((fault) => `KEY_PEPPERS: ${fault}`), ...proxyFaults(settings));
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...settings, PEPPERS, TRUSTED_PROXIES: proxies, CORS_ORIGINS };
}

function readOrigins(setting: string, faults: string[]): CorsOrigins {
  if (setting.trim() === "*") return "*";
  const origins = setting
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  for (const text of origins) {
    if (!URL.canParse(text) || new URL(text).origin !== text)
      faults.push(`CORS_ORIGINS: "${text}" is not an origin: use scheme, host and port in lower case, without a path`);
  }
  return origins;
}

/** Faults of the key, described without any part of it. */
function adminKeyFaults(key: string): string[] {
  if (key === "") return [];
  const text = parseKeyText(key);
  if (text === null) return ["ADMIN_KEY: the value is not a valid key (the checksum does not match); check it for typing errors"];
  return text.environment === "live" ? [] : ["ADMIN_KEY: a test key cannot have the scope admin; use a live key"];
}

function proxyFaults({ INGEST_URL, PROXY_TOKEN }: Pick<Settings, "INGEST_URL" | "PROXY_TOKEN">): string[] {
  if (INGEST_URL === "") return [];
  const faults: string[] = [];
  const url = URL.canParse(INGEST_URL) ? new URL(INGEST_URL) : null;
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) faults.push("INGEST_URL must be an http or https URL with a host and a port, without a path or credentials");
  if (PROXY_TOKEN.length < proxyTokenCharsMin)
    faults.push(`PROXY_TOKEN must have at least ${proxyTokenCharsMin} characters if INGEST_URL is set`);
  if (/[^!-~]/.test(PROXY_TOKEN)) faults.push("PROXY_TOKEN must be printable ASCII without spaces");
  return faults;
}
