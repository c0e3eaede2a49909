/** The manifest: its id follows from what it says, and nothing else is read. */

import { expect, test } from "@jest/globals";
import { decodeManifest, encodeManifest, lostSections, ManifestError, rollbackManifest, sealManifest } from "../src/index.ts";
import { madeNames, madeRoutes, route } from "./support/made-sections.ts";
import { madeManifest } from "./support/made-snapshot.ts";

const manifest = madeManifest({ routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]), names: madeNames({ 1: "ONE" }) });
const { format: _format, format_version: _version, id: _id, ...content } = manifest;
const encoded = encodeManifest(manifest).toString();

/** Members of every object in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, turned(member)]),
  );
}

test("the id is the newest section's time and a digest of the content", () => {
  expect(manifest.id).toMatch(/^20261121T085500Z-[0-9a-f]{8}$/);
  expect(sealManifest(content).id).toBe(manifest.id);
  const older = {
    ...content,
    sections: { ...content.sections, as_names: { ...content.sections.as_names!, as_of: "2020-01-01T00:00:00Z" } },
  };
  expect(sealManifest(older).id.slice(0, 16)).toBe("20261121T085500Z");
  expect(sealManifest(older).id).not.toBe(manifest.id);
});

test("every value counts for the id", () => {
  expect(sealManifest({ ...content, sample_data: true }).id).not.toBe(manifest.id);
  expect(sealManifest({ ...content, ingest_objects: { paths: { object: "0".repeat(64), bytes: 1 } } }).id).not.toBe(manifest.id);
});

test("the order in which members stand does not", () => {
  expect(sealManifest(turned(content) as typeof content).id).toBe(manifest.id);
  expect(decodeManifest(Buffer.from(JSON.stringify(turned(manifest)))).id).toBe(manifest.id);
});

test("a manifest comes back as it was written", () => {
  expect(decodeManifest(Buffer.from(encoded))).toEqual(manifest);
});

test("a rollback says which sections are gone, also to who has not loaded the current snapshot", () => {
  const { routes: _routes, ...others } = content.sections;
  const before = sealManifest({ ...content, sample_data: true, sections: others });
  const removed = sealManifest({ ...content, sections: others, removed_sections: ["routes"] });
  for (const current of [manifest, removed]) {
    const again = rollbackManifest(current, before);
    expect(again).toMatchObject({ sample_data: true, removed_sections: ["routes"] });
    expect(lostSections(manifest, again)).toEqual([]);
  }
  // Nothing is to be said of what is back.
  expect(rollbackManifest(removed, manifest)).toBe(manifest);
});

test("any character changed is refused, unless it only changes the spacing", () => {
  for (let at = 0; at < encoded.length; at++) {
    const damaged = `${encoded.slice(0, at)}${encoded[at] === "7" ? "8" : "7"}${encoded.slice(at + 1)}`;
    expect(() => decodeManifest(Buffer.from(damaged))).toThrow(ManifestError);
  }
});

test("a manifest cut anywhere is refused", () => {
  for (let length = 0; length < encoded.length - 2; length++)
    expect(() => decodeManifest(Buffer.from(encoded.slice(0, length)))).toThrow(ManifestError);
});

test.each<[string, string, RegExp]>([
  [
    "another version",
    encoded.replace('"format_version": 1', '"format_version": 2'),
    /the manifest has format version 2; this program reads version 1/,
  ],
  ["changed content", encoded.replace('"sample_data": false', '"sample_data": true'), /id .*, but its content gives /],
  [
    "a digest that is none",
    encoded.replace(/"object": "[0-9a-f]{64}"/, '"object": "../../etc/passwd"'),
    /the manifest is invalid: \/sections\/routes\/object/,
  ],
  [
    "a time that is none",
    encoded.replace('"as_of": "2026-11-21T08:55:00Z"', '"as_of": "yesterday"'),
    /the manifest is invalid: \/sections\/routes\/as_of/,
  ],
  [
    "an object of 2 GiB, which Node cannot read at once",
    encoded.replace(/"bytes": \d+/, '"bytes": 2147483648'),
    /the manifest is invalid: \/sections\/routes\/bytes must be <= 2147483647/,
  ],
  ["no JSON", "netfacts", /not JSON/],
  ["a JSON value of another kind", "[]", /the manifest is invalid/],
  ["null", "null", /the manifest is invalid/],
])("%s is refused, and told", (_what, text, message) => {
  expect(() => decodeManifest(Buffer.from(text))).toThrow(message);
  expect(() => decodeManifest(Buffer.from(text))).toThrow(ManifestError);
});
