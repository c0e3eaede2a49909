/** One import over sources with URLs: what it reads, what it keeps, and what it makes of servers and disks that fail. */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Manifest, openFolderStore } from "@netfacts/snapshot";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { testProgramArgs } from "../../../../test/support/programs.ts";
import { IngestError, importSources, type RunReport, readSources } from "../../src/app.ts";
import { answer, type HostileServer, serveFile, startHostileServer, writeHead } from "../support/hostile-server.ts";
import { delegatedFile, namesFile } from "../support/made-files.ts";

let folder: string;
let server: HostileServer;
let files: Map<string, Buffer>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-import-"));
  files = new Map([
    ["/ripe", Buffer.from(delegatedFile())],
    ["/names", Buffer.from(namesFile())],
  ]);
  server = await startHostileServer((request, socket) => {
    const content = files.get(request.path);
    if (content === undefined) answer(socket, 404);
    else serveFile(content, `"${content.length}"`, { "last-modified": "Thu, 20 Nov 2025 04:40:00 GMT" })(request, socket);
  });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const sha256Of = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

const stateFolder = () => join(folder, "ingest");
const store = () => openFolderStore(join(folder, "snapshots"));

function list(names: string): string {
  const path = join(folder, "sources.yaml");
  writeFileSync(
    path,
    `sources:
  - {name: ripe, section: allocations, format: delegated, location: "${server.url}/ripe", allow_private: true}
  - {name: names, section: as_names, format: name-list, location: "${server.url}/names", allow_private: true${names}}
`,
  );
  return path;
}

async function run(names = "", onNote: (note: string) => void = () => undefined): Promise<RunReport> {
  return importSources({ config: await readSources(list(names)), store: store(), stateFolder: stateFolder(), onNote });
}

/** An import of a process whose files cannot grow beyond 200 blocks of 512 or 1,024 bytes, as the shell likes. */
async function runLimited(): Promise<Record<string, unknown>> {
  const command = 'ulimit -f 200; exec "$@"';
  const node = [process.execPath, ...testProgramArgs("services/ingest/test/support/import-process.ts")];
  const child = spawn("sh", ["-c", command, "sh", ...node, list(""), stateFolder(), join(folder, "snapshots")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  await once(child, "close");
  expect(err).toBe("");
  return JSON.parse(out) as Record<string, unknown>;
}

async function manifest(): Promise<Manifest | null> {
  const id = await store().currentId();
  return id === null ? null : store().getManifest(id);
}

async function failed(work: Promise<unknown>): Promise<IngestError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof IngestError) return error;
  throw error ?? new Error("it did not fail");
}

test("tells where each file is from, and takes the server's time where the file tells none", async () => {
  const report = await run();
  expect(report.sources).toMatchObject([
    { name: "ripe", url: `${server.url}/ripe`, state: "read", accepted: 10, as_of: "2025-11-20T00:00:00Z" },
    { name: "names", url: `${server.url}/names`, state: "read", accepted: 10, as_of: "2025-11-20T04:40:00Z" },
  ]);
  expect(Date.parse(report.sources[0]?.fetched_at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  // The same again: nothing comes over the network, and the snapshot is the same.
  const again = await run();
  expect(again).toMatchObject({ snapshot: report.snapshot, unchanged: true });
  expect(server.requests.filter(({ headers }) => headers["if-none-match"] !== undefined)).toHaveLength(2);
});

test.each(["toString", "constructor"])("a source may be named %s, as a member of every object, and is told as absent", async (name) => {
  const report = await run(`}
  - {name: ${name}, section: as_names, format: name-list, location: "${server.url}/none", allow_private: true, required: false`);
  const error = `${server.url}/none: no usable version of it was fetched`;
  expect(report.sources.find((source) => source.name === name)).toMatchObject({ state: "failed", error });
});

test("a required source that is not to be had ends it before anything is read, and says so in its report", async () => {
  await run();
  const before = await store().currentId();
  files.delete("/ripe");
  const error = await failed(run());
  expect(error.message).toBe(`ripe: ${server.url}/ripe: the server returned status 404`);
  expect(error.report).toMatchObject({
    snapshot: null,
    sources: [{ name: "ripe", state: "failed", error: `${server.url}/ripe: the server returned status 404` }],
  });
  expect(await store().currentId()).toBe(before);
});

test("an optional one that was never there is left out; one that was is read as it was; both are told", async () => {
  files.delete("/names");
  const notes: string[] = [];
  const first = await run(", required: false", (note) => notes.push(note));
  expect(notes).toEqual([
    `names: a source is unavailable; its last good data, if any, remain in use: ${server.url}/names: the server returned status 404`,
  ]);
  expect(first.sources.map(({ name, state }) => [name, state])).toEqual([
    ["ripe", "read"],
    ["names", "failed"],
  ]);
  expect(Object.keys((await manifest())?.sections ?? {})).toEqual(["allocations"]);
  files.set("/names", Buffer.from(namesFile()));
  await run(", required: false");
  files.delete("/names");
  const third = await run(", required: false");
  expect(third.sources[1]).toMatchObject({ name: "names", state: "read", accepted: 10 });
});

test("a local file that is optional and cannot be read is told to be left out, as no copy of it is kept", async () => {
  const notes: string[] = [];
  await run("}\n  - {name: own, section: as_names, format: name-list, location: /none/own, required: false", (note) => notes.push(note));
  const effect = "its last good data, if any, remain in use until their section is next built, which leaves the source out";
  expect(notes).toEqual([`own: a source is unavailable; ${effect}: /none/own: no such file`]);
});

test("what ends the run is told by its error alone, and what else was wrong by notes", async () => {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const away = `}\n  - {name: more, section: as_names, format: name-list, location: "${server.url}/more", allow_private: true, required: false`;
  files.delete("/ripe");
  expect((await failed(run(away, note))).message).toBe(`ripe: ${server.url}/ripe: the server returned status 404`);
  expect(notes.splice(0)).toEqual([
    `more: a source is unavailable; its last good data, if any, remain in use: ${server.url}/more: the server returned status 404`,
  ]);
  files.set("/ripe", Buffer.from("not a delegated file\n"));
  expect((await failed(run("", note))).message).toContain("not a delegated statistics file");
  expect(notes).toEqual([]);
});

test("a bomb of gzip ends at bytes_max, not at the end of memory, and what was good stays", async () => {
  await run();
  const before = await manifest();
  files.set("/names", gzipSync(Buffer.alloc(64 << 20, "1\tA\n")));
  const error = await failed(run(", bytes_max: 1MiB"));
  expect(error.report.sources.find(({ name }) => name === "names")?.error).toContain("longer than the 1048576 bytes that bytes_max allows");
  expect(await manifest()).toEqual(before);
  // Optional, it is read in its last good version, and the next version is measured by that.
  const kept = await run(", bytes_max: 1MiB, required: false");
  expect(kept.sources[1]).toMatchObject({ state: "kept", accepted: 10, error: expect.stringContaining("bytes_max") });
});

test("of two imports into one folder one works and one waits", async () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const ripe = serveFile(Buffer.from(delegatedFile()), '"r"');
  server.behave(async (request, socket) => {
    await opened;
    if (request.path === "/ripe") ripe(request, socket);
    else if (request.path === "/names") serveFile(Buffer.from(namesFile()), '"n"')(request, socket);
    else answer(socket, 404);
  });
  const notes: string[] = [];
  const first = run();
  while (server.requests.length === 0) await sleep(5);
  const second = run("", (note) => notes.push(note));
  while (notes.length === 0) await sleep(5);
  expect(notes).toEqual(["another import is using this folder; this one starts when it has ended"]);
  const { length } = server.requests;
  open();
  const [one, two] = await Promise.all([first, second]);
  expect(two).toMatchObject({ snapshot: one.snapshot, unchanged: true });
  expect(length).toBe(1);
});

test("stopped in the middle of a fetch it publishes nothing, and goes on from there the next time", async () => {
  const big = Buffer.concat([Buffer.from(namesFile()), Buffer.alloc(200_000, "\n")]);
  const stopping = new AbortController();
  const ripe = serveFile(Buffer.from(delegatedFile()), '"r"');
  const good = serveFile(big, '"n"');
  let stalls = true;
  server.behave((request, socket) => {
    if (request.path === "/ripe") return ripe(request, socket);
    if (request.path !== "/names") return answer(socket, 404);
    if (!stalls) return good(request, socket);
    writeHead(socket, 200, { etag: '"n"', "content-length": big.length });
    return socket.write(big.subarray(0, 100_000));
  });
  const config = await readSources(list(""));
  const stopped = importSources({
    config,
    store: store(),
    stateFolder: stateFolder(),
    signal: stopping.signal,
    onProgress: ({ label, done }) => {
      if (label === "fetch names" && done === 100_000) stopping.abort();
    },
  });
  expect((await failed(stopped)).message).toBe("stopped; nothing was published");
  expect(await store().currentId()).toBeNull();
  stalls = false;
  await run();
  expect(server.requests.filter(({ path }) => path === "/names").map(({ headers }) => headers.range)).toEqual([undefined, "bytes=100000-"]);
});

test("a full disk is told of as such, and leaves the last good file and snapshot", async () => {
  const first = await run();
  const before = readdirSync(join(stateFolder(), "downloads", "names")).sort();
  files.set("/names", Buffer.concat([Buffer.from(namesFile(11)), Buffer.alloc(400_000, "\n")]));
  expect(await runLimited()).toMatchObject({
    isUnwritten: true,
    error: expect.stringMatching(/names\/partial: the disk is full \(EFBIG\); the last good version remains in use$/),
  });
  expect(await store().currentId()).toBe(first.snapshot);
  expect(readdirSync(join(stateFolder(), "downloads", "names")).sort()).toEqual(before);
  expect(existsSync(join(stateFolder(), "downloads", "names", "partial"))).toBe(false);
  // With room it goes on by itself.
  expect((await run()).sources[1]).toMatchObject({ accepted: 11 });
});

test("a full disk in the middle of a run is given back what the run had stored", async () => {
  await run();
  const objects = () => readdirSync(join(folder, "snapshots", "objects")).sort();
  const before = objects();
  files.set("/names", Buffer.from(namesFile(11)));
  const full = store();
  const stored: string[] = [];
  const putObject: typeof full.putObject = async (bytes) => {
    stored.push(await full.putObject(bytes));
    if (!before.includes(`${stored.at(-1)}`)) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    return `${stored.at(-1)}`;
  };
  const config = await readSources(list(""));
  const error = await failed(importSources({ config, store: { ...full, putObject }, stateFolder: stateFolder() }));
  expect(error.message).toMatch(/^the disk is full: .*; nothing was published$/);
  expect(objects()).toEqual(before);
});

test("a state that cannot be saved changes nothing of what became of the import, and is noted", async () => {
  await run();
  const schedule = join(stateFolder(), "schedule.json");
  rmSync(schedule);
  mkdirSync(schedule);
  const saved = /^the state of the sources found by this import could not be saved: .*schedule\.json/;
  const notes: string[] = [];
  files.set("/names", Buffer.from(namesFile(11)));
  const report = await run("", (note) => notes.push(note));
  expect(report.snapshot).toBe(await store().currentId());
  expect(notes).toContainEqual(expect.stringMatching(saved));
  files.set("/ripe", Buffer.from("no registry's file\n"));
  expect((await failed(run("", (note) => notes.push(note)))).message).toMatch(/ripe/);
  expect(await store().currentId()).toBe(report.snapshot);
});

test.each([512, 1_024])("a file whose last bytes have no room is not taken for whole, with blocks of %i bytes", async (block) => {
  files.set("/names", Buffer.concat([Buffer.alloc(200 * block - 100, "\n"), Buffer.from(namesFile(20))]));
  const told = await runLimited();
  const names = join(stateFolder(), "downloads", "names");
  for (const name of readdirSync(names).filter((each) => /^[0-9a-f]{64}$/.test(each)))
    expect(sha256Of(readFileSync(join(names, name)))).toBe(name);
  if (told.error === undefined) return;
  expect(told.error).toMatch(/names\/partial: the disk is full \(EFBIG\)/);
  expect((await run()).sources[1]).toMatchObject({ accepted: 20 });
});
