/** The example of the README, run as it stands. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

test("the README's example prints what its comments say", () => {
  const folder = join(import.meta.dirname, "..");
  const code = /```ts\n(.*?)```/s.exec(readFileSync(join(folder, "README.md"), "utf8"))?.[1] ?? "";
  // What is printed stands behind the call, or on comment lines after it.
  const printed = code.split("\n").flatMap((line) => /^(?:console\.log.*; )?\/\/ (.*)$/.exec(line)?.[1] ?? []);
  const expected = printed.filter((line) => !line.startsWith("`order`"));
  const output = execFileSync(process.execPath, ["--conditions=source", "--input-type=module-typescript", "-e", code], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "" },
  });
  expect(expected.length).toBeGreaterThan(5);
  expect(output.trimEnd().split("\n")).toEqual(expected);
});
