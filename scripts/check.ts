/** `make check`: all checks that do not run the product. Each check prints a line; a failed one also prints its output. */

import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const node = [process.execPath, "--conditions=source", "--disable-warning=ExperimentalWarning"];

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Check[] = [
  { name: "installed versions are the lockfile's", command: [...node, "scripts/check-installed.ts"] },
  { name: "install scripts of packages", command: [...node, "scripts/check-install-scripts.ts"] },
  { name: "format and lint", command: [bin("biome"), "ci", "--error-on-warnings", "--colors=off", "."] },
  { name: "types of the sources", command: [bin("tsc"), "-b"] },
  { name: "types of tests, benchmarks and scripts", command: [bin("tsc"), "-p", "tsconfig.tests.json"] },
  { name: "imports", command: [...node, "scripts/check-imports.ts"] },
  { name: "citations", command: [...node, "scripts/check-citations.ts"] },
  { name: "generated files", command: [...node, "scripts/generated.ts", "--check"] },
  { name: "nothing changed the work tree", command: [...node, "scripts/check-tree.ts"] },
];

function bin(name: string): string {
  return join(root, "node_modules", ".bin", name);
}

const failed = checks.filter(({ name, command: [program = "", ...options] }) => {
  const began = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program, options, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 });
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"}  ${name} (${seconds} s)`);
  if (status !== 0) console.log([stdout, stderr, error?.message].filter(Boolean).join("\n").trimEnd());
  return status !== 0;
});

if (failed.length > 0) process.exitCode = 1;
