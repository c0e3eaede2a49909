/** Addresses as bgpdump prints them: RFC 4291, but not RFC 5952 in two points, in which lines must agree. */

import { type Address, formatIpv4, type Prefix } from "@netfacts/address";

/**
 * Unlike RFC 5952, a single zero group becomes `::`, and an address of ::/96 other than `::` and `::1` ends in dotted form.
 * As there, the longest run of zeros is shortened, the first of equal ones.
 */
export function addressText({ version, w0, w1, w2, w3 }: Address): string {
  return version === 4 ? formatIpv4(w0) : ipv6Text(w0, w1, w2, w3);
}

export function prefixText(prefix: Prefix): string {
  return `${addressText(prefix)}/${prefix.length}`;
}

const groups = new Uint16Array(8);

function ipv6Text(w0: number, w1: number, w2: number, w3: number): string {
  if (w0 === 0 && w1 === 0) {
    if (w2 === 0xffff) return `::ffff:${formatIpv4(w3)}`;
    if (w2 === 0 && w3 > 1) return `::${formatIpv4(w3)}`;
  }
  [w0, w1, w2, w3].forEach((word, index) => {
    groups[2 * index] = word >>> 16;
    groups[2 * index + 1] = word;
  });
  let gap = -1;
  let gapLength = 0;
  for (let index = 0; index < 8; ) {
    let next = index;
    while (next < 8 && groups[next] === 0) next++;
    if (next - index > gapLength) {
      gap = index;
      gapLength = next - index;
    }
    index = next + 1;
  }
  let text = "";
  for (let index = 0; index < 8; index++) {
    if (index === gap) {
      text += "::";
      index += gapLength - 1;
    } else {
      if (index > 0 && index !== gap + gapLength) text += ":";
      text += groups[index]!.toString(16);
    }
  }
  return text;
}
