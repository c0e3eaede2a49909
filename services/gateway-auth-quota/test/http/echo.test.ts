/** What logs tell of URLs. */

import { expect, test } from "@jest/globals";
import { logUrl } from "../../src/edge/echo.ts";

const key = "nf_live_7Q9M3W8K_abcdefghijklmnopqrstuvwxyzABCDEF0123x4Pq";

test.each([
  ["/api/v1/ip/193.0.6.139", "/api/v1/ip/193.0.6.139"],
  ["/api/v1/ip/2001:db8::1", "/api/v1/ip/2001:db8::1"],
  ["/api/v1/asn/3333?limit=5", "/api/v1/asn/3333?limit=5"],
  ["/no_key", "/no_key"],
  ['/a"b', "/a%22b"],
  [`/api/v1/ip/${key}`, "%5Bredacted%5D"],
  [`/api/v1/ip/${key.toUpperCase()}`, "%5Bredacted%5D"],
  [`/api/v1/ip/${key.replace("_", "%5f")}`, "%5Bredacted%5D"],
  [`/api/v1/me?q=${key}`, "/api/v1/me?[redacted]"],
  [`/${"a".repeat(300)}`, `/${"a".repeat(255)}`],
])("%s is logged as %s", (url, logged) => {
  expect(logUrl(url)).toBe(logged);
});
