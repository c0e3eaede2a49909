/** Settings of the gateway: the only reader of the environment here. */

import { readFileSync } from "node:fs";
import { parseAddress, parsePrefix } from "@netfacts/address";
import { keyBounds } from "@netfacts/contracts";
import { noPeppers, type Peppers, parseKeyText, readPeppers } from "@netfacts/keys";
import { ConfigError, loadConfig } from "@netfacts/runtime";
import Type, { type Static } from "typebox";
import type { CorsOrigins } from "./edge/cors.ts";
import type { ForwardingHeader } from "./edge/trusted-proxies.ts";

/** Every setting with its default; names as in the environment. */
export const gatewayConfigSchema = Type.Object({
  HOST: Type.String({ default: "127.0.0.1", description: "Address to listen on" }),
  PORT: Type.Integer({ default: 8080, minimum: 0, maximum: 65_535, description: "Port to listen on; 0: any free one" }),
  TRUSTED_PROXIES: Type.String({
    default: "",
    description: "Addresses and CIDRs of proxies that are believed in who came to them, separated by commas",
  }),
  FORWARDING_HEADER: Type.Unsafe<ForwardingHeader>({
    type: "string",
    enum: ["x-forwarded-for", "forwarded"],
    default: "x-forwarded-for",
    description: "The header in which they tell it: `x-forwarded-for`, or `forwarded` (RFC 7239); the other one is not read",
  }),
  CORS_ORIGINS: Type.String({
    default: "",
    description: "Origins whose scripts may call, separated by commas, such as `https://app.example.com`; `*`: any; empty: none",
  }),
  HSTS_SECONDS: Type.Integer({
    default: 0,
    minimum: 0,
    description: "How long browsers are to come by HTTPS only; 0: not told. Only where HTTPS is in front",
  }),
  COMPRESS_FROM_BYTES: Type.Integer({
    default: 1_024,
    minimum: -1,
    description: "Shortest answer that is compressed for callers that take that; -1: none is",
  }),
  SHED_IN_FLIGHT_MAX: Type.Integer({
    default: 1_024,
    minimum: 1,
    description: "Questions in flight to one service; more: 503 at once, so that those taken are answered in time",
  }),
  SHED_LOOP_DELAY_MS: Type.Integer({
    default: 1_000,
    minimum: 0,
    description: "Lateness of the process, three looks in a row, beyond which questions get 503; 0: never",
  }),
  URL_BYTES_MAX: Type.Integer({ default: 2_048, minimum: 256, maximum: 8_192, description: "Longest URL; longer: 414" }),
  HEADER_BYTES_MAX: Type.Integer({
    default: 16_384,
    minimum: 8_192,
    maximum: 65_536,
    description: "Size of all headers with the URL; more: 431",
  }),
  HEADERS_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 100,
    description: "Time for the headers of a request to arrive; longer: 408",
  }),
  REQUEST_TIMEOUT_MS: Type.Integer({ default: 30_000, minimum: 100, description: "Time for a whole request to arrive; longer: 408" }),
  KEEP_ALIVE_TIMEOUT_MS: Type.Integer({ default: 72_000, minimum: 1_000, description: "Idle time before a connection is closed" }),
  LOOKUP_BUDGET_MS: Type.Integer({ default: 5_000, minimum: 1, maximum: 60_000, description: "Time for a service to answer; longer: 504" }),
  REVERSE_DNS_BUDGET_MS: Type.Integer({ default: 15_000, minimum: 1, maximum: 60_000, description: "The same for reverse DNS" }),
  BATCH_IDLE_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    description: "Time without a byte in either direction after which a batch is ended, while it is the client's turn",
  }),
  BATCH_DOCUMENT_MS: Type.Integer({
    default: 60_000,
    minimum: 100,
    description: "Time for the questions of a batch that is one document; those without answer by then are problems",
  }),
  BATCHES_MAX: Type.Integer({ default: 64, minimum: 1, description: "Batches at a time; more: 503" }),
  ERROR_DOCS_BASE: Type.String({ default: "/docs/errors/", description: "What the `type` of problems begins with" }),
  DEFAULT_RATE_LIMIT: Type.Integer({ default: 600, minimum: 1, description: "Requests per window of a key without a limit of its own" }),
  DEFAULT_RATE_WINDOW_SECONDS: Type.Integer({
    default: 60,
    minimum: 1,
    maximum: keyBounds.windowSecondsMax,
    description: "Length of that window",
  }),
  DEFAULT_MONTH_LIMIT: Type.Integer({
    default: 100_000,
    minimum: 1,
    description: "Answers per calendar month (UTC) of a key without a limit of its own",
  }),
  DEFAULT_CONCURRENCY_LIMIT: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: keyBounds.concurrencyMax,
    description: "Requests at a time, at each gateway, of a key without a bound of its own or of its plan; 0: no bound",
  }),
  LIMITS_DEBT_MAX: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description:
      "While the store of limits is away: units that each gateway admits without it, of each key, limit and window; 0: none, such requests are refused",
  }),
  USAGE_FLUSH_MS: Type.Integer({
    default: 5_000,
    minimum: 100,
    maximum: 600_000,
    description: "Time between two writings of usage: so much of it is lost at most when a gateway is killed",
  }),
  KEY_CACHE_LIFETIME_MS: Type.Integer({ default: 30_000, minimum: 0, description: "A key is read from the store again after this time" }),
  KEY_CACHE_AWAY_MS: Type.Integer({ default: 300_000, minimum: 0, description: "How long a known key serves while the store is away" }),
  FAILED_KEYS_MAX: Type.Integer({ default: 20, minimum: 1, description: "Failed keys of one IPv4 /32 or IPv6 /64 and window; more: 429" }),
  FAILED_KEYS_WINDOW_MS: Type.Integer({ default: 60_000, minimum: 1_000, description: "Length of that window" }),
  OPERATOR_HOST: Type.String({ default: "127.0.0.1", description: "Address on which operators are served" }),
  OPERATOR_PORT: Type.Integer({
    default: -1,
    minimum: -1,
    maximum: 65_535,
    description: "Port on which operators are served, under `/admin/v1`; 0: any free one; -1: none",
  }),
  OPERATOR_IDLE_MS: Type.Integer({
    default: 30_000,
    minimum: 100,
    description: "Time without a byte in either direction after which an operator's connection is closed",
  }),
  ADMIN_KEY: Type.String({
    default: "",
    description: "The first key of a new installation, with the scope `admin` only; it must be a whole key",
  }),
  ADMIN_KEY_FILE: Type.String({ default: "", description: "A file that holds it, in place of `ADMIN_KEY`" }),
  KEY_PEPPERS: Type.String({
    default: "",
    description: "Secrets that hashes of keys are made with, `id:secret` separated by commas: the first writes, all read; empty: none",
  }),
  KEY_PEPPERS_FILE: Type.String({ default: "", description: "A file that holds them, one a line, in place of `KEY_PEPPERS`" }),
  INGEST_URL: Type.String({ default: "", description: "URL of ingest's operator API; empty: none is offered" }),
  INGEST_TIMEOUT_MS: Type.Integer({ default: 25_000, minimum: 1, description: "Time for ingest to answer or to go on; longer: 504" }),
  PROXY_TOKEN: Type.String({ default: "", description: "What proves to ingest that a gateway asks; at least 32 characters" }),
});

const proxyTokenCharsMin = 32;

/** Where keys and limits are, for the process of the gateway; in the one-process form they are in a file. */
export const storeConfigSchema = Type.Object({
  MONGODB_URI: Type.String({
    default: "mongodb://127.0.0.1:27017/netfacts",
    minLength: 1,
    description: "Database of keys and limits: mongodb://user:password@host:27017/database",
  }),
});

type Settings = Static<typeof gatewayConfigSchema>;

/** `ADMIN_KEY` is what the file holds where that is named. */
export interface GatewayConfig
  extends Omit<Settings, "TRUSTED_PROXIES" | "CORS_ORIGINS" | "ADMIN_KEY_FILE" | "KEY_PEPPERS" | "KEY_PEPPERS_FILE"> {
  /** What `KEY_PEPPERS`, or the file, holds. */
  readonly PEPPERS: Peppers;
  readonly TRUSTED_PROXIES: readonly string[];
  readonly CORS_ORIGINS: CorsOrigins;
}

/** @throws ConfigError that lists every fault. */
export function loadGatewayConfig(env: NodeJS.ProcessEnv = process.env): GatewayConfig {
  return gatewayConfig(loadConfig(gatewayConfigSchema, env));
}

/** The settings as the application takes them, out of values that fit the schema. */
export function gatewayConfig({ ADMIN_KEY_FILE, KEY_PEPPERS, KEY_PEPPERS_FILE, ...settings }: Settings): GatewayConfig {
  const proxies = settings.TRUSTED_PROXIES.split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  const faults = proxies
    .filter((text) => parseAddress(text) === null && !parsePrefix(text).ok)
    .map((text) => `TRUSTED_PROXIES: "${text}" is no address and no CIDR`);
  const CORS_ORIGINS = readOrigins(settings.CORS_ORIGINS, faults);
  const ADMIN_KEY = readAdminKey(settings.ADMIN_KEY, ADMIN_KEY_FILE, faults);
  const PEPPERS = readPepperSettings(KEY_PEPPERS, KEY_PEPPERS_FILE, faults);
  faults.push(...proxyFaults(settings));
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...settings, ADMIN_KEY, PEPPERS, TRUSTED_PROXIES: proxies, CORS_ORIGINS };
}

function readOrigins(setting: string, faults: string[]): CorsOrigins {
  if (setting.trim() === "*") return "*";
  const origins = setting
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  for (const text of origins) {
    if (!URL.canParse(text) || new URL(text).origin !== text)
      faults.push(`CORS_ORIGINS: "${text}" is no origin: scheme, host and port, without a path, in lower case`);
  }
  return origins;
}

/** Tells faults without a part of a secret. */
function readPepperSettings(setting: string, file: string, faults: string[]): Peppers {
  if (setting !== "" && file !== "") faults.push("KEY_PEPPERS and KEY_PEPPERS_FILE are both set; set one");
  let text = setting;
  if (file !== "") {
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      faults.push(`KEY_PEPPERS_FILE cannot be read: ${(error as Error).message}`);
      return noPeppers;
    }
    if (text.trim() === "") faults.push(`KEY_PEPPERS_FILE: ${file} is empty`);
  }
  const read = readPeppers(text);
  faults.push(...read.faults.map((fault) => `${file === "" ? "KEY_PEPPERS" : "KEY_PEPPERS_FILE"}: ${fault}`));
  return read.peppers;
}

/** Tells faults without a part of the key. */
function readAdminKey(setting: string, file: string, faults: string[]): string {
  if (setting !== "" && file !== "") faults.push("ADMIN_KEY and ADMIN_KEY_FILE are both set; set one");
  let key = setting;
  if (file !== "") {
    try {
      key = readFileSync(file, "utf8").trim();
    } catch (error) {
      faults.push(`ADMIN_KEY_FILE cannot be read: ${(error as Error).message}`);
      return "";
    }
    if (key === "") faults.push(`ADMIN_KEY_FILE: ${file} is empty`);
  }
  if (key === "") return "";
  const text = parseKeyText(key);
  const name = file === "" ? "ADMIN_KEY" : "ADMIN_KEY_FILE";
  if (text === null) faults.push(`${name}: its value is no key, or has a typing error: its checksum does not fit`);
  else if (text.environment !== "live") faults.push(`${name}: a test key never has the scope admin; a live one is needed`);
  return key;
}

function proxyFaults({ INGEST_URL, PROXY_TOKEN }: Pick<Settings, "INGEST_URL" | "PROXY_TOKEN">): string[] {
  if (INGEST_URL === "") return [];
  const faults: string[] = [];
  const url = URL.canParse(INGEST_URL) ? new URL(INGEST_URL) : null;
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search === "" && url.username === "";
  if (!isOrigin) faults.push("INGEST_URL must be an http or https URL of a host and a port, without a path or credentials");
  if (PROXY_TOKEN.length < proxyTokenCharsMin)
    faults.push(`PROXY_TOKEN must have at least ${proxyTokenCharsMin} characters where INGEST_URL is set`);
  if (/[^!-~]/.test(PROXY_TOKEN)) faults.push("PROXY_TOKEN must be printable ASCII without blanks");
  return faults;
}
