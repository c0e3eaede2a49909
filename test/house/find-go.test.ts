/** Go is found where its archive is usually unpacked, too. */

import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

/** @returns the path of the Go that is found. */
async function found(): Promise<string> {
  const env = { GOROOT: join(sandbox.folder, "go") };
  const { out } = await sandbox.run("sh", ["-euc", "root=$PWD; . scripts/find-go.sh; command -v go || echo none"], env);
  return out.trim();
}

test("Go that is not on PATH is found in its folder", async () => {
  sandbox.program("go", "", join(sandbox.folder, "go/bin"));
  expect(await found()).toBe(join(sandbox.folder, "go/bin/go"));
});

test("the Go on PATH is preferred", async () => {
  sandbox.program("go", "", join(sandbox.folder, "go/bin"));
  sandbox.program("go", "");
  expect(await found()).toBe(join(sandbox.bin, "go"));
});

test("without Go nothing changes", async () => {
  expect(await found()).toBe("none");
});
