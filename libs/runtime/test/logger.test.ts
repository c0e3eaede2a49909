/** Logs: their form, and that no secret is in any line. */

import { describe, expect, test } from "@jest/globals";
import { createLogger } from "../src/index.ts";

const secret = "abcdefghijklmnopqrstuvwxyzABCDEF012345";
const key = `nf_live_0123ABCD_${secret}`;

function linesOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ service: "example", level: "info", to: { write: (line) => lines.push(line) } }));
  return lines.join("");
}

describe("createLogger", () => {
  test("writes one JSON object with service, level, time and message", () => {
    const line = JSON.parse(linesOf((log) => log.info({ request_id: "r1" }, "request")));
    expect(line).toMatchObject({ service: "example", level: "info", request_id: "r1", msg: "request" });
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT/);
  });

  test("writes nothing below its level", () => {
    expect(linesOf((log) => log.debug("quiet"))).toBe("");
  });

  test.each([
    ["a field", { key }],
    ["a nested field", { request: { query: { key } } }],
    ["a URL", { url: `/api/v1/me?key=${key}` }],
    ["an authorization header", { headers: { authorization: `Bearer ${secret}` } }],
    ["a nested authorization header", { req: { headers: { authorization: secret } } }],
    ["a deeply nested field for credentials", { a: [{ b: { c: { d: { password: secret } } } }] }],
    ["a bearer token in a text", { note: `sent Bearer ${secret}` }],
    ["an error", { err: new Error(`wrong key ${key}`) }],
  ])("takes a secret out of %s", (_where, fields) => {
    expect(linesOf((log) => log.error(fields, "fault"))).not.toContain(secret);
  });

  test("keeps the rest of a line that had a field for credentials", () => {
    const lines = linesOf((log) => log.info({ kept: [1, { token: secret, other: "x" }] }, "with a token"));
    expect(lines.endsWith("}\n")).toBe(true);
    expect(JSON.parse(lines)).toMatchObject({ kept: [1, { token: "[redacted]", other: "x" }], msg: "with a token", level: "info" });
  });

  test("takes a key out of the message and keeps its id", () => {
    const lines = linesOf((log) => log.info(`created ${key}`));
    expect(lines).not.toContain(secret);
    expect(lines).toContain("nf_live_0123ABCD_[redacted]");
  });
});
