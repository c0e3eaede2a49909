/** Damaged lists of lines: read exactly as the oracle reads them, or refused with place and cause. */

import { type Address, formatAddress, formatPrefix } from "@netfacts/address";
import { type AsNameRecord, readAutnums, readNameList } from "../../src/readers/as-names.ts";
import { type DelegationRecord, readDelegated } from "../../src/readers/delegated.ts";
import { readGeofeed } from "../../src/readers/geofeed.ts";
import { readObservations, readObservationsCsv } from "../../src/readers/observations.ts";
import { readNetworkTypesCsv, readOverridesCsv } from "../../src/readers/operator-csv.ts";
import type { SourceContent } from "../../src/readers/reader-report.ts";
import { readRoutinatorCsv } from "../../src/readers/routinator-csv.ts";
import { readGeofeedReferences } from "../../src/readers/rpsl-references.ts";
import { mutatedText, type TextForm } from "../support/mutate-text.ts";
import { cases } from "../support/mutation-run.ts";
import { badRecordsMax, format } from "./damaged-format.ts";
import { obviousReading } from "./delegated-oracle.ts";
import { obviousGeofeed } from "./oracles/geofeed.ts";
import { obviousNames, obviousOverrides, obviousTypes, obviousVrpCsv } from "./oracles/lists.ts";
import { obviousLatest, obviousObservations, obviousObservationsCsv, obviousText } from "./oracles/observations.ts";
import { obviousReferences } from "./oracles/rpsl.ts";

const encodings = ["\u00a0", "\u0085", "\u00e9", "\u00c3\u00a9", "\u00c3\u0192\u00c2\u00a9", "\u0000", "\ufeff", "\u2028", "東京"];

const delegatedForm: TextForm = {
  separator: "|",
  text: [
    "2|ripencc|20260105|9|19830705|20260104|+0100",
    "ripencc|*|ipv4|*|4|summary",
    "ripencc|NL|ipv4|192.0.2.0|768|20200229|assigned|a-1",
    "ripencc|EU|ipv4|1.0.0.0|1|19990101|allocated|a-1",
    "ripencc||ipv4|223.255.255.0|256||reserved|",
    "ripencc|ZZ|ipv4|62.0.0.0|33554432|00000000|available",
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
    const { read } = await readDelegated({ ...source, countErrorMax: 0.25 }, (record: DelegationRecord) => {
      const [start, end] = record.kind === "asn" ? [record.start, record.end] : [decimal(record.start), decimal(record.end)];
      const { registry, country, kind, date, status, opaqueId } = record;
      records.push([registry, country ?? "", kind, start, end, date ?? "", status, opaqueId ?? ""].join("|"));
    });
    return { records, read };
  },
  oracle: (bytes) => {
    const reading = obviousReading(bytes, badRecordsMax, 0.25);
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
  refusedMin: cases / 200,
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
  refusedMin: cases / 200,
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
      text: 'asn,name,organisation,website,network_type\n64496,ONE,"One",https://one.example,isp\n# a comment\n1.10,-,Ten Ltd,-,-\nAS64497,,,,hosting vpn\n64496,ONE-AGAIN,,,\n',
      nasty: ["4294967296", "network_type", "a".repeat(41), "9lives", "ftp://x", ...csvNasty],
    }),
  read: async (source) =>
    Array.from((await readOverridesCsv(source)).overrides.values(), ({ asn, name, organisation, website, networkType }) =>
      JSON.stringify({
        asn,
        name,
        organisation,
        website,
        network_type: networkType == null ? networkType : [networkType.type, ...(networkType.also ?? [])].join(" "),
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
      text: "resource,network_type,confidence\n192.0.2.0/24,office,\n2001:db8::1,lab vpn,0.25\nAS64496,transit,80%\n1.10,isp,1\n192.0.2.0/24,home,0.5\n",
      nasty: ["192.0.2.1/24", "198.51.100.0", "100%", "101%", "1.1", "0", "::", "1e2", "4294967295", ...csvNasty],
    }),
  read: async (source) =>
    (await readNetworkTypesCsv(source)).types.map(
      (one) => `${"asn" in one ? `AS${one.asn}` : formatPrefix(one.prefix)} ${one.statement.types.join(" ")} ${one.statement.confidence}`,
    ),
  oracle: (bytes) => obviousTypes(bytes, badRecordsMax),
  // A share in hundredths taken for one.
  bug: (types) => types.map((type) => type.replace(/ 0\.8$/, " 1")),
});

format("geofeed", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: '# lastupdated (rfc3339): 2026-08-22T16:53:12+02:00\n192.0.2.0/24,NL,NL-NH,Amsterdam,\n2001:db8::/32,DE,DE-BE,"Berlin",10115\n198.51.100.7,US,,\n203.0.113.0/24,,,,\n192.0.2.128/25,MX,MX-QUE,Quer\u00e9taro,,more\n192.0.2.0/24,NL,NL-NH,Amsterdam,\n',
      nasty: [
        "192.0.2.1/24",
        "::",
        "0.0.0.0/0",
        "2000::/3",
        "ZZ",
        "zz",
        "EU",
        "UK",
        "nl",
        "NL-",
        "NL-NHXX",
        "de-be",
        "US-CA",
        "-",
        ...csvNasty,
      ],
    }),
  read: async (source) => {
    const { records, report } = await readGeofeed(source);
    return { asOf: report.asOf, records: records.map(({ prefix, place }) => `${formatPrefix(prefix)} ${JSON.stringify(place)}`) };
  },
  oracle: (bytes) => obviousGeofeed(bytes, badRecordsMax),
  // A prefix without a place taken for one that is not listed.
  bug: ({ asOf, records }) => ({ asOf, records: records.filter((record) => !record.endsWith(" null")) }),
});

format("rpsl-geofeeds", {
  make: (random) =>
    mutatedText(random, {
      separator: ":",
      text: "# a dump\n\ninetnum:192.0.2.0 - 192.0.2.255\nnetname:ONE\ngeofeed:https://one.example/feed.csv # here\nlast-modified:2024-08-07T15:09:20Z\n\ninet6num:2001:db8::/32\nremarks:words\n+more\nremarks:Geofeed\n+\n\thttps://six.example/\n\norganisation:ORG\ngeofeed:https://no.example/\n\ninetnum:198.51.100.0 -\n 198.51.100.63\nremarks:Geofeed https://remark.example/\n\ninetnum:203.0.113.0 - 203.0.113.255\ngeofeed:\n+ https://next.example/a # b\n+ # c\nsource:TEST\n",
      nasty: [
        ...["inetnum", "INET6NUM", "Geofeed", "remarks", "last-modified", "+", " ", "\t", "+Geofeed https", " https", "%", "# x", " # x"],
        ...["0.0.0.0 - 255.255.255.255", "192.0.2.9 - 192.0.2.1", "192.0.2.0/24", "::/0", "2000::/12", "10.0.0.0 - 10.255.255.255"],
        ...[
          "https://user@x.example/",
          "http://x.example/",
          "//x.example/#f",
          "https",
          "2024-02-30T00:00:00Z",
          "\n",
          "\n\n",
          "a\u00a0b",
          ...csvNasty,
        ],
      ],
    }),
  read: async (source) => {
    const { references, objects, refused } = await readGeofeedReferences(source);
    return {
      references: references.map(
        ({ start, end, url, lastModified }) => `${formatAddress(start)} ${formatAddress(end)} ${url} ${lastModified}`,
      ),
      objects: objects.ipv4 + objects.ipv6,
      refused: [...refused.values()].reduce((sum, count) => sum + count, 0),
    };
  },
  oracle: (bytes) => obviousReferences(bytes, badRecordsMax),
  // A continuation line taken for nothing.
  bug: (reading) => ({ ...reading, references: reading.references.filter((reference) => !reference.includes("//next.example/")) }),
});

format("observations", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: '{"ip":"192.0.2.1","lat":52.37,"lon":4.9,"accuracy_km":10,"country":"NL","region":"NL-NH","city":"Amsterdam","observed_at":"2026-01-05T09:31:32Z","method":"gps"}\n{"prefix":"2001:db8::/32","lat":-33.5,"lon":151.25,"observed_at":"2026-01-05T09:31:32+02:00"}\n{"ip":"198.51.100.7","country":"DE","observed_at":"2025-12-31T23:59:59.5Z"}\n{"prefix":"203.0.113.0/24","region":"MX-QUE","city":"Quer\u00e9taro","observed_at":"2026-01-01T00:00:00Z"}\n',
      nasty: [
        ...['"ip":"::1"', '"prefix":"192.0.2.1/24"', '"lat":0', '"lon":0', '"lat":91', '"lon":-180', '"lat":"1"', '"accuracy_km":-1'],
        ...['"country":"EU"', '"country":null', '"region":"US-CA"', '"city":7', '"method":"A"', '"method":null', '"more":1', '"ip":null'],
        ...['"observed_at":"2026-02-30T00:00:00Z"', '"observed_at":1', '"observed_at":"2099-01-01T00:00:00Z"', "{}", "}", "{", "null"],
        ...csvNasty,
      ],
    }),
  read: async (source) => {
    const { observations } = await readObservations({ ...source, latestTime: obviousLatest });
    return Array.from({ length: observations.size }, (_, at) =>
      obviousText({ prefix: formatPrefix(observations.prefixAt(at)), ...observations.voteAt(at) }),
    );
  },
  oracle: (bytes) => obviousObservations(bytes, badRecordsMax),
  // Coordinates without their sign.
  bug: (observations) => observations.map((one) => one.replace("-33.5", "33.5")),
});

format("observations-csv", {
  make: (random) =>
    mutatedText(random, {
      separator: ",",
      text: 'ip,prefix,lat,lon,accuracy_km,country,city,observed_at\n192.0.2.1,,52.37,4.9,10,NL,"Amsterdam",2026-01-05T09:31:32Z\n,2001:db8::/32,-33.5,151.25,,,,2026-01-05T09:31:32+02:00\n# more\n198.51.100.7,,,,,DE,,2025-12-31T23:59:59.5Z\n',
      nasty: [
        "::1",
        "192.0.2.1/24",
        "0",
        "91",
        "-180",
        "1e1",
        ".5",
        "-1",
        "EU",
        "method",
        "2026-02-30T00:00:00Z",
        "2099-01-01T00:00:00Z",
        ...csvNasty,
      ],
    }),
  read: async (source) => {
    const { observations } = await readObservationsCsv({ ...source, latestTime: obviousLatest });
    return Array.from({ length: observations.size }, (_, at) =>
      obviousText({ prefix: formatPrefix(observations.prefixAt(at)), ...observations.voteAt(at) }),
    );
  },
  oracle: (bytes) => obviousObservationsCsv(bytes, badRecordsMax),
  // Coordinates without their sign.
  bug: (observations) => observations.map((one) => one.replace("-33.5", "33.5")),
});
