/** Settings: documented defaults, and every fault at once. */

import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { gatewayConfigSchema, loadGatewayConfig, loadStoreConfig } from "../src/app.ts";

test("an empty environment gives the defaults", () => {
  expect(loadGatewayConfig({})).toMatchObject({
    HOST: "127.0.0.1",
    PORT: 8080,
    TRUSTED_PROXIES: [],
    URL_BYTES_MAX: 2048,
    DEFAULT_RATE_LIMIT: 600,
  });
});

test("proxies are addresses and CIDRs, separated by commas", () => {
  expect(loadGatewayConfig({ TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8,2001:db8::/32" }).TRUSTED_PROXIES).toEqual([
    "127.0.0.1",
    "10.0.0.0/8",
    "2001:db8::/32",
  ]);
  expect(() => loadGatewayConfig({ TRUSTED_PROXIES: "loopback,10.0.0.1/8" })).toThrow(
    'TRUSTED_PROXIES: "loopback" is not an address or a CIDR\nTRUSTED_PROXIES: "10.0.0.1/8" is not an address or a CIDR; write 10.0.0.0/8 for that network',
  );
});

test("every fault is told at once", () => {
  expect(() => loadGatewayConfig({ PORT: "x", URL_BYTES_MAX: "1" })).toThrow(/^PORT .*\nURL_BYTES_MAX /);
});

test("times that Node would refuse, and limits that no key may have, are faults that name the setting", () => {
  expect(() => loadGatewayConfig({ HEADERS_TIMEOUT_MS: "300001", DEFAULT_RATE_LIMIT: "1e15", DEFAULT_MONTH_LIMIT: "1e300" })).toThrow(
    /^HEADERS_TIMEOUT_MS must be at most 300000.*\nDEFAULT_RATE_LIMIT must be at most 1000000000.*\nDEFAULT_MONTH_LIMIT must be at most 1000000000/,
  );
});

test.each(["not a url", "docs/errors/", "https://", "https://[::1/errors/", "javascript:alert(1)//", "/errors/\u00fc"])(
  "%j is no beginning of a type",
  (text) => {
    expect(() => loadGatewayConfig({ ERROR_DOCS_BASE: text })).toThrow(
      `ERROR_DOCS_BASE must be a path such as /docs/errors/, or a URI that begins with https://, http://, urn: or tag:, not ${JSON.stringify(text)}`,
    );
  },
);

test.each(["/e/", "https://docs.example.net/errors#", "http://[2001:db8::1]:8080/?code=", "urn:example:error:", "tag:example.net,2026:"])(
  "%s is the beginning of a type",
  (text) => {
    expect(loadGatewayConfig({ ERROR_DOCS_BASE: text }).ERROR_DOCS_BASE).toBe(text);
  },
);

test("a wrong MONGODB_URI is a fault that names the setting and shows no password", () => {
  const load = () => loadStoreConfig({ MONGODB_URI: "mongodb://netfacts:hunter2@x@db/netfacts" });
  expect(load).toThrow(/^MONGODB_URI is not a MongoDB URI; write .* percent-encoded$/);
  expect(load).not.toThrow(/hunter2/);
  expect(loadStoreConfig({}).MONGODB_URI).toBe("mongodb://127.0.0.1:27017/netfacts");
});

interface Setting {
  readonly default: unknown;
  readonly description: string;
}

test("the README lists every setting with its default", async () => {
  const readme = (await readFile(new URL("../README.md", import.meta.url), "utf8")).replaceAll(/ +/g, " ");
  for (const [name, { default: value, description }] of Object.entries(
    gatewayConfigSchema.properties as unknown as Record<string, Setting>,
  )) {
    expect(readme).toContain(`| \`${name}\` | ${value === "" ? "" : `\`${value}\` `}| ${description} |`);
  }
});
