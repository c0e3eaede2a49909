/** The address of a listener from its settings, and an error sentence if it is not possible to listen there. */

import { lookup } from "node:dns/promises";
import { createServer } from "node:net";

export interface ListenPlace {
  /** An address, or a name of this machine. */
  readonly host: string;
  readonly port: number;
  /** Names of the settings. */
  readonly hostSetting: string;
  readonly portSetting: string;
}

/**
 * The only address to listen on: for a name its first address, IPv4 before IPv6. Fastify would create a server for each address of `localhost`, but
 * the connection limits apply to one server only.
 *
 * @throws Error with a sentence, for an unknown name.
 */
export async function addressOf(place: ListenPlace): Promise<string> {
  const inBrackets = /^\[(.+)\]$/.exec(place.host)?.[1];
  if (inBrackets !== undefined) throw new Error(`${place.host} has the brackets of a URL; write ${place.hostSetting}=${inBrackets}`);
  try {
    const { address } = await lookup(place.host, { order: "ipv4first" });
    return address;
  } catch (cause) {
    throw new Error(listenFault(place, (cause as NodeJS.ErrnoException).code ?? ""));
  }
}

/**
 * Calls `listen` with the address.
 *
 * @returns a URL that can be opened: for all IPv6 addresses, that of loopback.
 * @throws Error with a sentence, also when the port is in use.
 */
export async function listenAt(place: ListenPlace, listen: (at: { host: string; port: number }) => Promise<string>): Promise<string> {
  const host = await addressOf(place);
  try {
    return openableUrl(await listen({ host, port: place.port }));
  } catch (cause) {
    throw new Error(listenFault(place, (cause as NodeJS.ErrnoException).code ?? String(cause)));
  }
}

/**
 * Checks the address of each place with a free port, because the place's own port may still belong to a process that is stopping. A port below 0
 * means that there is no listener.
 *
 * @throws Error with a sentence, for two places with the same port, or the first place that this machine does not have.
 */
export async function checkAddresses(places: readonly ListenPlace[]): Promise<void> {
  for (const [index, one] of places.entries()) {
    const other = places.slice(0, index).find((each) => isSamePort(each, one));
    if (other !== undefined)
      throw new Error(`${other.portSetting} and ${one.portSetting} are both ${one.port}; set them to different ports`);
  }
  for (const place of places.filter(({ port }) => port >= 0)) {
    const probe = createServer();
    await listenAt(
      { ...place, port: 0 },
      ({ host }) =>
        new Promise<string>((resolve, reject) => {
          probe.once("error", reject);
          probe.listen({ host, port: 0, exclusive: true }, () => probe.close(() => resolve("")));
        }),
    );
  }
}

/** Whether the second of two listeners would find its port in use. Two names of one address are not noticed. */
function isSamePort(one: ListenPlace, other: ListenPlace): boolean {
  if (one.port <= 0 || one.port !== other.port) return false;
  const hosts = [one.host, other.host];
  // The address that stands for all addresses of IPv6 is also one of IPv4.
  return one.host === other.host || hosts.includes("::") || (hosts.includes("0.0.0.0") && !hosts.some((host) => host.includes(":")));
}

/** Replaces the address that stands for all IPv6 addresses: not every program can open it. */
export function openableUrl(url: string): string {
  return url.replace("//[::]", "//[::1]");
}

/** @param code  of the system error. */
export function listenFault({ host, port, hostSetting, portSetting }: ListenPlace, code: string): string {
  const choose = `choose one with ${hostSetting}=`;
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use; choose another with ${portSetting}=`;
    case "EACCES":
      return `this user is not allowed to listen on port ${port} of ${host}; choose a port above 1023 with ${portSetting}=`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine; ${choose}`;
    case "EINVAL":
      if (!/^fe80:[^%]*$/i.test(host)) return `cannot listen on port ${port} of ${host}: ${code}`;
      return `${host} is an address of one link and needs the name of its interface, as in ${hostSetting}=${host}%eth0`;
    case "ENOTFOUND":
    case "EAI_NONAME":
      return `${host} is neither an address nor a name that is known here; ${choose}`;
    case "EAI_AGAIN":
    case "ETIMEOUT":
      return `${host} cannot be looked up: the nameserver does not answer; write an address in ${hostSetting}=`;
    case "EAFNOSUPPORT":
      return `${host} is of an address family that this machine does not have; ${choose}`;
    default:
      return `cannot listen on port ${port} of ${host}: ${code}`;
  }
}

/** A host name or address in the form of URLs: an IPv6 address in brackets (RFC 3986 §3.2.2). */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
