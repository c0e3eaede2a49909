/** Checks ports before the start, and finds the process that listens on a port, if this user may know it. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { basename } from "node:path";
import { addressOf, type ListenPlace, listenFault } from "@netfacts/runtime";

/**
 * Tries to listen at each place, even with port 0 (any free port): its host may not belong to this machine. A port below 0 means no listener.
 *
 * @throws with one clear line if two listeners have the same port, or one of them cannot listen.
 */
export async function checkPorts(places: readonly ListenPlace[]): Promise<void> {
  const wanted = places.filter(({ port }) => port >= 0);
  for (const [index, one] of wanted.entries()) {
    const other = wanted.slice(0, index).find(({ port }) => port === one.port && port > 0);
    if (other !== undefined)
      throw new Error(`${other.portSetting} and ${one.portSetting} are both ${one.port}; set them to different ports`);
  }
  for (const place of wanted) await checkPlace(place);
}

async function checkPlace(place: ListenPlace): Promise<void> {
  const host = await addressOf(place);
  const code = await new Promise<string | null>((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port: place.port, exclusive: true }, () => probe.close(() => resolve(null)));
  });
  if (code === null) return;
  const fault = listenFault(place, code);
  throw new Error(code === "EADDRINUSE" ? fault.replace(" is in use", ` is in use${ownerText(place.port)}`) : fault);
}

function ownerText(port: number): string {
  const pid = findListener(port);
  if (pid === null) return "";
  let name = "";
  try {
    name = basename(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "");
  } catch {
    // The process has ended, or belongs to another user: show only its number.
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
      // The process has ended, or belongs to another user.
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
