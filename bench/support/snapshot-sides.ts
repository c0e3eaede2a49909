/** One side of benchmark P6 as a separate process. Arguments: `snapshot` or `map`, and the folder of the data. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LoaderThreads, openDataFolder, SnapshotFollower, snapshotsFolder } from "@netfacts/snapshot";

const [, , side, folder] = process.argv;

/** Runs a side. Prints its duration in ms, the resident memory in MiB, and the number of loaded items. */
async function measure(run: () => Promise<number>): Promise<void> {
  const started = performance.now();
  const held = await run();
  const ms = performance.now() - started;
  console.log(JSON.stringify({ ms, mib: process.memoryUsage.rss() / 2 ** 20, held }));
}

if (side === "snapshot" && folder !== undefined) {
  await measure(async () => {
    const follower = new SnapshotFollower(
      openDataFolder(folder),
      new LoaderThreads({ kind: "folder", path: join(folder, snapshotsFolder) }),
    );
    await follower.start();
    follower.stop();
    return follower.current()?.routes?.prefixes.base.size ?? 0;
  });
} else if (side === "map" && folder !== undefined) {
  await measure(async () => {
    const map = new Map<string, { origin: string; full: number; all: number; state: string }[]>();
    for (const line of (await readFile(join(folder, "routes.tsv"), "utf8")).split("\n")) {
      const [prefix, origin, full, all, state] = line.split("\t");
      if (prefix === undefined || origin === undefined || state === undefined) continue;
      const origins = map.get(prefix);
      const item = { origin, full: Number(full), all: Number(all), state };
      if (origins === undefined) map.set(prefix, [item]);
      else origins.push(item);
    }
    return map.size;
  });
}
