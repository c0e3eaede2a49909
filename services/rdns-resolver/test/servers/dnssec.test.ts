/** DNSSEC as unbound validates it: zones of nsd that are signed well, signed badly, and not signed. */

import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { DnsProcess } from "../../../../test/support/dns-process.ts";
import { startNsd } from "../../../../test/support/nsd.ts";
import { type SignedZone, type Signing, signZones } from "../../../../test/support/signed-zones.ts";
import { startUnbound } from "../../../../test/support/unbound.ts";
import { type Asked, type Service, startService } from "../support/service.ts";

/** The servers' packages may have to be had first. */
const startMsMax = 180_000;

const head = (zone: string) =>
  `$ORIGIN ${zone}.\n$TTL 3600\n@ IN SOA ns.example. host.example. 1 7200 900 86400 120\n@ IN NS ns.example.\n`;

const reverseZone = (third: number, signing: Signing): [string, SignedZone] => {
  const zone = `${third}.0.193.in-addr.arpa`;
  return [zone, { signing, text: `${head(zone)}1 IN PTR host-${third}.example.\n2 IN CNAME 1.6.0.193.in-addr.arpa.\n` }];
};

const zones: Readonly<Record<string, SignedZone>> = Object.fromEntries([
  [
    "example",
    {
      signing: "good",
      text: `${head("example")}ns IN A 127.0.0.1\n${[6, 7].map((third) => `host-${third} IN A 193.0.${third}.1\n`).join("")}`,
    },
  ],
  reverseZone(6, "good"),
  reverseZone(7, "unsigned"),
  reverseZone(8, "expired"),
  reverseZone(9, "forged"),
]);

let nsd: DnsProcess;
let validating: DnsProcess;
let trusting: DnsProcess;
let service: Service;

beforeAll(async () => {
  const signed = await signZones(zones);
  nsd = await startNsd({ zones: signed.zones });
  const authorities = Object.fromEntries(Object.keys(signed.zones).map((zone) => [zone, nsd.port]));
  validating = await startUnbound({ authorities, trustAnchor: signed.trustAnchor });
  const { ".": _, ...delegated } = authorities;
  trusting = await startUnbound({ authorities: delegated });
}, startMsMax);

afterAll(async () => {
  await trusting?.stop();
  await validating?.stop();
  await nsd?.stop();
});

afterEach(async () => {
  await service.stop();
});

async function ask(ip: string, through: DnsProcess): Promise<Asked> {
  service = await startService({ RESOLVERS: through.address, RDNS_FORWARD_NAMES_MAX: "20" });
  return service.ask(ip);
}

const withCheck = { status: "ok", confirmed: true };

test.each([
  [
    "193.0.6.1",
    "a zone that is signed",
    { status: "ok", dnssec: "secure", forward_confirmed: true, names: [{ name: "host-6.example", forward: withCheck }] },
  ],
  ["193.0.6.3", "an absence that is signed", { status: "nxdomain", dnssec: "secure", names: [] }],
  [
    "193.0.7.1",
    "a zone that is not signed",
    { status: "ok", dnssec: "insecure", forward_confirmed: true, names: [{ name: "host-7.example" }] },
  ],
  ["193.0.7.3", "an absence that is not signed", { status: "nxdomain", dnssec: "insecure", names: [] }],
  [
    "193.0.7.2",
    "an alias that is not signed, to a name that is",
    { status: "ok", dnssec: "insecure", names: [{ name: "host-6.example" }] },
  ],
  ["193.0.8.1", "signatures that have expired", { status: "servfail", dnssec: "bogus", names: [] }],
  ["193.0.8.3", "an absence whose signatures have expired", { status: "servfail", dnssec: "bogus", names: [] }],
  ["193.0.9.1", "a record that was forged", { status: "servfail", dnssec: "bogus", names: [] }],
])("%s: %s", async (ip, _, expected) => {
  expect((await ask(ip, validating)).record).toMatchObject(expected);
});

test("a recursor that does not validate says nothing of it, and shows what was forged", async () => {
  expect((await ask("193.0.6.1", trusting)).record).toMatchObject({ status: "ok", dnssec: "indeterminate", forward_confirmed: true });
  expect((await service.ask("193.0.9.1")).record).toMatchObject({ dnssec: "indeterminate", names: [{ name: "evil.example" }] });
});

test("a zone whose authority is gone fails, and is not called bogus", async () => {
  const silent = await startUnbound({ authorities: { "8.0.193.in-addr.arpa": 1 } });
  try {
    expect((await ask("193.0.8.1", silent)).record).toMatchObject({ status: expect.stringMatching(/servfail|timeout/), dnssec: null });
  } finally {
    await silent.stop();
  }
});
