/** Network types from `sources.yaml` to the records: several lists say several things of one address. */

import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "@netfacts/address";
import { AnswerNotes, ipRecord } from "@netfacts/records";
import { Generation, loadSnapshot, type SnapshotStore } from "@netfacts/snapshot";
import { IngestError, runIngest, SourcesFileError } from "../../src/app.ts";
import { atWork, type Workplace } from "../support/made-files.ts";

const aws = {
  createDate: "2025-11-20-08-50-12",
  prefixes: [
    { ip_prefix: "11.0.0.0/16", region: "eu-west-1", service: "AMAZON" },
    { ip_prefix: "11.0.0.0/24", region: "eu-west-1", service: "EC2" },
    { ip_prefix: "11.0.0.0/24", region: "eu-west-1", service: "AMAZON" },
  ],
  ipv6_prefixes: [{ ipv6_prefix: "2001:db8::/40", region: "GLOBAL", service: "CLOUDFRONT" }],
};
const exits = `ExitNode ${"0A".repeat(20)}\nLastStatus 2025-11-20 09:00:00\nExitAddress 11.0.0.7 2025-11-20 09:05:12\n`;
const bot = { creationTime: "2025-11-20T08:50:12.000000", prefixes: [{ ipv4Prefix: "11.0.0.0/27" }] };
const tags = { values: [{ name: "X", properties: { region: "eu", systemService: "X", addressPrefixes: ["13.0.0.0/24"] } }] };
const oracle = {
  last_updated_timestamp: "2025-11-20T08:50:12.1",
  regions: [{ region: "eu-1", cidrs: [{ cidr: "14.0.0.0/24", tags: ["OCI"] }] }],
};

const files: Readonly<Record<string, string>> = {
  own: "resource,network_type,confidence\n11.0.0.0/8,isp mobile,0.7\nAS9,transit,\n",
  aws: JSON.stringify(aws),
  exits,
  bot: JSON.stringify(bot),
  tags: JSON.stringify(tags),
  oracle: JSON.stringify(oracle),
  plain: "15.0.0.0/24\n16.0.0.0/24",
  feed: "17.0.0.0/24,NL,,,\n",
};

const lists = [
  "{name: own, section: network_types, format: network-types-csv, location: own}",
  "{name: aws, section: network_types, format: aws-ip-ranges, location: aws}",
  "{name: exits, section: network_types, format: tor-exit-list, location: exits, confidence: 95%}",
  "{name: bot, section: network_types, format: google-ip-ranges, location: bot, network_type: crawler, provider: Googlebot}",
  "{name: tags, section: network_types, format: azure-service-tags, location: tags}",
  "{name: oracle, section: network_types, format: oracle-ip-ranges, location: oracle, network_type: content}",
  "{name: plain, section: network_types, format: prefix-list, location: plain, network_type: anycast, provider: Plain}",
  "{name: feed, section: network_types, format: geofeed, location: feed, network_type: hosting, confidence: 0.5}",
];
const yaml = (of: readonly string[]) => `sources:\n${of.map((line) => `  - ${line}\n`).join("")}`;

async function writeAll({ write }: Workplace): Promise<void> {
  for (const [name, content] of Object.entries(files)) await write(name, content);
}

async function generationOf(store: SnapshotStore): Promise<Generation> {
  return Generation.of(await loadSnapshot(store, await store.getManifest((await store.currentId()) as string)));
}

function typesOf(generation: Generation, text: string) {
  const address = parseAddress(text);
  if (address === null) throw new Error(text);
  const { network_type, network_types } = ipRecord(address, new AnswerNotes(generation, Date.parse("2025-11-21T09:00:00Z")));
  expect(network_type?.type ?? null).toBe(network_types[0]?.type ?? null);
  return network_types.map(({ type, basis, confidence, prefix, asn, provider, region, services }) =>
    [type, basis, confidence, prefix ?? `AS${asn}`, provider, region, services.join("+")].join(" "),
  );
}

test("every list says what it says, the most specific prefix of each counts, and the operator comes first", async () => {
  await atWork(async (place) => {
    await writeAll(place);
    const report = await runIngest({ config: await place.sources(yaml(lists)), store: place.store });
    expect(report.sections).toMatchObject([{ name: "network_types", counts: { prefixes: 11, asns: 1 } }]);
    const generation = await generationOf(place.store);
    const own = ["isp operator:network-types 0.7 11.0.0.0/8   ", "mobile operator:network-types 0.7 11.0.0.0/8   "];
    expect(typesOf(generation, "11.0.0.7")).toEqual([
      ...own,
      "tor_exit range-list:exits 0.95 11.0.0.7/32   ",
      "crawler range-list:bot 0.9 11.0.0.0/27 Googlebot  ",
      "hosting range-list:aws 0.9 11.0.0.0/24 Amazon AWS eu-west-1 AMAZON+EC2",
    ]);
    expect(typesOf(generation, "11.0.9.1")).toEqual([...own, "hosting range-list:aws 0.9 11.0.0.0/16 Amazon AWS eu-west-1 AMAZON"]);
    expect(typesOf(generation, "2001:db8::1")).toEqual(["hosting range-list:aws 0.9 2001:db8::/40 Amazon AWS GLOBAL CLOUDFRONT"]);
    expect(typesOf(generation, "13.0.0.1")).toEqual(["hosting range-list:tags 0.9 13.0.0.0/24 Microsoft Azure eu X"]);
    expect(typesOf(generation, "14.0.0.1")).toEqual(["content range-list:oracle 0.9 14.0.0.0/24 Oracle Cloud eu-1 OCI"]);
    expect(typesOf(generation, "16.0.0.1")).toEqual(["anycast range-list:plain 0.9 16.0.0.0/24 Plain  "]);
    expect(typesOf(generation, "17.0.0.1")).toEqual(["hosting range-list:feed 0.5 17.0.0.0/24   "]);
    expect(typesOf(generation, "18.0.0.1")).toEqual([]);
  });
});

test("one file under several sources counts once for each thing that they say of it", async () => {
  await atWork(async (place) => {
    const list = (name: string, more: string) => `{name: ${name}, section: network_types, format: prefix-list, location: ${name}, ${more}}`;
    const says: readonly (readonly [string, string, boolean])[] = [
      ["a", "network_type: vpn", true],
      ["b", "network_type: tor_exit", true],
      ["c", "network_type: vpn, provider: Plain", true],
      ["d", "network_type: vpn, confidence: 50%", true],
      ["e", "network_type: vpn, covers: [15.0.0.0/8]", true],
      ["f", "network_type: vpn, confidence: 90%", false],
      ["g", "network_type: vpn, covers: [15.0.0.0/8]", false],
    ];
    for (const [name] of says) await place.write(name, files.plain as string);
    await runIngest({ config: await place.sources(yaml(says.map(([name, more]) => list(name, more)))), store: place.store });
    const generation = await generationOf(place.store);
    expect(generation.manifest.sections.network_types?.sources.map(({ error }) => error === null)).toEqual(
      says.map(([, , counts]) => counts),
    );
    expect(typesOf(generation, "15.0.0.1")).toEqual([
      "vpn range-list:a 0.9 15.0.0.0/24   ",
      "tor_exit range-list:b 0.9 15.0.0.0/24   ",
      "vpn range-list:c 0.9 15.0.0.0/24 Plain  ",
      "vpn range-list:e 0.9 15.0.0.0/24   ",
      "vpn range-list:d 0.5 15.0.0.0/24   ",
    ]);
  });
});

describe("a list that cannot be used leaves the section as it was", () => {
  test.each<[string, string, string, RegExp]>([
    ["cut", "aws", files.aws?.slice(0, -3) ?? "", /aws: byte \d+: .*end/],
    ["empty", "exits", "", /exits:1: has no ranges/],
    ["another format", "bot", files.aws ?? "", /has no prefix.*; it looks like format aws-ip-ranges/],
    ["dated 2099", "aws", (files.aws ?? "").replace("2025-11-20", "2099-11-20"), /2099-11-20.* in the future|later than/],
    ["of host bits", "plain", "11.0.0.1/24\n", /plain:1: .*host bits set/],
    ["of everything", "plain", "0.0.0.0/0\n", /plain:1: .*larger than a \/8/],
    ["shrunk", "aws", JSON.stringify({ ...aws, prefixes: aws.prefixes.slice(0, 1), ipv6_prefixes: [] }), /fewer|lost|shrunk|shrink_max/],
  ])("%s", async (_what, file, content, reason) => {
    await atWork(async (place) => {
      await writeAll(place);
      const config = await place.sources(yaml(lists));
      await runIngest({ config, store: place.store });
      const before = await place.current();
      await place.write(file, content);
      const failure = await runIngest({ config, store: place.store }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(IngestError);
      expect((failure as Error).message).toMatch(reason);
      expect(await place.current()).toBe(before);
    });
  });
});

test("sources.yaml: a list of ranges needs a type where its format does not say it, and other sources have none", async () => {
  await atWork(async (place) => {
    await writeAll(place);
    const faultsOf = async (line: string) => {
      try {
        await place.sources(yaml([line]));
        return [];
      } catch (error) {
        if (!(error instanceof SourcesFileError)) throw error;
        return error.faults.map(({ message }) => message);
      }
    };
    const source = (rest: string) => `{name: a, section: network_types, location: plain, ${rest}}`;
    expect(await faultsOf(source("format: prefix-list"))).toEqual([
      'a source has no "network_type"; a list of ranges of this format needs one, such as hosting or crawler',
    ]);
    expect(await faultsOf(source("format: prefix-list, network_type: Two Words"))).toEqual([
      'network_type: expected one word of lowercase letters, digits and underscores, such as hosting, found "Two Words"',
    ]);
    expect(await faultsOf(source("format: prefix-list, network_type: vpn, confidence: 2, provider: ''"))).toEqual([
      "confidence: expected a share such as 0.2 or 20%, found 2",
      'provider: expected a name of at most 64 letters, such as Amazon AWS, found ""',
    ]);
    expect(await faultsOf(source("format: network-types-csv, network_type: vpn, covers: [11.0.0.0/8]"))).toEqual([
      "network_type: is only for lists of ranges of section network_types",
      "covers: is only for section locations and lists of ranges",
    ]);
    expect(await faultsOf(source("format: aws-ip-ranges, covers: [11.0.0.0/8]"))).toEqual([]);
  });
});
