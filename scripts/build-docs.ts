/** Builds the documentation site, if its pages have changed: `scripts/run.sh scripts/build-docs.ts`. */

import { buildDocs, docsSite } from "./docs-site/site.ts";

await buildDocs();
if (process.argv.includes("--where")) console.log(`the site is in ${docsSite}; make up serves it at /docs/`);
