/** Looks up the addresses of NATS servers within a time limit, so that a nameserver that does not answer delays no attempt for long. */

import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { within } from "../within.ts";

/** The system's own resolver takes 10 s or more to give up. */
const lookupMsMax = 1_500;

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

export type FindAddresses = (host: string) => Promise<readonly HostAddress[]>;

/**
 * A `lookup` for sockets that returns all addresses of a host, in random order, so that copies spread over the servers of one name. If the name
 * server is late, it returns the previous addresses of the host. Only one query for a host runs at a time, since each blocks a thread of the process.
 */
export function boundedLookup(find: FindAddresses = (host) => lookup(host, { all: true }), msMax = lookupMsMax): LookupFunction {
  const known = new Map<string, readonly HostAddress[]>();
  const asked = new Map<string, Promise<void>>();
  const ask = async (host: string): Promise<void> => {
    try {
      known.set(host, await find(host));
    } finally {
      asked.delete(host);
    }
  };
  const addressesOf = async (host: string): Promise<readonly HostAddress[]> => {
    let asking = asked.get(host);
    if (asking === undefined) {
      asking = ask(host);
      asked.set(host, asking);
    }
    let fault: unknown = Object.assign(new Error(`the name ${host} was not looked up within ${msMax} ms`), { code: "NAME_TIMEOUT" });
    await within(
      msMax,
      asking.catch((error: unknown) => {
        fault = error;
      }),
    );
    const addresses = known.get(host);
    if (addresses === undefined) throw fault;
    return addresses;
  };
  return (host, { all }, callback) => {
    addressesOf(host).then(
      (addresses) => {
        const from = Math.floor(Math.random() * addresses.length);
        const turned = [...addresses.slice(from), ...addresses.slice(0, from)];
        if (all === true) callback(null, turned as HostAddress[]);
        else callback(null, turned[0]?.address ?? "", turned[0]?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 0),
    );
  };
}
