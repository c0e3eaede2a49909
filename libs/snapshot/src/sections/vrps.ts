/** Section `vrps`: the validated ROA payloads, by prefix. */

import type { PrefixColumns } from "@netfacts/prefix-trie";
import type { VrpColumns } from "@netfacts/rpki";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";
import { packStrings, stringsOf } from "../strings.ts";

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Bounds of each prefix's run in the VRP columns. */
  vrp_start: "u32",
  asn: "u32",
  max_length: "u8",
  /** Index of the trust anchor's name; 255 = not given. */
  ta: "u8",
  /** Unix seconds; 0 = not given. */
  expires_at: "u32",
  /** 1: authorises prefixes that its AS does not announce (RFC 9319). */
  loose: "u8",
  ta_start: "u32",
  ta_bytes: "u8",
  /** Ascending AS numbers that any VRP names, and the number of VRPs of each. */
  as_number: "u32",
  as_vrps: "u32",
} as const;

export const vrpsFormat: SectionFormat<typeof columns> = { kind: "vrps", version: 1, columns };
export type VrpsColumns = Columns<typeof columns>;

export function vrpPrefixes(section: VrpsColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** The columns in the form of a VRP set. */
export function vrpSetColumns(section: VrpsColumns): { columns: VrpColumns; taNames: string[] } {
  return {
    columns: {
      prefixes: vrpPrefixes(section),
      start: section.vrp_start,
      asn: section.asn,
      maxLength: section.max_length,
      ta: section.ta,
      expiresAt: section.expires_at,
      loose: section.loose,
    },
    taNames: stringsOf({ start: section.ta_start, bytes: section.ta_bytes }),
  };
}

/** The columns of a section from those of a VRP set, with the number of VRPs per AS. */
export function vrpSectionColumns(vrps: VrpColumns, taNames: readonly string[]): VrpsColumns {
  const names = packStrings(taNames);
  const sorted = vrps.asn.slice().sort();
  const numbers: number[] = [];
  const counts: number[] = [];
  for (const asn of sorted) {
    if (numbers.at(-1) === asn) (counts[counts.length - 1] as number)++;
    else {
      numbers.push(asn);
      counts.push(1);
    }
  }
  return {
    v4_address: vrps.prefixes.ipv4.address,
    v4_length: vrps.prefixes.ipv4.length,
    v6_words: vrps.prefixes.ipv6.words,
    v6_length: vrps.prefixes.ipv6.length,
    vrp_start: vrps.start,
    asn: vrps.asn,
    max_length: vrps.maxLength,
    ta: vrps.ta,
    expires_at: vrps.expiresAt,
    loose: vrps.loose,
    ta_start: names.start,
    ta_bytes: names.bytes,
    as_number: Uint32Array.from(numbers),
    as_vrps: Uint32Array.from(counts),
  };
}

/** Refuses columns with runs or references that lead out of bounds. */
export function checkVrps(section: VrpsColumns): void {
  const { kind } = vrpsFormat;
  const ipv4 = section.v4_length.length;
  const vrps = section.asn.length;
  checkLengths(kind, ipv4, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkRuns(kind, "vrp_start", section.vrp_start, ipv4 + section.v6_length.length, vrps);
  const { max_length, ta, expires_at, loose, as_vrps } = section;
  checkLengths(kind, vrps, { max_length, ta, expires_at, loose });
  checkRuns(kind, "ta_start", section.ta_start, Math.max(0, section.ta_start.length - 1), section.ta_bytes.length);
  checkBelow(kind, "ta", ta, section.ta_start.length - 1, 255);
  checkBelow(kind, "loose", loose, 2);
  checkMaxLengths(section);
  checkLengths(kind, section.as_number.length, { as_vrps });
  checkAscending(kind, "as_number", section.as_number);
}

/** A max length must lie between the length of its prefix and that of the family. */
function checkMaxLengths({ v4_length, v6_length, vrp_start, max_length }: VrpsColumns): void {
  const ipv4 = v4_length.length;
  for (let entry = 0; entry < ipv4 + v6_length.length; entry++) {
    const shortest = (entry < ipv4 ? v4_length[entry] : v6_length[entry - ipv4]) as number;
    const longest = entry < ipv4 ? 32 : 128;
    const end = vrp_start[entry + 1] as number;
    for (let vrp = vrp_start[entry] as number; vrp < end; vrp++) {
      const value = max_length[vrp] as number;
      if (value < shortest || value > longest)
        throw new SectionFormatError(`section vrps: column max_length[${vrp}] is ${value}; must be ${shortest} to ${longest}`);
    }
  }
}
