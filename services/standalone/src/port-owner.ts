/** Who listens on a port, as far as this system and this user may know. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename } from "node:path";

/** Throws with one clear line when the port cannot be listened on. */
async function checkPort(host: string, port: number, setting: string): Promise<void> {
  const code = await new Promise<string | null>((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
  if (code === null) return;
  throw new Error(portFault(host, port, setting, code));
}

/** A listener: its setting, and where it is to listen; port 0 is any free one, below 0 none. */
export interface Listener {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/** @throws with one clear line when two listeners are to share a port, or one of their ports cannot be listened on. */
export async function checkPorts(listeners: readonly Listener[]): Promise<void> {
  const wanted = listeners.filter(({ port }) => port > 0);
  for (const [index, one] of wanted.entries()) {
    const other = wanted.slice(0, index).find(({ port }) => port === one.port);
    if (other !== undefined) throw new Error(`${other.setting} and ${one.setting} are both ${one.port}; set them to different ports`);
  }
  for (const { host, port, setting } of wanted) await checkPort(host, port, setting);
}

/** The line for a port that could not be listened on. */
export function portFault(host: string, port: number, setting: string, code: string): string {
  if (code === "EADDRINUSE") return `port ${port} of ${host} is in use${ownerText(port)}; choose another with ${setting}=`;
  if (code === "EACCES") return `this user is not allowed to listen on port ${port} of ${host}; choose a port above 1023 with ${setting}=`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${host} is not an address of this machine; choose one with ${setting === "OPERATOR_PORT" ? "OPERATOR_HOST" : "HOST"}=`;
  return `cannot listen on port ${port} of ${host}: ${code}`;
}

function ownerText(port: number): string {
  const pid = findListener(port);
  if (pid === null) return "";
  let name = "";
  try {
    name = basename(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "");
  } catch {
    // It ended meanwhile, or belongs to somebody else: its number has to do.
  }
  return ` by process ${pid}${name === "" ? "" : ` (${name})`}`;
}

/** The process that listens on a TCP port; Linux only, processes of this user only. */
function findListener(port: number): number | null {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listenersOf(table, port)));
  if (inodes.size === 0) return null;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
        if (inode !== undefined && inodes.has(inode)) return Number(pid);
      }
    } catch {
      // Somebody else's process, or one that ended.
    }
  }
  return null;
}

/** Inodes of the sockets that listen on the port (state 0A of proc(5)). */
function listenersOf(table: string, port: number): string[] {
  let text: string;
  try {
    text = readFileSync(table, "latin1");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === "0A" && Number.parseInt(fields[1]?.split(":")[1] ?? "", 16) === port)
    .flatMap((fields) => fields[9] ?? []);
}
