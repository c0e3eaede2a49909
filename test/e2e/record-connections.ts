/** Loaded into a process before its program: writes each peer outside loopback that it turns to into the file of RECORD_CONNECTIONS. */

import dgram from "node:dgram";
import dns from "node:dns";
import { appendFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const path = process.env.RECORD_CONNECTIONS ?? "connections.txt";
const loopback = new net.BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function record(how: string, peer: string): void {
  if (net.isIP(peer) !== 0 && loopback.check(peer, net.isIPv6(peer) ? "ipv6" : "ipv4")) return;
  if (peer !== "localhost") appendFileSync(path, `${how} ${peer}\n`);
}

/** Calls `before` with the arguments of each call of a method. */
function observe<Key extends string>(owner: Record<Key, unknown>, name: Key, before: (self: unknown, values: unknown[]) => void): void {
  const method = owner[name] as (...values: unknown[]) => unknown;
  owner[name] = function (this: unknown, ...values: unknown[]) {
    before(this, values);
    return method.apply(this, values);
  };
}

observe(net.Socket.prototype as never, "connect", (socket) => {
  (socket as net.Socket).on("connectionAttempt", (address: string) => record("tcp", address));
});
// A connected datagram socket only notes its peer; what counts is what it sends.
const peers = new WeakMap<object, string>();
observe(dgram.Socket.prototype as never, "connect", (socket, [, address]) => {
  peers.set(socket as object, String(address));
});
observe(dgram.Socket.prototype as never, "send", (socket, [, ...values]) => {
  record("udp", values.find((value) => typeof value === "string") ?? peers.get(socket as object) ?? "unknown");
});
for (const name of ["lookup", "resolve", "resolve4", "resolve6", "resolvePtr", "reverse"]) {
  for (const owner of [dns, dns.promises])
    observe(owner as never, name, (_self, [host]) => {
      if (net.isIP(String(host)) === 0) record("dns", String(host));
    });
}
syncBuiltinESMExports();
