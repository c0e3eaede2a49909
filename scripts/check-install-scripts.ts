/**
 * Fails if a package has an install script that nobody has reviewed: `node scripts/check-install-scripts.ts [FOLDER]`.
 * `.npmrc` prevents all install scripts from running.
 */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

/** Packages with an install script, and why it need not run. scripts/install.sh starts the scripts that must run, by name. */
const known: Readonly<Record<string, string>> = {
  "@parcel/watcher": "compiles the watcher of files where there is no compiled one; nothing here watches files",
  esbuild: "replaces its start script by the program, which saves 50 ms for each start by the command line; it is used as a library",
  protobufjs: "prints a warning on version ranges",
};

interface Locked {
  readonly hasInstallScript?: boolean;
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));

const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
const found = new Set<string>();
for (const [path, { hasInstallScript }] of Object.entries(packages))
  if (hasInstallScript === true) found.add(path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
const npmrc = await readFile(join(root, ".npmrc"), "utf8").catch(() => "");

const faults = [
  ...[...found].filter((name) => known[name] === undefined).map((name) => `${name} has an install script that is not named there`),
  ...Object.keys(known).flatMap((name) => (found.has(name) ? [] : [`${name} has no install script any more; remove it there`])),
  ...(/^ignore-scripts=true$/m.test(npmrc) ? [] : [".npmrc does not say ignore-scripts=true"]),
];
for (const fault of faults) console.log(fault);
if (faults.length > 0) {
  console.log("read what the script does, and whether the package works without it: scripts/check-install-scripts.ts");
  process.exitCode = 1;
}
