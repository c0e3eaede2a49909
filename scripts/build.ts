/** `make build`: compiles every package to its `dist`, which runs without `--conditions=source`. */

import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const { status } = spawnSync(join(root, "node_modules", ".bin", "tsc"), ["-b", "--pretty"], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
