/** Another process that follows and does nothing else: `node follower-process.ts FOLDER`. Sends "serving ID" and "freed ID". */

import { LoaderThreads, openFolderStore, SnapshotFollower } from "../../src/index.ts";

const folder = process.argv[2] as string;
const freed = new FinalizationRegistry<string>((id) => process.send?.(`freed ${id}`));
const follower: SnapshotFollower = new SnapshotFollower(
  openFolderStore(folder),
  new LoaderThreads({ kind: "folder", path: folder }),
  {
    activated({ id }) {
      const loaded = follower.held().find(({ manifest }) => manifest.id === id);
      freed.register(loaded?.sections.as_names?.bytes.buffer as object, id);
      process.send?.(`serving ${id}`);
    },
  },
  { keepMs: 1 },
);
process.on("message", () => undefined);
await follower.start();
