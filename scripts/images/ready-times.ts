/** Measures the time from the start of a service's process until its health port listens. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { environment, folders } from "./config.ts";

export const services = ["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest"] as const;

const listeningMsMax = 20_000;
const stopMsMax = 10_000;

export interface ReadyTime {
  readonly service: string;
  readonly listeningMs: number;
  /** Exit status after SIGTERM. */
  readonly status: number | null;
}

/** NATS and the database are missing: a service answers probes without them, and stops at once. */
export async function readyTime(tree: string, service: string, settings: Readonly<Record<string, string>> = {}): Promise<ReadyTime> {
  const port = await freePort();
  const started = performance.now();
  const child = spawn(join(tree, folders.node), [join(tree, folders.app, "netfacts.js"), service], {
    cwd: tree,
    env: {
      ...environment,
      NODE_COMPILE_CACHE: join(tree, folders.compiled),
      TELEMETRY_PORT: `${port}`,
      NATS_URL: "nats://127.0.0.1:9",
      MONGODB_URI: "mongodb://127.0.0.1:9/netfacts",
      PROXY_TOKEN: "0".repeat(32),
      ...settings,
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = once(child, "close") as Promise<[number | null]>;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() - started > listeningMsMax) {
      child.kill("SIGKILL");
      throw new Error(`${service} does not listen:\n${log}`);
    }
    await sleep(2);
  }
  const listeningMs = Math.round(performance.now() - started);
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
  const [status] = await ended;
  clearTimeout(timer);
  return { service, listeningMs, status };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
