/** A process with few file descriptors: connections beyond what it can bear are refused with a reason, and it goes on serving. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { request } from "../support/http.ts";
import { endAll, launchUnder, ready, removeFolders, temporaryFolder } from "../support/processes.ts";
import { smallSources } from "../support/small-sources.ts";

const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await endAll();
  removeFolders();
});

test("with 256 descriptors, a client that opens 400 connections has 192 at a time, and others are answered", async () => {
  const home = temporaryFolder();
  const standalone = await ready(
    launchUnder('ulimit -n 256; exec "$@"', home, { SOURCES: smallSources(temporaryFolder(), "NL"), KEEP_ALIVE_TIMEOUT_MS: "60000" }),
  );
  const port = Number(new URL(standalone.url).port);
  let reset = 0;
  for (let count = 0; count < 400; count++) {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    socket.resume();
    socket.on("error", () => {
      reset += 1;
    });
    await Promise.race([once(socket, "connect"), once(socket, "error").catch(() => {})]);
    // As a client that retries does.
    if (count % 16 === 15) await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const fromElsewhere = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  sockets.push(fromElsewhere);
  await once(fromElsewhere, "connect");
  fromElsewhere.write("GET /api/v1/status HTTP/1.1\r\nHost: x\r\n\r\n");
  const [answer] = (await once(fromElsewhere, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  // Its own were closed in favour of its later ones, and one for the other client; none was refused by the system.
  expect(reset).toBe(0);
  const metrics = await (await request(`${standalone.operationsUrl}/metrics`)).text;
  expect(metrics).toMatch(/netfacts_places_used\{[^}]*resource="connections"[^}]*\} 192\n/);
  const log = readFileSync(join(home, "netfacts.log"), "utf8");
  expect(log).toContain("connections are closed to make room for other clients");
  expect(log).toContain("raise its limit (ulimit -n)");
  for (const socket of sockets) socket.destroy();
  expect((await standalone.stop()).code).toBe(0);
});
