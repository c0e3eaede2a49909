/** The one-process form under a flood: its log stays within its bound, and is its owner's only. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "@jest/globals";
import { endAll, launchUnder, ready, removeFolders, temporaryFolder } from "../support/processes.ts";
import { isLong } from "../support/runs.ts";
import { smallSources } from "../support/small-sources.ts";

const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await endAll();
  removeFolders();
});

const bytesMax = 65_536;
/** A write that is under way when the file is measured. */
const slack = 32_768;
const floodMs = isLong ? 5_000 : 1_500;
/** Refused for one reason each: no key, no such route, a text that is no key, a method that is not allowed, an address that is none. */
const requests = [
  "GET /api/v1/ip/193.0.6.139 HTTP/1.1",
  `GET /${"x".repeat(1_500)} HTTP/1.1`,
  "GET /api/v1/me HTTP/1.1\r\nAuthorization: Bearer nf_live_nonsense",
  "DELETE /api/v1/status HTTP/1.1",
  `GET /api/v1/ip/${"9".repeat(1_000)} HTTP/1.1`,
].map((head) => `${head}\r\nHost: x\r\n\r\n`);

test("30 connections that are refused without end write no more than two files of LOG_BYTES_MAX, for the owner only", async () => {
  const home = join(temporaryFolder(), "home");
  const standalone = await ready(
    launchUnder('exec "$@"', home, { SOURCES: smallSources(temporaryFolder(), "NL"), LOG_BYTES_MAX: `${bytesMax}`, LOG_LEVEL: "debug" }),
  );
  const port = Number(new URL(standalone.url).port);
  let answers = 0;
  let opened = 0;
  let over = false;
  const flood = (): void => {
    if (over) return;
    opened += 1;
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    const ask = (): void => void socket.write(requests.join("").repeat(2));
    socket.on("connect", ask);
    socket.on("data", (bytes) => {
      const ended = bytes.toString("latin1").split("HTTP/1.1 ").length - 1;
      answers += ended;
      if (ended > 0) ask();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => setTimeout(flood, 10));
  };
  for (let count = 0; count < 30; count++) flood();
  let most = 0;
  let largest = 0;
  // A busy machine answers less often. The file must have been set aside.
  const isEnough = () => answers > 300 && most > bytesMax;
  for (const end = performance.now() + floodMs; performance.now() < end || !isEnough(); await sleep(50)) {
    const sizes = readdirSync(home)
      .filter((name) => name.startsWith("netfacts.log"))
      .map((name) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0);
    largest = Math.max(largest, ...sizes);
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    );
  }
  over = true;
  for (const socket of sockets) socket.destroy();
  console.log(`${answers} answers on ${opened} connections in ${floodMs / 1_000} s; the log had at most ${most} bytes`);
  expect(most).toBeLessThanOrEqual(2 * bytesMax + slack);
  expect(largest).toBeLessThanOrEqual(bytesMax);
  const logs = readdirSync(home).filter((name) => name.startsWith("netfacts.log"));
  expect(logs.map((name) => statSync(join(home, name)).mode & 0o777)).toEqual(logs.map(() => 0o600));
  expect(statSync(home).mode & 0o777).toBe(0o700);
  // Lines are whole, however the file was set aside.
  for (const name of logs) for (const line of readFileSync(join(home, name), "utf8").trim().split("\n")) JSON.parse(line);
  expect((await standalone.stop()).code).toBe(0);
}, 120_000);
