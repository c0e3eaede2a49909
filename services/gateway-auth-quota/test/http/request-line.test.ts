/** The line of a request as the process writes it: by hand, and byte by byte as the logger would. */

import { expect, test } from "@jest/globals";
import { createLogger, infoLines } from "@netfacts/runtime";
import { type RequestFields, requestMembers } from "../../src/edge/observe.ts";

const answered: RequestFields = {
  request_id: "01M80CJYVZ8YJY2FRZ4334821S",
  method: "GET",
  url: "/api/v1/ip/192.0.2.1",
  route: "/api/v1/ip/:ip",
  status: 200,
  code: undefined,
  duration_ms: 1.573,
  client: "2001:db8::1",
  key: "nf_live_RRJCVA5F_…2OvI",
};

test.each<[string, RequestFields]>([
  ["an answer", answered],
  ["a refusal without a key", { ...answered, status: 401, code: "missing_api_key", key: undefined }],
  ["a client that went away", { ...answered, status: "aborted", duration_ms: 0 }],
  ["a query with what JSON escapes", { ...answered, url: '/api/v1/ip/192.0.2.1?a="\\' }],
  ["a URL with a secret", { ...answered, url: "/api/v1/ip/192.0.2.1?from=https://user:secret@example.org/" }],
])("of %s", (_what, fields) => {
  const lines: string[] = [];
  const log = createLogger({ service: "gateway-auth-quota", to: { write: (line) => lines.push(line.replace(/"time":"[^"]*"/, "")) } });
  log.info(fields, "request");
  infoLines(log, "request")?.(requestMembers(fields));
  expect(lines[1]).toBe(lines[0]);
  expect(lines.join("")).not.toContain("secret@");
});
