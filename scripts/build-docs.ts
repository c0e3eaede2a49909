/** Builds the documentation site, if its pages have changed: `scripts/run.sh scripts/build-docs.ts`. */

import { buildSite } from "./build-site.ts";
import { buildDocs, docsSite } from "./docs-site/site.ts";

process.exitCode = await buildSite({ build: buildDocs, place: docsSite, command: "make docs" });
if (process.exitCode === 0 && process.argv.includes("--where")) console.log(`the site is in ${docsSite}; make up serves it at /docs/`);
