/** Settings of the service. Only this file reads the environment. */

import { readFileSync } from "node:fs";
import type { Prefix } from "@netfacts/address";
import { ConfigError, configFaults, loadConfig, readAuthorities } from "@netfacts/runtime";
import Type, { type Static } from "typebox";
import { type NameserverAddress, parseNameservers, parseResolvConf, type SystemResolver } from "./domain/nameservers.ts";
import { parseOpenPrefixes } from "./domain/withholding.ts";

/** Defaults for values that are neither in a setting nor in resolv.conf. */
const timeoutMsDefault = 2_000;
const attemptsDefault = 2;

const wholeNumber = (minimum: number, maximum: number, defaultValue: number, description: string) =>
  Type.Integer({ minimum, maximum, default: defaultValue, description });

/** All settings with their defaults, by their names in the environment. */
export const rdnsConfigSchema = Type.Object({
  RESOLVERS: Type.String({
    default: "",
    description:
      "Nameservers as `host[:port]`, separated by commas, IPv6 addresses in brackets; `tls://host[:port][#name]` for DNS over TLS; if empty, those of `RESOLV_CONF`",
  }),
  RDNS_TLS_CA_FILE: Type.String({
    default: "",
    description: "PEM file of the authorities that sign the certificates of nameservers with TLS; if empty, those that Node trusts",
  }),
  RESOLV_CONF: Type.String({ default: "/etc/resolv.conf", description: "File that lists the nameservers of the system" }),
  RDNS_TIMEOUT_MS: wholeNumber(0, 30_000, 0, "Timeout of one attempt in ms; 0 uses the value of `RESOLV_CONF`, or else 2000"),
  RDNS_ATTEMPTS: wholeNumber(0, 5, 0, "Number of attempts over all nameservers; 0 uses the value of `RESOLV_CONF`, or else 2"),
  RDNS_BUDGET_MS: wholeNumber(100, 30_000, 2_000, "Maximum time of a lookup in ms, over all its queries, retries and nameservers"),
  RDNS_QUERIES_MAX: wholeNumber(4, 1_000, 64, "Maximum number of DNS queries of a lookup, with retries and over UDP and TCP"),
  RDNS_FORWARD_NAMES_MAX: wholeNumber(
    0,
    100,
    20,
    "Maximum number of names of an address for which forward lookups are made; 0 makes none. If there are more names, they have `forward` null and the warning `truncated`",
  ),
  RDNS_SOCKETS: wholeNumber(4, 8, 4, "Number of UDP sockets, and thus of random ports, per nameserver"),
  RDNS_RANDOM_CASE: Type.Boolean({
    default: true,
    description: "Whether names are queried in random case, which a forged answer would have to guess",
  }),
  RDNS_COOKIES: Type.Boolean({ default: true, description: "Whether queries carry DNS cookies (RFC 7873)" }),
  RDNS_SILENT_PROBES_MAX: wholeNumber(1, 100, 2, "Number of consecutive unanswered probes after which a nameserver counts as down"),
  RDNS_PROBE_INTERVAL_MS: wholeNumber(
    50,
    60_000,
    500,
    "Timeout of a probe and interval between probes of a nameserver that is down or did not answer a query, in ms",
  ),
  RDNS_MEASURE_INTERVAL_MS: wholeNumber(
    50,
    600_000,
    10_000,
    "Interval between measurements of how quickly nameservers answer, if there are several, in ms",
  ),
  RDNS_IN_FLIGHT_MAX: wholeNumber(1, 100_000, 4_096, "Maximum number of concurrent lookups; further ones get `temporarily_overloaded`"),
  RDNS_NAMES_MAX: wholeNumber(
    1,
    1_000,
    100,
    "Maximum number of names cached and returned for an address; more names add the warning `truncated`",
  ),
  RDNS_CACHE_ENTRIES: wholeNumber(1, 10_000_000, 100_000, "Maximum number of cached answers"),
  RDNS_CACHE_BYTES: wholeNumber(1_048_576, 17_179_869_184, 67_108_864, "Maximum memory of cached answers, estimated, in bytes"),
  RDNS_SHARED_CACHE_BYTES: wholeNumber(
    0,
    17_179_869_184,
    67_108_864,
    "Maximum size of the cache that replicas share and that outlives a restart, in bytes: in JetStream, or in a file of the one-process form; 0 uses none",
  ),
  RDNS_SHARED_CACHE_WAIT_MS: wholeNumber(
    1,
    1_000,
    50,
    "Maximum time for which a lookup waits for the shared cache before it asks DNS, in ms",
  ),
  RDNS_STALE_MAX_SECONDS: wholeNumber(
    0,
    604_800,
    86_400,
    "Time after its expiry for which an answer is returned if DNS gives no newer one (RFC 8767), in seconds; 0 returns none",
  ),
  RDNS_REFRESH_PERCENT: wholeNumber(
    0,
    50,
    10,
    "Last part of its life in which an answer that is requested often is renewed in the background, in percent; 0 renews none",
  ),
  RDNS_TTL_MIN_SECONDS: wholeNumber(0, 300, 0, "Minimum time for which answers with a TTL are cached, in seconds"),
  RDNS_TTL_MAX_SECONDS: wholeNumber(0, 604_800, 86_400, "Maximum time for which names are cached, regardless of their TTL, in seconds"),
  RDNS_NEGATIVE_TTL_MAX_SECONDS: wholeNumber(0, 86_400, 3_600, "Maximum time for which negative answers are cached (RFC 2308), in seconds"),
  RDNS_FAILURE_TTL_SECONDS: wholeNumber(1, 300, 5, "Time for which `servfail` and `refused` are cached (RFC 9520), in seconds"),
  RDNS_OPEN_PREFIXES: Type.String({
    default: "",
    description: "Prefixes, separated by commas, that are looked up although they are not globally reachable",
  }),
});

type Settings = Static<typeof rdnsConfigSchema>;

export interface RdnsConfig extends Omit<Settings, "RESOLVERS" | "RDNS_OPEN_PREFIXES"> {
  /** Empty: the nameservers of the system. */
  readonly RESOLVERS: readonly NameserverAddress[];
  readonly RDNS_OPEN_PREFIXES: readonly Prefix[];
}

/** @throws ConfigError that lists every fault. */
export function loadRdnsConfig(env: NodeJS.ProcessEnv = process.env): RdnsConfig {
  return rdnsConfig(loadConfig(rdnsConfigSchema, env));
}

/**
 * The settings in the form for the application, from values that fit the schema.
 *
 * @throws ConfigError that lists every item, and the file, that cannot be read.
 */
export function rdnsConfig(settings: Settings): RdnsConfig {
  const resolvers = parseNameservers(settings.RESOLVERS);
  const prefixes = parseOpenPrefixes(settings.RDNS_OPEN_PREFIXES);
  const faults = [
    ...resolvers.faults.map(
      (item) =>
        `RESOLVERS must be a list of host[:port] or tls://host[:port][#name], with IPv6 addresses in brackets, not ${JSON.stringify(item)}`,
    ),
    ...prefixes.faults.map((item) => `RDNS_OPEN_PREFIXES must be a list of prefixes without host bits, not ${JSON.stringify(item)}`),
    ...configFaults(() => tlsAuthorities(settings)),
  ];
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...settings, RESOLVERS: resolvers.servers, RDNS_OPEN_PREFIXES: prefixes.prefixes };
}

/** @throws ConfigError  if the file of authorities cannot be read, or has none. */
export function tlsAuthorities({ RDNS_TLS_CA_FILE: path }: Pick<RdnsConfig, "RDNS_TLS_CA_FILE">): string | undefined {
  return path === "" ? undefined : readAuthorities("RDNS_TLS_CA_FILE", path);
}

/** Nameservers, timeout and attempts: from the settings, else from the current resolv.conf, else the defaults. */
export function resolverSettings(config: RdnsConfig): { servers: readonly NameserverAddress[]; timeoutMs: number; attempts: number } {
  const system = readSystemResolver(config.RESOLV_CONF);
  return {
    servers: config.RESOLVERS.length > 0 ? config.RESOLVERS : system.servers,
    timeoutMs: config.RDNS_TIMEOUT_MS || (system.timeoutMs ?? timeoutMsDefault),
    attempts: config.RDNS_ATTEMPTS || (system.attempts ?? attemptsDefault),
  };
}

/** A file that is missing or cannot be read counts as empty, as in the C library. */
function readSystemResolver(path: string): SystemResolver {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
  } catch {
    // Counts as empty.
  }
  return parseResolvConf(text);
}
