/**
 * Files under the format of another one: each pair is refused, and the refusal names what the file looks like.
 *
 * @large It gives each format a file of each other.
 */

import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { IngestError, runIngest } from "../../src/app.ts";
import { type BuiltFormat, readingOf, sourceSections } from "../../src/sources/sections.ts";
import { atWork, delegatedFile, ribFile, vrpFile, type Workplace } from "../support/made-files.ts";
import { madeUpdate } from "../support/made-updates.ts";

const json = (value: unknown) => JSON.stringify(value);
const chain = { type: "roa", tal: "ripe", chainValidity: { notBefore: "2025-01-01T00:00:00Z", notAfter: "2025-11-22T00:00:00Z" } };
const network = { id: 1, org_id: 1, name: "One", asn: 64496, info_type: "NSP", status: "ok" };
const organisation = { id: 1, name: "One", aka: "", address1: "1 Street", website: "", status: "ok" };

/** Formats of files. */
type FileFormat = Exclude<BuiltFormat, "rtr">;

/** A small, right file of each format. */
const files: Readonly<Record<FileFormat, string | Buffer>> = {
  delegated: delegatedFile(),
  "rpki-client-json": vrpFile(),
  "routinator-json": json({
    metadata: { generated: 1_763_715_012, generatedTime: "2025-11-21T08:50:12Z" },
    roas: [{ asn: "AS9", prefix: "11.0.0.0/24", maxLength: 24, ta: "ripe" }],
    aspas: [{ customer: "AS9", providers: ["AS8"], ta: "ripe" }],
  }),
  "routinator-jsonext": json({
    metadata: { generated: 1_763_715_012, generatedTime: "2025-11-21T08:50:12Z" },
    roas: [{ asn: "AS9", prefix: "11.0.0.0/24", maxLength: 24, source: [chain] }],
  }),
  "routinator-csv": "ASN,IP Prefix,Max Length,Trust Anchor\nAS9,11.0.0.0/24,24,ripe\n",
  slurm: json({
    slurmVersion: 1,
    validationOutputFilters: { prefixFilters: [{ asn: 1 }], bgpsecFilters: [] },
    locallyAddedAssertions: { prefixAssertions: [{ asn: 9, prefix: "11.0.0.0/24" }], bgpsecAssertions: [] },
  }),
  "name-list": "1\tLVLT-1\n2\tUDEL-DCN\n",
  autnums: "AS1     LVLT-1 - Level 3\nAS2     UDEL-DCN\n",
  "peeringdb-net": json({ data: [network], meta: {} }),
  "peeringdb-org": json({ data: [organisation], meta: {} }),
  "overrides-csv": "asn,name\n64496,ONE\n",
  "network-types-csv": "resource,network_type\n192.0.2.0/24,office\n",
  "aws-ip-ranges": json({ syncToken: "1763715012", prefixes: [{ ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "EC2" }] }),
  "azure-service-tags": json({
    changeNumber: 1,
    values: [{ name: "A", properties: { region: "", systemService: "A", addressPrefixes: ["11.0.0.0/16"] } }],
  }),
  "google-ip-ranges": json({ creationTime: "2025-11-20T08:50:12.1", prefixes: [{ ipv4Prefix: "11.0.0.0/16" }] }),
  "oracle-ip-ranges": json({
    last_updated_timestamp: "2025-11-20T08:50:12.1",
    regions: [{ region: "eu-1", cidrs: [{ cidr: "11.0.0.0/16", tags: ["OCI"] }] }],
  }),
  "tor-exit-list": `ExitNode ${"0A".repeat(20)}\nPublished 2025-11-20 08:50:12\nExitAddress 11.0.0.1 2025-11-20 08:50:12\n`,
  "prefix-list": "11.0.0.0/16\n2001:db8::/32\n",
  geofeed: "# made up\n11.0.0.0/24,NL,NL-NH,Amsterdam,\n2001:db8::/32,DE,,,\n",
  "rpsl-geofeeds": "inetnum: 11.0.0.0 - 11.0.0.255\nnetname: ONE\n\ninetnum: 11.0.1.0 - 11.0.1.255\ngeofeed: https://feed.example/\n",
  observations: `${json({ ip: "11.0.0.1", country: "NL", observed_at: "2025-11-20T22:14:05Z" })}\n`,
  "observations-csv": "ip,country,observed_at\n11.0.0.1,NL,2025-11-20T22:14:05Z\n",
  mrt: ribFile(),
};

/** Content that is no format of ours, and what it is said to look like. */
const others: readonly (readonly [what: string, content: string | Buffer, told: string])[] = [
  ["a web page", "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "a web page"],
  ["a web page in capitals behind blanks", "\n  <HTML><BODY>no</BODY></HTML>\n", "a web page"],
  ["an XML document", '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>\n', "an XML document"],
  ["gzip in gzip", gzipSync(gzipSync(delegatedFile())), "another gzip file: it was compressed twice"],
  ["zip in gzip", gzipSync(Buffer.from("504b0304140000000800", "hex")), "a zip file"],
  ["UTF-16", Buffer.from("\ufeff{\n", "utf16le"), "UTF-16 text"],
  ["a part of a web page", "<div class='login'>Sign in</div>\n", "HTML or XML"],
  ["an error message", "404 page not found\n", "an error message of a web server"],
  ["an error message with other lines", "\n  429 Too Many Requests\r\n\r\nTry again in 60 s\r\n", "an error message of a web server"],
  [
    "a pointer of Git LFS",
    `version https://git-lfs.github.com/spec/v1\noid sha256:${"0a".repeat(32)}\nsize 5210\n`,
    "a pointer of Git LFS, not the file; use git lfs pull",
  ],
  [
    "a MaxMind database",
    Buffer.concat([Buffer.alloc(8_192, Buffer.of(0, 0, 1, 0, 0, 0x9c)), Buffer.from("\xab\xcd\xefMaxMind.com\xe9", "latin1")]),
    "a MaxMind database",
  ],
  [
    "a tar archive in gzip",
    gzipSync(Buffer.concat([Buffer.from("a.mmdb".padEnd(257, "\0")), Buffer.from("ustar\x0000")])),
    "a tar archive",
  ],
  ["lines that end with CR alone", "one\rtwo\r".repeat(3_000), "text whose lines end with CR alone; use LF"],
  ["xz in gzip", gzipSync(Buffer.from("fd377a585a000004", "hex")), "an xz file"],
];

async function outcome(place: Workplace, section: string, format: string, content: string | Buffer): Promise<string> {
  await place.write("file", content);
  const isRangeList = section === "network_types" && format !== "network-types-csv";
  const type = isRangeList ? ", network_type: hosting" : "";
  const config = await place.sources(
    `sources:\n  - {name: file, section: ${section}, format: ${format}, location: file, bad_records_max: 50%${type}}\n`,
  );
  try {
    await runIngest({ config, store: place.store });
    return "read";
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    return error.message;
  }
}

const pairs = sourceSections
  .filter((section) => section !== "updates")
  .flatMap((section) =>
    readingOf(section)
      .formats.filter((format): format is FileFormat => format !== "rtr")
      .map((format) => ({ section, format })),
  );

describe.each(pairs)("section $section, format $format", ({ section, format }) => {
  test("its own file is read", async () => {
    await atWork(async (place) => {
      // Organisations alone are no profiles.
      if (format !== "peeringdb-org") expect(await outcome(place, section, format, files[format])).toBe("read");
    });
  });

  test("a file of any other format is refused by its name", async () => {
    await atWork(async (place) => {
      for (const [other, content] of Object.entries(files)) {
        // A list of names is an autnums file too, and is read as the same.
        if (other === format || (format === "autnums" && other === "name-list")) continue;
        expect([other, await outcome(place, section, format, content)]).toEqual([
          other,
          expect.stringMatching(new RegExp(`; it looks like format (routinator-json or )?${other}( or routinator-jsonext)?$`)),
        ]);
      }
    });
  });

  test("what is no format of ours is refused, with what it looks like", async () => {
    await atWork(async (place) => {
      for (const [what, content, told] of others) {
        const message = await outcome(place, section, format, content);
        expect([what, message]).toEqual([what, expect.stringMatching(new RegExp(`(looks like|is) ${told}`))]);
        // Said once, and nothing is made of bytes that are no text.
        expect(message.split(told)).toHaveLength(2);
        expect(message).not.toContain("are separated by");
      }
    });
  });
});

test("updates where a table is expected are refused, with what they are", async () => {
  await atWork(async (place) => {
    const updates = madeUpdate({ address: "192.0.2.1", asn: 64500 }, { at: 1_763_715_300, announced: ["11.0.0.0/24"], path: "64500 9" });
    expect(await outcome(place, "routes", "mrt", updates)).toMatch(/no peer index table among 1 records; the first is BGP4MP/);
  });
});

test("another registry's file under a registry's name is refused, also by a first import", async () => {
  await atWork(async (place) => {
    const at = async (location: string, content: string) => {
      await place.write(location, content);
      const config = await place.sources(`sources:\n  - {name: a, section: allocations, format: delegated, location: ${location}}\n`);
      return runIngest({ config, store: place.store });
    };
    for (const location of ["delegated-ripencc-extended-latest", "delegated-ripencc-latest.20251120.gz", "delegated-ripencc-20251120"])
      await expect(at(location, delegatedFile("apnic"))).rejects.toThrow(
        `${location}:1: is a file of apnic, and has the name of a file of ripencc`,
      );
    for (const location of ["delegated-apnic-extended-latest", "delegated-latest", "my-delegated-ripencc-copy", "ripencc"])
      await expect(at(location, delegatedFile("apnic"))).resolves.toMatchObject({ error: null });
  });
});
