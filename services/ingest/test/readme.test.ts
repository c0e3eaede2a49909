/** The README's tables say what the code does. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ingestConfigSchema } from "../src/config.ts";
import * as defaults from "../src/sources/defaults.ts";
import { readingOf, sourceSections } from "../src/sources/sections.ts";
import { atWork } from "./support/made-files.ts";

const text = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
const rows = new Map(
  [...text.matchAll(/^\| `((?!netfacts_)[a-z_]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, member, meaning, byDefault]) => [
    member,
    { meaning, byDefault },
  ]),
);

test("every member of a source stands in the table, and no other", async () => {
  const { config } = await atWork(async (place) => ({
    config: (await place.sources("sources:\n  - {name: names, section: as_names, format: name-list, location: names}\n")).sources[0],
  }));
  const snake = (name: string) => name.replace(/Seconds$/, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const members = Object.keys(config ?? {})
    .filter((name) => name !== "line")
    // What a list of ranges says is one value of three members.
    .flatMap((name) => (name === "rangeType" ? ["network_type", "provider", "confidence"] : [name]))
    .map((name) => (name === "secondsMax" ? "seconds_max" : snake(name)));
  expect([...rows.keys()].sort()).toEqual(members.sort());
});

test("every setting of the service stands in the table with its default", () => {
  const settings = Object.entries(ingestConfigSchema.properties as unknown as Record<string, { default?: unknown; description: string }>);
  for (const [name, { default: value, description }] of settings) {
    const shown = value === undefined ? "must be set" : value === "" ? "" : `\`${value}\``;
    expect(text.replaceAll(/ +/g, " ")).toContain(`| \`${name}\` | ${shown}${shown === "" ? "" : " "}| ${description} |`);
  }
});

test("the page of sources.yaml names every format", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "src", "sources", "README.md"), "utf8");
  const formats = sourceSections.flatMap((section) => readingOf(section).formats);
  expect(formats.filter((format) => !page.includes(`\`${format}\``))).toEqual([]);
});

test("sections, formats and defaults are those of the code", () => {
  expect(rows.get("section")?.meaning).toBe(sourceSections.map((section) => `\`${section}\``).join(", "));
  for (const format of sourceSections.flatMap((section) => readingOf(section).formats))
    expect(rows.get("format")?.meaning).toContain(`\`${format}\``);
  const units = { d: 86_400, h: 3_600, m: 60 };
  const intervals = sourceSections.map((section) => {
    const seconds = readingOf(section).intervalSeconds;
    const [unit, length] = Object.entries(units).find(([, each]) => seconds % each === 0) ?? ["s", 1];
    return `${section} ${seconds / length}${unit}`;
  });
  expect(rows.get("interval")?.byDefault).toBe(intervals.join(", "));
  expect(rows.get("shrink_max")?.byDefault).toBe(`${100 * defaults.defaultShrinkMax}%`);
  expect(rows.get("bad_records_max")?.byDefault).toBe(`${100 * defaults.defaultBadRecordsMax}%`);
  const { ipv4, ipv6 } = defaults.defaultFullFeedMin;
  expect(text).toContain(
    `\`full_feed_min\` (\`ipv4\` ${ipv4}, \`ipv6\` ${ipv6}), \`full_feed_share\` (${100 * defaults.defaultFullFeedShare}%), \`match_peers_min\` (${defaults.defaultMatchPeersMin})`,
  );
});
