/** Whom the resolver asks: unbound of our own, which passes on to the system's nameservers what it does not know, else those themselves. */

import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { startUnbound, type Unbound } from "../../test/support/unbound.ts";

export interface Nameserver {
  /** For the setting RESOLVERS; empty: those of the system. */
  readonly resolvers: string;
  readonly unbound: Unbound | null;
  /** What the developer is told. */
  readonly note: string;
}

/**
 * `RESOLVERS` of the environment goes before both. Never fails: without unbound the system's nameservers are asked, and it says so.
 *
 * @param port  of unbound; 0: any free one.
 */
export async function findNameserver(port: number): Promise<Nameserver> {
  const { RESOLVERS } = process.env;
  if (RESOLVERS) return { resolvers: RESOLVERS, unbound: null, note: `Reverse DNS asks ${RESOLVERS} (RESOLVERS).` };
  const system = await systemNameservers();
  const asked = system.join(", ") || "nobody: /etc/resolv.conf names no nameserver";
  try {
    const unbound = await startUnbound({ authorities: {}, forwardTo: system, port });
    return { resolvers: unbound.address, unbound, note: `Reverse DNS asks unbound, and unbound asks ${asked}.` };
  } catch (error) {
    const [reason = ""] = (error as Error).message.split("\n");
    return { resolvers: "", unbound: null, note: `Reverse DNS asks ${asked}; there is no unbound (${reason}).` };
  }
}

async function systemNameservers(): Promise<string[]> {
  const text = await readFile("/etc/resolv.conf", "utf8").catch(() => "");
  const named = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map(([, address = ""]) => address);
  return named.filter((address) => isIP(address) !== 0);
}
