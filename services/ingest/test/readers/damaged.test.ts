/** Ten thousand damaged documents of every format: each is read exactly as a slow oracle reads it, or refused with place and cause. */

import { afterAll, describe, expect, test } from "@jest/globals";
import { type Address, formatPrefix } from "@netfacts/address";
import {
  type AsNameRecord,
  type DelegationRecord,
  readAutnums,
  readDelegated,
  readNameList,
  readNetworkTypesCsv,
  readOverridesCsv,
  readPeeringDbNet,
  readPeeringDbOrg,
  readRoutinatorCsv,
  readRoutinatorJson,
  readRoutinatorJsonExt,
  readRpkiClientJson,
  readSlurm,
  type SourceContent,
  type VrpExport,
} from "../../src/readers/index.ts";
import { type JsonForm, mutatedJson } from "../support/mutate-json.ts";
import { mutatedText, type TextForm } from "../support/mutate-text.ts";
import { cases, type MutationRun, runMutations } from "../support/mutation-run.ts";
import type { Random } from "../support/random.ts";
import { contentOf } from "./content.ts";
import { obviousReading } from "./delegated-oracle.ts";
import { type ExportKind, obviousExport } from "./oracles/exports.ts";
import { obviousNames, obviousOverrides, obviousTypes, obviousVrpCsv } from "./oracles/lists.ts";
import { obviousAnswer } from "./oracles/peeringdb.ts";
import { obviousSlurm } from "./oracles/slurm.ts";

/** Half of the records of a document this small may be bad. */
const badRecordsMax = 0.5;
const content = (bytes: Uint8Array, piece: number): SourceContent => contentOf(bytes, piece, { badRecordsMax });

interface Format<T> {
  /** How many of the cases are refused at least; of lists that a reader forgives nearly everything it is few. */
  readonly refusedMin?: number;
  readonly make: (random: Random) => Uint8Array;
  readonly read: (content: SourceContent) => Promise<T>;
  readonly oracle: (bytes: Uint8Array) => T | undefined;
  /** A reader with a bug: what it makes of a right reading. */
  readonly bug: (reading: T) => T;
}

let outcomes = "";
afterAll(() => {
  if (process.env.SHOW_MUTATIONS === "1") console.log(outcomes);
});

function format<T>(name: string, { make, read, oracle, bug, refusedMin = 500 }: Format<T>): void {
  describe(name, () => {
    const run = (seed: number, reader: (content: SourceContent) => Promise<T>): MutationRun => ({
      seed,
      make,
      read: (bytes, piece) => reader(content(bytes, piece)),
      oracle,
    });

    test("is read as the oracle does, or refused with place and cause", async () => {
      const { accepted, refused, finding } = await runMutations(run(20_260_105, read));
      expect(finding).toBeNull();
      expect(accepted + refused).toBe(cases);
      outcomes += `${name}: ${accepted} read, ${refused} refused\n`;
      expect(accepted).toBeGreaterThan(1_000);
      expect(refused).toBeGreaterThan(refusedMin);
    }, 120_000);

    test("a reader with a bug is found out", async () => {
      const { finding } = await runMutations(run(8, async (source) => bug(await read(source))));
      expect(finding).toMatch(/^case \d+: read as /);
    }, 120_000);
  });
}

const without = <T>(list: T[], text: string): T[] => list.filter((one) => !String(one).includes(text));

// Exports of validators.

const jsonNasty = [
  ...["null", "true", "-0", "-1", "1e3", "1.0", "1.5", "0", "33", "129", "4294967295", "4294967296", "99999999999999999999", "5e-324"],
  ...['"AS1"', '"as2"', '"as-1"', '"4294967296"', '""', '"N/A"', '"1.0.0.1/24"', '"1.0.0.0/33"', '"::1/64"', '"10.0.0.0/8"', '"::/0"'],
  ...["[]", "{}", "[1]", "[[1]]", '{"asn":1}', '"2026-01-05T24:00:00Z"', '"2026-02-30T00:00:00Z"', '"2026-01-05T09:31:32Z"', '"\\ud800"'],
  ...[`"${"x".repeat(65)}"`, '"\\u0000"', '"caf\\u00e9"', "1767605492", "1767605493"],
];

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
      { prefix: "::/0", asn: 64496 },
      { asn: 64497, prefix: "203.0.113.0/25", note: { a: [{}, []] }, ta: null },
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
      { asn: "AS3", prefix: "2001:db8::/32" },
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

// PeeringDB.

const peeringNasty = [
  ...jsonNasty,
  ...['"Not Disclosed"', '"Cable/DSL/ISP"', '"NSP "', '"9 Lives"', '"deleted"', '"ok"', '"http://"', '"https://a b"', '"ftp://x"'],
  ...['"Caf\\u00c3\\u00a9"', '"a\\tb"', '"a\\u0085b"', '" "', `"${"é".repeat(300)}"`, "1767605493.9", '["NSP","Content"]'],
];
format("peeringdb-net", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        data: [
          {
            id: 1,
            org_id: 7,
            name: "One",
            website: "https://one.example",
            asn: 64496,
            info_type: "NSP",
            info_types: ["NSP"],
            status: "ok",
          },
          { id: 2, org_id: 8, name: "Two", website: "", asn: 64497, info_type: "Content", info_types: ["Content", "NSP"], status: "ok" },
          { id: 3, name: "Three", asn: 64498, info_type: "", status: "deleted" },
          { id: 4, org_id: null, name: "", asn: 64499, social_media: [{ name: "x", asn: 1 }] },
        ],
        meta: { generated: 1_767_605_493.5 },
      },
      nasty: peeringNasty,
    }),
  read: async (source) => {
    const { networks, report } = await readPeeringDbNet(source);
    const records = Array.from(networks.values(), ({ asn, name = null, orgId = null, website = null, networkType }) =>
      JSON.stringify({
        key: asn,
        name,
        org: orgId,
        website,
        type: networkType == null ? null : `${networkType.type} ${networkType.confidence}`,
      }),
    );
    return { records, asOf: report.asOf };
  },
  oracle: (bytes) => obviousAnswer(bytes, "net", badRecordsMax),
  // Where several types are named, the sure one's confidence.
  bug: (reading) => ({ ...reading, records: reading.records.map((record) => record.replace(" 0.5", " 0.8")) }),
});

format("peeringdb-org", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        meta: {},
        data: [
          { id: 2, name: "Example, Inc.", website: "http://www.example.com", notes: "", status: "ok" },
          { id: 7, name: "Seven", website: null, status: "ok" },
          { id: 8, name: "Eight", website: "javascript:x" },
        ],
      },
      nasty: peeringNasty,
    }),
  read: async (source) => {
    const { organisations, report } = await readPeeringDbOrg(source);
    return { records: Array.from(organisations, ([key, one]) => JSON.stringify({ key, ...one })), asOf: report.asOf };
  },
  oracle: (bytes) => obviousAnswer(bytes, "org", badRecordsMax),
  // The website as it stands, whatever it is.
  bug: (reading) => ({ ...reading, records: reading.records.map((record) => record.replace('"website":null', '"website":""')) }),
});

// Lists of lines.

const encodings = ["\u00a0", "\u0085", "\u00e9", "\u00c3\u00a9", "\u00c3\u0192\u00c2\u00a9", "\u0000", "\ufeff", "\u2028", "東京"];

const delegatedForm: TextForm = {
  separator: "|",
  text: [
    "2|ripencc|20260105|9|19830705|20260104|+0100",
    "ripencc|*|ipv4|*|4|summary",
    "ripencc|NL|ipv4|192.0.2.0|768|20200229|assigned|a-1",
    "ripencc|EU|ipv4|0.0.0.0|1|19990101|allocated|a-1",
    "ripencc||ipv4|255.255.255.0|256||reserved|",
    "ripencc|ZZ|ipv4|10.0.0.0|16777216|00000000|available",
    "ripencc|DE|ipv6|2001:db8::|32|20200101|allocated|b",
    "ripencc|DE|ipv6|2001:db8:8000::|33|20200101|assigned|b",
    "ripencc|FR|asn|4294967295|1|20200101|allocated|c",
    "ripencc|FR|asn|1|100|20200101|allocated|c",
    "iana|ZZ|asn|64512|1023||reserved",
    "",
  ].join("\n"),
  nasty: [
    ...["2.3", "3", "nro", "arin", "*", "summary", "00000000", "20210229", "-1", "0", "4294967296", "99999999999", "1e3", "0x10", "129"],
    ...[
      "::ffff:1.2.3.4",
      "1.2.3.04",
      "2001:db8::/32",
      "fe80::1%1",
      "NLD",
      "nl",
      "legacy",
      " ",
      "|",
      "\u0000",
      "128",
      "available",
      "caf\u00e9",
    ],
  ],
};
const decimal = ({ version, w0, w1, w2, w3 }: Address): bigint =>
  version === 4 ? BigInt(w0) : [w0, w1, w2, w3].reduce((value, word) => value * 2n ** 32n + BigInt(word), 0n);
format("delegated", {
  make: (random) => mutatedText(random, delegatedForm),
  read: async (source) => {
    const records: string[] = [];
    const { read } = await readDelegated(source, (record: DelegationRecord) => {
      const [start, end] = record.kind === "asn" ? [record.start, record.end] : [decimal(record.start), decimal(record.end)];
      const { registry, country, kind, date, status, opaqueId } = record;
      records.push([registry, country ?? "", kind, start, end, date ?? "", status, opaqueId ?? ""].join("|"));
    });
    return { records, read };
  },
  oracle: (bytes) => {
    const reading = obviousReading(bytes, badRecordsMax);
    return reading?.trusted === true ? { records: reading.records, read: reading.read } : undefined;
  },
  // A count that is no power of two cut to one.
  bug: (reading) => ({ ...reading, records: reading.records.map((record) => record.replace("|3221226751|", "|3221226495|")) }),
});

const namesNasty = [
  "AS",
  "1",
  "as7",
  "0.65536",
  "4294967296",
  "-",
  "#",
  "AS4294967295",
  "-x-",
  "NAME, NL",
  ", ZZ",
  "x".repeat(300),
  ...encodings,
];

async function namesOf(read: typeof readAutnums, source: SourceContent): Promise<string[]> {
  const names: string[] = [];
  await read(source, ({ asn, name, country }: AsNameRecord) => names.push(`${asn} ${name} ${country}`));
  return names;
}

format("name-list", {
  make: (random) =>
    mutatedText(random, {
      separator: "\t",
      text: "# names\n1\tLVLT-1\n2\tUDEL-DCN University of Delaware\nAS3\tMIT \u00e9\n1.10\tFOUR\n5\tAS5\n6\t-Reserved AS-\n7\tx\n4294967295\tLAST\n",
      nasty: namesNasty,
    }),
  read: (source) => namesOf(readNameList, source),
  refusedMin: 100,
  oracle: (bytes) => obviousNames(bytes, "name-list", badRecordsMax),
  // What only looks like an encoding gone wrong.
  bug: (names) => names.map((name) => name.replaceAll("\u00e9", "\u00c3\u00a9")),
});

format("autnums", {
  make: (random) =>
    mutatedText(random, {
      separator: " ",
      text: "AS0 -Reserved AS-, ZZ\nAS1 LVLT-1, US\nAS2 UDEL-DCN, US\nAS3 MIT\u00e9, EU\nAS1.10 TEN, NL\n5 AS5, NL\nAS6 NOBODY, ZZ\n4294967295 LAST Name, FR\n",
      nasty: namesNasty,
    }),
  read: (source) => namesOf(readAutnums, source),
  refusedMin: 100,
  oracle: (bytes) => obviousNames(bytes, "autnums", badRecordsMax),
  // ZZ taken for a country.
  bug: (names) => names.map((name) => name.replace(/NOBODY null$/, "NOBODY ZZ")),
});

const csvNasty = [
  '"',
  '""',
  '"a,b"',
  'a"b',
  "-",
  "Two Words",
  "1.5",
  "80%",
  "0.25",
  "http://",
  "https://b.example/?q=1",
  "AS0",
  "",
  ...encodings,
];

format("routinator-csv", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: 'ASN,IP Prefix,Max Length,Trust Anchor,Expires\nAS13335,1.0.0.0/24,24,apnic,1767605493\nAS0,192.0.0.0/16,32,"ri""pe",\n64497,2001:db8::/32,48,N/A,\nAS13335,1.0.0.0/24,24,ripe,1767605494\n',
      nasty: ["AS4294967296", "as5", "1.0.0.1/24", "::/0", "33", "0", "00", "99999999999", "x".repeat(70), ...csvNasty],
    }),
  read: async (source) =>
    Array.from(
      (await readRoutinatorCsv(source)).vrps,
      ({ prefix, maxLength, asn, ta, expiresAt }) => `${formatPrefix(prefix)}-${maxLength} ${asn} ${ta} ${expiresAt}`,
    ),
  oracle: (bytes) => obviousVrpCsv(bytes, badRecordsMax),
  // The first of two duplicates, not that with the latest expiry.
  bug: (vrps) => vrps.map((vrp) => vrp.replace("ripe 1767605494", "apnic 1767605493")),
});

format("overrides-csv", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: 'asn,name,organisation,website,network_type\n64496,ONE,"One",https://one.example,isp\n# a comment\n1.10,-,Ten Ltd,-,-\nAS64497,,,,hosting\n64496,ONE-AGAIN,,,\n',
      nasty: ["4294967296", "network_type", "a".repeat(41), "9lives", "ftp://x", ...csvNasty],
    }),
  read: async (source) =>
    Array.from((await readOverridesCsv(source)).overrides.values(), ({ asn, name, organisation, website, networkType }) =>
      JSON.stringify({
        asn,
        name,
        organisation,
        website,
        network_type: networkType === undefined ? undefined : (networkType?.type ?? null),
      }),
    ),
  oracle: (bytes) => obviousOverrides(bytes, badRecordsMax),
  // A dash taken for nothing said.
  bug: (overrides) => overrides.map((one) => one.replace('"website":null,', "")),
});

format("network-types-csv", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: "resource,network_type,confidence\n192.0.2.0/24,office,\n2001:db8::1,lab,0.25\nAS64496,transit,80%\n1.10,isp,1\n192.0.2.0/24,home,0.5\n",
      nasty: ["192.0.2.1/24", "198.51.100.0", "100%", "101%", "1.1", "0", "::", "1e2", "4294967295", ...csvNasty],
    }),
  read: async (source) =>
    (await readNetworkTypesCsv(source)).types.map(
      (one) => `${"asn" in one ? `AS${one.asn}` : formatPrefix(one.prefix)} ${one.type} ${one.confidence}`,
    ),
  oracle: (bytes) => obviousTypes(bytes, badRecordsMax),
  // A share in hundredths taken for one.
  bug: (types) => types.map((type) => type.replace(/ 0\.8$/, " 1")),
});
