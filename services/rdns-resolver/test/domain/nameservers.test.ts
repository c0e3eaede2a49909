/** Nameservers from resolv.conf and from the setting. */

import { expect, test } from "@jest/globals";
import { parseNameservers, parseResolvConf } from "../../src/domain/nameservers.ts";

test("reads nameservers and options of resolv.conf, and passes over the rest", () => {
  const text = `# made by hand
; too
search example.net example.org
nameserver 192.0.2.1
nameserver   2001:db8::1   # with a remark
nameserver fe80::1%eth0
options ndots:2 timeout:3 rotate attempts:4
options timeout:x attempts:
nameserver not-an-address
lookup file bind
`;
  expect(parseResolvConf(text)).toEqual({
    servers: [
      { host: "192.0.2.1", port: 53 },
      { host: "2001:db8::1", port: 53 },
      { host: "fe80::1%eth0", port: 53 },
    ],
    timeoutMs: 3_000,
    attempts: 4,
  });
});

test("takes three nameservers at most, and the bounds of the C library", () => {
  const text = `${[1, 2, 3, 4].map((last) => `nameserver 192.0.2.${last}`).join("\r\n")}\noptions timeout:99 attempts:99`;
  expect(parseResolvConf(text)).toMatchObject({ timeoutMs: 30_000, attempts: 5 });
  expect(parseResolvConf(text).servers.map(({ host }) => host)).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  expect(parseResolvConf("options timeout:0 attempts:0")).toMatchObject({ timeoutMs: 1_000, attempts: 1 });
});

test("asks the own host where the file names nobody", () => {
  expect(parseResolvConf("")).toEqual({ servers: [{ host: "127.0.0.1", port: 53 }], timeoutMs: null, attempts: null });
});

test.each([
  ["192.0.2.1", "192.0.2.1", 53],
  ["192.0.2.1:5353", "192.0.2.1", 5353],
  ["[2001:db8::1]", "2001:db8::1", 53],
  ["[2001:db8::1]:5353", "2001:db8::1", 5353],
  ["[fe80::1%eth0]:53", "fe80::1%eth0", 53],
  ["2001:db8::1", "2001:db8::1", 53],
  ["2001:db8::1:53", "2001:db8::1:53", 53],
  ["::1", "::1", 53],
  ["unbound", "unbound", 53],
  ["unbound.netfacts.svc:5353", "unbound.netfacts.svc", 5353],
])("reads %s", (item, host, port) => {
  expect(parseNameservers(item)).toEqual({ servers: [{ host, port }], faults: [] });
});

test("reads a list with blanks in it, and tells every item that is no nameserver", () => {
  expect(parseNameservers(" 192.0.2.1 , ,unbound:54, ").servers).toHaveLength(2);
  const faults = [
    "a..b",
    "192.0.2.256",
    "192.0.2.1:0",
    "192.0.2.1:65536",
    "192.0.2.1:dns",
    "[192.0.2.1]",
    "[2001:db8::1",
    "a b",
    "-a",
    "udp://192.0.2.1",
    ":53",
    "::1:53",
    "tls://::1:853",
  ];
  expect(parseNameservers(`192.0.2.1,${faults.join()}`)).toEqual({ servers: [{ host: "192.0.2.1", port: 53 }], faults });
});

test("reads nameservers with TLS, and the names of their certificates", () => {
  const list = "tls://192.0.2.53, tls://dns.example:8853, tls://[2001:db8::53]#dns.example, tls://192.0.2.53:853#192.0.2.54";
  expect(parseNameservers(list)).toEqual({
    servers: [
      { host: "192.0.2.53", port: 853, tls: "192.0.2.53" },
      { host: "dns.example", port: 8_853, tls: "dns.example" },
      { host: "2001:db8::53", port: 853, tls: "dns.example" },
      { host: "192.0.2.53", port: 853, tls: "192.0.2.54" },
    ],
    faults: [],
  });
  const faults = ["tls://", "tls://#dns.example", "tls://host#", "tls://host#no name", "192.0.2.53#dns.example", "https://192.0.2.53"];
  expect(parseNameservers(faults.join()).faults).toEqual(faults);
});
