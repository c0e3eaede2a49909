/** A server with MongoDB's protocol for tests: `MONGODB_URI`, `mongod` on PATH, else mongo-java-server from Maven Central. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MongoClient } from "mongodb";
import { findInstalledTool } from "./debian.ts";
import { freePort } from "./free-ports.ts";
import { freezeProcess } from "./frozen.ts";
import { findJava, findMongoJars, javaArguments, sharedClasses } from "./mongodb-java.ts";
import { askForServer, type SharedServer } from "./shared-server.ts";

/** For tests of packages that do not depend on the driver. */
export { MongoClient };

/** Variable with the URI of a running server. Tests then share it, and each uses its own databases. */
const mongodbUriVariable = "MONGODB_URI";

/** Output of mongo-java-server and of mongod when they are ready. */
const readyLine = /^ready \d+$|"Waiting for connections"/m;
/** Longest start in ms: of a server in Java, on one shared core. */
const startMsMax = 90_000;
const stopMsMax = 15_000;
const logCharsMax = 4_000;

export interface MongodbOptions {
  /** Whether acknowledged writes survive kill -9, at a third of the speed. mongod is always durable. Default: false, which loses about a second. */
  readonly durable?: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** Folder of the data, which `stop` keeps. Default: a temporary folder, which `stop` removes. */
  readonly folder?: string;
  /**
   * True: a separate server, which the test can stop, kill and freeze. Options port, folder and durable imply it.
   * Default: the server of `MONGODB_URI`, else the one that all files of the run share, else (outside a run) a separate one.
   */
  readonly own?: boolean;
}

export interface Mongodb {
  /** `mongodb://127.0.0.1:27017`, without a database. */
  readonly url: string;
  readonly kind: "environment" | "mongod" | "mongo-java-server";
  /** Id of the running process; null after its end, and for a shared server, which can be neither stopped nor frozen. */
  readonly pid: number | null;
  /** The URL with a database. Files that share a server use different databases. */
  database(name: string): string;
  /** Sends SIGTERM, waits for the end, and removes a temporary folder. Does nothing for a shared server, or the second time. */
  stop(): Promise<void>;
  /** Sends SIGTERM and waits for the end; keeps the data for `restart`. */
  halt(): Promise<void>;
  /** Sends SIGKILL and waits for the end; keeps the data for `restart`. */
  kill(): Promise<void>;
  /** Starts it again with the same port and data, after `halt` or `kill`. */
  restart(): Promise<void>;
  /** Sends SIGSTOP: connections stay open, and nothing is answered. */
  freeze(): void;
  /** Sends SIGCONT. */
  thaw(): void;
  /** The end of its output. */
  log(): string;
}

/** A program that serves a folder of data. */
interface Program {
  readonly kind: "mongod" | "mongo-java-server";
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
  args(port: number, folder: string): string[];
}

/** Resolves when it answers. @throws Error that says what to install, or with its output if it does not start. */
export async function startMongodb(options: MongodbOptions = {}): Promise<Mongodb> {
  const { port: wantedPort, folder: wantedFolder, durable = false, own = false } = options;
  const foreign = process.env[mongodbUriVariable];
  if (!own && !durable && wantedPort === undefined && wantedFolder === undefined) {
    if (foreign) return foreignServer(foreign);
    const shared = await askForServer("mongodb");
    if (shared !== null) return sharedServer(shared);
  }
  const program = await findProgram(durable);
  const folder = wantedFolder ?? (await mkdtemp(join(tmpdir(), "netfacts-mongodb-")));
  await mkdir(folder, { recursive: true });
  const port = wantedPort ?? (await freePort());
  const url = `mongodb://127.0.0.1:${port}`;
  const removeTemporary = async (): Promise<void> => {
    if (wantedFolder === undefined) await rm(folder, { recursive: true, force: true });
  };
  let child: ChildProcess | null = null;
  let log = "";
  const start = async (): Promise<void> => {
    if (child !== null) throw new Error("it runs already");
    child = await launch(program, port, folder, (text) => {
      log = (log + text).slice(-logCharsMax);
    });
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    child = null;
    if (ending !== null) await endProcess(ending, signal);
  };
  await start().catch(async (error: unknown) => {
    await removeTemporary();
    throw error;
  });
  return {
    url,
    kind: program.kind,
    get pid() {
      return child?.pid ?? null;
    },
    database: (name) => `${url}/${name}`,
    async stop() {
      await end("SIGTERM");
      await removeTemporary();
    },
    halt: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    restart: start,
    freeze() {
      if (child?.pid === undefined) throw new Error("it does not run");
      freezeProcess(child.pid);
    },
    thaw: () => void child?.kill("SIGCONT"),
    log: () => log,
  };
}

/** Gets the programs that `startMongodb` needs, so that no test waits for downloads. @throws Error that says what to install. */
export async function findMongodb(): Promise<void> {
  if (!process.env[mongodbUriVariable]) await findProgram(false);
}

async function findProgram(durable: boolean): Promise<Program> {
  const mongod = await findInstalledTool({ name: "mongod", variable: "MONGOD" });
  if (mongod !== null) {
    if (!mongod.found) throw new Error(mongod.remedy);
    const { command, env } = mongod;
    const args = (port: number, folder: string) => ["--bind_ip", "127.0.0.1", "--port", `${port}`, "--dbpath", folder, "--quiet"];
    return { kind: "mongod", command, env, args };
  }
  const java = await findJava();
  const wanted = `a MongoDB server is needed: put mongod on PATH, or set ${mongodbUriVariable}`;
  if (!java.found) throw new Error(`${wanted}, or for mongo-java-server: ${java.remedy}`);
  const lib = await findMongoJars().catch((cause: Error) => {
    throw new Error(`${wanted} (mongo-java-server could not be had: ${cause.message})`, { cause });
  });
  const run = await javaArguments(java, lib, join(import.meta.dirname, "mongodb-serve.java"), "MongodbServe");
  const mongo: Program = {
    kind: "mongo-java-server",
    command: java.command,
    env: java.env,
    args: (port, folder) => [...run, `${port}`, join(folder, "data.h2"), durable ? "durable" : "plain"],
  };
  const shared = await keptClasses(mongo, dirname((run[run.indexOf("-cp") + 1] ?? "").split(delimiter)[0] ?? ""));
  return { ...mongo, args: (port, folder) => [...shared, ...mongo.args(port, folder)] };
}

/** They are made by one start with a short session, whose data are removed. @returns the JVM's options. */
async function keptClasses(program: Program, cache: string): Promise<string[]> {
  return await sharedClasses(join(cache, "session.jsa"), async (option) => {
    const folder = await mkdtemp(join(tmpdir(), "netfacts-mongodb-"));
    try {
      const port = await freePort();
      const child = await launch({ ...program, args: (...of) => [option, ...program.args(...of)] }, port, folder, () => undefined);
      const ended = once(child, "exit");
      await holdSession(`mongodb://127.0.0.1:${port}`).finally(() => child.stdin?.end());
      await ended;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** A document with fields of the kinds that our store has. */
interface Thing {
  readonly _id: string;
  readonly number?: number;
  readonly at?: Date | null;
  readonly list?: readonly { readonly number: number }[];
  readonly text?: string;
  readonly count?: number;
  readonly most?: number;
  readonly made?: boolean;
}

/** Uses what our store uses, so that the server has loaded its classes. */
async function holdSession(url: string): Promise<void> {
  const client = await MongoClient.connect(url);
  try {
    const things = client.db("session").collection<Thing>("things");
    await things.createIndexes([
      { key: { number: 1 }, name: "number", unique: true },
      { key: { at: 1 }, name: "at", expireAfterSeconds: 3600 },
    ]);
    await things.insertMany([1, 2, 3].map((number) => ({ _id: `${number}`, number, at: new Date(), list: [{ number }] })));
    await things.insertOne({ _id: "twice", number: 3 }).catch(() => undefined);
    await things
      .find({ number: { $gte: 1, $lt: 9 }, $or: [{ at: null }, { at: { $lte: new Date() } }] }, { sort: { number: 1 }, limit: 2 })
      .toArray();
    const change = { $set: { text: "a" }, $inc: { count: 1 }, $max: { most: 3 }, $setOnInsert: { made: true } };
    await things.findOneAndUpdate({ _id: "1", at: { $exists: true } }, change, { upsert: true, returnDocument: "after" });
    await things.updateMany({ _id: { $in: ["1", "2"] } }, { $unset: { text: "" } });
    await things.replaceOne({ _id: "4" }, { number: 4 }, { upsert: true });
    await things.bulkWrite([
      { updateOne: { filter: { _id: "5" }, update: { $inc: { count: 1 }, $set: { number: 5 } }, upsert: true } },
      { deleteOne: { filter: { _id: "2" } } },
    ]);
    await things.deleteMany({ $and: [{ number: { $gt: 4, $not: { $lt: 3 } } }] });
    await things.countDocuments();
    await things.estimatedDocumentCount();
    await things.aggregate([{ $match: { number: { $gte: 0 } } }, { $group: { _id: "$number", count: { $sum: 1 } } }]).toArray();
    await client.db("session").command({ ping: 1 });
    await client.db("session").dropDatabase();
  } finally {
    await client.close();
  }
}

async function launch(program: Program, port: number, folder: string, onOutput: (text: string) => void): Promise<ChildProcess> {
  // Keep standard input open while this process lives: mongo-java-server ends when it is closed.
  const child = spawn(program.command, program.args(port, folder), {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...program.env },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-logCharsMax);
      onOutput(text);
    });
  }
  // Its end is visible in `exitCode`. Nothing is written to its input.
  child.once("error", (error) => {
    printed += error.message;
  });
  const deadline = performance.now() + startMsMax;
  // Wait for its output instead of its port, where another process may listen.
  while (!readyLine.test(printed)) {
    const ended = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (ended || performance.now() > deadline) {
      if (!ended) await endProcess(child, "SIGKILL");
      throw new Error(`${program.kind} ${ended ? "ended at its start" : `was not ready within ${startMsMax} ms`}:\n${printed}`);
    }
    await sleep(25);
  }
  return child;
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  // A frozen process handles a signal only after it has been resumed.
  child.kill("SIGCONT");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopMsMax);
  await ended;
  clearTimeout(timer);
}

function foreignServer(uri: string): Mongodb {
  // `URL` cannot parse a list of hosts.
  const [, base = uri, query = ""] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)[^?]*(\?.*)?$/.exec(uri) ?? [];
  return { ...unsignalled(mongodbUriVariable), url: uri, kind: "environment", database: (name) => `${base}/${name}${query}` };
}

function sharedServer({ url, kind }: SharedServer): Mongodb {
  return { ...unsignalled("this run"), url, kind: kind as Mongodb["kind"], database: (name) => `${url}/${name}` };
}

/** Refuses to stop or freeze a server that others also use. */
function unsignalled(owner: string): Omit<Mongodb, "url" | "kind" | "database"> {
  const refuse = (): never => {
    throw new Error(`the server of ${owner} is not ours to signal: ask for an own one`);
  };
  return {
    pid: null,
    stop: async () => undefined,
    halt: async () => refuse(),
    kill: async () => refuse(),
    restart: async () => refuse(),
    freeze: refuse,
    thaw: refuse,
    log: () => "",
  };
}
