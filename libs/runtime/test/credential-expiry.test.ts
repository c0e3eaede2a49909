/** The metric that tells when credentials for NATS expire. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { makeAuthority } from "../../../test/support/certificates.ts";
import { measureCredentials } from "../src/credential-expiry.ts";
import { createMetrics, createRegistry } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-expiry-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const none = { NATS_CERT_FILE: "", NATS_CA_FILE: "", NATS_CREDS_FILE: "" };

/** Seconds by credential. */
async function measured(files: Partial<typeof none>): Promise<Record<string, number>> {
  const metrics = createMetrics("x", createRegistry());
  measureCredentials(metrics, { ...none, ...files });
  const text = await metrics.registry.text();
  const rows = text.matchAll(/^netfacts_credential_expiry_timestamp_seconds\{credential="(\w+)",service="x"\} (\S+)$/gm);
  return Object.fromEntries([...rows].map(([, credential = "", value]) => [credential, Number(value)]));
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function endDate(path: string): number {
  return (
    Date.parse(execFileSync("openssl", ["x509", "-enddate", "-noout", "-in", path], { encoding: "utf8" }).slice("notAfter=".length)) / 1_000
  );
}

test("a client certificate, of its file the first, and the authority that lasts longest", async () => {
  const authority = makeAuthority(folder, "authority");
  const old = authority.issue("old", { days: 1 });
  const chain = write("chain.pem", readFileSync(old.certificate, "utf8") + readFileSync(authority.certificate, "utf8"));
  expect(endDate(old.certificate)).toBeLessThan(endDate(authority.certificate));
  expect(await measured({ NATS_CERT_FILE: chain, NATS_CA_FILE: chain })).toEqual({
    NATS_CERT_FILE: endDate(old.certificate),
    NATS_CA_FILE: endDate(authority.certificate),
  });
});

test("the JWT of a .creds file", async () => {
  const creds = (claims: object) =>
    `-----BEGIN NATS USER JWT-----\n${["{}", JSON.stringify(claims), "signature"].map((part) => Buffer.from(part).toString("base64url")).join(".")}\n------END NATS USER JWT------\n`;
  expect(await measured({ NATS_CREDS_FILE: write("a.creds", creds({ exp: 1_900_000_000 })) })).toEqual({ NATS_CREDS_FILE: 1_900_000_000 });
  expect(await measured({ NATS_CREDS_FILE: write("b.creds", creds({ name: "never expires" })) })).toEqual({});
});

test("a file that is not set, is not there, or is something else has no series, and ends nothing", async () => {
  expect(await measured({})).toEqual({});
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  const files = {
    NATS_CERT_FILE: join(folder, "absent"),
    NATS_CA_FILE: write("broken.pem", broken),
    NATS_CREDS_FILE: write("x", "no JWT"),
  };
  expect(await measured(files)).toEqual({});
});
