/** Where a listener is to listen, as settings say it: the address, and a sentence for what cannot be listened on. */

import { lookup } from "node:dns/promises";

export interface ListenPlace {
  /** An address, or a name of this machine. */
  readonly host: string;
  readonly port: number;
  /** Names of the settings. */
  readonly hostSetting: string;
  readonly portSetting: string;
}

/**
 * The one address to listen on: of a name its first one, IPv4 before IPv6. Fastify would bind each address of `localhost` to a server of
 * its own, and the bounds of connections know one server only.
 *
 * @throws Error with a sentence, for a name that is not known.
 */
export async function addressOf(place: ListenPlace): Promise<string> {
  try {
    const { address } = await lookup(place.host, { order: "ipv4first" });
    return address;
  } catch (cause) {
    throw new Error(listenFault(place, (cause as NodeJS.ErrnoException).code ?? ""));
  }
}

/**
 * Listens by `listen`, which gets the address.
 *
 * @returns its URL, which can be opened: of every IPv6 address it is that of loopback.
 * @throws Error with a sentence, also when the port is taken.
 */
export async function listenAt(place: ListenPlace, listen: (at: { host: string; port: number }) => Promise<string>): Promise<string> {
  const host = await addressOf(place);
  try {
    return openableUrl(await listen({ host, port: place.port }));
  } catch (cause) {
    throw new Error(listenFault(place, (cause as NodeJS.ErrnoException).code ?? String(cause)));
  }
}

/** Not every program opens the address that means all of a family. */
export function openableUrl(url: string): string {
  return url.replace("//[::]", "//[::1]");
}

/** @param code  of the system's error. */
export function listenFault({ host, port, hostSetting, portSetting }: ListenPlace, code: string): string {
  const choose = `choose one with ${hostSetting}=`;
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use; choose another with ${portSetting}=`;
    case "EACCES":
      return `this user is not allowed to listen on port ${port} of ${host}; choose a port above 1023 with ${portSetting}=`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine; ${choose}`;
    case "ENOTFOUND":
    case "EAI_NONAME":
      return `${host} is neither an address nor a name that is known here; ${choose}`;
    case "EAI_AGAIN":
    case "ETIMEOUT":
      return `${host} cannot be looked up: the name server does not answer; write an address in ${hostSetting}=`;
    case "EAFNOSUPPORT":
      return `${host} is of an address family that this machine does not have; ${choose}`;
    default:
      return `cannot listen on port ${port} of ${host}: ${code}`;
  }
}

/** A host name or address as it stands in a URL: an IPv6 address in brackets (RFC 3986 §3.2.2). */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
