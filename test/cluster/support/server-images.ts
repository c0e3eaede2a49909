/** Images of the servers that the chart netfacts-backing runs, packed from those of test/support: no registry is asked for any. */

import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { copyLibraries } from "../../../scripts/images/libraries.ts";
import type { FoundTool } from "../../support/debian.ts";
import { findJava, findMongoJars, javaArguments } from "../../support/mongodb-java.ts";
import { findNatsServer } from "../../support/nats-server.ts";
import { findUnbound } from "../../support/unbound.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../..");

/** The registry in the names of all images of the test: nobody answers there, so that nothing is pulled by mistake. */
export const registry = "localhost";
/** Of the image of unbound, for which the chart has no default. */
export const unboundImage = { repository: "unbound", tag: "test" };

export interface PackOptions {
  /** `mkimage.sh` of the cluster. */
  readonly mkimage: string;
  /** Where the archives are written. */
  readonly to: string;
}

type Found = Extract<FoundTool, { found: true }>;

/** @returns the paths of the archives. @throws Error that says which server is missing and how to get it. */
export async function packServerImages(options: PackOptions): Promise<string[]> {
  const chart = parse(await readFile(join(root, "charts/netfacts-backing/values.yaml"), "utf8"));
  const imageOf = (section: string) => `${registry}/${chart[section].image.repository}:${chart[section].image.tag}`;
  await mkdir(options.to, { recursive: true });
  return [
    await pack(options, imageOf("nats"), addNats),
    await pack(options, imageOf("mongodb"), addMongodb),
    await pack(options, `${registry}/${unboundImage.repository}:${unboundImage.tag}`, addUnbound),
  ];
}

/** Fills a folder that becomes the root of the image. @returns the arguments that its containers begin with. */
type Add = (folder: string) => Promise<string[]>;

async function pack({ mkimage, to }: PackOptions, image: string, add: Add): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-image-"));
  try {
    const entrypoint = await add(folder);
    // Containers run as users of the chart, which own none of it.
    await run("chmod", ["-R", "a+rX", folder]);
    const archive = join(to, `${image.replace(/^.*\//, "").replace(":", "-")}.tar`);
    await run(mkimage, [image, folder, archive, JSON.stringify({ Entrypoint: entrypoint })]);
    return archive;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function addNats(folder: string): Promise<string[]> {
  return [await addProgram(folder, "/usr/local/bin/nats-server", wanted(await findNatsServer(), "nats-server"))];
}

async function addUnbound(folder: string): Promise<string[]> {
  return [await addProgram(folder, "/usr/sbin/unbound", wanted(await findUnbound(), "unbound"))];
}

/** A Java with mongo-java-server, which keeps its data where mongod does and takes the chart's argument of mongod. */
async function addMongodb(folder: string): Promise<string[]> {
  const java = wanted(await findJava(), "Java");
  const settings = await run(java.command, ["-XshowSettings:properties", "-version"], { env: { ...process.env, ...java.env } });
  const home = /java\.home = (.+)/.exec(settings.stderr)?.[1];
  if (home === undefined) throw new Error(`${java.command} does not say where its home is`);
  await cp(home, join(folder, "java"), {
    recursive: true,
    dereference: true,
    filter: (path) => !/\/(jmods|man|legal|docs|ct\.sym|src\.zip|.*\.jsa)$/.test(path),
  });
  const libraries = await readdir(join(home, "lib"), { recursive: true });
  for (const name of ["bin/java", ...libraries.filter((each) => each.endsWith(".so")).map((each) => `lib/${each}`)])
    await copyLibraries(join(home, name), folder, java.env);

  const source = join(root, "test/support/mongodb-serve.java");
  const args = await javaArguments(java, await findMongoJars(), source, "MongodbServe");
  const classPath = args[args.indexOf("-cp") + 1] ?? "";
  const inImage: string[] = [];
  for (const [index, path] of classPath.split(":").entries()) {
    const to = path.endsWith(".jar") ? `/app/${index}.jar` : `/app/${index}`;
    await cp(path, join(folder, to), { recursive: true });
    inImage.push(to);
  }
  const options = args.map((arg) => (arg === classPath ? inImage.join(":") : arg));
  return ["/java/bin/java", ...options, "27017", "/data/db/data.h2", "durable"];
}

async function addProgram(folder: string, path: string, { command, env }: Found): Promise<string> {
  await mkdir(join(folder, dirname(path)), { recursive: true });
  await copyFile(command, join(folder, path));
  await copyLibraries(command, folder, env);
  await mkdir(join(folder, "etc"), { recursive: true });
  await writeFile(join(folder, "etc/nsswitch.conf"), "hosts: files dns\n");
  return path;
}

function wanted(tool: FoundTool, name: string): Found {
  if (!tool.found) throw new Error(`${name} is needed: ${tool.remedy}`);
  return tool;
}
