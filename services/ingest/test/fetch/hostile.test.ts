/** Servers that stall, lie, break off and change their mind: what is kept is whole, what fails says why, and the last good version remains in use. */

import { existsSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
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

const file = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 251));
const ranges = () => server.requests.map(({ headers }) => headers.range ?? "all");

/** Sends the file's head, so much of its content, and then does what is hostile. */
function cutAfter(bytes: number, headers: Record<string, string | number>, end: (socket: Socket) => void) {
  return (_request: unknown, socket: Socket): void => {
    writeHead(socket, 200, { "content-length": file.length, ...headers });
    socket.write(file.subarray(0, bytes), () => end(socket));
  };
}

/** The first answer is hostile, all others are good. */
function onceThenGood(first: (request: never, socket: Socket) => void, etag = '"1"'): void {
  const good = serveFile(file, etag);
  server.behave((request, socket) => (request.number === 0 ? first(request as never, socket) : good(request, socket)));
}

test("a connection that is reset midway is gone on with from where it broke", async () => {
  onceThenGood(cutAfter(100_000, { etag: '"1"' }, (socket) => socket.resetAndDestroy()));
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  expect(server.requests[1]?.headers["if-range"]).toBe('"1"');
  expect(Number(/^bytes=(\d+)-$/.exec(ranges()[1] ?? "")?.[1])).toBeGreaterThan(0);
});

test("a length that is more than what comes is a cut, not an end", async () => {
  onceThenGood(cutAfter(100_000, { etag: '"1"' }, (socket) => socket.end()));
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  expect(ranges()).toEqual(["all", "bytes=100000-"]);
});

test("a server that always ends early is given up after five tries, and what was there stays", async () => {
  server.behave(serveFile(Buffer.from("good"), '"0"'));
  const { path } = await place.fetch(`${server.url}/a`);
  server.behave(cutAfter(1_000, {}, (socket) => socket.end()));
  const error = await failure(place.fetch(`${server.url}/a`));
  expect(error.message).toBe(`${server.url}/a: the connection was closed after 1000 of 300000 bytes (5 tries)`);
  // Full jitter, at its middle.
  expect(place.pauses).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(readFileSync(path, "utf8")).toBe("good");
  expect(existsSync(join(place.downloads, "source", "partial"))).toBe(false);
});

test("a length that is less than what comes makes no shorter file of it", async () => {
  server.behave((_request, socket) => {
    writeHead(socket, 200, { "content-length": 1_000 });
    socket.end(file);
  });
  const error = await failure(place.fetch(`${server.url}/a`));
  expect(error.fault).toMatch(/away|damaged/);
});

test("chunks without a length are taken to their end, and are no whole without it", async () => {
  const chunked = (body: Buffer, isWhole: boolean) => (_request: unknown, socket: Socket) => {
    writeHead(socket, 200, { "transfer-encoding": "chunked" });
    socket.write(`${body.length.toString(16)}\r\n`);
    socket.write(body);
    socket.end(isWhole ? "\r\n0\r\n\r\n" : "\r\n");
  };
  server.behave(chunked(file, true));
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  server.behave(chunked(file.subarray(5), false));
  expect((await failure(place.fetch(`${server.url}/a`))).message).toContain(
    "the connection was closed after 299995 of unknown bytes (5 tries)",
  );
});

test("a file that changed meanwhile is fetched from its start", async () => {
  const changed = Buffer.concat([Buffer.from("changed"), file]);
  server.behave((request, socket) =>
    request.number === 0
      ? cutAfter(100_000, { etag: '"1"' }, (cut) => cut.end())(request, socket)
      : serveFile(changed, '"2"')(request, socket),
  );
  expect((await place.fetch(`${server.url}/a`)).content.equals(changed)).toBe(true);
  expect(ranges()).toEqual(["all", "bytes=100000-"]);
});

test.each([
  ["another version", { etag: '"2"', "content-range": `bytes 100000-${file.length - 1}/${file.length}` }],
  ["another place", { etag: '"1"', "content-range": `bytes 5-${file.length - 1}/${file.length}` }],
  ["another length", { etag: '"1"', "content-range": `bytes 100000-${file.length}/${file.length + 1}` }],
  ["nothing of a place", { etag: '"1"' }],
])("a part that says %s is not joined to what is there", async (_what, headers) => {
  server.behave((request, socket) => {
    if (request.number === 0) cutAfter(100_000, { etag: '"1"' }, (cut) => cut.end())(request, socket);
    else if (request.headers.range === undefined) serveFile(file, '"1"')(request, socket);
    else answer(socket, 206, headers, file.subarray(100_000));
  });
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  expect(ranges()).toEqual(["all", "bytes=100000-", "all"]);
});

test("416 for what is there makes it begin anew", async () => {
  server.behave((request, socket) => {
    if (request.number === 0) cutAfter(100_000, { etag: '"1"' }, (cut) => cut.end())(request, socket);
    else if (request.headers.range !== undefined) answer(socket, 416, { "content-range": "bytes */5" });
    else serveFile(file, '"3"')(request, socket);
  });
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
});

test.each([
  ["a weak ETag", { etag: 'W/"1"' }],
  ["a time only", { "last-modified": "Fri, 20 Nov 2026 08:00:00 GMT" }],
])("%s is not strong enough to go on with", async (_what, headers) => {
  onceThenGood(cutAfter(100_000, headers as Record<string, string>, (socket) => socket.end()));
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  expect(ranges()).toEqual(["all", "all"]);
});

test("what a process before left is gone on with", async () => {
  server.behave(cutAfter(200_000, { etag: '"1"' }, () => undefined));
  const stopping = new AbortController();
  const stopped = failure(
    place.fetch(
      `${server.url}/a`,
      {},
      {
        signal: stopping.signal,
        onProgress: ({ done }) => {
          if (done >= 200_000) stopping.abort(new Error("stopped here"));
        },
      },
    ),
  );
  expect((await stopped).message).toBe("stopped here");
  server.behave(serveFile(file, '"1"'));
  const { content, bytes } = await place.fetch(`${server.url}/a`);
  expect(content.equals(file)).toBe(true);
  expect(bytes).toBe(100_000);
  expect(ranges()).toEqual(["all", "bytes=200000-"]);
});

test("silence is no download: before the answer, and in its middle", async () => {
  server.behave(() => undefined);
  const silent = await failure(place.fetch(`${server.url}/a`, {}, { stallMs: 100 }));
  expect(silent.message).toBe(`${server.url}/a: the server did not respond within 0.1 s (5 tries)`);
  server.behave(cutAfter(1_000, {}, () => undefined));
  // Longer, as the head must come in this time, however busy the machine is.
  const stalled = await failure(place.fetch(`${server.url}/a`, {}, { stallMs: 1_000 }));
  expect(stalled.message).toBe(`${server.url}/a: no data for 1 s (5 tries)`);
});

test("a slow server is no silent one: what goes on coming is waited for", async () => {
  const drips = 12;
  server.behave((_request, socket) => {
    writeHead(socket, 200, { "content-length": drips });
    void (async () => {
      for (let at = 0; !socket.destroyed && at < drips; at++) {
        socket.write("x");
        await sleep(300);
      }
    })();
  });
  // All of it takes longer than the silence that is borne.
  expect((await place.fetch(`${server.url}/a`, {}, { stallMs: 3_000 })).bytes).toBeGreaterThanOrEqual(drips);
});

test("where tries fail until seconds_max is over, the reason of the last one is told", async () => {
  server.behave((_request, socket) => {
    writeHead(socket, 500, { "content-length": 0 });
  });
  expect(
    await failure(place.fetch(`${server.url}/a`, { secondsMax: 3 }, { pause: (_ms, stop) => sleep(60_000, undefined, { signal: stop }) })),
  ).toMatchObject({
    fault: "late",
    message: `${server.url}/a: took longer than seconds_max (3 s); the last try: the server returned status 500`,
  });
});

test("a drip that never stalls ends at seconds_max, and the part is of use later", async () => {
  let dripping = true;
  server.behave((_request, socket) => {
    writeHead(socket, 200, { "content-length": file.length, etag: '"1"' });
    void (async () => {
      for (let at = 0; dripping && !socket.destroyed && at < file.length; at++) {
        socket.write(file.subarray(at, at + 1));
        await sleep(20);
      }
    })();
  });
  const error = await failure(place.fetch(`${server.url}/a`, { secondsMax: 1 }, { stallMs: 10_000 }));
  dripping = false;
  expect(error).toMatchObject({ fault: "late", message: `${server.url}/a: took longer than seconds_max (1 s)` });
  server.behave(serveFile(file, '"1"'));
  expect((await place.fetch(`${server.url}/a`)).content.equals(file)).toBe(true);
  expect(ranges()[1]).toMatch(/^bytes=\d+-$/);
});

test("what says that it is too long is not read; what turns out to be is not kept", async () => {
  server.behave(cutAfter(1_000, {}, () => undefined));
  const told = await failure(place.fetch(`${server.url}/a`, { bytesMax: 250_000 }));
  expect(told.message).toBe(`${server.url}/a: 300000 bytes, larger than bytes_max (250000 bytes)`);
  server.behave((_request, socket) => {
    // With a strong ETag: what is of use would be resumed.
    writeHead(socket, 200, { etag: '"1"' });
    const more = (): void => {
      while (!socket.destroyed && socket.write(file));
      if (!socket.destroyed) socket.once("drain", more);
    };
    more();
  });
  const endless = await failure(place.fetch(`${server.url}/a`, { bytesMax: 2_000_000 }));
  expect(endless).toMatchObject({ fault: "bound", message: `${server.url}/a: larger than bytes_max (2000000 bytes)` });
  expect(existsSync(join(place.downloads, "source", "partial"))).toBe(false);
  expect(server.requests).toHaveLength(2);
});

test("a file of exactly bytes_max is taken, and one byte more is refused, where no length tells", async () => {
  server.behave((_request, socket) => {
    writeHead(socket, 200);
    socket.end(file);
  });
  expect((await place.fetch(`${server.url}/a`, { bytesMax: file.length })).content.equals(file)).toBe(true);
  expect(await failure(place.fetch(`${server.url}/b`, { bytesMax: file.length - 1 }))).toMatchObject({ fault: "bound" });
});

test("429 and 503 are waited for as long as they ask, up to two minutes", async () => {
  const now = () => Date.parse("2026-11-21T12:00:00Z");
  server.behave((request, socket) => {
    if (request.number === 0) answer(socket, 429, { "retry-after": 7 });
    else if (request.number === 1) answer(socket, 503, { "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT" });
    else if (request.number === 2) answer(socket, 503);
    else serveFile(file, '"1"')(request, socket);
  });
  expect((await place.fetch(`${server.url}/a`, {}, { now })).content.equals(file)).toBe(true);
  expect(place.pauses).toEqual([7_000, 30_000, 4_000]);
  server.behave((_request, socket) => answer(socket, 429, { "retry-after": 3_600 }));
  const error = await failure(place.fetch(`${server.url}/b`, {}, { now }));
  expect(error).toMatchObject({
    message: `${server.url}/b: the server returned status 429; the server asks not to be contacted before 2026-11-21T13:00:00Z`,
    retryAfterMs: 3_600_000,
  });
  expect(server.requests).toHaveLength(5);
  server.behave((_request, socket) => answer(socket, 503, { "retry-after": 90 }));
  expect(await failure(place.fetch(`${server.url}/c`, { secondsMax: 600 }, { now }))).toMatchObject({ retryAfterMs: 90_000 });
  expect(server.requests).toHaveLength(10);
});

test.each([400, 401, 403, 404, 410, 451])("%d is asked for once", async (status) => {
  server.behave((_request, socket) => answer(socket, status));
  expect((await failure(place.fetch(`${server.url}/a`))).message).toBe(`${server.url}/a: the server returned status ${status}`);
  expect(server.requests).toHaveLength(1);
});

test("what speaks no HTTP, and a port where nobody listens, are told in words", async () => {
  server.behave((_request, socket) => socket.end("SSH-2.0-OpenSSH\r\n"));
  const noHttp = `${server.url}/a: what the server sends is not HTTP, or its headers are too long (5 tries)`;
  expect((await failure(place.fetch(`${server.url}/a`))).message).toBe(noHttp);
  server.behave((_request, socket) => writeHead(socket, 200, { "content-length": 0, x: "y".repeat(20_000) }));
  expect((await failure(place.fetch(`${server.url}/a`))).message).toBe(noHttp);
  const { url } = server;
  await server.stop();
  expect((await failure(place.fetch(`${url}/a`))).message).toBe(`${url}/a: the server refuses connections (ECONNREFUSED) (5 tries)`);
  server = await startHostileServer();
});

test("two fetches of one source at a time: one works, one waits, and the second finds it done", async () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const good = serveFile(file, '"1"');
  server.behave(async (request, socket) => {
    await opened;
    good(request, socket);
  });
  const both = [place.fetch(`${server.url}/a`), place.fetch(`${server.url}/a`)];
  while (server.requests.length === 0) await sleep(5);
  await sleep(250);
  expect(server.requests).toHaveLength(1);
  open();
  expect((await Promise.all(both)).map(({ changed }) => changed).sort()).toEqual([false, true]);
  expect(server.requests[1]?.headers["if-none-match"]).toBe('"1"');
});
