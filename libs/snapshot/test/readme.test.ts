/** The example of the README, run as it stands. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { inFolder } from "./support/made-snapshot.ts";

test("the README's example prints what its comments say", async () => {
  const home = join(import.meta.dirname, "..");
  const code = /```ts\n(.*?)```/s.exec(readFileSync(join(home, "README.md"), "utf8"))?.[1] ?? "";
  const expected = [...code.matchAll(/^console\.log.*; \/\/ (.*)$/gm)].map(([, printed]) => printed);
  await inFolder(async (folder) => {
    const output = execFileSync(
      process.execPath,
      ["--conditions=source", "--input-type=module-typescript", "-e", code, "example", folder],
      {
        cwd: home,
        encoding: "utf8",
        env: { PATH: process.env.PATH ?? "" },
      },
    );
    expect(output.trimEnd().split("\n")).toEqual(expected);
  });
  expect(expected.length).toBeGreaterThan(3);
});
