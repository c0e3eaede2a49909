/** 403: a key that may not ask this, or not from here. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { disableKey } from "@netfacts/keys";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: Harness;
let behindProxy: Harness;
beforeAll(async () => {
  harness = await startGateway();
  behindProxy = await startGateway({ config: { TRUSTED_PROXIES: ["127.0.0.1", "10.0.0.0/8"] } });
});
afterAll(async () => {
  await harness.stop();
  await behindProxy.stop();
});

const url = "/api/v1/ip/193.0.6.139";

provokes("disabled_api_key", "a key that was disabled", async () => {
  const key = await harness.key();
  await disableKey(harness.store, key.slice(8, 16));
  return harness.request("GET", url, { authorization: `Bearer ${key}` });
});

provokes("cost_exceeds_limit", "a request that costs more than the key has in a whole window", async () => {
  const authorization = `Bearer ${await harness.key({ rate: { limit: 29, windowSeconds: 60 } })}`;
  return harness.request("GET", "/api/v1/prefix/0.0.0.0/0?limit=1000", { authorization });
});

describe("scopes", () => {
  const wanted: [string, string][] = [
    ["ip", url],
    ["routing", "/api/v1/routing/193.0.6.139"],
    ["routing", "/api/v1/validity?asn=3333&prefix=193.0.0.0/21"],
    ["asn", "/api/v1/asn/3333"],
    ["prefix", "/api/v1/prefix/193.0.0.0/21"],
    ["reverse_dns", "/api/v1/reverse-dns/193.0.6.139"],
  ];
  for (const [scope, path] of wanted) {
    provokes("insufficient_scope", `${path} wants ${scope}`, async () => {
      const scopes = (["ip", "routing", "asn", "prefix", "reverse_dns"] as const).filter((other) => other !== scope);
      return harness.request("GET", path, { authorization: `Bearer ${await harness.key({ scopes })}` });
    });
  }

  test("insufficient_scope: the rate is charged and told, the month is not; /me needs no scope", async () => {
    const authorization = `Bearer ${await harness.key({ scopes: ["asn"], rate: { limit: 10, windowSeconds: 3_600 }, month: { limit: 100 } })}`;
    const answer = await harness.request("GET", url, { authorization });
    expectProblem(answer, "insufficient_scope");
    expect(answer.headers).toMatchObject({ "x-ratelimit-remaining": "9", "x-quota-remaining": "100" });
    expect((await harness.request("GET", "/api/v1/me", { authorization })).status).toBe(200);
  });
});

describe("allowed networks", () => {
  provokes("ip_not_allowed", "a caller elsewhere", async () =>
    harness.request("GET", url, { authorization: `Bearer ${await harness.key({ allowedCidrs: ["198.51.100.0/24"] })}` }),
  );

  test("ip_not_allowed: X-Forwarded-For is trusted from trusted proxies only", async () => {
    const spec = { allowedCidrs: ["198.51.100.0/24", "2001:db8::/32"] };
    const ask = async (gateway: Harness, forwarded: string) =>
      gateway.request("GET", url, { authorization: `Bearer ${await gateway.key(spec)}`, "x-forwarded-for": forwarded });
    expectProblem(await ask(harness, "198.51.100.7"), "ip_not_allowed");
    expect((await ask(behindProxy, "198.51.100.7")).status).toBe(200);
    expect((await ask(behindProxy, "203.0.113.9, 2001:db8::7")).status).toBe(200);
    expect((await ask(behindProxy, "198.51.100.7, 10.1.2.3")).status).toBe(200);
    expectProblem(await ask(behindProxy, "198.51.100.7, 203.0.113.9"), "ip_not_allowed");
    expectProblem(await ask(behindProxy, "nonsense"), "ip_not_allowed");
  });

  test("/me shows the address that counts", async () => {
    const me = async (forwarded: string) => {
      const answer = await behindProxy.get("/api/v1/me", { "x-forwarded-for": forwarded });
      return (JSON.parse(answer.body) as { client: { ip: string } }).client.ip;
    };
    expect(await me("198.51.100.7")).toBe("198.51.100.7");
    expect(await me("::ffff:198.51.100.7")).toBe("198.51.100.7");
    expect(await me("2001:DB8:0:0::7")).toBe("2001:db8::7");
    expect(await me("<script>")).toBe("127.0.0.1");
  });
});
