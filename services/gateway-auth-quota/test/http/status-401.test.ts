/** 401: no key, or one that is not valid. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { generateKeyText, revokeKey } from "@netfacts/keys";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway({ config: { FAILED_KEYS_MAX: 1_000 } });
});
afterAll(() => harness.stop());

const url = "/api/v1/ip/193.0.6.139";
const ask = (authorization?: string) => harness.request("GET", url, authorization === undefined ? {} : { authorization });

describe("without a key", () => {
  for (const path of [
    url,
    "/api/v1/me",
    "/api/v1/routing/x",
    "/api/v1/asn/x",
    "/api/v1/prefix/x/y",
    "/api/v1/reverse-dns/x",
    "/api/v1/validity",
  ]) {
    provokes("missing_api_key", `at ${path}, well-formed or not`, () => harness.request("GET", path));
  }

  test("missing_api_key: the challenge names no error, as no key was sent", async () => {
    const answer = await ask();
    expectProblem(answer, "missing_api_key");
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="netfacts"');
    expect(answer.headers.ratelimit).toBeUndefined();
  });
});

describe("with a key that is not valid", () => {
  provokes("invalid_api_key", "not the form of a key", () => ask("Bearer secret"));
  provokes("invalid_api_key", "unknown", () => ask(`Bearer ${generateKeyText("live").text}`));
  provokes("invalid_api_key", "an id with another secret", async () =>
    ask(`Bearer ${generateKeyText("live", (await harness.key()).slice(8, 16)).text}`),
  );

  test("invalid_api_key: a text that is no key says why, and a key says nothing more than that it is not valid here", async () => {
    const { text } = generateKeyText("live");
    const misspelt = `${text.slice(0, -1)}${text.endsWith("a") ? "b" : "a"}`;
    const detailOf = async (key: string) => expectProblem(await ask(`Bearer ${key}`), "invalid_api_key").detail;
    expect(await detailOf(misspelt)).toBe("The key is misspelt or incomplete: its checksum is wrong.");
    for (const other of ["secret", text.slice(0, -1), `${text}0`, text.replace("live", "prod")])
      expect(await detailOf(other)).toMatch(/^This is not an API key: /);
    expect(await detailOf(text)).toBe("The key is not valid for this installation.");
  });

  test("invalid_api_key: unknown ids and wrong secrets look the same", async () => {
    const unknown = expectProblem(await ask(`Bearer ${generateKeyText("live").text}`), "invalid_api_key");
    const wrong = expectProblem(await ask(`Bearer ${generateKeyText("live", (await harness.key()).slice(8, 16)).text}`), "invalid_api_key");
    expect({ ...wrong, request_id: "" }).toEqual({ ...unknown, request_id: "" });
  });

  test("invalid_api_key: also where nothing answers, and for another method", async () => {
    const authorization = `Bearer ${generateKeyText("live").text}`;
    expectProblem(await harness.request("GET", "/api/v1/nowhere", { authorization }), "invalid_api_key");
    expectProblem(await harness.request("POST", url, { authorization }), "invalid_api_key");
  });
});

describe("with a key of the past", () => {
  provokes("revoked_api_key", "tells that it was revoked", async () => {
    const key = await harness.key();
    await revokeKey(harness.store, key.slice(8, 16));
    return ask(`Bearer ${key}`);
  });

  provokes("expired_api_key", "tells that it has expired", async () => {
    const key = await harness.key({ expiresAt: Date.now() + 60_000 });
    expect((await ask(`Bearer ${key}`)).status).toBe(200);
    harness.clock.offsetMs = 61_000;
    const answer = await ask(`Bearer ${key}`);
    harness.clock.offsetMs = 0;
    expect(answer.headers["www-authenticate"]).toBe('Bearer realm="netfacts", error="invalid_token", error_description="expired_api_key"');
    return answer;
  });
});
