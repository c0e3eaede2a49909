/** Observations in an SQLite file: the contract, and what is particular to the file. */

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { type ObservationStore, openSqliteObservations, openSqliteStore, StoreError } from "../src/index.ts";
import { describeObservations } from "./contract/observations.ts";

let folder: string | null = null;
const stores: ObservationStore[] = [];

function path(): string {
  folder ??= mkdtempSync(join(tmpdir(), "netfacts-observations-"));
  return join(folder, "observations.sqlite");
}

async function open(): Promise<ObservationStore> {
  const store = await openSqliteObservations(path());
  stores.push(store);
  return store;
}

async function dispose(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  if (folder !== null) rmSync(folder, { recursive: true });
  folder = null;
}

afterEach(dispose);

describeObservations("SQLite", { open, dispose });

test("the file can be read by its owner only", async () => {
  await open();
  expect(statSync(path()).mode & 0o077).toBe(0);
});

test("a store of keys is not taken for one of observations, and not changed", async () => {
  await (await openSqliteStore(path())).close();
  const error = await openSqliteObservations(path()).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StoreError);
  expect((error as StoreError).fault).toBe("foreign");
  await (await openSqliteStore(path())).close();
});
