/** The pages that a start serves, in a checkout that this user cannot write. */

import { expect, test } from "@jest/globals";
import { buildSite, ifWritable } from "../../scripts/build-site.ts";

async function run(code: string | null, ...args: string[]): Promise<{ exitCode: number; lines: string[] }> {
  const lines: string[] = [];
  const build = async () => {
    if (code !== null) throw Object.assign(new Error(`${code}: no`), { code });
  };
  const exitCode = await buildSite({ build, place: "docs/dist", command: "make docs" }, args, (line) => void lines.push(line));
  return { exitCode, lines };
}

test("a start goes on with the pages that are there, and one line says who can build them", async () => {
  for (const code of ["EACCES", "EPERM", "EROFS"]) {
    const { exitCode, lines } = await run(code, ifWritable);
    expect([exitCode, lines]).toEqual([
      0,
      [expect.stringMatching(/cannot write docs\/dist; the start continues .*`make docs` as the owner/)],
    ]);
  }
});

test("the command itself fails with one line", async () => {
  expect(await run("EACCES")).toEqual({ exitCode: 1, lines: [expect.stringMatching(/cannot write docs\/dist\. .*`make docs`/)] });
  expect(await run(null)).toEqual({ exitCode: 0, lines: [] });
});

test("any other fault is thrown, also for a start", async () => {
  await expect(run("ENOSPC", ifWritable)).rejects.toThrow("ENOSPC");
});
