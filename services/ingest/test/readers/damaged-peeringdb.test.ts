/** Damaged answers of PeeringDB: read exactly as the oracle reads them, or refused with place and cause. */

import { readPeeringDbNet, readPeeringDbOrg } from "../../src/readers/peeringdb.ts";
import { mutatedJson } from "../support/mutate-json.ts";
import { badRecordsMax, format, jsonNasty } from "./damaged-format.ts";
import { obviousAnswer } from "./oracles/peeringdb.ts";

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
        type: networkType == null ? null : `${[networkType.type, ...(networkType.also ?? [])].join(" ")} ${networkType.confidence}`,
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
          { id: 2, name: "Example, Inc.", website: "http://www.example.com", country: "NL", notes: "", status: "ok" },
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
