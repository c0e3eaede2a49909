/** nsd (Debian package `nsd`), an authoritative server on loopback for zones of a test. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FoundTool, findDebianTool } from "./debian.ts";
import { type DnsProcess, startDnsProcess } from "./dns-process.ts";

/** Looks at `NSD` in the environment, then in PATH, the cache and the registry. */
export function findNsd(): Promise<FoundTool> {
  return findDebianTool({ name: "nsd", variable: "NSD", packageName: "nsd", binary: "usr/sbin/nsd" });
}

export interface NsdOptions {
  /** Zone files by zone name, without the dot at its end. */
  readonly zones: Readonly<Record<string, string>>;
  /** Whether it answers with DNS cookies (RFC 7873). */
  readonly cookies?: boolean;
  /** Default: any free one. */
  readonly port?: number;
}

export async function startNsd({ zones, cookies = false, port = 0 }: NsdOptions): Promise<DnsProcess> {
  const tool = await findNsd();
  if (!tool.found) throw new Error(`nsd is needed: ${tool.remedy}`);
  const names = Object.keys(zones);
  return startDnsProcess({
    tool,
    name: "nsd",
    port,
    probe: { name: names[0] ?? "", type: "SOA" },
    async prepare(folder, bound) {
      // Files are numbered, because names of reverse zones may contain a slash (RFC 2317).
      await Promise.all(Object.values(zones).map((text, index) => writeFile(join(folder, `zone-${index}`), text)));
      await writeFile(join(folder, "nsd.conf"), configuration(folder, bound, names, cookies));
      return ["-d", "-c", join(folder, "nsd.conf")];
    },
  });
}

function configuration(folder: string, port: number, zones: readonly string[], cookies: boolean): string {
  const server = `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: "${folder}"
  xfrdir: "${folder}"
  xfrdfile: "${folder}/xfrd.state"
  zonelistfile: "${folder}/zone.list"
  pidfile: "${folder}/nsd.pid"
  database: ""
  server-count: 1
  rrl-ratelimit: 0
  answer-cookie: ${cookies ? "yes" : "no"}
remote-control:
  control-enable: no
`;
  return server + zones.map((name, index) => `zone:\n  name: "${name}"\n  zonefile: "zone-${index}"\n`).join("");
}
