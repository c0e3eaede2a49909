/** The watch over broadcasts of changes: probes of the broker that fail. What callers notice of it is in `keyring.test.ts`. */

import { expect, test } from "@jest/globals";
import { ChannelWatch } from "../../src/keys/channel-watch.ts";

test("a probe that fails means that no changes are heard, and probes go on", async () => {
  let probes = 0;
  const channel = {
    subscribe: () => ({ stop: () => undefined }),
    watchConnection(listener: (up: boolean) => void) {
      listener(true);
      return { stop: () => undefined };
    },
    async probe(): Promise<boolean> {
      probes += 1;
      if (probes === 1) throw new Error("closed");
      return true;
    },
  };
  const told: boolean[] = [];
  await new Promise<void>((resolve) => {
    const watch = new ChannelWatch(channel, (hearsChanges) => {
      told.push(hearsChanges);
      if (probes < 2) return;
      watch.stop();
      resolve();
    });
  });
  expect(told).toEqual([true, false, true]);
});
