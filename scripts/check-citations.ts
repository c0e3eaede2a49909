/** Checks citations in comments and pages: `node scripts/check-citations.ts [FOLDER]` prints each broken one, and fails if there are any. */

import { resolve } from "node:path";
import { findBrokenCitations } from "./citations/broken-citations.ts";

const root = resolve(process.argv[2] ?? `${import.meta.dirname}/..`);
const broken = findBrokenCitations(root);
for (const line of broken) console.log(line);
if (broken.length > 0) process.exitCode = 1;
