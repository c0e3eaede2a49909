/** Addresses for the requests of benchmarks. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { formatAddress, type Prefix, parsePrefix } from "@netfacts/address";
import { seededRandom } from "./random.ts";

/** Addresses of announced prefixes of both families, chosen by Zipf's law like those of people, the same every time. */
export function addressTexts(data: string, count: number): string[] {
  const random = seededRandom(2026);
  const prefixes = readPrefixes(data);
  for (let last = prefixes.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [prefixes[last], prefixes[other]] = [prefixes[other] as Prefix, prefixes[last] as Prefix];
  }
  return Array.from({ length: count }, () => {
    const prefix = prefixes[Math.floor(prefixes.length ** random()) - 1] as Prefix;
    return textIn(prefix, 1 + Math.floor(random() * 250));
  });
}

/** An endless sequence of addresses of announced prefixes, all equally likely, the same every time. */
export function* evenAddresses(data: string): Generator<string, never> {
  const random = seededRandom(2026);
  const prefixes = readPrefixes(data);
  for (;;) yield textIn(prefixes[Math.floor(prefixes.length * random())] as Prefix, 1 + Math.floor(random() * 250));
}

function readPrefixes(data: string): Prefix[] {
  const lines = gunzipSync(readFileSync(join(data, "modern/prefix-origin.tsv.gz")))
    .toString()
    .split("\n");
  return lines.flatMap((line) => {
    const reading = parsePrefix(line.slice(0, line.indexOf("\t")));
    return reading.ok ? [reading.prefix] : [];
  });
}

function textIn(prefix: Prefix, host: number): string {
  const address =
    prefix.version === 6
      ? { ...prefix, w3: prefix.length < 121 ? host : prefix.w3 }
      : { ...prefix, w0: (prefix.w0 + (prefix.length < 25 ? host : 0)) >>> 0 };
  // Convert it to bytes and back, like a text from the network: a text that was concatenated is slower to read, for both sides.
  return Buffer.from(formatAddress(address)).toString();
}
