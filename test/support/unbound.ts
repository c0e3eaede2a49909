/** unbound (Debian package `unbound`), a recursive resolver on loopback. It asks only the authoritative servers and forwarders that a test names. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FoundTool, findDebianTool } from "./debian.ts";
import { type DnsProcess, startDnsProcess } from "./dns-process.ts";
import { freezeProcess } from "./frozen.ts";

/** Looks at `UNBOUND` in the environment, then in PATH, the cache and the registry. */
export function findUnbound(): Promise<FoundTool> {
  return findDebianTool({ name: "unbound", variable: "UNBOUND", packageName: "unbound", binary: "usr/sbin/unbound" });
}

export interface UnboundOptions {
  /** Loopback ports of authoritative servers by zone name, without the dot at its end. */
  readonly authorities: Readonly<Record<string, number>>;
  /** IP addresses of nameservers (port 53) for all other queries. Default: none; other queries are refused. */
  readonly forwardTo?: readonly string[];
  /** Key of the root, in the form of a zone file. With it, unbound validates, and asks the server of the zone `.` about other zones. */
  readonly trustAnchor?: string;
  /** Also answers over TLS, at this port. */
  readonly tls?: { readonly port: number; readonly certificate: string; readonly key: string };
  /** Default: any free one. Use the port of a stopped one to start it again at the same place. */
  readonly port?: number;
}

export interface Unbound extends DnsProcess {
  /** Sends SIGSTOP: queries arrive and are not answered. */
  freeze(): void;
  /** Sends SIGCONT. */
  thaw(): void;
}

export async function startUnbound({ authorities, forwardTo = [], trustAnchor, tls, port = 0 }: UnboundOptions): Promise<Unbound> {
  const tool = await findUnbound();
  if (!tool.found) throw new Error(`unbound is needed: ${tool.remedy}`);
  const running = await startDnsProcess({
    tool,
    name: "unbound",
    port,
    // unbound itself answers this query (RFC 6303).
    probe: { name: "1.0.0.127.in-addr.arpa", type: "PTR" },
    async prepare(folder, bound) {
      if (trustAnchor !== undefined) await writeFile(join(folder, "root.key"), `${trustAnchor}\n`);
      const text =
        trustAnchor === undefined ? configuration(folder, bound, authorities, forwardTo) : validating(folder, bound, authorities);
      await writeFile(join(folder, "unbound.conf"), text + tlsConfiguration(tls));
      return ["-d", "-d", "-c", join(folder, "unbound.conf")];
    },
  });
  return {
    ...running,
    freeze: () => freezeProcess(running.pid),
    thaw: () => void process.kill(running.pid, "SIGCONT"),
  };
}

function common(folder: string, port: number): string {
  return `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  num-threads: 1
  interface: 127.0.0.1@${port}
  do-not-query-localhost: no
  local-zone: "127.in-addr.arpa." static
  local-data: "1.0.0.127.in-addr.arpa. PTR localhost."
`;
}

const onlyLoopback = "  outgoing-interface: 127.0.0.1\n  do-ip6: no\n";

function stubs(zones: UnboundOptions["authorities"]): string {
  const zone = (name: string) => (name === "." ? name : `${name}.`);
  return Object.entries(zones)
    .map(([name, at]) => `stub-zone:\n  name: "${zone(name)}"\n  stub-addr: 127.0.0.1@${at}\n`)
    .join("");
}

/** Without forwarders, it refuses queries about other zones, and sends those for targets of aliases to a port where no server listens. */
function configuration(folder: string, port: number, authorities: UnboundOptions["authorities"], forwardTo: readonly string[]): string {
  const zones = Object.keys(authorities);
  const isOpen = forwardTo.length > 0;
  const others = isOpen ? forwardTo : ["127.0.0.1@1"];
  return `${common(folder, port)}${isOpen ? "" : onlyLoopback}  module-config: "iterator"
${isOpen ? "" : '  local-zone: "." refuse\n'}${zones.map((name) => `  local-zone: "${name}." transparent\n`).join("")}remote-control:
  control-enable: no
forward-zone:
  name: "."
${others.map((address) => `  forward-addr: ${address}\n`).join("")}${stubs(authorities)}`;
}

function tlsConfiguration(tls: UnboundOptions["tls"]): string {
  if (tls === undefined) return "";
  const files = `  tls-service-pem: "${tls.certificate}"\n  tls-service-key: "${tls.key}"\n`;
  return `server:\n  interface: 127.0.0.1@${tls.port}\n  tls-port: ${tls.port}\n${files}`;
}

function validating(folder: string, port: number, authorities: UnboundOptions["authorities"]): string {
  return `${common(folder, port)}${onlyLoopback}  module-config: "validator iterator"
  trust-anchor-file: "${folder}/root.key"
remote-control:
  control-enable: no
${stubs(authorities)}`;
}
