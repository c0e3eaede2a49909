/** Damaged lists of ranges: read exactly as the oracle reads them, or refused with place and cause. */

import { formatPrefix } from "@netfacts/address";
import { readPrefixList, readTorExits } from "../../src/readers/prefix-list.ts";
import { readAwsRanges, readAzureTags, readGoogleRanges, readOracleRanges } from "../../src/readers/provider-ranges.ts";
import type { ListedRange } from "../../src/readers/range-list.ts";
import type { ReaderReport, SourceContent } from "../../src/readers/reader-report.ts";
import { mutatedJson } from "../support/mutate-json.ts";
import { mutatedText } from "../support/mutate-text.ts";
import { badRecordsMax, type Format, format, jsonNasty } from "./damaged-format.ts";
import { type ObviousRanges, obviousLines, obviousProvider } from "./oracles/ranges.ts";

type Reading = Promise<{ ranges: ListedRange[]; report: ReaderReport }>;

const rangesNasty = [
  ...jsonNasty,
  ...['"192.0.2.0/24"', '"192.0.2.1"', '"0.0.0.0/0"', '"2001:db8::/32"', '"::"', '" a  b "', '"\\t"', '"a\\u0001"', '"1763715012999"'],
  ...['"2026-01-05-09-31-32"', '"2099-02-30-00-00-00"', '"2026-01-05T09:31:32.5"'],
];

function shown(read: (content: SourceContent) => Reading): Format<ObviousRanges>["read"] {
  return async (content) => {
    const { ranges, report } = await read(content);
    const records = ranges.map(({ prefix, detail }) => [formatPrefix(prefix), detail.region ?? "", detail.services.join()].join("|"));
    return { asOf: report.asOf, records };
  };
}

/** A reader that takes the first of two entries of one prefix. */
const bug = ({ asOf, records }: ObviousRanges) => ({ asOf, records: records.map((record) => record.replace(/,.*$/, "")) });

format("aws-ip-ranges", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        syncToken: "1763715012",
        createDate: "2025-11-21-08-50-12",
        prefixes: [
          { ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "AMAZON", network_border_group: "eu-west-1" },
          { ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "EC2", network_border_group: "eu-west-1" },
          { ip_prefix: "12.0.0.0/24", region: "GLOBAL", service: "AMAZON" },
          { ip_prefix: "12.0.0.0/24", region: "us-east-1", service: "S3" },
        ],
        ipv6_prefixes: [{ ipv6_prefix: "2001:db8::/40", region: "eu-west-1", service: "EC2" }],
      },
      nasty: rangesNasty,
    }),
  read: shown(readAwsRanges),
  oracle: (bytes) => obviousProvider(bytes, "aws", badRecordsMax),
  bug,
});

format("azure-service-tags", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        changeNumber: 3,
        cloud: "Public",
        values: [
          { name: "A", id: "A", properties: { region: "", systemService: "A", addressPrefixes: ["11.0.0.0/16", "2001:db8::/40"] } },
          { name: "A.eu", id: "A.eu", properties: { region: "eu", systemService: "A", addressPrefixes: ["11.0.0.0/16"] } },
          { name: "B", id: "B", properties: { region: "us", systemService: "B", addressPrefixes: ["11.0.0.0/16", "12.0.0.0/24"] } },
        ],
      },
      nasty: rangesNasty,
    }),
  read: shown(readAzureTags),
  oracle: (bytes) => obviousProvider(bytes, "azure", badRecordsMax),
  bug,
});

format("google-ip-ranges", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        syncToken: "1763715012123",
        creationTime: "2025-11-21T00:50:12.12345",
        prefixes: [
          { ipv4Prefix: "11.0.0.0/16", service: "Google Cloud", scope: "europe-west1" },
          { ipv4Prefix: "11.0.0.0/16", service: "Another", scope: "europe-west1" },
          { ipv6Prefix: "2001:db8::/40", service: "Google Cloud", scope: "global" },
          { ipv4Prefix: "12.0.0.0/24" },
        ],
      },
      nasty: rangesNasty,
    }),
  read: shown(readGoogleRanges),
  oracle: (bytes) => obviousProvider(bytes, "google", badRecordsMax),
  bug,
});

format("oracle-ip-ranges", {
  make: (random) =>
    mutatedJson(random, {
      document: {
        last_updated_timestamp: "2025-11-20T08:50:12.270149",
        regions: [
          {
            region: "eu-1",
            cidrs: [
              { cidr: "11.0.0.0/16", tags: ["OCI", "OSN"] },
              { cidr: "12.0.0.0/24", tags: [] },
            ],
          },
          { region: "us-1", cidrs: [{ cidr: "13.0.0.0/24", tags: ["OBJECT_STORAGE", "OCI"] }] },
        ],
      },
      nasty: rangesNasty,
    }),
  read: shown(readOracleRanges),
  oracle: (bytes) => obviousProvider(bytes, "oracle", badRecordsMax),
  bug,
});

format("tor-exit-list", {
  make: (random) =>
    mutatedText(random, {
      separator: " ",
      text: [
        "ExitNode 0011BD2485AD45D984EC4159C88FC066E5E3300E",
        "Published 2025-11-20 08:50:12",
        "LastStatus 2025-11-20 09:00:00",
        "ExitAddress 11.0.0.1 2025-11-20 09:05:12",
        "ExitNode 0111BD2485AD45D984EC4159C88FC066E5E3300E",
        "LastStatus 2025-11-20 10:00:00",
        "ExitAddress 11.0.0.2 2025-11-20 09:05:12",
        "ExitAddress 11.0.0.2 2025-11-20 09:06:12",
        "",
      ].join("\n"),
      nasty: ["11.0.0.0/24", "2001:db8::1", "2099-02-30", "24:00:00", "LastStatus", "ExitAddress", "0.0.0.0", "é"],
    }),
  read: shown(readTorExits),
  oracle: (bytes) => obviousLines(bytes, "tor", badRecordsMax),
  bug: ({ asOf, records }) => ({ asOf, records: records.slice(0, 1) }),
});

format("prefix-list", {
  make: (random) =>
    mutatedText(random, {
      separator: "\n",
      text: "# made\n11.0.0.0/16\n11.0.0.0/16\n12.0.0.1 # one\n2001:db8::/32\n\n13.0.0.0/8\n",
      nasty: ["0.0.0.0/0", "11.0.0.1/16", "::/0", "x", "#", "1.2.3.04", "2001:DB8::1", "é"],
    }),
  read: shown(readPrefixList),
  oracle: (bytes) => obviousLines(bytes, "prefixes", badRecordsMax),
  bug: ({ asOf, records }) => ({ asOf, records: records.slice(0, 1) }),
});
