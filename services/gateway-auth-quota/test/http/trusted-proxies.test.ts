/** Whose address counts: chains of proxies, in both headers, with whatever clients put into them. */

import { describe, expect, test } from "@jest/globals";
import { ForwardingWatch } from "../../src/edge/forwarding-watch.ts";
import { clientAddress, type ForwardingHeader, proxyTrust } from "../../src/edge/trusted-proxies.ts";
import { startGateway } from "../support/gateway.ts";

const proxies = ["10.0.0.0/8", "192.0.2.1", "2001:db8:ffff::/48"];
const trust = (header: ForwardingHeader) => proxyTrust(proxies, header);

describe("X-Forwarded-For", () => {
  const seen = (told: string, peer = "10.0.0.1") => clientAddress({ "x-forwarded-for": told }, peer, trust("x-forwarded-for"));

  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["203.0.113.9:4711", "203.0.113.9"],
    ["2001:db8::9", "2001:db8::9"],
    ["2001:0DB8:0:0::9", "2001:db8::9"],
    ["[2001:db8::9]", "2001:db8::9"],
    ["[2001:db8::9]:4711", "2001:db8::9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["203.0.113.9, 10.1.2.3", "203.0.113.9"],
    ["203.0.113.9,10.1.2.3:80, [2001:db8:ffff::1]:443", "203.0.113.9"],
    ["  203.0.113.9  ", "203.0.113.9"],
  ])("%s comes from %s", (told, client) => {
    expect(seen(told)).toBe(client);
  });

  test.each([
    ["an address that the client made up", "127.0.0.1, 203.0.113.9", "203.0.113.9"],
    ["a whole chain that it made up", "198.51.100.1, 10.9.9.9, 203.0.113.9, 10.1.2.3", "203.0.113.9"],
    ["one that a trusted address stands behind", "10.9.9.9, 203.0.113.9", "203.0.113.9"],
    ["a trusted address as the client", "10.9.9.9", "10.9.9.9"],
    ["no address", "unknown", "10.0.0.1"],
    ["nothing", "", "10.0.0.1"],
    ["markup", "<script>", "10.0.0.1"],
    ["an address with more behind it", "203.0.113.9 evil", "10.0.0.1"],
    ["an octal address", "010.0.0.1", "10.0.0.1"],
    ["nothing of the nearest proxy", "203.0.113.9, ", "10.0.0.1"],
    ["no address in the middle", "203.0.113.9, junk, 10.1.2.3", "10.1.2.3"],
  ])("believes the nearest that is not trusted: %s", (_what, told, client) => {
    expect(seen(told)).toBe(client);
  });

  test("is not read of a peer that is not trusted, nor where none is", () => {
    expect(seen("203.0.113.9", "192.0.2.2")).toBe("192.0.2.2");
    expect(seen("203.0.113.9", "::ffff:10.0.0.1")).toBe("203.0.113.9");
    expect(clientAddress({ "x-forwarded-for": "203.0.113.9" }, "10.0.0.1", proxyTrust([], "x-forwarded-for"))).toBe("10.0.0.1");
  });

  test("is read of a trusted proxy of the same link, whose address has a zone", () => {
    expect(clientAddress({ "x-forwarded-for": "203.0.113.9" }, "fe80::1%eth0", proxyTrust(["fe80::/10"], "x-forwarded-for"))).toBe(
      "203.0.113.9",
    );
    expect(seen("203.0.113.9", "fe80::1%eth0")).toBe("fe80::1");
  });

  test("the other header is never read", () => {
    expect(clientAddress({ forwarded: "for=203.0.113.9" }, "10.0.0.1", trust("x-forwarded-for"))).toBe("10.0.0.1");
    expect(clientAddress({ "x-forwarded-for": "203.0.113.9" }, "10.0.0.1", trust("forwarded"))).toBe("10.0.0.1");
  });
});

describe("Forwarded", () => {
  const seen = (told: string) => clientAddress({ forwarded: told }, "10.0.0.1", trust("forwarded"));

  test.each([
    ["for=203.0.113.9", "203.0.113.9"],
    ["For=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"],
    ['proto=https; for="203.0.113.9:4711"', "203.0.113.9"],
    ['for="[2001:db8::9]:4711"', "2001:db8::9"],
    ['for="[2001:db8::9]"', "2001:db8::9"],
    ["for=203.0.113.9, for=10.1.2.3", "203.0.113.9"],
    ['for=198.51.100.1, for=203.0.113.9;host="a,b;for=1.1.1.1", for=10.1.2.3', "203.0.113.9"],
    ['for="20\\3.0.113.9"', "203.0.113.9"],
    // A quote that the client left open, and quoted quotes: what the proxy wrote behind them counts.
    ['for="a, for="[2001:db8::9]:4711"', "2001:db8::9"],
    ['for="a\\", for=203.0.113.9', "203.0.113.9"],
    ['for="\\"\\\\"', "10.0.0.1"],
    [`"${'\\"'.repeat(32_000)}, for=203.0.113.9`, "203.0.113.9"],
    ["for=unknown", "10.0.0.1"],
    ["for=_hidden", "10.0.0.1"],
    ["for=203.0.113.9, proto=https", "10.0.0.1"],
    ["for=203.0.113.9, for=_gateway, for=10.1.2.3", "10.1.2.3"],
    ['host="for=203.0.113.9"', "10.0.0.1"],
    ["", "10.0.0.1"],
  ])("%s comes from %s", (told, client) => {
    expect(seen(told)).toBe(client);
  });
});

test("several headers of one name are one chain", async () => {
  const harness = await startGateway({ config: { TRUSTED_PROXIES: ["127.0.0.1", "10.0.0.0/8"] } });
  const authorization = `Bearer ${await harness.key()}`;
  const ask = async (told: string | string[]) => {
    const headers = { authorization, "x-forwarded-for": told } as unknown as Record<string, string>;
    return JSON.parse((await harness.request("GET", "/api/v1/me", headers)).body).client.ip;
  };
  const single = await ask("198.51.100.1, 203.0.113.9, 10.0.0.2");
  const several = await ask(["198.51.100.1", "203.0.113.9", "10.0.0.2"]);
  await harness.stop();
  expect([single, several]).toEqual(["203.0.113.9", "203.0.113.9"]);
});

test("a trusted proxy that is written IPv4-mapped is the IPv4 one", () => {
  const mapped = proxyTrust(["::ffff:10.0.0.0/104", "::ffff:192.0.2.1"], "x-forwarded-for");
  for (const peer of ["10.0.0.1", "::ffff:10.0.0.1", "192.0.2.1"])
    expect(clientAddress({ "x-forwarded-for": "203.0.113.9" }, peer, mapped)).toBe("203.0.113.9");
});

test("addresses that a peer reports without being trusted are named in one warning a minute", () => {
  const warnings: object[] = [];
  let now = 0;
  const watch = new ForwardingWatch(
    trust("x-forwarded-for"),
    { warn: (fields, message) => warnings.push({ ...fields, message }) },
    () => now,
  );
  const told = { "x-forwarded-for": "203.0.113.9" };
  watch.look(told, "10.0.0.1");
  watch.look({ forwarded: "for=203.0.113.9" }, "192.0.2.2");
  watch.look({}, "192.0.2.2");
  expect(warnings).toEqual([]);
  for (let i = 0; i < 100; i++) watch.look(told, "192.0.2.2");
  now = 60_000;
  watch.look(told, "192.0.2.3");
  expect(warnings).toEqual([
    { peer: "192.0.2.2", requests: 1, message: expect.stringContaining("add its address to TRUSTED_PROXIES") },
    { peer: "192.0.2.3", requests: 100, message: expect.stringContaining("x-forwarded-for") },
  ]);
});

test("a gateway without trusted proxies warns of the first such request", async () => {
  const harness = await startGateway();
  for (let i = 0; i < 3; i++) await harness.request("GET", "/api/v1/status", { "x-forwarded-for": "203.0.113.9" });
  expect(harness.log.filter(({ message }) => message.includes("TRUSTED_PROXIES"))).toHaveLength(1);
  await harness.stop();
});
