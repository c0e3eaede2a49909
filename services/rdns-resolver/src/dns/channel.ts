/** How questions reach one nameserver and answers come back. */

import type { Cancel, UdpListener } from "./udp-channel.ts";

export interface Channel {
  /** Rejects where there is no way to the nameserver. */
  open(): Promise<void>;
  /** Opens it anew: the way, or what a host name means, may have changed. */
  renew(): Promise<void>;
  /** Null where it can take no question now. */
  ask(listener: UdpListener): Cancel | null;
  close(): Promise<void>;
}
