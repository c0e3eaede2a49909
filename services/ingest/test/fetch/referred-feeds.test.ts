/**
 * Fetching of geofeeds that a registry dump refers to: over TLS alone, within bounds, and the last good version of each stays.
 *
 * @large It fetches some seventy times, each time with a thread that reads.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { linkLocalRefusal } from "../../src/fetch/address-guard.ts";
import { type FeedBounds, feedBounds, ReferredFeeds, referredVersion } from "../../src/fetch/referred-feeds.ts";
import { makeCertificate } from "../support/certificate.ts";
import { answer, type Behaviour, type HostileServer, serveFile, startHostileServer, writeHead } from "../support/hostile-server.ts";

let folder: string;
let server: HostileServer;
let feeds: ReferredFeeds;
/** By path. */
const files = new Map<string, Behaviour>();
const good = (text: string) => serveFile(Buffer.from(text), `"${createHash("sha256").update(text).digest("hex")}"`);
const entry = (octet: number, city = "City") => `192.0.2.${octet}/32,NL,,${city},\n`;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-feeds-"));
  const made = makeCertificate("127.0.0.1");
  writeFileSync(join(folder, "ca.pem"), made.cert);
  files.clear();
  server = await startHostileServer(
    (request, socket) => (files.get(request.path) ?? ((_r: unknown, s: Socket) => answer(s, 404)))(request, socket),
    { tls: made },
  );
  feeds = new ReferredFeeds(join(folder, "downloads"), "ripe");
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

let version = 0;
/** Asks for the geofeeds at these paths, or URLs. */
async function refresh(
  places: readonly string[],
  bounds: Partial<FeedBounds> = {},
  {
    bytesMax = 1 << 20,
    sha256 = `${version++}`,
    ...more
  }: {
    caFile?: string;
    refuse?: (text: string) => string | null;
    now?: () => number;
    restMs?: number;
    bytesMax?: number;
    sha256?: string;
  } = {},
) {
  const path = join(folder, "dump");
  const url = (place: string) => (place.startsWith("/") ? `${server.url}${place}` : place);
  writeFileSync(path, places.map((place, at) => `inetnum: 192.0.2.${at} - 192.0.2.${at}\ngeofeed: ${url(place)}\n`).join("\n"));
  return feeds.refresh(
    { path, sha256 },
    { bytesMax, secondsMax: 60, badRecordsMax: 0 },
    {
      downloads: "",
      userAgent: "netfacts/test",
      caFile: join(folder, "ca.pem"),
      // Tests have their servers on loopback.
      refuse: linkLocalRefusal,
      pause: async () => undefined,
      signal: new AbortController().signal,
      ...more,
    },
    { ...feedBounds, ...bounds },
  );
}

/** Of each path, the content that a run would read, and what is wrong. */
async function now(): Promise<Record<string, readonly [content: string | null, error: string | null]>> {
  const { feeds: list } = await feeds.now();
  return Object.fromEntries(
    list.map(({ url, path, error }) => [url.replace(server.url, ""), [path === null ? null : readFileSync(path, "utf8"), error] as const]),
  );
}

test("geofeeds are fetched, asked for conditionally, and dropped when nothing refers to them", async () => {
  files.set("/a", good(entry(0))).set("/b", good(entry(1)));
  expect(await refresh(["/a", "/b", "/a"])).toEqual({ feeds: 2, failed: 0, firstError: null });
  expect(await now()).toEqual({ "/a": [entry(0), null], "/b": [entry(1), null] });
  const before = (await feeds.now()).versionOf("dump");
  await refresh(["/a", "/b"]);
  expect(server.requests.slice(2).every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
  expect((await feeds.now()).versionOf("dump")).toBe(before);
  files.set("/a", good(entry(0, "Other")));
  await refresh(["/a"]);
  expect(await now()).toEqual({ "/a": [entry(0, "Other"), null] });
  expect((await feeds.now()).versionOf("dump")).not.toBe(before);
  // A run may be reading what went: it goes with the next refresh.
  const kept = join(folder, "downloads/ripe/feeds/kept");
  expect(readdirSync(kept)).toHaveLength(3);
  await refresh(["/a"]);
  expect(readdirSync(kept)).toHaveLength(1);
  expect(readdirSync(join(folder, "downloads/ripe/feeds"))).toHaveLength(3);
});

test("what was read well is not read again when the server says that it is unchanged", async () => {
  files.set("/a", good(entry(0)));
  await refresh(["/a"]);
  const own = join(folder, "downloads/ripe/feeds", createHash("sha256").update(`${server.url}/a`).digest("hex"));
  const [file = ""] = readdirSync(own).filter((name) => !name.endsWith(".json"));
  writeFileSync(join(own, file), "nothing that is a geofeed\n");
  expect(await refresh(["/a"])).toMatchObject({ feeds: 1, failed: 0 });
  expect(server.requests[1]?.headers["if-none-match"]).toBeDefined();
});

test("what runs may read is kept until the list changes, by whom ever", async () => {
  files.set("/a", good(entry(0)));
  await refresh(["/a"]);
  const first = await feeds.now();
  expect(await feeds.now()).toBe(first);
  const reader = feeds;
  feeds = new ReferredFeeds(join(folder, "downloads"), "ripe");
  files.set("/a", good(entry(0, "Other")));
  await refresh(["/a"]);
  const next = await reader.now();
  expect(next.feeds).toMatchObject([{ entries: 1, effort: 1, error: null }]);
  expect(next.versionOf("dump")).not.toBe(first.versionOf("dump"));
  expect(next.versionOf("dump")).toBe(referredVersion("dump", next.feeds));
});

test("no more than twice the geofeeds that may be asked for are listed", async () => {
  const paths = ["/a", "/b", "/c", "/d", "/e"];
  expect(await refresh(paths, { feedsMax: 2 })).toMatchObject({ feeds: 4, failed: 4 });
});

const drip: Behaviour = (_request, socket) => {
  writeHead(socket, 200, {});
  const timer = setInterval(() => socket.write("#\n"), 20);
  socket.once("close", () => clearInterval(timer));
};
test.each<[string, Behaviour, Partial<FeedBounds>, RegExp]>([
  ["claims to have 10 GB", (_r, socket) => writeHead(socket, 200, { "content-length": 10_000_000_000 }), {}, /bytes/],
  [
    "sends without end",
    (_r, socket) => {
      writeHead(socket, 200, {});
      socket.write(`${"#".repeat(100)}\n`);
      socket.write(Buffer.alloc(200_000, "# x\n"));
    },
    { feedBytesMax: 100_000 },
    /100000 bytes/,
  ],
  ["drips", drip, { feedSecondsMax: 1 }, /took longer than seconds_max \(1 s\)/],
  [
    "redirects to a link-local address",
    (_r, socket) => answer(socket, 302, { location: "https://169.254.169.254/latest" }),
    {},
    /link-local address, which is never allowed/,
  ],
  [
    "redirects to what is not encrypted",
    (_r, socket) => answer(socket, 301, { location: "http://127.0.0.1/" }),
    {},
    /which is not encrypted/,
  ],
  [
    "has become a web page",
    (_r, socket) => answer(socket, 200, { "content-type": "text/html" }, "<!DOCTYPE html>\n<title>Parked</title>\n"),
    {},
    /is no geofeed: 2 of 2 lines/,
  ],
  ["is empty", (_r, socket) => answer(socket, 200, {}, ""), {}, /has no geofeed entries/],
  ["is gone", (_r, socket) => answer(socket, 404), {}, /404/],
  [
    "is cut",
    (_r, socket) => {
      writeHead(socket, 200, { "content-length": 1_000 });
      socket.end(entry(0));
    },
    {},
    /closed after/,
  ],
])(
  "a geofeed that %s keeps its last good version, and others are fetched",
  async (_what, hostile, bounds, told) => {
    files.set("/a", good(entry(0))).set("/b", good(entry(1)));
    await refresh(["/a", "/b"]);
    files.set("/a", hostile).set("/b", good(entry(1, "New")));
    const outcome = await refresh(["/a", "/b"], bounds);
    expect(outcome).toMatchObject({ feeds: 2, failed: 1, firstError: expect.stringMatching(told) });
    expect(await now()).toEqual({ "/a": [entry(0), expect.stringMatching(told)], "/b": [entry(1, "New"), null] });
    // Nothing of what is hostile stays on the disk.
    const own = join(folder, "downloads/ripe/feeds", createHash("sha256").update(`${server.url}/a`).digest("hex"));
    expect(existsSync(join(own, "partial"))).toBe(false);
    files.set("/a", good(entry(0, "Back")));
    await refresh(["/a", "/b"]);
    expect((await now())["/a"]).toEqual([entry(0, "Back"), null]);
  },
  30_000,
);

const manyEntries = (count: number, city = "City") =>
  Array.from({ length: count }, (_, at) => `10.${at >> 8}.${at & 255}.0/24,NL,,${city},\n`).join("");

test("a geofeed that lost most of its entries keeps its last good version, until it has been so for a day", async () => {
  const hour = 3_600_000;
  let time = Date.parse("2026-11-25T00:00:00Z");
  const check = async (text: string) => {
    files.set("/a", good(text));
    await refresh(["/a"], {}, { now: () => time });
    const [content, error] = (await now())["/a"] ?? [];
    time += hour;
    return [content?.split("\n").length, error];
  };
  const refused = (entries: number, before: number) =>
    `has ${entries} entries, compared with ${before} before; it is used if it stays so for a day`;
  expect(await check(manyEntries(300))).toEqual([301, null]);
  // Half of them is no cut file.
  expect(await check(manyEntries(150))).toEqual([151, null]);
  expect(await check(manyEntries(74))).toEqual([151, refused(74, 150)]);
  expect(await check(manyEntries(74))).toEqual([151, refused(74, 150)]);
  expect(await check(manyEntries(150, "Back"))).toEqual([151, null]);
  expect(await check(manyEntries(74))).toEqual([151, refused(74, 150)]);
  time += 10 * hour;
  // Others of it, as each check has another last line: the day goes on.
  expect(await check(manyEntries(70))).toEqual([151, refused(70, 150)]);
  // Cut once more: another day.
  expect(await check(manyEntries(3))).toEqual([151, refused(3, 150)]);
  time += 23 * hour;
  expect(await check(manyEntries(3))).toEqual([4, null]);
  // Of few entries some come and go.
  expect(await check(manyEntries(1))).toEqual([2, null]);
  // The clock was ahead when it shrank: the day begins when it is right.
  expect(await check(manyEntries(150))).toEqual([151, null]);
  time += 10_000 * hour;
  expect(await check(manyEntries(74))).toEqual([151, refused(74, 150)]);
  time -= 10_000 * hour;
  expect(await check(manyEntries(74))).toEqual([151, refused(74, 150)]);
  time += 23 * hour;
  expect(await check(manyEntries(74))).toEqual([75, null]);
});

test("addresses that are not global are refused, whatever the settings of the source are", async () => {
  files.set("/a", good(entry(0)));
  const { refusal } = await import("../../src/fetch/address-guard.ts");
  expect(await refresh(["/a"], {}, { refuse: refusal })).toMatchObject({
    failed: 1,
    firstError: expect.stringContaining("not a globally reachable address"),
  });
  expect(server.requests).toHaveLength(0);
});

test("a server that asks for a longer pause than a geofeed may take is left alone for this round, with all of its geofeeds", async () => {
  const paths = ["/a", "/b", "/c"];
  for (const [at, path] of paths.entries()) files.set(path, good(entry(at)));
  await refresh(paths);
  const before = server.requests.length;
  for (const path of paths) files.set(path, (_request, socket) => answer(socket, 429, { "retry-after": 60 }));
  const { failed } = (await refresh(paths, {}, { now: () => Date.parse("2026-11-25T00:00:00Z") })) ?? {};
  expect(failed).toBe(3);
  expect(server.requests).toHaveLength(before + 1);
  const [, ...others] = Object.values(await now());
  for (const [content, error] of others)
    expect([content, error]).toEqual([
      expect.any(String),
      "was not asked for: its server asks not to be contacted before 2026-11-25T00:01:00Z",
    ]);
});

test("a certificate that nobody vouches for is refused", async () => {
  files.set("/a", good(entry(0)));
  expect(await refresh(["/a"], {}, { caFile: "" })).toMatchObject({
    failed: 1,
    firstError: expect.stringContaining("certificate is not trusted"),
  });
  expect(await now()).toEqual({ "/a": [null, expect.any(String)] });
});

test.each<[string, Partial<FeedBounds>, number]>([
  ["geofeeds of a source", { feedsMax: 3 }, 3],
  ["geofeeds of a host", { hostFeedsMax: 2 }, 2],
  ["bytes of a source", { bytesMax: 3 * entry(0).length }, 3],
  ["bytes of a host", { hostBytesMax: 2 * entry(0).length }, 2],
  ["seconds of a source", { secondsMax: 0 }, 0],
  ["seconds of a host", { hostSecondsMax: 0 }, 0],
])("no more than the %s that are allowed are asked for, and the others are next", async (_what, bounds, asked) => {
  const paths = ["/a", "/b", "/c", "/d", "/e"];
  for (const [at, path] of paths.entries()) files.set(path, good(entry(at)));
  const outcome = await refresh(paths, bounds);
  expect([server.requests.length, outcome?.failed]).toEqual([asked, 5 - asked]);
  expect(outcome?.firstError).toMatch(/was not asked for: .*at most/);
  if (asked === 0) return;
  await refresh(paths);
  expect(Object.values(await now()).every(([, error]) => error === null)).toBe(true);
});

test("a dump that cannot be read leaves the list of geofeeds as it was", async () => {
  files.set("/a", good(entry(0)));
  await refresh(["/a"]);
  const path = join(folder, "dump");
  writeFileSync(path, "<html></html>\n");
  const context = {
    downloads: "",
    userAgent: "t",
    caFile: join(folder, "ca.pem"),
    refuse: linkLocalRefusal,
    signal: new AbortController().signal,
  };
  await feeds.refresh({ path, sha256: "damaged" }, { bytesMax: 1 << 20, secondsMax: 60, badRecordsMax: 0 }, context);
  expect(await now()).toEqual({ "/a": [entry(0), null] });
});

test("a dump that could not be read is read again with the next round, or at once when its bounds are others", async () => {
  files.set("/a", good(entry(0))).set("/b", good(entry(1)));
  expect(await refresh(["/a"], {}, { bytesMax: 100, sha256: "old" })).toMatchObject({ feeds: 1 });
  const large = { bytesMax: 100, sha256: "large", restMs: 3_600_000 };
  expect(await refresh(["/a", "/b", "/c"], {}, large)).toMatchObject({ feeds: 1 });
  expect(await refresh(["/a", "/b", "/c"], {}, large)).toBeNull();
  expect(await refresh(["/a", "/b", "/c"], {}, { ...large, bytesMax: 1_000 })).toMatchObject({ feeds: 3 });
  expect(await refresh(["/a", "/b", "/c"], {}, { ...large, sha256: "larger" })).toMatchObject({ feeds: 3 });
  // It could be opened this time.
  expect(await refresh(["/b"], {}, { ...large, sha256: "larger", restMs: 0 })).toMatchObject({ feeds: 1 });
  expect(await now()).toEqual({ "/b": [entry(1), null] });
});

test("a dump that an earlier build noted is read once more and not again", async () => {
  files.set("/a", good(entry(0)));
  await refresh([]);
  writeFileSync(join(folder, "downloads/ripe/feeds/feeds.json"), JSON.stringify({ dump: "same", feeds: [] }));
  expect(await refresh(["/a"], {}, { sha256: "same" })).toMatchObject({ feeds: 1 });
  expect(await refresh(["/a", "/b"], {}, { sha256: "same" })).toMatchObject({ feeds: 1 });
});
