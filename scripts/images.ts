/**
 * `make images`: makes the container image as an archive, and prints its size and start times. buildah builds it from the Dockerfile; without
 * buildah, it is packed from the same tree. `--tree FOLDER` only assembles the tree; the Dockerfile calls it.
 */

import { execFile, spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { entrypoint, environment, folders, labels, uid } from "./images/config.ts";
import { copyLibraries } from "./images/libraries.ts";
import { readyTime, services } from "./images/ready-times.ts";
import { assembleTree } from "./images/tree.ts";
import { table } from "./markdown-table.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "..");
const kibibytesPerMebibyte = 1_024;
const startsMeasured = 3;

async function main(): Promise<void> {
  const [option, folder] = process.argv.slice(2);
  if (option === "--tree" && folder !== undefined) {
    await assembleTree({ root, to: resolve(folder) });
    return;
  }
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const revision = await run("git", ["rev-parse", "HEAD"], { cwd: root }).then(
    ({ stdout }) => stdout.trim(),
    () => "unknown",
  );
  const { IMAGE = `localhost/netfacts:${version}`, BUILDAH = "buildah" } = process.env;
  const out = join(root, "dist/images");
  const tree = join(out, "tree");
  const archive = join(out, "netfacts.tar");
  await mkdir(out, { recursive: true });
  await rm(archive, { force: true });

  const image: Image = { name: IMAGE, version, revision, archive };
  const packages = await assembleTree({ root, to: tree });
  await cp(join(tree, folders.app, "sbom.cdx.json"), join(out, "netfacts.cdx.json"));
  const hasBuildah = spawnSync(BUILDAH, ["--version"], { stdio: "ignore" }).status === 0;
  const unpacked = hasBuildah ? await build(BUILDAH, image) : await pack(image, tree);

  console.log(`${IMAGE}: ${archive}, ${hasBuildah ? "built from the Dockerfile" : "packed without a container tool"}`);
  console.log(
    `unpacked ${unpacked} MiB, archive ${await folderMebibytes(archive)} MiB, ${packages.length} packages; parts: ${join(out, "netfacts.cdx.json")}`,
  );
  const rows: string[][] = [];
  for (const service of services) {
    const times: number[] = [];
    for (let start = 0; start < startsMeasured; start++) times.push((await readyTime(tree, service)).listeningMs);
    rows.push([service, ...times.map((ms) => `${ms} ms`)]);
  }
  console.log(table(["service listens after", ...Array.from({ length: startsMeasured }, (_, start) => `start ${start + 1}`)], rows));
}

interface Image {
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  readonly archive: string;
}

/** Builds the Dockerfile; `BASE` and `BUILD_BASE` replace its base images. @returns the size of its files, in MiB. */
async function build(buildah: string, { name, version, revision, archive }: Image): Promise<number> {
  const bases = ["BASE", "BUILD_BASE"].flatMap((base) => (process.env[base] ? [`--build-arg=${base}=${process.env[base]}`] : []));
  const args = [...bases, `--build-arg=VERSION=${version}`, `--build-arg=REVISION=${revision}`];
  runOrFail(buildah, ["bud", "--network=host", ...args, `--tag=${name}`, "--file=Dockerfile", "."]);
  runOrFail(buildah, ["push", name, `docker-archive:${archive}:${name}`]);
  const container = (await run(buildah, ["from", name])).stdout.trim();
  try {
    return await folderMebibytes((await run(buildah, ["mount", container])).stdout.trim());
  } finally {
    await run(buildah, ["rm", container]);
  }
}

/** Packs the tree with the C and C++ libraries of this machine. @returns the size of its files, in MiB. */
async function pack({ name, version, revision, archive }: Image, tree: string): Promise<number> {
  const tool = join(process.env.NETFACTS_CLUSTER_TOOL ?? join(root, "../shared/tools/cluster"), "mkimage.sh");
  const packed = join(dirname(tree), "root");
  await rm(packed, { recursive: true, force: true });
  await cp(tree, packed, { recursive: true, preserveTimestamps: true, mode: constants.COPYFILE_FICLONE });
  await copyLibraries(join(tree, folders.node), packed);
  await mkdir(join(packed, "etc"));
  await writeFile(join(packed, "etc/passwd"), `root:x:0:0:root:/:/\nnonroot:x:${uid}:${uid}:nonroot:${folders.data}:/\n`);
  await writeFile(join(packed, "etc/group"), `root:x:0:\nnonroot:x:${uid}:\n`);
  await writeFile(join(packed, "etc/nsswitch.conf"), "hosts: files dns\n");
  const config = {
    Entrypoint: entrypoint,
    Env: Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
    User: `${uid}:${uid}`,
    WorkingDir: folders.data,
    Labels: labels(version, revision),
  };
  runOrFail(tool, [name, packed, archive, JSON.stringify(config)]);
  const size = await folderMebibytes(packed);
  await rm(packed, { recursive: true });
  return size;
}

function runOrFail(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (error !== undefined) throw new Error(`${command} does not run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args[0]} failed`);
}

async function folderMebibytes(folder: string): Promise<number> {
  const { stdout } = await run("du", ["-sk", folder]);
  return Math.round(Number.parseInt(stdout, 10) / kibibytesPerMebibyte);
}

await main();
