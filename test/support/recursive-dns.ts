/** Reverse DNS as in production: unbound, which asks nsd about the test zones, and a zone whose authoritative server never answers. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { testZones } from "./dns-zones.ts";
import { startNsd } from "./nsd.ts";
import { startUnbound } from "./unbound.ts";

/** The reverse zone of `193.0.8.0/24`: its authoritative server receives queries and never answers. */
const silentZone = "8.0.193.in-addr.arpa";

export interface RecursiveDns {
  /** Address of unbound, in the form of the setting RESOLVERS. */
  readonly address: string;
  /** Ends unbound, which loses its cache. */
  stopRecursor(): Promise<void>;
  /** Starts unbound again on the same port. */
  restartRecursor(): Promise<void>;
  /** Ends all servers. Does nothing the second time. */
  stop(): Promise<void>;
}

/** Resolves when unbound answers. If a server does not start, the others are ended before it rejects. */
export async function startRecursiveDns(): Promise<RecursiveDns> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  try {
    const nsd = await startNsd({ zones: testZones });
    undo.push(() => nsd.stop());
    const silent = await startSilentAuthority();
    undo.push(() => silent.stop());
    const ofNsd = Object.keys(testZones).map((zone) => [zone, nsd.port]);
    const authorities = { ...Object.fromEntries(ofNsd), [silentZone]: silent.port };
    let unbound = await startUnbound({ authorities });
    undo.push(() => unbound.stop());
    return {
      address: unbound.address,
      stopRecursor: () => unbound.stop(),
      async restartRecursor() {
        unbound = await startUnbound({ authorities, port: unbound.port });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a server that receives queries and never answers. */
export async function startSilentAuthority(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    async stop() {
      socket.close();
      await once(socket, "close");
    },
  };
}
