/** The digest beside a file (`.md5`): a file that does not fit it is no file. */

import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type Fetching, failure, fetching } from "../support/fetching.ts";
import { answer, type HostileServer, startHostileServer } from "../support/hostile-server.ts";

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

const content = "2|ripencc|20261120|0|19830101|20261120|+0100\n";
const digest = createHash("md5").update(content).digest("hex");

/** The file, and what is at its `.md5`; undefined: nothing. */
function serve(
  beside: (asked: number) => string | undefined,
  body: string | Uint8Array = content,
  headers: Record<string, string> = {},
): void {
  let asked = 0;
  server.behave((request, socket) => {
    if (!request.path.startsWith("/delegated.md5")) answer(socket, 200, headers, body);
    else {
      const text = beside(asked++);
      answer(socket, text === undefined ? 404 : 200, {}, text);
    }
  });
}

test.each([
  ["as registries write it", `MD5 (delegated-ripencc-extended-20261120) = ${digest}\n`],
  ["as md5sum writes it", `${digest.toUpperCase()}  delegated\n`],
])("is read %s", async (_who, text) => {
  serve(() => text);
  expect((await place.fetch(`${server.url}/delegated?x=1`, { md5: "required" })).content.toString()).toBe(content);
  expect(server.requests.map(({ path }) => path)).toEqual(["/delegated?x=1", "/delegated.md5?x=1"]);
});

test("a file that does not fit is fetched again: it may have been replaced between the two", async () => {
  serve((asked) => (asked === 0 ? "0".repeat(32) : digest));
  await place.fetch(`${server.url}/delegated`, { md5: "if-present" });
  expect(server.requests).toHaveLength(4);
});

test("a file that never fits is refused, and leaves nothing", async () => {
  serve(() => "0".repeat(32));
  const error = await failure(place.fetch(`${server.url}/delegated`, { md5: "if-present" }));
  expect(error).toMatchObject({
    fault: "damaged",
    message: `${server.url}/delegated: the content does not match the digest in its .md5 file (5 tries)`,
  });
});

test("where there is none, a file without it is taken with a note, and one that needs it is not", async () => {
  serve(() => undefined);
  const { notes } = await place.fetch(`${server.url}/delegated`, { md5: "if-present" });
  expect(notes).toEqual([`digest not checked: ${server.url}/delegated.md5: the server returned status 404`]);
  const error = await failure(place.fetch(`${server.url}/delegated`, { name: "other", md5: "required" }));
  expect(error.message).toBe(`${server.url}/delegated.md5: the server returned status 404`);
});

test.each([
  ["long page", `<html>${"x".repeat(5_000)}</html>`],
  ["page with digits", `\n<!doctype html><script src="/app.${"0".repeat(32)}.js"></script>`],
  ["JSON document", `{"request": "${"0".repeat(32)}"}`],
])("a %s in its place is none", async (_what, text) => {
  serve(() => text);
  const { notes } = await place.fetch(`${server.url}/delegated`, { md5: "if-present" });
  expect(notes).toEqual([`digest not checked: ${server.url}/delegated.md5: is not a digest`]);
});

test("is of the content where the server packs it without being asked", async () => {
  serve(() => digest, gzipSync(content), { "content-encoding": "gzip" });
  await place.fetch(`${server.url}/delegated`, { md5: "required" });
});

test("is not of content that is longer than bytes_max", async () => {
  const longer = Buffer.alloc(2 << 20);
  const told = createHash("md5").update(longer).digest("hex");
  serve(() => told, gzipSync(longer));
  const error = await failure(place.fetch(`${server.url}/delegated`, { md5: "required", bytesMax: longer.length - 1 }));
  expect(error.message).toContain("the content does not match the digest in its .md5 file");
  await place.fetch(`${server.url}/delegated`, { md5: "required", bytesMax: longer.length });
});

test("is not waited for when the fetch is stopped", async () => {
  // 256 GiB: longer than any test waits.
  const zeros = zstdCompressSync(Buffer.alloc(64 << 20));
  serve(() => "0".repeat(32), Buffer.concat(Array<Buffer>(4_096).fill(zeros)));
  const stop = new AbortController();
  const fetched = failure(
    place.fetch(`${server.url}/delegated`, { md5: "required", bytesMax: Number.MAX_SAFE_INTEGER }, { signal: stop.signal }),
  );
  while (server.requests.length < 2) await sleep(5);
  await sleep(100);
  stop.abort(new Error("stopped by the test"));
  expect((await fetched).message).toBe("stopped by the test");
});
