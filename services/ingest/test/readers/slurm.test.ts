/** SLURM files (RFC 8416): what they say, and that every deviation is named with its place. */

import { expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { SourceError } from "../../src/readers/reader-report.ts";
import { readSlurm } from "../../src/readers/slurm.ts";
import { contentOf, failureOf } from "./content.ts";

const ski = "Zm9vYmFyZm9vYmFyZm9vYmFyZm8";
const slurm = (filters: object = {}, assertions: object = {}, rest: object = {}) => ({
  slurmVersion: 1,
  validationOutputFilters: { prefixFilters: [], bgpsecFilters: [], ...filters },
  locallyAddedAssertions: { prefixAssertions: [], bgpsecAssertions: [], ...assertions },
  ...rest,
});
const read = (document: unknown, piece = 11) => readSlurm(contentOf(JSON.stringify(document), piece));

test("reads filters and assertions of prefixes, and counts what is said of router keys", async () => {
  const { exceptions, report } = await read(
    slurm(
      {
        prefixFilters: [{ prefix: "192.0.2.0/24", comment: "ours" }, { asn: 64496 }, { prefix: "2001:db8::/32", asn: 0 }],
        bgpsecFilters: [{ asn: 64496 }, { SKI: ski, comment: "x" }],
      },
      {
        prefixAssertions: [
          { asn: 64496, prefix: "198.51.100.0/24", comment: "ours" },
          { asn: 0, prefix: "2001:db8::/32", maxPrefixLength: 128 },
        ],
        bgpsecAssertions: [{ asn: 64496, SKI: ski, routerPublicKey: "Ym9ndXM" }],
      },
    ),
  );
  expect(exceptions.filters.map(({ prefix, asn }) => [prefix && formatPrefix(prefix), asn])).toEqual([
    ["192.0.2.0/24", null],
    [null, 64496],
    ["2001:db8::/32", 0],
  ]);
  expect(
    exceptions.assertions.map(({ prefix, asn, maxLength, ta, expiresAt }) => [formatPrefix(prefix), asn, maxLength, ta, expiresAt]),
  ).toEqual([
    ["198.51.100.0/24", 64496, 24, "slurm", null],
    ["2001:db8::/32", 0, 128, "slurm", null],
  ]);
  expect(report).toMatchObject({
    read: 8,
    accepted: 5,
    asOf: null,
    skipped: [{ reason: "a router key (BGPsec): not applied; Netfacts keeps no router keys", bad: false, count: 3 }],
  });
});

test("an empty file says nothing, and is right", async () => {
  expect(await read(slurm())).toMatchObject({ exceptions: { filters: [], assertions: [] }, report: { read: 0, accepted: 0 } });
});

test("members on ASPAs belong to version 2, and are counted", async () => {
  const aspas = { aspaFilters: [{ customerAsn: 64496 }] };
  const { report } = await read(slurm(aspas, { aspaAssertions: [{ customerAsn: 1, providerAsns: [2] }] }, { slurmVersion: 2 }));
  expect(report.skipped).toMatchObject([{ reason: "an ASPA: not applied by this version", count: 2 }]);
  expect((await failureOf(read(slurm(aspas)))).message).toMatch("/validationOutputFilters/aspaFilters is not a member of SLURM");
});

const assertion = { asn: 64496, prefix: "192.0.2.0/24" };
test.each<[unknown, string]>([
  [[], "the document is not an object"],
  [{ ...slurm(), slurmVersion: 3 }, "/slurmVersion is not 1 or 2"],
  [{ ...slurm(), slurmVersion: "1" }, "/slurmVersion is not 1 or 2"],
  [{ slurmVersion: 1, validationOutputFilters: {}, locallyAddedAssertions: {} }, '/validationOutputFilters has no "prefixFilters"'],
  [slurm({}, {}, { note: 1 }), "/note is not a member of SLURM"],
  [slurm({ "a/b~c": [] }), "/validationOutputFilters/a~1b~0c is not a member of SLURM"],
  [slurm({ prefixFilters: {} }), "/validationOutputFilters/prefixFilters is not an array"],
  [slurm({ prefixFilters: [1] }), "/validationOutputFilters/prefixFilters/0 is not an object"],
  [slurm({ prefixFilters: [{}] }), '/validationOutputFilters/prefixFilters/0 has neither "prefix" nor "asn"'],
  [slurm({ prefixFilters: [{ comment: "all" }] }), '/validationOutputFilters/prefixFilters/0 has neither "prefix" nor "asn"'],
  [slurm({ prefixFilters: [{ asn: "AS1" }] }), "/validationOutputFilters/prefixFilters/0/asn is not an AS number"],
  [slurm({ prefixFilters: [{ asn: 1, comment: 5 }] }), "/validationOutputFilters/prefixFilters/0/comment is not a string"],
  [slurm({ bgpsecFilters: [{ SKI: "abc" }] }), "/validationOutputFilters/bgpsecFilters/0/SKI is not base64url"],
  [slurm({}, { prefixAssertions: [{ asn: 1 }] }), '/locallyAddedAssertions/prefixAssertions/0 has no "prefix"'],
  [
    slurm({}, { prefixAssertions: [{ ...assertion, maxLength: 24 }] }),
    "/locallyAddedAssertions/prefixAssertions/0/maxLength is not a member",
  ],
  [slurm({}, { prefixAssertions: [assertion, { ...assertion, prefix: "192.0.2.1/24" }] }), "/prefixAssertions/1/prefix has host bits set"],
  [slurm({}, { prefixAssertions: [{ ...assertion, maxPrefixLength: 23 }] }), "/0/maxPrefixLength is less than the prefix length, 24"],
  [slurm({}, { prefixAssertions: [{ ...assertion, maxPrefixLength: 33 }] }), "/0/maxPrefixLength is not a number from 0 to 32"],
  [slurm({}, { bgpsecAssertions: [{ asn: 1, SKI: ski }] }), '/locallyAddedAssertions/bgpsecAssertions/0 has no "routerPublicKey"'],
])("%j is refused, with its place: %s", async (document, told) => {
  const error = (await failureOf(read(document))) as SourceError;
  expect(error).toBeInstanceOf(SourceError);
  expect(error.offset).not.toBeNull();
  expect(error.message).toContain(told);
});

test("a member that appears twice is refused, at its second place", async () => {
  const text = JSON.stringify(slurm({ prefixFilters: [{ asn: 1 }] })).replace('"asn":1', '"asn":1,"asn":2');
  const error = (await failureOf(readSlurm(contentOf(text)))) as SourceError;
  expect([error.offset, error.reason]).toEqual([
    text.indexOf('"asn":2'),
    "not SLURM (RFC 8416): /validationOutputFilters/prefixFilters/0/asn appears twice",
  ]);
});

test("every bad member is named, up to a bound", async () => {
  const many = await failureOf(read(slurm({ prefixFilters: [{ asn: -1 }, { prefix: "x" }], bgpsecFilters: [5] })));
  expect(many.message).toMatch(/prefixFilters\/0\/asn is.*; .*prefixFilters\/1\/prefix is.*; .*bgpsecFilters\/0 is/);
  const endless = await failureOf(read(slurm({ prefixFilters: Array.from({ length: 30 }, () => 1) })));
  expect(endless.message).toMatch(/; and 10 more$/);
});
