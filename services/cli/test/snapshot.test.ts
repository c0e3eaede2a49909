/** `netfacts snapshot verify` and `rollback`: what they read, and what they leave. */

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { openDataFolder, sealManifest } from "@netfacts/snapshot";
import { withSamples } from "../../../test/support/sample-snapshot.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, temporaryFolder } from "./support/run.ts";

test("a damaged object of ingest's is found, though no service reads it; a pack does without", async () => {
  const dataDir = await withSamples(temporaryFolder());
  const { out } = await run(dataDir, "snapshot", "show", "--json");
  const [{ object }] = Object.values(JSON.parse(out).ingest_objects) as [{ object: string }];
  expect((await run(dataDir, "snapshot", "verify")).code).toBe(exitCodes.ok);
  writeFileSync(join(dataDir, "snapshots", "objects", object), "");
  const { code, err } = await run(dataDir, "snapshot", "verify");
  expect(code).toBe(exitCodes.untrusted);
  expect(err).toContain(object);
  const pack = join(dataDir, "one.pack");
  expect((await run(dataDir, "snapshot", "pack", pack)).code).toBe(exitCodes.ok);
  expect((await run(dataDir, "snapshot", "verify", "--snapshot", pack)).code).toBe(exitCodes.ok);
  rmSync(dataDir, { recursive: true });
});

test("a rollback leaves what an import in another process has stored and not published yet", async () => {
  const dataDir = await withSamples(temporaryFolder());
  const store = openDataFolder(dataDir);
  const earlier = (await store.currentId()) as string;
  const { id: _id, format: _format, format_version: _version, ...content } = await store.getManifest(earlier);
  await store.publish(sealManifest({ ...content, sample_data: false }));
  const stored = await store.putObject(Buffer.from("of an import"));
  expect(JSON.parse((await run(dataDir, "snapshot", "rollback", "--json")).out)).toMatchObject({ id: earlier });
  expect(existsSync(join(dataDir, "snapshots", "objects", stored))).toBe(true);
  rmSync(dataDir, { recursive: true });
});
