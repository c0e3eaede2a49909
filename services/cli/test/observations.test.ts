/** `netfacts observations` on the store of a data folder. */

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { run, runJson, runProcessWith, runWith, temporaryFolder, withStore } from "./support/run.ts";

const folder = temporaryFolder();
beforeAll(() => withStore(folder));
afterAll(() => rmSync(folder, { recursive: true }));

const line = (ip: string) => `${JSON.stringify({ ip, country: "NL", observed_at: "2026-11-01T10:00:00Z" })}\n`;

test("imports files once, resumes them, shows what is stored and deletes it", async () => {
  const file = join(folder, "probes.ndjson.gz");
  writeFileSync(file, gzipSync(`${line("192.0.2.1")}{\n${line("192.0.2.2")}`));
  const feed = join(folder, "geofeed.csv");
  writeFileSync(feed, "192.0.2.0/24,DE,,,\n");
  const { code, out, err } = await run(folder, "observations", "import", file, feed, "--source", "probes");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toBe(`${file}: 3 lines, 2 stored, 1 invalid\n  line 2: is not JSON\n${feed}: 1 lines, 1 stored, 0 invalid\n`);
  await run(folder, "observations", "import", file, "--source", "probes");
  await run(folder, "observations", "import", file, "--source", "probes", "--resume");
  const rows = async (what: string) => {
    const exported = await run(folder, "observations", "export", what);
    expect([exported.code, exported.err]).toEqual([0, ""]);
    return exported.out.split("\n").flatMap((text) => (text === "" ? [] : [(JSON.parse(text) as { readonly prefix: string }).prefix]));
  };
  expect(await rows("192.0.2.1")).toEqual(["192.0.2.0/24", "192.0.2.1/32"]);
  expect(await rows("192.0.0.0/16")).toEqual(["192.0.2.0/24", "192.0.2.1/32", "192.0.2.2/32"]);
  expect((await run(folder, "observations", "delete", "--address", "192.0.2.1")).out).toBe("1 stored lines deleted\n");
  expect(await runJson(folder, "observations", "delete", "--source", "probes")).toEqual({ deleted: 2 });
  expect(await rows("192.0.0.0/16")).toEqual([]);
  expect((await run(folder, "observations", "delete", "--key", "nf_live_7q9m3w8k_…x4Pq")).code).toBe(0);
  const deletions = (await run(folder, "audit", "--action", "observations.delete")).out;
  expect(deletions).toContain("192.0.2.1/32");
  expect(deletions).toContain(" 7Q9M3W8K ");
  expect((await run(folder, "audit", "--action", "observations.upload")).out).toMatch(/cli:.*probes/);
});

test("imports standard input and pipes, as the same upload as a file", async () => {
  const dataDir = await withStore(temporaryFolder());
  const text = line("192.0.2.7");
  const importOf = async (...args: string[]) => runWith([Buffer.from(text)], dataDir, "observations", "import", ...args);
  expect(await importOf("-", "--format", "ndjson")).toEqual({ code: 0, out: "standard input: 1 lines, 1 stored, 0 invalid\n", err: "" });
  expect(await importOf("-")).toMatchObject({
    code: 2,
    err: "netfacts: the name of standard input does not tell its format: use --format\n",
  });
  const pipe = join(dataDir, "pipe.ndjson");
  execFileSync("mkfifo", [pipe]);
  const [{ code, err }] = await Promise.all([importOf(pipe), writeFile(pipe, text)]);
  expect([code, err]).toEqual([0, ""]);
  expect((await run(dataDir, "observations", "export", "192.0.2.7")).out.trimEnd().split("\n")).toHaveLength(1);
  rmSync(dataDir, { recursive: true });
});

test("a wrong command line is exit code 2, and a file that cannot be read is refused", async () => {
  const { code, err } = await run(folder, "observations", "delete", "--source", "a", "--key", "7Q9M3W8K");
  expect([code, err]).toEqual([2, "netfacts: give one of --address, --prefix, --source and --key\n"]);
  expect((await run(folder, "observations", "import", "data.bin")).code).toBe(2);
  expect((await run(folder, "observations", "export", "nowhere")).code).toBe(2);
  expect((await run(folder, "observations", "export", "fe80::1%eth0")).err).toContain("did you mean fe80::1?");
  // Nothing would be deleted for a text that no key has for its id.
  expect((await run(folder, "observations", "delete", "--key", "b")).err).toContain("not a key id");
  const other = join(folder, "other.csv");
  writeFileSync(other, "a,b\n");
  expect(await run(folder, "observations", "import", other)).toMatchObject({ code: 1 });
  expect((await run(folder, "observations", "import", join(folder, "absent.csv"))).code).not.toBe(0);
  expect((await run(folder, "observations", "export", "192.0.2.1", "--url", "http://127.0.0.1:9")).err).toContain("NETFACTS_KEY");
  for (const url of ["127.0.0.1:24081", "localhost:24081"]) {
    const ran = await runProcessWith({ NETFACTS_KEY: "key" }, folder, "observations", "export", "192.0.2.1", "--url", url);
    expect([ran.code, ran.err]).toEqual([2, expect.stringContaining(`--url ${url} is not a URL; write http://`)]);
  }
});
