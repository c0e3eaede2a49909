/** The list of parts of the source tree: all of them, and which are in what runs. */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { markRuntime, readPartsList } from "../../scripts/images/parts-list.ts";
import { identity, lockedPackages, ownIdentities, runtimePackages } from "../../scripts/images/production-packages.ts";

const root = resolve(import.meta.dirname, "../..");

test("names every package of the lockfile; what one of our packages needs at run time is required, though others only test with it", async () => {
  const locked = await lockedPackages(root);
  const list = await readPartsList(root);
  markRuntime(list, new Set([...runtimePackages(locked).map((path) => identity(path, locked)), ...ownIdentities(locked)]));
  const scopes = new Map(list.components.map(({ "bom-ref": ref, scope }) => [ref, scope]));
  const scopeOf = (name: string) => [...scopes].filter(([ref]) => ref.startsWith(`${name}@`)).map(([, scope]) => scope);

  const places = Object.entries(locked).filter(([path, { link }]) => path.includes("node_modules/") && link !== true);
  expect(places.map(([path]) => identity(path, locked)).filter((ref) => !scopes.has(ref))).toEqual([]);
  expect(places.length).toBeGreaterThan(200);
  for (const name of ["fastify", "pino", "mongodb", "nats", "@netfacts/storage"])
    expect([name, scopeOf(name)]).toEqual([name, ["required"]]);
  for (const name of ["jest", "typescript", "fast-check", "playwright-core"]) expect([name, scopeOf(name)]).toEqual([name, ["excluded"]]);
  expect(JSON.stringify(list)).not.toContain("cdx:npm:package:development");
});

test("what only builds the console and the documentation is not needed at run time", async () => {
  const { dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const runtime = runtimePackages(await lockedPackages(root));
  const built = Object.keys(dependencies).filter((name) => runtime.includes(`node_modules/${name}`));
  // The console depends on it, too.
  expect(built).toEqual(["minisearch"]);
});

test("the install of a first start leaves out nothing that runs", async () => {
  const locked = await lockedPackages(root);
  const runtime = runtimePackages(locked);
  expect(runtime.length).toBeGreaterThan(100);
  // `npm install --omit=dev` leaves out packages with this mark.
  expect(runtime.filter((path) => locked[path]?.dev)).toEqual([]);
});
