/** Logs: their form, and that no secret is in any line. */

import { describe, expect, jest, test } from "@jest/globals";
import { trace } from "@opentelemetry/api";
import { createLogger, infoLines } from "../src/index.ts";
import { setTracing } from "../src/tracing-state.ts";

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
    ["the user and password of a URL", { note: `no answer from mongodb+srv://user:${secret}@db.example/netfacts` }],
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

  test("takes no processor time for a text that is made to look like the beginning of many URLs", () => {
    const note = `${"a.".repeat(64_000)}://`;
    const before = process.cpuUsage();
    expect(JSON.parse(linesOf((log) => log.info({ note }, "request"))).note).toBe(note);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});

describe("infoLines", () => {
  test("writes byte by byte what the logger does, but for the time", () => {
    const both = linesOf((log) => {
      log.info({ request_id: "r1", note: '…"\\\u2028', took: 1.5 }, "request");
      infoLines(log, "request")?.(`,"request_id":"r1","note":${JSON.stringify('…"\\\u2028')},"took":1.5`);
    });
    const [first, second, end] = both.replaceAll(/"time":"[^"]*"/g, '"time":""').split("\n");
    expect(second).toBe(first);
    expect(end).toBe("");
  });

  test("names the trace of its moment as the logger does", () => {
    const span = trace.wrapSpanContext({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 });
    const active = jest.spyOn(trace, "getActiveSpan").mockReturnValue(span);
    setTracing(true);
    try {
      const [first, second] = linesOf((log) => {
        log.info({ request_id: "r1" }, "request");
        infoLines(log, "request")?.(',"request_id":"r1"');
      })
        .replaceAll(/"time":"[^"]*"/g, '"time":""')
        .split("\n");
      expect(JSON.parse(String(second))).toMatchObject({ trace_id: span.spanContext().traceId, span_id: span.spanContext().spanId });
      expect(second).toBe(first);
    } finally {
      setTracing(false);
      active.mockRestore();
    }
  });

  test("takes a secret out", () => {
    expect(linesOf((log) => infoLines(log, "request")?.(`,"url":"/api/v1/me?key=${key}"`))).toContain("nf_live_0123ABCD_[redacted]");
  });

  test("writes nothing where info is below the level", () => {
    const lines: string[] = [];
    infoLines(createLogger({ service: "example", level: "warn", to: { write: (line) => lines.push(line) } }), "request")?.("");
    expect(lines).toEqual([]);
  });

  test("knows only loggers of its own", () => {
    expect(infoLines({ info: () => {} }, "request")).toBeNull();
  });
});
