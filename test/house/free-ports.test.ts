/** Ports for tests: each is given out once in a run. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { freePorts } from "../support/free-ports.ts";
import { runFolderVariable } from "../support/run-folder.ts";

const run = process.env[runFolderVariable];
const folder = mkdtempSync(join(tmpdir(), "netfacts-ports-"));
afterEach(() => {
  if (run === undefined) delete process.env[runFolderVariable];
  else process.env[runFolderVariable] = run;
  rmSync(folder, { recursive: true, force: true });
});

test("gives no port twice in a run, though nobody listens on those that it gave", async () => {
  // A run of its own, so that the real one keeps its ports.
  process.env[runFolderVariable] = folder;
  const given = (await Promise.all(Array.from({ length: 60 }, () => freePorts(10)))).flat();
  expect(new Set(given).size).toBe(600);
});
