/** Makes 1 GB of buffers, a few at a time, and prints how often all objects were collected meanwhile. With the argument `young`: as a gateway does. */

import { constants, PerformanceObserver } from "node:perf_hooks";
import { collectBuffersYoung } from "../../src/collections.ts";

const bytes = 400_000;
const total = 1_000_000_000;
const keptMax = 8;

if (process.argv[2] === "young") collectBuffersYoung();
let collections = 0;
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    // The types lack what entries of this kind have.
    const { detail } = entry as typeof entry & { readonly detail: { readonly kind: number } };
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections += 1;
  }
});
observer.observe({ entryTypes: ["gc"] });
const kept: Buffer[] = [];
for (let made = 0; made < total; made += bytes) {
  kept.push(Buffer.allocUnsafeSlow(bytes));
  if (kept.length > keptMax) kept.shift();
  await new Promise(setImmediate);
}
await new Promise((resolve) => setTimeout(resolve, 50));
console.log(collections);
process.exit(0);
