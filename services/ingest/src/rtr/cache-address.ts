/** Addresses of caches: `rtr://host:port`, `rtr+tls://host:port`, several of them in order of preference. */

/** Ports that IANA assigned to `rpki-rtr` and `rpki-rtr-tls`. */
const defaultPorts = { "rtr:": 323, "rtr+tls:": 324 } as const;
const cachesMax = 8;

export const cacheListForm = "rtr://host:port or rtr+tls://host:port, or up to 8 of them separated by commas, the preferred one first";

export interface CacheAddress {
  /** The name for operators: `rtr://validator.example.net:323`. */
  readonly name: string;
  readonly tls: boolean;
  /** A host name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The caches of a location, the preferred one first; null if it has another form, or names a cache twice. */
export function readCacheList(location: string): CacheAddress[] | null {
  const caches = location.split(",").map((part) => readCache(part.trim()));
  if (caches.length > cachesMax) return null;
  const good = caches.filter((cache) => cache !== null);
  const names = new Set(good.map(({ name }) => name));
  return good.length === caches.length && names.size === good.length ? good : null;
}

function readCache(text: string): CacheAddress | null {
  if (!/^rtr(\+tls)?:\/\/[^/]/.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text.toLowerCase());
  if (
    !/^([A-Za-z0-9_.-]+|\[[0-9a-f:.]+\])$/.test(hostname) ||
    [username, password, search, hash].some((part) => part !== "") ||
    !["", "/"].includes(pathname)
  )
    return null;
  const number = port === "" ? defaultPorts[protocol as keyof typeof defaultPorts] : Number(port);
  if (number < 1) return null;
  const name = `${protocol}//${hostname}:${number}`;
  return { name, tls: protocol === "rtr+tls:", host: hostname.replace(/^\[|\]$/g, ""), port: number };
}
