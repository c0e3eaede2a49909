/** The image for development, built from the Dockerfile by buildah as skaffold's build does, from a base that mmdebstrap makes. */

import { type ExecFileOptions, execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Artifact, buildArguments, type Image, imageName } from "../../support/skaffold.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../..");
const base = "localhost/netfacts-build-base";
const certificates = "etc/ssl/certs/ca-certificates.crt";

/** Programs that build it, and the Debian packages of the same names. */
const builders = ["buildah", "mmdebstrap"] as const;

async function missingBuilders(): Promise<string[]> {
  const isThere = await Promise.all(
    builders.map((name) =>
      run(name, ["--version"]).then(
        () => true,
        () => false,
      ),
    ),
  );
  return builders.filter((_, index) => !isThere[index]);
}

/** Installs what is missing, as the cluster tool does with its own packages. Needs root and Debian. */
export async function installBuilders(): Promise<void> {
  const missing = await missingBuilders();
  if (missing.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "-y", "--no-install-recommends", ...missing], { env });
}

/** @returns the path of its archive, in `to`. @throws Error when buildah or mmdebstrap is not there, or with what they print. */
export async function buildDevelopmentImage(artifact: Artifact, image: Image, to: string): Promise<string> {
  const missing = await missingBuilders();
  if (missing.length > 0) throw new Error(`the image for development needs ${missing.join(" and ")}: packages of Debian`);
  const work = await mkdtemp(join(tmpdir(), "netfacts-buildah-"));
  const options: ExecFileOptions = {
    cwd: root,
    maxBuffer: 1 << 26,
    env: { ...process.env, BUILDAH_ISOLATION: "chroot", STORAGE_DRIVER: "vfs" },
  };
  const buildah = (...args: string[]) => run("buildah", ["--root", join(work, "store"), "--runroot", join(work, "run"), ...args], options);
  try {
    const context = join(work, "base");
    await mkdir(context);
    await makeBase(join(work, "root"));
    await run("tar", ["-C", join(work, "root"), "-cf", join(context, "root.tar"), "."]);
    await writeFile(join(context, "Dockerfile"), "FROM scratch\nADD root.tar /\n");
    await buildah("bud", "--tag", base, context);

    const [, folder = ".", ...args] = buildArguments(artifact, image);
    await buildah("bud", "--network=host", `--build-arg=BUILD_BASE=${base}`, ...args, folder);
    const archive = join(to, "netfacts-development.tar");
    await rm(archive, { force: true });
    await buildah("push", imageName(image), `docker-archive:${archive}:${imageName(image)}`);
    return archive;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Debian with this Node, npm and the authorities of this machine. */
async function makeBase(folder: string): Promise<void> {
  await run("mmdebstrap", ["--mode=root", "--variant=essential", "--include=ca-certificates,libstdc++6", "bookworm", folder]);
  await copyFile(process.execPath, join(folder, "usr/local/bin/node"));
  await copyFile(join("/", certificates), join(folder, certificates));
  const npm = await realpath((await run("sh", ["-c", "command -v npm"])).stdout.trim());
  await cp(dirname(dirname(npm)), join(folder, "usr/local/lib/node_modules/npm"), { recursive: true });
  await symlink("../lib/node_modules/npm/bin/npm-cli.js", join(folder, "usr/local/bin/npm"));
}
