/** What is asked in the cluster, and what is true in the samples. */

import { isDeepStrictEqual } from "node:util";
import { expect } from "@jest/globals";
import { request } from "../../support/http.ts";
import type { Question } from "./constant-load.ts";

export interface Lookup {
  readonly path: string;
  /** What the record must have, as of `toMatchObject`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Of every service that answers. Names cannot be resolved there, as nothing outside the machine can be reached. */
export const lookups: readonly Lookup[] = [
  {
    path: "/api/v1/ip/193.0.6.139",
    facts: {
      ip: "193.0.6.139",
      allocation: { registry: "ripencc" },
      routing: { announced: true, prefix: "193.0.0.0/21" },
      rpki: { state: "valid" },
    },
  },
  { path: "/api/v1/ip/1.1.1.1", facts: { routing: { prefix: "1.1.1.0/24" }, rpki: { state: "invalid", reason: "as" } } },
  { path: "/api/v1/ip/10.0.0.1", facts: { special_purpose: { name: "Private-Use", rfc: "RFC1918" }, routing: { announced: false } } },
  { path: "/api/v1/ip/2001:500:2f::f", facts: { version: 6, routing: { announced: true } } },
  { path: "/api/v1/routing/193.0.6.139", facts: { match: { prefix: "193.0.0.0/21", type: "longest" }, origins: [{ asn: 3333 }] } },
  { path: "/api/v1/asn/AS3333", facts: { asn: 3333, announced: true } },
  { path: "/api/v1/prefix/193.0.0.0/21", facts: { announced: true, match: { type: "exact" }, origins: [{ asn: 3333 }] } },
  { path: "/api/v1/validity?asn=3333&prefix=193.0.0.0/21", facts: { rpki: { state: "valid" } } },
  { path: "/api/v1/reverse-dns/192.168.1.1", facts: { status: "special_purpose", names: [] } },
];

/**
 * Asks each question once and checks the answer against its facts.
 *
 * @returns the questions; true is the same answer, all of it but `meta`.
 */
export async function knownAnswers(url: string, key: string): Promise<Question[]> {
  return await Promise.all(
    lookups.map(async ({ path, facts }) => {
      const whole = `${path}${path.includes("?") ? "&" : "?"}meta=false`;
      const { json, status } = await request(`${url}${whole}`, { key });
      if (status !== 200) throw new Error(`${whole}: ${status}`);
      expect(json).toMatchObject(facts);
      return { path: whole, isTrue: (record: unknown) => isDeepStrictEqual(record, json) };
    }),
  );
}
