/** Expiry times of the credentials for NATS, read from their files: certificates (X.509), and the JWT of a `.creds` file. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { BusConfig } from "./bus-config.ts";
import type { Metrics } from "./metrics.ts";

/** Unix time in seconds at which the content of a file expires; null: never, or unknown. */
type Expiry = (content: string) => number | null;

/** By the setting that names the file. The client's certificate is the first one in its file. Of authorities, one that is still valid is enough. */
const readers: Readonly<Record<"NATS_CERT_FILE" | "NATS_CA_FILE" | "NATS_CREDS_FILE", Expiry>> = {
  NATS_CERT_FILE: (content) => certificateEnds(content)[0] ?? null,
  NATS_CA_FILE: (content) => certificateEnds(content).reduce<number | null>((latest, end) => Math.max(latest ?? end, end), null),
  NATS_CREDS_FILE: jwtEnd,
};

/** Files are replaced while the service runs, so they are read again after this time; metrics may be read more often. */
const keptMs = 10_000;

/** A file has no series if it is not set, cannot be read, or never expires. */
export function measureCredentials(metrics: Metrics, config: Pick<BusConfig, keyof typeof readers>): void {
  let readAtMs = Number.NEGATIVE_INFINITY;
  metrics.gauge({
    name: "netfacts_credential_expiry_timestamp_seconds",
    help: "Time at which the credential in a file expires, by the setting that names the file",
    labelNames: ["credential"],
    collect(gauge) {
      if (performance.now() - readAtMs < keptMs) return;
      readAtMs = performance.now();
      for (const [credential, read] of Object.entries(readers)) {
        const path = config[credential as keyof typeof readers];
        const end = path === "" ? null : endOf(path, read);
        if (end === null) gauge.remove({ credential });
        else gauge.set({ credential }, end);
      }
    },
  });
}

function endOf(path: string, read: Expiry): number | null {
  try {
    return read(readFileSync(path, "utf8"));
  } catch {
    // The user of the file reports its faults.
    return null;
  }
}

function certificateEnds(pem: string): number[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block).validToDate.getTime() / 1_000);
}

/** RFC 7519, section 4.1.4. */
function jwtEnd(creds: string): number | null {
  const [, payload] = /-----BEGIN NATS USER JWT-----\s*[\w-]+\.([\w-]+)\.[\w-]+/.exec(creds) ?? [];
  if (payload === undefined) return null;
  const { exp } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as { exp?: unknown };
  return typeof exp === "number" && exp > 0 ? exp : null;
}
