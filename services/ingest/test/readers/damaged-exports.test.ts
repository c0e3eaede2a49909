/** Damaged exports of validators and local exceptions: read exactly as the oracle reads them, or refused with place and cause. */

import { formatPrefix } from "@netfacts/address";
import type { SourceContent } from "../../src/readers/reader-report.ts";
import { readRoutinatorJson, readRoutinatorJsonExt } from "../../src/readers/routinator-json.ts";
import { readRpkiClientJson } from "../../src/readers/rpki-client-json.ts";
import { readSlurm } from "../../src/readers/slurm.ts";
import type { VrpExport } from "../../src/readers/vrp-export.ts";
import { type JsonForm, mutatedJson } from "../support/mutate-json.ts";
import { badRecordsMax, format, jsonNasty } from "./damaged-format.ts";
import { type ExportKind, obviousExport } from "./oracles/exports.ts";
import { obviousSlurm } from "./oracles/slurm.ts";

const without = <T>(list: T[], text: string): T[] => list.filter((one) => !String(one).includes(text));

type Exported = { vrps: string[]; aspas: string[] | null; read: number; asOf: number | null };

async function exported(reading: Promise<VrpExport>): Promise<Exported> {
  const { vrps, aspas, report } = await reading;
  return {
    vrps: Array.from(
      vrps,
      ({ asn, prefix: { version, w0, w1, w2, w3, length }, maxLength, ta, expiresAt }) =>
        `${version} ${w0} ${w1} ${w2} ${w3}/${length}-${maxLength} ${asn} ${ta} ${expiresAt}`,
    ),
    aspas:
      aspas === null
        ? null
        : aspas.records.map(({ customer, providers, ta, expiresAt }) => `${customer} ${providers.join()} ${ta} ${expiresAt}`),
    read: report.read,
    asOf: report.asOf,
  };
}

function exportFormat(name: string, kind: ExportKind, document: unknown, read: (content: SourceContent) => Promise<VrpExport>): void {
  const form: JsonForm = { document, nasty: jsonNasty };
  format<Exported>(name, {
    make: (random) => mutatedJson(random, form),
    read: (source) => exported(read(source)),
    oracle: (bytes) => obviousExport(bytes, kind, badRecordsMax),
    // A VRP of AS 0 taken for none.
    bug: (reading) => ({ ...reading, vrps: without(reading.vrps, " 0 ") }),
  });
}

exportFormat(
  "rpki-client-json",
  "rpki-client",
  {
    metadata: { buildmachine: "a", buildtime: "2026-01-05T09:31:33Z", vrps: 5 },
    roas: [
      { asn: 13335, prefix: "1.0.0.0/24", maxLength: 24, ta: "apnic", expires: 1_767_609_999 },
      { asn: "AS13335", prefix: "1.0.0.0/24", maxLength: 24, ta: "ripe", expires: 1_767_608_999 },
      { asn: 0, prefix: "192.0.0.0/16", maxLength: 32, ta: "ripe", expires: 1_767_605_492 },
      { prefix: "::/0", maxLength: 0, asn: 64496 },
      { asn: 64497, prefix: "203.0.113.0/25", maxLength: 25, note: { a: [{}, []] }, ta: null },
    ],
    bgpsec_keys: [{ asn: 15562, ski: "5D42", ta: "ripe" }],
    aspas: [
      { customer_asid: 945, expires: 1_767_609_999, providers: [13213, 150369] },
      { customer_asid: "AS970", providers: [] },
      { customer_asid: 971, expires: 5, providers: [1] },
    ],
  },
  readRpkiClientJson,
);

exportFormat(
  "routinator-json",
  "json",
  {
    metadata: { generated: 1_767_605_493, generatedTime: "2026-01-05T09:31:33Z" },
    roas: [
      { asn: "AS13335", prefix: "1.0.0.0/24", maxLength: 24, ta: "apnic" },
      { asn: "AS0", prefix: "192.0.0.0/16", maxLength: 32, ta: "N/A" },
      { asn: "AS64496", prefix: "2001:db8::/32", maxLength: 48, ta: "ripe" },
    ],
    routerKeys: [{ asn: "AS1", SKI: "00", ta: "ripe" }],
    aspas: [
      { customer: "AS1234", providers: ["AS1", "AS2"], ta: "ripe" },
      { customer: "AS5", providers: [], ta: "N/A" },
    ],
  },
  readRoutinatorJson,
);

const chain = (tal: string, notAfter: string) => ({ type: "roa", uri: "rsync://a", tal, chainValidity: { notBefore: "x", notAfter } });
exportFormat(
  "routinator-jsonext",
  "jsonext",
  {
    metadata: { generated: 1_767_605_493 },
    roas: [
      {
        asn: "AS1",
        prefix: "1.0.0.0/24",
        maxLength: 24,
        source: [chain("ripe", "2026-02-05T00:00:00Z"), chain("arin", "2026-03-05T00:00:00Z")],
      },
      { asn: "AS0", prefix: "192.0.0.0/16", maxLength: 32, source: [{ type: "exception", path: null }] },
      { asn: "AS2", prefix: "2001:db8::/32", maxLength: 32, source: [chain("ripe", "2026-01-05T09:31:32Z")] },
      { asn: "AS3", prefix: "2001:db8::/32", maxLength: 32 },
    ],
    aspas: [{ customer: "AS1234", providers: ["AS1", "AS2"], source: [chain("ripe", "2026-02-05T00:00:00Z")] }],
  },
  readRoutinatorJsonExt,
);

const slurmForm: JsonForm = {
  document: {
    slurmVersion: 2,
    validationOutputFilters: {
      prefixFilters: [{ prefix: "192.0.2.0/24", comment: "a" }, { asn: 64496 }, { prefix: "2001:db8::/32", asn: 0 }],
      bgpsecFilters: [{ asn: 64496 }, { SKI: "Zm9vYmFyZm9vYmFyZm9vYmFyZm8" }],
      aspaFilters: [{ customerAsn: 1 }],
    },
    locallyAddedAssertions: {
      prefixAssertions: [
        { asn: 64496, prefix: "198.51.100.0/24", comment: "b" },
        { asn: 64496, prefix: "2001:db8::/32", maxPrefixLength: 48 },
      ],
      bgpsecAssertions: [{ asn: 64496, SKI: "Zm9vYmFyZm9vYmFyZm9vYmFyZm8", routerPublicKey: "Ym9ndXM" }],
      aspaAssertions: [],
    },
  },
  nasty: ["0", "1", "2", "-0", "1.0", "64496", "4294967295", "33", "128", '"x"', '"192.0.2.0/25"', '"::/0"', '"Ym9ndXM"', '""', "{}", "[]"],
};
format("slurm", {
  make: (random) => mutatedJson(random, slurmForm),
  read: async (source) => {
    const { exceptions, report } = await readSlurm(source);
    return {
      filters: exceptions.filters.map(({ prefix, asn }) => `${prefix && formatPrefix(prefix)} ${asn === null ? null : asn + 0}`),
      assertions: exceptions.assertions.map(({ prefix, maxLength, asn }) => `${formatPrefix(prefix)}-${maxLength} ${asn + 0}`),
      notApplied: report.read - report.accepted,
    };
  },
  oracle: obviousSlurm,
  // A filter of AS 0 taken for one of any AS.
  bug: (reading) => ({ ...reading, filters: reading.filters.map((filter) => filter.replace(/ 0$/, " null")) }),
});
