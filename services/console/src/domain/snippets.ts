/** The request of a page, for a terminal and for a program. Neither has the key: both read it from the environment. */

export interface Lookup {
  /** Path of the API, with the query. */
  readonly path: string;
  /** The call of the client: `ip("193.0.6.139")`. */
  readonly call: string;
}

/** @param origin  origin of this page. It needs no escaping, because the origin of a URL has no quotes. */
export function curl(origin: string, { path }: Lookup): string {
  return `curl -sS -H "Authorization: Bearer $NETFACTS_KEY" '${origin}${path.replaceAll("'", "%27")}'`;
}

export function typescript(origin: string, { call }: Lookup): string {
  return `import { NetfactsClient } from "@netfacts/client";

const netfacts = new NetfactsClient({ url: ${JSON.stringify(origin)}, key: process.env.NETFACTS_KEY });
const record = await netfacts.${call};`;
}

/** A call with one text. */
export function callOf(method: string, ...texts: readonly string[]): string {
  return `${method}(${texts.map((text) => JSON.stringify(text)).join(", ")})`;
}
