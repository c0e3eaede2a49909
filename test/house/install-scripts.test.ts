/** Packages that would run a script at their installation are named, or the check fails; and none runs. */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-scripts-"));
  for (const name of ["package-lock.json", ".npmrc"]) writeFileSync(join(folder, name), readFileSync(join(root, name)));
});
afterEach(() => rmSync(folder, { recursive: true }));

function check(): Promise<{ status: number; out: string }> {
  const args = ["--conditions=source", join(root, "scripts/check-install-scripts.ts"), folder];
  return new Promise((done) => {
    execFile(process.execPath, args, { env: { NODE_NO_WARNINGS: "1" } }, (error, out) => done({ status: Number(error?.code ?? 0), out }));
  });
}

function change(packages: (all: Record<string, { hasInstallScript?: boolean }>) => void): void {
  const path = join(folder, "package-lock.json");
  const lock = JSON.parse(readFileSync(path, "utf8"));
  packages(lock.packages);
  writeFileSync(path, JSON.stringify(lock));
}

test("the lockfile of this repository passes", async () => {
  expect(await check()).toEqual({ status: 0, out: "" });
});

test("a package with a script that nobody named fails, also beside one of ours", async () => {
  change((all) => {
    all["services/cli/node_modules/@x/new"] = { hasInstallScript: true };
  });
  expect(await check()).toMatchObject({
    status: 1,
    out: expect.stringMatching(/^@x\/new has an install script that is not named there\n/),
  });
});

test("a name that is no longer needed fails", async () => {
  change((all) => {
    delete all["node_modules/protobufjs"];
  });
  expect(await check()).toMatchObject({ status: 1, out: expect.stringMatching(/^protobufjs has no install script any more/) });
});

test("npm that would run scripts fails", async () => {
  writeFileSync(join(folder, ".npmrc"), "");
  expect(await check()).toMatchObject({ status: 1, out: expect.stringMatching(/^\.npmrc does not say ignore-scripts=true/) });
});

test("npm runs no script of a package that is installed here", async () => {
  const made = join(folder, "made");
  const manifest = { name: "made", version: "1.0.0", scripts: { postinstall: `touch ${join(folder, "ran")}` } };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "top", dependencies: { made: `file:${made}` } }));
  rmSync(join(folder, "package-lock.json"));
  mkdirSync(made);
  writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
  const install = (): Promise<void> =>
    new Promise((done, fail) => {
      const args = ["install", "--offline", "--install-links", "--no-audit", "--no-fund"];
      const env = { PATH: process.env.PATH, HOME: folder, npm_config_cache: join(folder, "cache") };
      execFile("npm", args, { cwd: folder, env }, (error) => (error === null ? done() : fail(error)));
    });
  await install();
  expect(existsSync(join(folder, "node_modules/made/package.json"))).toBe(true);
  expect(existsSync(join(folder, "ran"))).toBe(false);
});
