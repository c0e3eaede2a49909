/** Reads the list of nameservers from the system's file (resolv.conf(5)), or from a setting. */

import { isIP } from "node:net";

export interface NameserverAddress {
  /** IP address, with a zone if it has one, or a host name that the system resolves. */
  readonly host: string;
  readonly port: number;
  /** Name or address that its certificate must have; absent: no TLS. */
  readonly tls?: string;
}

export interface SystemResolver {
  readonly servers: readonly NameserverAddress[];
  /** `options timeout:`; null: not in the file. */
  readonly timeoutMs: number | null;
  /** `options attempts:`; null: not in the file. */
  readonly attempts: number | null;
}

const dnsPort = 53;
const tlsPort = 853;

/** Limits of the C library for the values of the file. */
const serversMax = 3;
const timeoutSecondsMax = 30;
const attemptsMax = 5;

/** Without a file, or without nameservers in it, the system asks its own host. */
const ownHost: NameserverAddress = { host: "127.0.0.1", port: dnsPort };

/** Reads the text of a resolv.conf like the C library: unknown and malformed lines are ignored. */
export function parseResolvConf(text: string): SystemResolver {
  const servers: NameserverAddress[] = [];
  let timeoutMs: number | null = null;
  let attempts: number | null = null;
  for (const line of text.split("\n")) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === "nameserver" && values[0] !== undefined && isIP(values[0]) !== 0 && servers.length < serversMax) {
      servers.push({ host: values[0], port: dnsPort });
    }
    if (keyword !== "options") continue;
    for (const option of values) {
      const seconds = optionValue(option, "timeout", timeoutSecondsMax);
      if (seconds !== null) timeoutMs = seconds * 1_000;
      attempts = optionValue(option, "attempts", attemptsMax) ?? attempts;
    }
  }
  return { servers: servers.length > 0 ? servers : [ownHost], timeoutMs, attempts };
}

function optionValue(option: string, name: string, max: number): number | null {
  const match = /^([a-z]+):(\d+)$/.exec(option);
  return match === null || match[1] !== name ? null : Math.max(1, Math.min(Number(match[2]), max));
}

/**
 * Reads items separated by commas. `host[:port]` may have an IPv6 address, in brackets, or without them if there is no port.
 * `tls://host[:port][#name]` is asked over TLS, and must have a certificate for the name. `faults`: all other items.
 */
export function parseNameservers(list: string): { servers: NameserverAddress[]; faults: string[] } {
  const servers: NameserverAddress[] = [];
  const faults: string[] = [];
  for (const item of list.split(",").map((part) => part.trim())) {
    if (item === "") continue;
    const server = parseNameserver(item);
    if (server === null) faults.push(item);
    else servers.push(server);
  }
  return { servers, faults };
}

function parseNameserver(item: string): NameserverAddress | null {
  if (!item.startsWith("tls://")) return parsePlain(item, dnsPort);
  const [, place = "", name] = /^tls:\/\/([^#]*)(?:#(.+))?$/.exec(item) ?? [];
  const server = parsePlain(place, tlsPort);
  if (server === null || (name !== undefined && isIP(name) === 0 && !isHost(name))) return null;
  return { ...server, tls: name ?? server.host };
}

/** The own host with a port but without brackets: it reads as an address of ::/96, where nobody is. */
const ownHostWithoutBrackets = /^::1:\d+$/;

function parsePlain(item: string, defaultPort: number): NameserverAddress | null {
  if (ownHostWithoutBrackets.test(item)) return null;
  if (isIP(item) !== 0) return { host: item, port: defaultPort };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(item);
  if (match === null) return null;
  const [, bracketed, plain, portText] = match;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port < 1 || port > 65_535) return null;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : null;
  return plain !== undefined && isHost(plain) ? { host: plain, port } : null;
}

/** An IPv4 address or a host name. A name of only digits and dots is a mistyped address. */
function isHost(text: string): boolean {
  if (isIP(text) === 4) return true;
  return /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$/.test(text) && !/^[\d.]+$/.test(text) && !text.includes("..");
}
