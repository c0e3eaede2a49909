/** Gets the jars of mongo-java-server from Maven Central, checked by digests, and a Java that runs them. Nothing is installed. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, findDebianTool, findInstalledTool } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

export const mongoJavaServerVersion = "1.47.0";
const javaVersionMin = 17;

/** Maven's default repository; `MAVEN_REPOSITORY` overrides it. */
const mavenCentral = "https://repo.maven.apache.org/maven2";
const copyGoal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

/** `mongo-java-server-h2-backend` and its dependencies: path in the repository, and SHA-256. */
const jars: readonly (readonly [path: string, sha256: string])[] = [
  jar("com.h2database:h2:2.3.232", "8dae62d22db8982c3dcb3826edb9c727c5d302063a67eef7d63d82de401f07d3"),
  jar("de.bwaldvogel:mongo-java-server-core:1.47.0", "9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4"),
  jar("de.bwaldvogel:mongo-java-server-h2-backend:1.47.0", "58ca6760a25f8a05adfe8a0f7a8a042ca22bd472869028755931507cdce20e71"),
  jar("io.netty:netty-buffer:4.2.2.Final", "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747"),
  jar("io.netty:netty-codec:4.2.2.Final", "6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9"),
  jar("io.netty:netty-codec-base:4.2.2.Final", "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456"),
  jar("io.netty:netty-codec-compression:4.2.2.Final", "005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac"),
  jar("io.netty:netty-codec-marshalling:4.2.2.Final", "ae8bb7a077ca02357c922e3abc1acf1bf191d5e2776721d69cbca50a16281096"),
  jar("io.netty:netty-codec-protobuf:4.2.2.Final", "cfe0c7e6e68d83480a639b533eb7edaaf3252cfae8b73d0e362859673a4f9d97"),
  jar("io.netty:netty-common:4.2.2.Final", "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae"),
  jar("io.netty:netty-handler:4.2.2.Final", "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c"),
  jar("io.netty:netty-resolver:4.2.2.Final", "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0"),
  jar("io.netty:netty-transport:4.2.2.Final", "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603"),
  jar("io.netty:netty-transport-native-unix-common:4.2.2.Final", "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d"),
  jar("org.slf4j:slf4j-api:2.0.17", "7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832"),
];

type Java = Extract<FoundTool, { found: true }>;

const run = promisify(execFile);

function jar(coordinates: string, sha256: string): readonly [string, string] {
  const [group = "", artifact = "", version = ""] = coordinates.split(":");
  return [`${group.replaceAll(".", "/")}/${artifact}/${version}/${artifact}-${version}.jar`, sha256];
}

/** @returns the folder of the jars, from the cache, by Maven, or by a download of each jar. Cost the first time: 6 MB, some seconds. */
export async function findMongoJars(): Promise<string> {
  const folder = join(toolCache(), `mongo-java-server-${mongoJavaServerVersion}`);
  // The folder is complete, because it is renamed into place last.
  if (await exists(folder)) return folder;
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await exists(folder)) return folder;
    const work = await mkdtemp(`${folder}.`);
    try {
      const lib = join(work, "lib");
      await mkdir(lib);
      const maven = await copyByMaven(work, lib);
      if (maven !== null) await fetchEach(lib, maven);
      for (const [path, sha256] of jars) await verify(join(lib, basename(path)), sha256);
      await rename(lib, folder);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
    return folder;
  });
}

/** Gets the jars with Maven, which knows the machine's mirrors and credentials. @returns why it failed; null: it succeeded. */
async function copyByMaven(work: string, lib: string): Promise<string | null> {
  const pom = `<project><modelVersion>4.0.0</modelVersion><groupId>netfacts</groupId><artifactId>test-mongodb</artifactId><version>1</version>
    <dependencies><dependency><groupId>de.bwaldvogel</groupId><artifactId>mongo-java-server-h2-backend</artifactId>
    <version>${mongoJavaServerVersion}</version></dependency></dependencies></project>`;
  await writeFile(join(work, "pom.xml"), pom);
  // A temporary local repository, so that only the jars remain.
  const args = [
    "-q",
    "-B",
    `-Dmaven.repo.local=${join(work, "repository")}`,
    copyGoal,
    `-DoutputDirectory=${lib}`,
    "-DincludeScope=runtime",
  ];
  try {
    await run("mvn", args, { cwd: work });
    return null;
  } catch (error) {
    const { code, message, stdout } = error as NodeJS.ErrnoException & { stdout?: string };
    if (code === "ENOENT") return "no Maven";
    return `Maven failed: ${/\[ERROR\] (.*)/.exec(stdout ?? "")?.[1] ?? message}`;
  }
}

async function fetchEach(lib: string, maven: string): Promise<void> {
  const repository = process.env.MAVEN_REPOSITORY || mavenCentral;
  await Promise.all(
    jars.map(async ([path]) => {
      const url = `${repository}/${path}`;
      const fail = (why: string): never => {
        throw new Error(`${maven}, and ${url}: ${why}`);
      };
      const response = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch((error: Error) =>
        fail(error.cause === undefined ? error.message : String(error.cause)),
      );
      if (!response.ok) fail(`status ${response.status}`);
      await writeFile(join(lib, basename(path)), new Uint8Array(await response.arrayBuffer()));
    }),
  );
}

async function verify(file: string, sha256: string): Promise<void> {
  const found = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  if (found !== sha256) throw new Error(`${basename(file)} has SHA-256 ${found}, expected ${sha256}`);
}

/** Java 17 or later: `JAVA` in the environment, PATH, else Debian's package, unpacked into the cache (44 MB). */
export async function findJava(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "java", variable: "JAVA" });
  if (installed !== null && (!installed.found || (await javaVersion(installed.command)) >= javaVersionMin)) return installed;
  const home = `usr/lib/jvm/java-${javaVersionMin}-openjdk-${process.arch === "arm64" ? "arm64" : "amd64"}`;
  // Use a name that PATH does not have: a Java on PATH is too old.
  const unpacked = await findDebianTool({
    name: `java-${javaVersionMin}-unpacked`,
    variable: "JAVA",
    packageName: `openjdk-${javaVersionMin}-jre-headless`,
    binary: `${home}/bin/java`,
  });
  if (!unpacked.found) return unpacked;
  const root = unpacked.command.slice(0, -`/${home}/bin/java`.length);
  await withLock(`${root}.lock`, () => turnLinksInward(join(root, home), root));
  return unpacked;
}

async function javaVersion(command: string): Promise<number> {
  // It prints to standard error: `openjdk version "17.0.15"`. Up to version 8, this was "1.8".
  const { stderr } = await run(command, ["-version"]).catch(() => ({ stderr: "" }));
  return Number(/version "(?:1\.)?(\d+)/.exec(stderr)?.[1] ?? 0);
}

/** Makes the package's links into /etc, which are its settings, point into the unpacked package. */
async function turnLinksInward(folder: string, root: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = await readlink(path);
    if (!target.startsWith("/etc/")) continue;
    await unlink(path);
    await symlink(relative(dirname(path), resolve(root, `.${target}`)), path);
  }
}

/**
 * @param source  a program in one file, without a package, whose class is named `main`. It is compiled once, because this takes longer than a start.
 * @returns the arguments before its own ones that run it with these jars, in a small JVM that starts fast. All of the class path are files.
 */
export async function javaArguments(java: Java, lib: string, source: string, main: string): Promise<string[]> {
  const digest = createHash("sha256").update(await readFile(source));
  const folder = join(toolCache(), `${basename(source, ".java")}-jar-${digest.digest("hex").slice(0, 16)}`);
  const jars = (await readdir(lib)).map((name) => join(lib, name));
  const compile = async (): Promise<void> => {
    if (await exists(folder)) return;
    const work = await mkdtemp(`${folder}.`);
    try {
      const classes = join(work, "classes");
      const options = ["--release", `${javaVersionMin}`, "-cp", jars.join(delimiter), "-d", classes];
      await runJava(java, ["-m", "jdk.compiler/com.sun.tools.javac.Main", ...options, source]);
      await runJava(java, ["-m", "jdk.jartool/sun.tools.jar.Main", "--create", "--file", join(work, "program.jar"), "-C", classes, "."]);
      await rename(work, folder);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  };
  if (!(await exists(folder))) await withLock(`${folder}.lock`, compile);
  return ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", [join(folder, "program.jar"), ...jars].join(delimiter), main];
}

/**
 * Keeps the classes that a run loads, as the JVM has them in memory: starts with them take three fifths of the processor time.
 *
 * @param path  where to keep them. It is for this Java and the class path: another Java loads its classes itself.
 * @param runOnce  runs the program to its end with this option before its other arguments, and uses it as tests do.
 * @returns the option that makes the JVM use them; none if this JVM keeps none.
 */
export async function sharedClasses(path: string, runOnce: (option: string) => Promise<void>): Promise<string[]> {
  const keep = async (): Promise<void> => {
    if (await exists(path)) return;
    const work = await mkdtemp(`${path}.`);
    try {
      const kept = join(work, "classes.jsa");
      await runOnce(`-XX:ArchiveClassesAtExit=${kept}`);
      await rename(kept, path).catch(() => undefined);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  };
  if (!(await exists(path))) await withLock(`${path}.lock`, keep);
  return (await exists(path)) ? [`-XX:SharedArchiveFile=${path}`] : [];
}

async function runJava({ command, env }: Java, args: readonly string[]): Promise<void> {
  const ended = run(command, args, { env: { ...process.env, ...env } });
  ended.child.stdin?.end();
  await ended;
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
