/** A process that shall listen on an address of another machine, before any server has answered it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { compileCache } from "../support/compile-cache.ts";
import { programArgs } from "../support/programs.ts";

/** Nothing listens on port 1. */
const away = {
  NATS_URL: "nats://127.0.0.1:1",
  MONGODB_URI: "mongodb://127.0.0.1:1/netfacts",
  PROXY_TOKEN: "t".repeat(32),
  TELEMETRY_PORT: "0",
};

test.each([
  ["gateway-auth-quota", "HOST", {}],
  ["gateway-auth-quota", "OPERATOR_HOST", { OPERATOR_PORT: "0", INGEST_URL: "http://127.0.0.1:1" }],
  ["gateway-auth-quota", "WHOIS_HOST", { WHOIS_PORT: "0" }],
  ["ingest", "INGEST_HOST", { SOURCES: "samples/sources.yaml" }],
] as const)(
  "%s ends and names %s, although NATS does not answer",
  async (program, setting, more) => {
    const child = spawn(process.execPath, programArgs(program), {
      env: { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1", ...away, ...more, [setting]: "192.0.2.1" },
      stdio: ["ignore", "ignore", "pipe"],
      // Without an answer of NATS, a process waits.
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    const [said, [status]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect(said).toContain(`192.0.2.1 is not an address of this machine; choose one with ${setting}=`);
    expect(status).toBe(1);
  },
  90_000,
);
