/** Builds the console, if its sources have changed: `scripts/run.sh scripts/build-console.ts`. */

import { buildSite } from "./build-site.ts";
import { buildConsole, consoleSite } from "./console.ts";

process.exitCode = await buildSite({ build: buildConsole, place: consoleSite, command: "scripts/run.sh scripts/build-console.ts" });
