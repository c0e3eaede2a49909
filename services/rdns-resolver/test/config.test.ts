/** Settings: defaults, the system's file, and every fault at once. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { loadRdnsConfig, resolverSettings, tlsAuthorities } from "../src/config.ts";

test("tells every item that cannot be read, of every list", () => {
  const env = { RESOLVERS: "192.0.2.1,192.0.2.256,a b", RDNS_OPEN_PREFIXES: "10.0.0.0/8,10.0.0.1/8,x" };
  expect(() => loadRdnsConfig(env)).toThrow(
    expect.objectContaining({
      name: "ConfigError",
      faults: [
        'RESOLVERS must be a list of host[:port] or tls://host[:port][#name], with IPv6 addresses in brackets, not "192.0.2.256"',
        'RESOLVERS must be a list of host[:port] or tls://host[:port][#name], with IPv6 addresses in brackets, not "a b"',
        'RDNS_OPEN_PREFIXES must be a list of prefixes without host bits, not "10.0.0.1/8"',
        'RDNS_OPEN_PREFIXES must be a list of prefixes without host bits, not "x"',
      ],
    }),
  );
});

test("refuses values out of bounds by the setting's name", () => {
  expect(() => loadRdnsConfig({ RDNS_SOCKETS: "99", RDNS_TIMEOUT_MS: "soon" })).toThrow(
    /RDNS_SOCKETS .*\n?.*RDNS_TIMEOUT_MS |RDNS_TIMEOUT_MS .*\n?.*RDNS_SOCKETS /,
  );
});

test("what is set comes before what the system's file says, and that before the defaults", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rdns-config-"));
  try {
    const file = join(folder, "resolv.conf");
    await writeFile(file, "nameserver 192.0.2.53\noptions timeout:1 attempts:3\n");
    expect(resolverSettings(loadRdnsConfig({ RESOLV_CONF: file }))).toEqual({
      servers: [{ host: "192.0.2.53", port: 53 }],
      timeoutMs: 1_000,
      attempts: 3,
    });
    const set = { RESOLV_CONF: file, RESOLVERS: "[2001:db8::1]:54", RDNS_TIMEOUT_MS: "250", RDNS_ATTEMPTS: "1" };
    expect(resolverSettings(loadRdnsConfig(set))).toEqual({ servers: [{ host: "2001:db8::1", port: 54 }], timeoutMs: 250, attempts: 1 });
    expect(resolverSettings(loadRdnsConfig({ RESOLV_CONF: join(folder, "absent") }))).toEqual({
      servers: [{ host: "127.0.0.1", port: 53 }],
      timeoutMs: 2_000,
      attempts: 2,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a file of authorities that is not there is a fault of the settings", () => {
  expect(tlsAuthorities({ RDNS_TLS_CA_FILE: "" })).toBeUndefined();
  expect(() => tlsAuthorities({ RDNS_TLS_CA_FILE: "/nowhere.pem" })).toThrow("RDNS_TLS_CA_FILE: /nowhere.pem does not exist");
  expect(() => loadRdnsConfig({ RDNS_TLS_CA_FILE: "/nowhere.pem", RESOLVERS: "a b" })).toThrow(
    /^RESOLVERS .*\nRDNS_TLS_CA_FILE: \/nowhere/,
  );
});

test.each([
  ["nothing", ""],
  ["no certificate", "no PEM here\n"],
  ["a damaged certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
])("a file of authorities with %s is a fault of the settings, and does not mean the public ones", async (_, text) => {
  const folder = await mkdtemp(join(tmpdir(), "rdns-config-"));
  try {
    const file = join(folder, "authorities.pem");
    await writeFile(file, text);
    expect(() => tlsAuthorities({ RDNS_TLS_CA_FILE: file })).toThrow(`RDNS_TLS_CA_FILE: ${file} must hold PEM certificates`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
