/** What the path of a request was meant to be that no route has, where only one thing can have been. */

import { formatPrefix, parseAddress, parseAsn, parsePrefix } from "@netfacts/address";
import { nearestWord } from "@netfacts/contracts";
import { echoPath } from "../edge/echo.ts";

const dataRoot = "/api/v1/";

/** Words of other services for a route. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ["rdns", "reverse-dns"],
  ["ptr", "reverse-dns"],
  ["roa", "vrps"],
  ["roas", "vrps"],
  ["network", "prefix"],
  ["cidr", "prefix"],
]);

/** Paths below a record where other services have a part of it, by the word of the record and that of the part; `*` is the subject. */
const partPaths: ReadonlyMap<string, string> = new Map([
  ["asn/prefixes", "asn/*?fields=prefixes"],
  ["asn/neighbours", "asn/*?fields=neighbours"],
  ["asn/neighbors", "asn/*?fields=neighbours"],
  ["asn/peers", "asn/*?fields=neighbours"],
  ["asn/vrps", "vrps/*"],
  ["asn/changes", "changes/*"],
  ["ip/routing", "routing/*"],
  ["ip/reverse-dns", "reverse-dns/*"],
]);

export class PathsMeant {
  readonly #routes: readonly RegExp[];
  /** The words below `/api/v1/`: `ip`, `reverse-dns`. */
  readonly #words: readonly string[];

  /** @param urls  paths of the routes, with `:name` for a parameter. */
  constructor(urls: readonly string[]) {
    this.#routes = urls.map((url) => new RegExp(`^${url.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`));
    const below = urls.filter((url) => url.startsWith(dataRoot)).map((url) => url.slice(dataRoot.length).split("/", 1)[0] ?? "");
    this.#words = [...new Set(below)];
  }

  /**
   * @param url  of a request that no route takes.
   * @returns the path of a route, with a query only if that holds parts of the path; null where none was meant, or the path is not one to repeat.
   */
  of(url: string): string | null {
    // Many programs encode the slash of a prefix.
    const path = (url.split(/[?#]/, 1)[0] ?? "").replaceAll(/%2f/gi, "/");
    if (!/^[A-Za-z0-9\-._:/]+$/.test(path) || echoPath(path) !== path) return null;
    const plain = path.replaceAll(/\/{2,}/g, "/").replace(/(.)\/+$/, "$1");
    for (const meant of [plain, this.#respelt(plain)]) {
      const found = prefixPath(meant) ?? validityPath(meant) ?? partPath(meant) ?? subjectPath(meant) ?? meant;
      const [route = ""] = found.split("?", 1);
      if (found !== path && this.#routes.some((known) => known.test(route))) return found;
    }
    return null;
  }

  /** With the nearest word for the route: `/v1/as/3333` → `/api/v1/asn/3333`. */
  #respelt(path: string): string {
    const [, word, rest] = /^\/(?:(?:api\/)?v\d\/|api\/)?([^/]+)(\/.*)?$/i.exec(path) ?? [];
    if (word === undefined) return path;
    return `${dataRoot}${otherWords.get(word.toLowerCase()) ?? nearestWord(word, this.#words) ?? word}${rest ?? ""}`;
  }
}

/** Of a prefix that stands where a route takes an address; null for anything else. */
function prefixPath(path: string): string | null {
  const [, network = "", length = ""] = /^\/api\/v1\/(?:ip|routing|reverse-dns)\/([^/]+)\/(\d+)$/.exec(path) ?? [];
  const prefix = prefixOf(network, length);
  return prefix === null ? null : `${dataRoot}prefix/${prefix}`;
}

/** Of an origin and a prefix in the path, as Routinator takes them; null for anything else. */
function validityPath(path: string): string | null {
  const [, origin = "", network = "", length = ""] = /^\/api\/v1\/validity\/([^/]+)\/([^/]+)\/(\d+)$/.exec(path) ?? [];
  const prefix = prefixOf(network, length);
  return prefix === null || parseAsn(origin) === null ? null : `${dataRoot}validity?asn=${origin}&prefix=${prefix}`;
}

/** Of a part of the record of an AS or an address: `/api/v1/asn/3333/prefixes`; null for anything else. */
function partPath(path: string): string | null {
  const [, record = "", subject = "", part = ""] = /^\/api\/v1\/(asn|ip)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  if ((record === "asn" ? parseAsn(subject) : parseAddress(subject)) === null) return null;
  const found = partPaths.get(`${record}/${otherWords.get(part) ?? part}`);
  return found === undefined ? null : `${dataRoot}${found.replace("*", subject)}`;
}

/** Of an address, a prefix or an AS that is the whole path: `/193.0.6.139`, `/AS3333`; null for anything else. */
function subjectPath(path: string): string | null {
  const subject = path.slice(path.startsWith(dataRoot) ? dataRoot.length : 1);
  if (parseAddress(subject) !== null) return `${dataRoot}ip/${subject}`;
  const [, network = "", length = ""] = /^([^/]+)\/(\d+)$/.exec(subject) ?? [];
  const prefix = prefixOf(network, length);
  if (prefix !== null) return `${dataRoot}prefix/${prefix}`;
  return /^as\d+$/i.test(subject) && parseAsn(subject) !== null ? `${dataRoot}asn/${subject}` : null;
}

/** Without its host bits; null if it is no prefix. */
function prefixOf(network: string, length: string): string | null {
  if (parseAddress(network) === null) return null;
  const reading = parsePrefix(`${network}/${length}`);
  if (reading.ok) return formatPrefix(reading.prefix);
  return reading.fault === "host-bits" ? formatPrefix(reading.corrected) : null;
}
