/** A rollback of the leader beside an import of another process in the same folder. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { openFolderStore } from "@netfacts/snapshot";
import { publishNumber } from "../../../../libs/snapshot/test/store/contract.ts";
import { inFolder } from "../../../../libs/snapshot/test/support/made-snapshot.ts";
import { rollBack } from "../../src/publish/roll-back.ts";
import { PublishOrder } from "../../src/runs/publish-order.ts";

test("what another process has stored and not published yet stays", async () => {
  await inFolder(async (folder) => {
    const store = openFolderStore(folder);
    const [first, second] = [await publishNumber(store, 1), await publishNumber(store, 2)];
    const stored = await store.putObject(Buffer.from("of an import"));
    const place = await new PublishOrder().enter();
    const { signal } = new AbortController();
    const asked = { snapshot: first.id, replaces: second.id };
    await rollBack({ ...asked, store, place, confirm: async () => undefined, onProgress: () => undefined, signal });
    place.leave();
    expect(await store.currentId()).toBe(first.id);
    expect(existsSync(join(folder, "objects", stored))).toBe(true);
  });
});
