/** Selects the nameserver of the resolver: an unbound that forwards to the system's nameservers; without unbound, these directly. */

import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { startUnbound, type Unbound } from "../../test/support/unbound.ts";

export interface Nameserver {
  /** Value of the setting RESOLVERS; empty: the system's nameservers. */
  readonly resolvers: string;
  readonly unbound: Unbound | null;
  /** Note for the developer. */
  readonly note: string;
}

/**
 * `RESOLVERS` in the environment overrides both. Never fails: without unbound, it selects the system's nameservers, and the note says so.
 *
 * @param port  port of unbound; 0: any free one.
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
