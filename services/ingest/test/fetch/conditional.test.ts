/** What is there already is asked for only if it has changed; what is new replaces it when it is whole. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type PartialFile, urlDigestOf } from "../../src/fetch/download-folder.ts";
import { type Fetching, failure, fetching } from "../support/fetching.ts";
import { answer, type HostileServer, serveFile, startHostileServer, writeHead } from "../support/hostile-server.ts";

let server: HostileServer;
let place: Fetching;
beforeEach(async () => {
  server = await startHostileServer();
  place = fetching();
});
afterEach(async () => {
  await server.stop();
  place.remove();
});

const first = Buffer.from("first version");
const second = Buffer.from("second version");
const modified = "Fri, 20 Nov 2026 08:00:00 GMT";

test("a file comes with where it is from, its digest, and the time it was last written", async () => {
  server.behave(serveFile(first, '"1"', { "last-modified": modified }));
  const { file, content, changed, path, bytes } = await place.fetch(
    `${server.url}/a?depth=0`,
    {},
    { now: () => Date.parse(modified) + 5_000 },
  );
  expect(changed).toBe(true);
  expect(content).toEqual(first);
  expect(bytes).toBe(first.length);
  expect(file).toMatchObject({
    sha256: createHash("sha256").update(first).digest("hex"),
    bytes: first.length,
    url: `${server.url}/a?depth=0`,
    finalUrl: `${server.url}/a?depth=0`,
    etag: '"1"',
    lastModified: modified,
    fetchedAt: Date.parse(modified) + 5_000,
  });
  expect(statSync(path).mtimeMs).toBe(Date.parse(modified));
  expect(server.requests[0]?.headers).toMatchObject({
    "user-agent": "netfacts/test",
    "accept-encoding": "gzip",
    host: `127.0.0.1:${server.port}`,
  });
});

test("304 leaves the file and its time, and notes that it is the newest", async () => {
  server.behave(serveFile(first, '"1"'));
  const before = await place.fetch(`${server.url}/a`, {}, { now: () => 1_000 });
  const after = await place.fetch(`${server.url}/a`, {}, { now: () => 2_000 });
  expect(server.requests[1]?.headers["if-none-match"]).toBe('"1"');
  expect(after).toMatchObject({ changed: false, bytes: 0, file: { ...before.file, fetchedAt: 1_000, checkedAt: 2_000 } });
  expect(after.content).toEqual(first);
});

test("a weak validator and a time are conditions too", async () => {
  server.behave((request, socket) => {
    if (request.number === 0) answer(socket, 200, { etag: 'W/"1"', "last-modified": modified }, first);
    else {
      writeHead(socket, 304);
      socket.end();
    }
  });
  await place.fetch(`${server.url}/a`);
  expect((await place.fetch(`${server.url}/a`)).changed).toBe(false);
  expect(server.requests[1]?.headers).toMatchObject({ "if-none-match": 'W/"1"', "if-modified-since": modified });
});

test("the same bytes again are no change, whatever the server calls them", async () => {
  server.behave(serveFile(first, '"1"'));
  await place.fetch(`${server.url}/a`);
  server.behave(serveFile(first, '"2"'));
  expect(await place.fetch(`${server.url}/a`)).toMatchObject({ changed: false, file: { etag: '"2"' } });
});

test("a new version replaces the old one, and nothing else is left behind", async () => {
  server.behave(serveFile(first, '"1"'));
  await place.fetch(`${server.url}/a`);
  server.behave(serveFile(second, '"2"'));
  const { content, file, changed } = await place.fetch(`${server.url}/a`);
  expect(changed).toBe(true);
  expect(content).toEqual(second);
  expect(readdirSync(join(place.downloads, "source")).sort()).toEqual([file.sha256, "lock", "state.json"].sort());
});

test("another URL is no condition of the first one", async () => {
  server.behave(serveFile(first, '"1"'));
  await place.fetch(`${server.url}/a?token=x`);
  await place.fetch(`${server.url}/a?token=y`);
  expect(server.requests[1]?.headers["if-none-match"]).toBeUndefined();
});

test("a file that somebody removed is fetched again", async () => {
  server.behave(serveFile(first, '"1"'));
  const { path } = await place.fetch(`${server.url}/a`);
  unlinkSync(path);
  expect((await place.fetch(`${server.url}/a`)).content).toEqual(first);
});

test("notes that are damaged are no reason to fail: it is fetched again", async () => {
  server.behave(serveFile(first, '"1"'));
  await place.fetch(`${server.url}/a`);
  for (const name of ["state.json", "partial.json"]) writeFileSync(join(place.downloads, "source", name), "{");
  expect((await place.fetch(`${server.url}/a`)).content).toEqual(first);
});

test.each(["before", "after"])(
  "a process that was killed while it took over a whole file, %s its state was written, leaves nothing in the way",
  async (when) => {
    server.behave(serveFile(first, '"1"'));
    const url = `${server.url}/a`;
    await place.fetch(url);
    const folder = join(place.downloads, "source");
    if (when === "before") unlinkSync(join(folder, "state.json"));
    const note: PartialFile = { urlDigest: urlDigestOf(url), etag: '"1"', total: first.length, bytes: 5 };
    writeFileSync(join(folder, "partial.json"), JSON.stringify(note));
    expect((await place.fetch(url)).content).toEqual(first);
  },
);

test("a whole file that no state names, of a process that was killed, takes no room from the next one", async () => {
  server.behave(serveFile(first, '"1"'));
  const { file } = await place.fetch(`${server.url}/a`);
  writeFileSync(join(place.downloads, "source", "0".repeat(64)), second);
  server.behave((_request, socket) => answer(socket, 500));
  await failure(place.fetch(`${server.url}/a`));
  expect(readdirSync(join(place.downloads, "source")).sort()).toEqual([file.sha256, "lock", "state.json"].sort());
});

test.each([
  ["another version", 200, {}],
  ["the same version", 206, { "content-range": `bytes 5-${2 ** 50 - 1}/${2 ** 50}` }],
])("where the disk has no room, a part of %s does not stay", async (_which, status, headers) => {
  server.behave((_request, socket) => answer(socket, status, { etag: '"1"', "content-length": `${2 ** 50}`, ...headers }, first));
  const url = `${server.url}/a`;
  const folder = join(place.downloads, "source");
  mkdirSync(folder);
  writeFileSync(join(folder, "partial"), first.subarray(0, 5));
  const note: PartialFile = { urlDigest: urlDigestOf(url), etag: '"1"', total: null, bytes: 5 };
  writeFileSync(join(folder, "partial.json"), JSON.stringify(note));
  expect(await failure(place.fetch(url, { bytesMax: 2 ** 51 }))).toMatchObject({ fault: "disk" });
  expect(readdirSync(folder)).toEqual(["lock"]);
});

test("of a partial file that is shorter than its note nothing is used", async () => {
  server.behave(serveFile(first, '"1"'));
  const url = `${server.url}/a`;
  const { path } = await place.fetch(url);
  unlinkSync(path);
  const note: PartialFile = { urlDigest: urlDigestOf(url), etag: '"1"', total: first.length, bytes: 5 };
  const folder = join(place.downloads, "source");
  writeFileSync(join(folder, "partial.json"), JSON.stringify(note));
  writeFileSync(join(folder, "partial"), first.subarray(0, 3));
  expect((await place.fetch(url)).content).toEqual(first);
});

test("packed on the way it is kept as it came; a packed file, and one with a digest, are asked for as they are", async () => {
  server.behave((_request, socket) => answer(socket, 200, { "content-encoding": "gzip" }, gzipSync(first)));
  expect((await place.fetch(`${server.url}/a`)).content).toEqual(gzipSync(first));
  await place.fetch(`${server.url}/b.gz?x`);
  await place.fetch(`${server.url}/c`, { md5: "if-present" });
  expect(server.requests.map(({ headers }) => headers["accept-encoding"])).toEqual(["gzip", "identity", "identity", "identity"]);
  server.behave((_request, socket) => answer(socket, 200, { "content-encoding": "br" }, "?"));
  expect((await failure(place.fetch(`${server.url}/a`))).message).toContain("the encoding br, which was not requested");
});

test("an empty Content-Encoding is none", async () => {
  server.behave((_request, socket) => answer(socket, 200, { "content-encoding": "" }, first));
  expect((await place.fetch(`${server.url}/a`)).content).toEqual(first);
});

test("of dated files the newest that exists is taken, and the one that is there already is not fetched again", async () => {
  const dated = { everySeconds: 7_200 };
  const url = `${server.url}/rib.{yyyyMMdd}.{HHmm}.bz2`;
  const now = () => Date.parse("2026-11-21T15:10:00Z");
  const only = (path: string, etag: string): void =>
    server.behave((request, socket) => (request.path === path ? serveFile(Buffer.from(path), etag)(request, socket) : answer(socket, 404)));
  only("/rib.20261121.1200.bz2", '"12"');
  const { file } = await place.fetch(url, dated, { now });
  expect(file.url).toBe(`${server.url}/rib.20261121.1200.bz2`);
  expect(server.requests.map(({ path }) => path)).toEqual(["/rib.20261121.1400.bz2", "/rib.20261121.1200.bz2"]);
  expect(await place.fetch(url, dated, { now })).toMatchObject({ changed: false, bytes: 0 });
  only("/rib.20261121.1400.bz2", '"14"');
  expect(await place.fetch(url, dated, { now })).toMatchObject({ changed: true, file: { url: `${server.url}/rib.20261121.1400.bz2` } });
  only("/none", "");
  const error = await failure(place.fetch(url, dated, { now }));
  expect(error.message).toBe(`${server.url}/rib.20261121.1400.bz2: not found, nor are the 12 before it`);
});

test("of dated files on a server that answers 403 for a missing one, the newest that exists is taken", async () => {
  const dated = { everySeconds: 7_200 };
  const url = `${server.url}/rib.{yyyyMMdd}.{HHmm}.bz2`;
  const now = () => Date.parse("2026-11-21T15:10:00Z");
  const existing = ["/rib.20261121.1000.bz2", "/rib.20261121.1200.bz2"];
  server.behave((request, socket) =>
    existing.includes(request.path) ? serveFile(Buffer.from(request.path), `"${request.path}"`)(request, socket) : answer(socket, 403),
  );
  const { file } = await place.fetch(url, dated, { now });
  expect(file.url).toBe(`${server.url}/rib.20261121.1200.bz2`);
  existing.pop();
  const told = `${server.url}/rib.20261121.1200.bz2: the server returned status 403`;
  expect((await failure(place.fetch(url, dated, { now }))).message).toBe(told);
  existing.pop();
  const elsewhere = `${server.url}/other.{yyyyMMdd}.{HHmm}.bz2`;
  const first = `${server.url}/other.20261121.1400.bz2: the server returned status 403`;
  expect((await failure(place.fetch(elsewhere, dated, { now }))).message).toBe(first);
});

test.each(["Fri, 20 Nov 2099 08:00:00 GMT", "Thu, 01 Jan 1970 00:00:01 GMT", "Wed, 31 Dec 1969 23:59:59 GMT"])(
  "a file that was written at no possible time, %s, counts as written now",
  async (modified) => {
    server.behave(serveFile(first, '"1"', { "last-modified": modified }));
    const { path } = await place.fetch(`${server.url}/a`, {}, { now: () => 1_700_000_000_000 });
    expect(statSync(path).mtimeMs).toBe(1_700_000_000_000);
  },
);
