/** unbound (Debian package `unbound`), a recursor on loopback that knows the authorities that a test gives, and asks nobody else unless told whom. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FoundTool, findDebianTool } from "./debian.ts";
import { type DnsProcess, startDnsProcess } from "./dns-process.ts";
import { freezeProcess } from "./frozen.ts";

/** `UNBOUND` in the environment, PATH, the cache, the registry. */
export function findUnbound(): Promise<FoundTool> {
  return findDebianTool({ name: "unbound", variable: "UNBOUND", packageName: "unbound", binary: "usr/sbin/unbound" });
}

export interface UnboundOptions {
  /** Ports of loopback where the authorities of zones are, by the name of the zone without the dot at its end. */
  readonly authorities: Readonly<Record<string, number>>;
  /** Nameservers that are asked about everything else, as IP addresses (port 53). Default: nobody is. */
  readonly forwardTo?: readonly string[];
  /** Key of the root as a zone file has it: then it validates, and asks the authority of the zone `.` about everything else. */
  readonly trustAnchor?: string;
  /** Answers over TLS too, at this port. */
  readonly tls?: { readonly port: number; readonly certificate: string; readonly key: string };
  /** Default: any free one. Give the port of one that was stopped to start it again where its clients look. */
  readonly port?: number;
}

export interface Unbound extends DnsProcess {
  /** SIGSTOP: questions arrive and nobody answers. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
}

export async function startUnbound({ authorities, forwardTo = [], trustAnchor, tls, port = 0 }: UnboundOptions): Promise<Unbound> {
  const tool = await findUnbound();
  if (!tool.found) throw new Error(`unbound is needed: ${tool.remedy}`);
  const running = await startDnsProcess({
    tool,
    name: "unbound",
    port,
    // Answered by unbound itself (RFC 6303).
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

/** Without others to ask: questions about other zones are refused, and what aliases lead to elsewhere goes to a port where nobody is. */
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
