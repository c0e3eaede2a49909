/** The thread of a run ends with it, whatever its store leaves open: a client of NATS goes on trying for as long as its thread lives. */

import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { RunThreads } from "../../src/runs/run-threads.ts";
import { atWork } from "../support/made-files.ts";

/** A store that is away, whose client does not give up. */
const module = `export const openStore = async ({ turns }) => {
  setInterval(() => Atomics.add(turns, 0, 1), 10);
  throw new Error("the store is away");
};`;

test("a run whose store is away leaves no thread behind", async () => {
  await atWork(async ({ folder, sources, write }) => {
    await write("names", "1 ONE, US\n");
    const { file } = await sources("sources:\n  - {name: names, section: as_names, format: name-list, location: names}\n");
    const turns = new Int32Array(new SharedArrayBuffer(4));
    const threads = new RunThreads({
      kind: "module",
      url: `data:text/javascript,${encodeURIComponent(module)}`,
      options: { turns },
    });
    const outcome = await threads.run({
      sources: file,
      overrides: "",
      files: {},
      only: null,
      observations: null,
      statements: join(folder, "statements"),
      acceptShrink: [],
      isBeside: false,
      onProgress: () => undefined,
      confirm: async () => ({ others: [], isAlone: true }),
      signal: new AbortController().signal,
    });
    await threads.close();
    expect(outcome).toEqual({ ok: false, message: "the store is away", report: null });
    const end = performance.now() + 10_000;
    for (let before = -1; before !== turns[0]; await new Promise((resolve) => setTimeout(resolve, 500))) {
      before = turns[0] as number;
      expect(performance.now()).toBeLessThan(end);
    }
    expect(turns[0]).toBeGreaterThan(0);
  });
});
