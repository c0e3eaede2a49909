/** `netfacts export`: formats, files, and what stops it. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parquetReadObjects } from "hyparquet";
import { Reader } from "mmdb-lib";
import { address } from "../../../libs/snapshot/test/support/text.ts";
import { smallSources } from "../../../test/support/small-sources.ts";
import { exitCodes } from "../src/exit-codes.ts";
import type { AddressFacts, AddressRow } from "../src/export/address-row.ts";
import { formats } from "../src/export/formats.ts";
import { run, temporaryFolder } from "./support/run.ts";

const dataDir = temporaryFolder();
const output = join(dataDir, "out");
afterAll(() => rmSync(dataDir, { recursive: true }));
beforeAll(async () => {
  const ran = await run(dataDir, "ingest", "run", "--sources", smallSources(dataDir, "NL"));
  expect(ran.code).toBe(exitCodes.ok);
});

const nothing: AddressFacts = {
  prefix: null,
  asn: null,
  as_name: null,
  origins: [],
  rpki_state: null,
  registry: null,
  allocation_status: null,
  registration_country: null,
  allocated_on: null,
  network_type: null,
  network_types: [],
  special_purpose: null,
  country: null,
  region: null,
  city: null,
  latitude: null,
  longitude: null,
  radius_km: null,
};
const about = { snapshotId: "20261121T085502Z-1a2b3c4d", asOfMs: Date.UTC(2026, 10, 21), databaseType: "Made" };

function row(first: string, last: string, facts: Partial<AddressFacts>): AddressRow {
  return {
    first: address(first),
    last: address(last),
    facts: { ...nothing, ...facts },
  };
}

const full = row("192.0.2.0", "192.0.2.255", {
  prefix: "192.0.2.0/24",
  asn: 4_200_000_000,
  as_name: 'Größe, "Inc"',
  origins: [4_200_000_000, 64_496],
  rpki_state: "valid",
  registry: "ripencc",
  allocation_status: "allocated",
  registration_country: "EU",
  allocated_on: "1993-09-01",
  network_type: "isp",
  network_types: ["isp", "mobile"],
  country: "NL",
  region: "NL-NH",
  city: "Amsterdam",
  latitude: 52,
  longitude: 4.9,
  radius_km: 1.2,
});
const bare = row("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", { special_purpose: "Documentation", as_name: "=1+1" });

describe("one row of all facts and one of few", () => {
  const bytesOf = (format: keyof typeof formats) =>
    Buffer.concat([...formats[format]([full, bare], about)].map((piece) => Buffer.from(piece)));

  test("as CSV", () => {
    expect(bytesOf("csv").toString()).toBe(
      [
        "first,last,prefix,asn,as_name,origins,rpki_state,registry,allocation_status,registration_country,allocated_on,network_type,network_types,special_purpose,country,region,city,latitude,longitude,radius_km",
        '192.0.2.0,192.0.2.255,192.0.2.0/24,4200000000,"Größe, ""Inc""",4200000000 64496,valid,ripencc,allocated,EU,1993-09-01,isp,isp mobile,,NL,NL-NH,Amsterdam,52,4.9,1.2',
        "2001:db8::,2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,,,'=1+1,,,,,,,,,Documentation,,,,,,",
        "",
      ].join("\r\n"),
    );
  });

  test("as NDJSON, with the same members", () => {
    const lines = bytesOf("ndjson").toString().trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { first: "192.0.2.0", last: "192.0.2.255", ...full.facts },
      { first: "2001:db8::", last: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", ...bare.facts },
    ]);
  });

  test("as Parquet, in as many row groups as it takes", async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => (index % 3 === 0 ? full : bare));
    const bytes = Buffer.concat([...formats.parquet(rows, about)].map((piece) => Buffer.from(piece)));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const found = await parquetReadObjects({ file });
    expect(found.length).toBe(rows.length);
    for (const index of [0, 1, 16_383, 16_384, 19_999])
      expect(found[index]).toEqual(
        index % 3 === 0
          ? {
              first: "192.0.2.0",
              last: "192.0.2.255",
              ...full.facts,
              asn: 4_200_000_000n,
              origins: "4200000000 64496",
              network_types: "isp mobile",
            }
          : { first: "2001:db8::", last: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", ...bare.facts, origins: "", network_types: "" },
      );
  });

  test("as MMDB, by the names that its readers know", () => {
    const reader = new Reader<never>(bytesOf("mmdb") as never);
    expect(reader.metadata).toMatchObject({ databaseType: "Made", description: { en: "Netfacts snapshot 20261121T085502Z-1a2b3c4d" } });
    expect(reader.get("192.0.2.9")).toEqual({
      autonomous_system_number: 4_200_000_000,
      autonomous_system_organization: 'Größe, "Inc"',
      city: { names: { en: "Amsterdam" } },
      country: { iso_code: "NL", names: { en: "Netherlands" } },
      location: { latitude: 52, longitude: 4.9, accuracy_radius: 2 },
      registered_country: { iso_code: "EU", names: { en: "European Union" } },
      subdivisions: [{ iso_code: "NH" }],
      netfacts: {
        prefix: "192.0.2.0/24",
        origins: [4_200_000_000, 64_496],
        rpki_state: "valid",
        registry: "ripencc",
        allocation_status: "allocated",
        allocated_on: "1993-09-01",
        network_type: "isp",
        network_types: ["isp", "mobile"],
      },
    });
    expect(reader.get("2001:db8::1")).toEqual({ autonomous_system_organization: "=1+1", netfacts: { special_purpose: "Documentation" } });
  });
});

test("text goes to standard output or to a file", async () => {
  const { code, out } = await run(dataDir, "export", "csv");
  expect(code).toBe(exitCodes.ok);
  expect(out).toMatch(/^first,last,prefix,/);
  expect(out).toMatch(/^193\.0\.0\.0,[\d.]+,,,,,,ripencc,assigned,NL,1993-09-01,/m);
  expect((await run(dataDir, "export", "csv", "--output", output)).code).toBe(exitCodes.ok);
  expect(readFileSync(output, "utf8")).toBe(out);
});

test("a database needs a file, and has the type that is asked for", async () => {
  const { code, err } = await run(dataDir, "export", "mmdb");
  expect({ code, err: err.split("\n")[0] }).toEqual({
    code: exitCodes.usage,
    err: "netfacts: required option '-o, --output <file>' not specified",
  });
  expect((await run(dataDir, "export", "mmdb", "-o", output, "--database-type", "GeoLite2-ASN")).code).toBe(exitCodes.ok);
  expect(new Reader<never>(readFileSync(output) as never).metadata.databaseType).toBe("GeoLite2-ASN");
});

test("what cannot be written is told, and an earlier file and no part of a new one stay", async () => {
  writeFileSync(output, "earlier");
  const nowhere = join(dataDir, "nowhere", "out");
  const { code, err } = await run(dataDir, "export", "ndjson", "-o", nowhere);
  expect({ code, err }).toMatchObject({ code: exitCodes.failed, err: expect.stringContaining(`netfacts: ${nowhere} cannot be written: `) });
  const folder = join(dataDir, "folder");
  mkdirSync(join(folder, "out", "full"), { recursive: true });
  expect((await run(dataDir, "export", "ndjson", "-o", join(folder, "out"))).code).toBe(exitCodes.failed);
  expect(readdirSync(folder)).toEqual(["out"]);
  const empty = join(dataDir, "empty");
  mkdirSync(empty);
  expect((await run(empty, "export", "csv", "-o", output)).code).toBe(exitCodes.notFound);
  expect(readFileSync(output, "utf8")).toBe("earlier");
});
