/** What loading the package costs those who need no server. */

import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";

test("the SQLite store is had without loading MongoDB's driver", () => {
  const program = `
    import "@netfacts/storage";
    import { createRequire } from "node:module";
    console.log(Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("/mongodb/")).length);`;
  const loaded = (wanted: string): number =>
    Number(
      execFileSync(process.execPath, ["--conditions=source", "--input-type=module", "--eval", wanted], {
        cwd: import.meta.dirname,
        env: { NODE_NO_WARNINGS: "1" },
      }),
    );
  expect(loaded(program)).toBe(0);
  expect(loaded(program.replace("@netfacts/storage", "@netfacts/storage/mongo"))).toBeGreaterThan(0);
});
