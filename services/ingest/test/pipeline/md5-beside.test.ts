/** The digest beside a delegated file: compared where it is there, and nothing is published where it differs. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { IngestError, runIngest } from "../../src/app.ts";
import { atWork, delegatedFile, type Workplace } from "../support/made-files.ts";

const md5 = (bytes: string | Uint8Array) => createHash("md5").update(bytes).digest("hex");
const yaml = "sources: [{name: ripe, section: allocations, format: delegated, location: ripe}]\n";

async function outcome({ store, sources }: Workplace): Promise<string> {
  try {
    await runIngest({ config: await sources(yaml), store });
    return "read";
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    return error.message;
  }
}

test.each<[string, string | Uint8Array, string]>([
  ["as BSD's md5 writes it", delegatedFile(), `MD5 (delegated) = ${md5(delegatedFile()).toUpperCase()}\n`],
  ["as md5sum writes it", delegatedFile(), `${md5(delegatedFile())}  delegated\n`],
  ["of the packed file", gzipSync(delegatedFile()), md5(gzipSync(delegatedFile()))],
  ["of the unpacked content", gzipSync(delegatedFile()), md5(delegatedFile())],
])("a digest that fits is taken: %s", async (_what, file, beside) => {
  await atWork(async (place) => {
    await place.write("ripe", file);
    await place.write("ripe.md5", beside);
    expect(await outcome(place)).toBe("read");
  });
});

test("a digest that differs, or is none, refuses the file", async () => {
  await atWork(async (place) => {
    await place.write("ripe.md5", md5("another file"));
    expect(await outcome(place)).toMatch(/ripe: does not match the digest in .*ripe\.md5/);
    await place.write("ripe.md5", "<html>not found</html>");
    expect(await outcome(place)).toMatch(/ripe\.md5:1: has no MD5 digest/);
    expect(await place.store.currentId()).toBeNull();
  });
});

test("a pipe in the place of the digest is not waited for", async () => {
  await atWork(async (place) => {
    execFileSync("mkfifo", [join(place.folder, "ripe.md5")]);
    expect(await outcome(place)).toMatch(/ripe\.md5: cannot be read: it is not a file$/);
  });
});
