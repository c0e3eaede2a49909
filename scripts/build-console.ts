/** Builds the console, if its sources have changed: `scripts/run.sh scripts/build-console.ts`. */

import { buildConsole } from "./console.ts";

await buildConsole();
