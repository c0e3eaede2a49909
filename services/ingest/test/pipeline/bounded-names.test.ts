/** Sources with more network types or trust anchors than a snapshot can number: refused by their name, and others are imported. */

import { expect, test } from "@jest/globals";
import { runIngest } from "../../src/app.ts";
import { BoundedNames } from "../../src/pipeline/bounded-names.ts";
import { atWork, namesFile } from "../support/made-files.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);
const words = (count: number, stem = "w") => numbers(count).map((at) => `${stem}${at}`);

test("255 names of all sources together are taken, and a source with one more is refused and leaves nothing behind", () => {
  const names = new BoundedNames("network types", ["reserved"]);
  names.join("first", words(200));
  expect(() => names.join("second", words(55, "x"))).toThrow(
    /^second: has 55 different network types, and there are 256 with those of the sources before it; a snapshot can have 255$/,
  );
  names.join("third", [...words(200), ...words(54, "y"), "reserved"]);
  expect(() => names.join("fourth", ["z"])).toThrow("there are 256");
  expect(() => names.join("fifth", words(256))).toThrow(/^fifth: has 256 different network types; a snapshot can have 255$/);
});

const network = (info_type: string, at: number) => ({ id: at, asn: at + 1, name: "", status: "ok", info_type });
const vrpsOf = (anchors: readonly string[], aspas: object[] = []) =>
  JSON.stringify({
    metadata: { buildtime: "2025-11-21T08:50:12Z" },
    roas: anchors.map((ta, at) => ({ asn: 9, prefix: `11.0.${at}.0/24`, maxLength: 24, ta })),
    aspas,
  });
const aspasOf = (anchors: readonly string[]) => anchors.map((ta, at) => ({ customer_asid: at + 1, providers: [9], ta }));
const types = (resource: (at: number) => string, stem = "w") =>
  ["resource,network_type", ...words(200, stem).map((word, at) => `${resource(at)},${word}`), ""].join("\n");

test.each([
  ["profiles", "peeringdb-net", [JSON.stringify({ data: words(300).map(network) })], "has 300 different network types; "],
  [
    "profiles",
    "overrides-csv",
    [["asn,network_type", ...words(256).map((word, at) => `${at + 1},${word} also`), ""].join("\n")],
    "has 257 different network types; ",
  ],
  [
    "network_types",
    "network-types-csv",
    [types((at) => `AS${at + 1}`), types((at) => `11.0.${at}.0/24`, "x")],
    "has 200 different network types, and there are 400 with those of the sources before it; ",
  ],
  ["vrps", "rpki-client-json", [vrpsOf(["ripe"], aspasOf(words(256)))], "has 257 different trust anchors; "],
  ["vrps", "rpki-client-json", [vrpsOf(words(200), aspasOf(words(200, "x")))], "has 400 different trust anchors; "],
  ["vrps", "rpki-client-json", [vrpsOf(words(255))], "has 255 different trust anchors, and there are 256 with those"],
  [
    "vrps",
    "rpki-client-json",
    [vrpsOf(words(200)), vrpsOf(words(200, "x"))],
    "has 200 different trust anchors, and there are 401 with those of the sources before it; ",
  ],
])("%s: an optional source of %s with too many names is left out (case %#)", async (section, format, files, why) => {
  await atWork(async (place) => {
    const lines = files.map((_, at) => `{name: s${at}, section: ${section}, format: ${format}, location: s${at}, required: false}`);
    for (const [at, file] of files.entries()) await place.write(`s${at}`, file);
    await place.write("names", namesFile(11));
    lines.push("{name: names, section: as_names, format: name-list, location: names}");
    const config = await place.sources(`sources:\n${lines.map((line) => `  - ${line}\n`).join("")}`);
    const report = await runIngest({ config, store: place.store });
    const last = files.length - 1;
    expect(report.sources.map(({ name, state }) => [name, state])).toEqual([
      ...files.map((_, at) => [`s${at}`, at === last ? "failed" : "read"]),
      ["names", "read"],
    ]);
    expect(report.sources[last]?.error).toContain(`/s${last}: ${why}`);
    expect(report.sections.find(({ name }) => name === "as_names")).toMatchObject({ kept: false, counts: { names: 11 } });
  });
});

test("a required source with too many names ends the run, and the message names its file", async () => {
  await atWork(async (place) => {
    await place.write("net", JSON.stringify({ data: words(300).map(network) }));
    const config = await place.sources("sources:\n  - {name: net, section: profiles, format: peeringdb-net, location: net}\n");
    await expect(runIngest({ config, store: place.store })).rejects.toThrow(
      /\/net: has 300 different network types; a snapshot can have 255$/,
    );
  });
});
