/** Ports for servers in tests. All tests of a run get different ports, even if a server listens late. */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { runFolderVariable } from "./run-folder.ts";

/** Ports below the system's ephemeral ports, so that no connection takes the port of a process that is restarted. */
const portsFrom = 20_000;
const portsTo = 32_000;

/** Different free ports of loopback. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = portsFrom + Math.floor(Math.random() * (portsTo - portsFrom));
    if (!ports.includes(port) && (await isFree(port)) && claim(port)) ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port as number;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((done) => {
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });
}

/** Reserves a port for the rest of the run. False: another test has it. Outside a run, nothing is reserved. */
function claim(port: number): boolean {
  const run = process.env[runFolderVariable];
  if (run === undefined) return true;
  const folder = join(run, "ports");
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(join(folder, `${port}`), "", { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
