/** The thread that reads what strangers publish: it can be ended, and a failure costs one file. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { FeedThread } from "../../src/fetch/feed-thread.ts";

let folder: string;
let thread: FeedThread;
let stopping: AbortController;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-thread-"));
  stopping = new AbortController();
  thread = new FeedThread(stopping.signal);
});
afterEach(async () => {
  await thread.close();
  rmSync(folder, { recursive: true });
});

function geofeed(text: string) {
  const path = join(folder, `${text.length}`);
  writeFileSync(path, text);
  return { kind: "geofeed", path } as const;
}
const one = "192.0.2.0/24,NL,,City,\n";

test("files are read one after the other; one that is wrong says why", async () => {
  const answers = await Promise.all([
    thread.read(geofeed(one), 60),
    thread.read(geofeed("no\n"), 60),
    thread.read(geofeed(`${one}#\n`), 60),
  ]);
  expect(answers).toMatchObject([
    { ok: true, value: { entries: 1, effort: 1 } },
    { ok: false, isThread: false, message: expect.stringMatching(/^is no geofeed: 1 of 1 lines/) },
    { ok: true, value: { entries: 1 } },
  ]);
});

test("a file that takes too long ends, and the next one is read", async () => {
  expect(await thread.read(geofeed(one), 0.001)).toMatchObject({ ok: false, isThread: true, message: "took longer than 0.001 s to read" });
  expect(await thread.read(geofeed(one), 60)).toMatchObject({ ok: true });
});

test("a stop ends what is read and what waits, with its reason", async () => {
  const readings = [thread.read(geofeed(one), 60), thread.read(geofeed(one), 60)];
  stopping.abort(new Error("stop"));
  expect(await Promise.allSettled(readings)).toMatchObject([{ reason: { message: "stop" } }, { reason: { message: "stop" } }]);
});

test("if a dump has too many URLs, hosts get equal shares, short URLs first", async () => {
  const path = join(folder, "dump");
  const urls = [..."abcdefgh"]
    .map((name) => `https://a.example/${name}`)
    .concat("https://z.example/z", `https://y.example/${"y".repeat(400)}`);
  writeFileSync(path, urls.map((url, at) => `inetnum: 192.0.2.${at} - 192.0.2.${at}\ngeofeed: ${url}\n`).join("\n"));
  const bounds = { bytesMax: 1 << 20, secondsMax: 60, badRecordsMax: 0 };
  expect(await thread.read({ kind: "references", path, bounds, urlsMax: 3 }, 60)).toMatchObject({
    ok: true,
    value: ["https://a.example/a", "https://a.example/b", "https://z.example/z"],
  });
});
