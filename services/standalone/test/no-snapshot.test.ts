/** The last line of a start that has nothing to serve. */

import { expect, test } from "@jest/globals";
import { NewerManifestError } from "@netfacts/snapshot";
import { noSnapshotText } from "../src/no-snapshot.ts";

const snapshots = (currentId: () => Promise<string | null>) => ({ currentId });

test("a snapshot that was refused can be replaced or removed", async () => {
  const text = await noSnapshotText(
    ["routes is damaged"],
    snapshots(async () => "1"),
    "/data/snapshots",
  );
  expect(text).toBe("routes is damaged; import again with SOURCES=, or remove /data/snapshots to start with the sample dataset");
});

test("one of a newer version is not to be removed", async () => {
  const reason = new NewerManifestError(2, "").message;
  const text = await noSnapshotText(
    [reason],
    snapshots(async () => "1"),
    "/data/snapshots",
  );
  expect(text).toBe(reason);
});

test.each([
  ["EMFILE: too many open files, open '/data/snapshots/current'", "raise the limit of open files (ulimit -n) and start again"],
  ["EACCES: permission denied, open '/data/snapshots/current'", "make it readable and start again"],
])("one that cannot be read is not to be removed: %s", async (reason, remedy) => {
  const text = await noSnapshotText(
    [],
    snapshots(() => Promise.reject(new Error(reason))),
    "/data/snapshots",
  );
  expect(text).toBe(`the current snapshot in /data/snapshots cannot be read: ${reason}; ${remedy}`);
});

test("so is one that was not loaded for no known reason", async () => {
  const text = await noSnapshotText(
    [],
    snapshots(async () => "1"),
    "/data/snapshots",
  );
  expect(text).toBe("the current snapshot 1 in /data/snapshots was not loaded; start again");
});
