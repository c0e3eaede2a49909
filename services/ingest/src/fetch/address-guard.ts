/** The addresses that a fetch may connect to: global ones, so that a URL or a redirect cannot reach the operator's own network. */

import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { embeddedIpv4, formatAddress, parseAddress } from "@netfacts/address";
import { isGlobal, lookupSpecialPurpose } from "@netfacts/snapshot";
import { FetchError } from "./fetch-error.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves to all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

export const systemResolve: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });

/**
 * Why the address is refused: the name of its special-purpose block; null: it is allowed.
 *
 * An IPv4 address inside an IPv6 address is judged too, because a translator or a tunnel would connect to it.
 */
export function refusal(text: string): string | null {
  const address = parseAddress(text.replace(/%.*$/, ""));
  if (address === null) return "no address";
  const inner = embeddedIpv4(address);
  const block = lookupSpecialPurpose(address);
  if (inner !== null && (block === null || block.globallyReachable !== false)) {
    const innerBlock = lookupSpecialPurpose(inner);
    if (!isGlobal(inner, innerBlock)) return innerBlock?.name ?? "not globally reachable";
  }
  return isGlobal(address, block) ? null : (block?.name ?? "not globally reachable");
}

/**
 * The same for `allow_private`: refuses only the addresses at which clouds hand out credentials, which include the link-local ones. A source in an
 * operator's network has no such address.
 */
export function linkLocalRefusal(text: string): string | null {
  const address = parseAddress(text.replace(/%.*$/, ""));
  if (address === null) return "no address";
  const all = [address, embeddedIpv4(address)].filter((each) => each !== null);
  if (all.some((each) => metadataServices.has(formatAddress(each)))) return metadataService;
  return all.map((each) => lookupSpecialPurpose(each)?.name ?? "").find((name) => linkLocalBlocks.has(name)) ?? null;
}

/** Metadata services of clouds that are not link-local: Amazon's over IPv6, Alibaba's, and Oracle's first one. */
const metadataServices = new Set(["fd00:ec2::254", "100.100.100.200", "192.0.0.192"]);
const metadataService = "metadata service of a cloud";

const linkLocalBlocks = new Set(["Link Local", "Link-Local Unicast"]);

/** Returns why an address is refused; null: it is allowed. */
export type Refusal = (address: string) => string | null;

/** @throws FetchError `forbidden` */
export function checkAddress(hostname: string, address: string, refuse: Refusal): void {
  const why = refuse(address);
  if (why === null) return;
  if (why === metadataService) throw new FetchError("forbidden", `${hostname} is at the address of a ${why}, which is never allowed`);
  const named = hostname === address ? address : `${hostname} is ${address}`;
  if (linkLocalBlocks.has(why)) throw new FetchError("forbidden", `${named}, a link-local address, which is never allowed`);
  throw new FetchError("forbidden", `${named}, which is not a globally reachable address (${why}); set allow_private: true to allow it`);
}

/**
 * The look-up of a connection: it returns only allowed addresses. The socket uses exactly these, so that it does not matter if the name resolves to
 * others later.
 */
export function guardedLookup(resolve: Resolve, refuse: Refusal): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname)
      .then((addresses) => {
        const allowed = addresses.filter(({ address }) => refuse(address) === null);
        const [first] = addresses;
        if (first === undefined) throw Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" });
        if (allowed.length === 0) checkAddress(hostname, first.address, refuse);
        return allowed as { address: string; family: number }[];
      })
      .then(
        (allowed) => {
          if (options.all) callback(null, allowed);
          else callback(null, allowed[0]?.address ?? "", allowed[0]?.family);
        },
        (error: Error) => callback(error, options.all ? [] : ""),
      );
  };
}
