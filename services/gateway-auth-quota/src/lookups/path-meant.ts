/** What the path of a request was meant to be that no route has, where only one thing can have been. */

import { formatPrefix, parseAddress, parsePrefix } from "@netfacts/address";
import { nearestWord } from "@netfacts/contracts";
import { echoPath } from "../edge/echo.ts";

const dataRoot = "/api/v1/";

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
   * @returns the path of a route, without a query; null where none was meant, or the path is not one to repeat.
   */
  of(url: string): string | null {
    const path = url.split(/[?#]/, 1)[0] ?? "";
    if (!/^[A-Za-z0-9\-._:/]+$/.test(path) || echoPath(path) !== path) return null;
    const plain = path.replaceAll(/\/{2,}/g, "/").replace(/(.)\/+$/, "$1");
    for (const meant of [plain, this.#respelt(plain)]) {
      const found = prefixPath(meant) ?? meant;
      if (found !== path && this.#routes.some((route) => route.test(found))) return found;
    }
    return null;
  }

  /** With the nearest word for the route: `/v1/as/3333` → `/api/v1/asn/3333`. */
  #respelt(path: string): string {
    const [, word, rest] = /^\/(?:(?:api\/)?v\d\/|api\/)?([^/]+)(\/.*)?$/i.exec(path) ?? [];
    if (word === undefined) return path;
    return `${dataRoot}${nearestWord(word, this.#words) ?? word}${rest ?? ""}`;
  }
}

/** Of a prefix that stands where a route takes an address; null for anything else. */
function prefixPath(path: string): string | null {
  const [, network = "", length = ""] = /^\/api\/v1\/(?:ip|routing|reverse-dns)\/([^/]+)\/(\d+)$/.exec(path) ?? [];
  if (parseAddress(network) === null) return null;
  const reading = parsePrefix(`${network}/${length}`);
  if (reading.ok) return `${dataRoot}prefix/${formatPrefix(reading.prefix)}`;
  return reading.fault === "host-bits" ? `${dataRoot}prefix/${formatPrefix(reading.corrected)}` : null;
}
