/** Makes `samples/data` anew: real files byte for byte, a made geofeed, made observations, made network types and made profiles, and the part of an RPKI export that concerns the sample's routes. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { type Prefix, parsePrefix } from "@netfacts/address";
import { openContent } from "@netfacts/content";
import { scanRib } from "@netfacts/mrt";
import { PrefixTrie, sortPrefixes } from "@netfacts/prefix-trie";
import { networkTypeLists } from "./made-network-types.ts";
import { profileLists } from "./made-profiles.ts";

/** Taken byte for byte, under the same name. */
const copied = [
  "real-2014/routeviews.route-views.jinx.ribs.1401487200.bz2",
  "real-2014/delegated-apnic-latest.20140522.gz",
  "real-2014/delegated-arin-latest.20130813.gz",
  "real-2014/delegated-lacnic-latest.20140522.gz",
  "real-2014/delegated-ripencc-latest.20140522.gz",
  "modern/delegated-afrinic-extended-latest.20260505.gz",
  "real-2014/autnums-potaroo.20140524.txt.gz",
];
const ribFile = "routeviews.route-views.jinx.ribs.1401487200.bz2";
const vrpsSource = "modern/rpki-client.20250720T0931.json.bz2";
const vrpsFile = "rpki-client.20250720T0931.slice.json.gz";

const geofeedFile = "geofeed-made.csv";
const geofeed = `# Made for the samples of Netfacts: no network has published it.
# last updated: 2014-05-30T22:00:00Z
193.0.0.0/21,NL,NL-NH,Amsterdam,
198.51.100.0/24,DE,DE-BE,Berlin,
# Without a location, inside a prefix that has one.
198.51.100.128/25,,,,
2001:db8::/32,JP,JP-13,Tokyo,
# Announced prefixes whose pages are to be full.
41.77.72.0/21,UG,UG-102,Kampala,
2001:4308::/32,ZA,ZA-GP,Johannesburg,
`;

const observationsFile = "observations-made.ndjson";
const amsterdam = { lat: 52.37, lon: 4.9, accuracy_km: 10, country: "NL", region: "NL-NH", city: "Amsterdam" };
const observations = [
  ...[28, 29, 30].map((day) => ({ ...amsterdam, observed_at: `2014-05-${day}T12:00:00Z`, method: "made-up" })),
  // One that names another place.
  { lat: 52.52, lon: 13.4, country: "DE", region: "DE-BE", city: "Berlin", observed_at: "2014-05-27T12:00:00Z", method: "made-up" },
]
  .map((one) => `${JSON.stringify({ ip: "193.0.6.139", ...one })}\n`)
  .join("");

interface Roa {
  asn: number;
  prefix: string;
  maxLength: number;
  ta: string;
  expires: number;
}

interface Aspa {
  customer_asid: number;
  expires: number;
  providers: number[];
}

interface RpkiExport {
  metadata: { buildmachine: string; buildtime: string };
  roas: Roa[];
  aspas: Aspa[];
}

/** Fills the folder; what else is in it is told, not removed. The same data give the same unpacked content. */
export async function makeSamples(dataFolder: string, target: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  // Read and written, not copied: a copy would keep the read-only mode of the data folder and refuse the next run.
  for (const file of copied) writeFileSync(join(target, basename(file)), readFileSync(join(dataFolder, file)));
  const routes = await announcedPrefixes(join(target, ribFile));
  const whole = JSON.parse(await textOf(join(dataFolder, vrpsSource))) as RpkiExport;
  writeFileSync(join(target, vrpsFile), gzipSync(exportText(whole, concerning(whole.roas, routes)), { level: 9 }));
  writeFileSync(join(target, geofeedFile), geofeed);
  writeFileSync(join(target, observationsFile), observations);
  const lists = { ...networkTypeLists, ...profileLists };
  for (const [file, content] of Object.entries(lists)) writeFileSync(join(target, file), content);
  const made = [geofeedFile, observationsFile, ...Object.keys(lists)];
  const known = new Set([...copied.map((file) => basename(file)), vrpsFile, ...made]);
  for (const file of readdirSync(target)) if (!known.has(file)) console.log(`not made by this script: ${join(target, file)}`);
}

async function announcedPrefixes(rib: string): Promise<PrefixTrie> {
  const prefixes: Prefix[] = [];
  await scanRib(openContent(rib).stream, {
    peerIndex() {},
    prefix: (version, w0, w1, w2, w3, length) => prefixes.push({ version, w0, w1, w2, w3, length }),
    route() {},
  });
  return PrefixTrie.build(sortPrefixes(prefixes).columns, { ipv4: "compact" });
}

/**
 * Every VRP that covers an announced prefix, and every VRP of AS 0. So the validity of each announced prefix is what the
 * whole export would give: no route is "not found" only because the slice lacks its VRP.
 */
function concerning(roas: readonly Roa[], routes: PrefixTrie): Roa[] {
  return roas.filter((roa) => {
    const reading = parsePrefix(roa.prefix);
    if (!reading.ok) return false;
    const inside = routes.moreSpecifics(reading.prefix);
    return roa.asn === 0 || routes.exact(reading.prefix) !== -1 || inside.end > inside.start;
  });
}

/** As rpki-client writes it, order and white space included. */
function exportText(whole: RpkiExport, roas: readonly Roa[]): string {
  const { buildmachine, buildtime } = whole.metadata;
  const metadata = {
    buildmachine,
    buildtime,
    vrps: roas.length,
    uniquevrps: roas.length,
    vaps: whole.aspas.length,
    uniquevaps: whole.aspas.length,
  };
  const roaLines = roas.map(
    ({ asn, prefix, maxLength, ta, expires }) =>
      `{ "asn": ${asn}, "prefix": "${prefix}", "maxLength": ${maxLength}, "ta": "${ta}", "expires": ${expires} }`,
  );
  const aspaLines = whole.aspas.map(
    ({ customer_asid, expires, providers }) =>
      `{ "customer_asid": ${customer_asid}, "expires": ${expires}, "providers": [ ${providers.join(", ")} ] }`,
  );
  const members = Object.entries(metadata).map(([name, value]) => `\t\t"${name}": ${JSON.stringify(value)}`);
  const list = (lines: readonly string[]) => lines.map((line) => `\t\t${line}`).join(",\n");
  return `{\n\t"metadata": {\n${members.join(",\n")}\n\t},\n\t"roas": [\n${list(roaLines)}\n\t],\n\t"aspas": [\n${list(aspaLines)}\n\t]\n}\n`;
}

async function textOf(path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of openContent(path).stream) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString("utf8");
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, "..");
  await makeSamples(process.env.NETFACTS_TEST_DATA ?? resolve(root, "../shared/data"), process.argv[2] ?? join(root, "samples/data"));
}
