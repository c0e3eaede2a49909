/** Checks the import rules: `node scripts/check-imports.ts [FOLDER]` prints each violation, and fails if there are any. */

import { resolve } from "node:path";
import { readSources } from "./imports/read-sources.ts";
import { findBreaches } from "./imports/rules.ts";

const root = resolve(process.argv[2] ?? `${import.meta.dirname}/..`);
const breaches = findBreaches(await readSources(root));
for (const breach of breaches) console.log(breach);
if (breaches.length > 0) process.exitCode = 1;
