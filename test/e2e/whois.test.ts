/** Whois at the one-process form with the samples, as a client has it. */

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { removeFolders, type Standalone, startStandalone, temporaryFolder } from "../support/processes.ts";
import { withSamples } from "../support/sample-snapshot.ts";

let home: string;
let standalone: Standalone;
let port: number;

beforeAll(async () => {
  home = await withSamples(temporaryFolder());
  standalone = await startStandalone(home, { WHOIS_PORT: "0" });
  const listener = () => /"whois_url":"whois:\/\/127\.0\.0\.1:(\d+)"/.exec(readFileSync(join(home, "netfacts.log"), "utf8"))?.[1];
  await until(() => listener() !== undefined);
  port = Number(listener());
});
afterAll(async () => {
  await standalone.stop();
  removeFolders();
});

function ask(request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request);
  return text(socket);
}

test("answers single requests and a bulk from the samples", async () => {
  const line =
    "3333    | 193.0.6.139      | 193.0.0.0/21        | NL | ripencc  | 1993-09-01 | RIPE-NCC-AS RIPE Network Coordination Centre\n";
  expect(await ask("-v 193.0.6.139\r\n")).toBe(
    `AS      | IP               | BGP Prefix          | CC | Registry | Allocated  | AS Name\n${line}`,
  );
  const bulk = await ask("begin\nverbose\n193.0.6.139\n10.0.0.1\nAS3333\n193.0.0.0/21\nend\n");
  expect(bulk.split("\n").slice(1)).toEqual([
    line.trimEnd(),
    "NA      | 10.0.0.1         | NA                  | NA | NA       | NA         | NA",
    "3333    | EU | ripencc  | 1994-05-19 | RIPE-NCC-AS RIPE Network Coordination Centre",
    "3333    | 193.0.0.0/21     | 193.0.0.0/21        | NL | ripencc  | 1993-09-01 | RIPE-NCC-AS RIPE Network Coordination Centre",
    "",
  ]);
});
