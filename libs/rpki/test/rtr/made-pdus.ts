/** Random PDUs of every kind, and random damage to streams of them. */

import { makePrefix } from "@netfacts/address";
import type { Random } from "../../../../test/support/random.ts";
import { encodePdu, type Pdu } from "../../src/rtr/index.ts";

const texts = ["", "No data", "zu früh ✓", "a".repeat(300)];
const bytesOf = (random: Random, count: number) => Uint8Array.from({ length: count }, () => random(256));

function anyPdu(random: Random, version: number): Pdu {
  const sessionId = random(4) === 0 ? 0xffff : random(3);
  const serial = random(4) === 0 ? 0xffff_ffff : random(1_000);
  const asn = random(4) === 0 ? 0xffff_ffff : random(70_000);
  switch (random(version === 0 ? 8 : 9)) {
    case 0:
      return { kind: random(2) === 0 ? "serial-notify" : "serial-query", version, sessionId, serial };
    case 1:
      return { kind: random(2) === 0 ? "reset-query" : "cache-reset", version };
    case 2:
      return { kind: "cache-response", version, sessionId };
    case 3: {
      const intervals = version === 0 ? null : { refresh: random(90_000), retry: random(8_000), expire: random(180_000) };
      return { kind: "end-of-data", version, sessionId, serial, intervals };
    }
    case 4: {
      const pdu = random(2) === 0 ? new Uint8Array() : bytesOf(random, random(64));
      return { kind: "error-report", version, code: random(11), pdu, text: texts[random(texts.length)] ?? "" };
    }
    case 8:
      return { kind: "router-key", version, announce: random(2) === 0, ski: bytesOf(random, 20), asn, key: bytesOf(random, random(120)) };
    default: {
      const isIpv4 = random(2) === 0;
      const bits = isIpv4 ? 32 : 128;
      const length = random(bits + 1);
      const word = () => random(0x1_0000_0000);
      const prefix = isIpv4 ? makePrefix(4, word(), 0, 0, 0, length) : makePrefix(6, word(), word(), word(), word(), length);
      return { kind: "prefix", version, announce: random(2) === 0, prefix, maxLength: length + random(bits - length + 1), asn };
    }
  }
}

/** Some PDUs of one version in a row, and where each begins. */
export function anyStream(random: Random): { version: 0 | 1; pdus: Pdu[]; bytes: Buffer; starts: number[] } {
  const version = random(3) === 0 ? 0 : 1;
  const pdus = Array.from({ length: 1 + random(12) }, () => anyPdu(random, version));
  const parts = pdus.map(encodePdu);
  let at = 0;
  const starts = parts.map((part) => {
    at += part.length;
    return at - part.length;
  });
  return { version, pdus, bytes: Buffer.concat(parts), starts };
}

const nastyLengths = [0, 7, 8, 9, 11, 12, 15, 16, 20, 24, 31, 32, 16_384, 16_385, 0x7fff_ffff, 0xffff_ffff];

/** One damage or more, by the fields of a PDU or by bytes anywhere; at most 4 kB. */
export function damaged(random: Random, { bytes, starts }: { bytes: Buffer; starts: readonly number[] }): Buffer {
  let damage: Buffer = Buffer.from(bytes);
  for (let change = random(3); change >= 0; change--) {
    const start = starts[random(starts.length)] ?? 0;
    const put = (at: number, value: number) => {
      if (start + at < damage.length) damage[start + at] = value;
    };
    switch (random(9)) {
      case 0:
        put(0, random(4));
        break;
      case 1:
        put(1, random(13));
        break;
      case 2:
        if (start + 8 <= damage.length) damage.writeUInt32BE(nastyLengths[random(nastyLengths.length)] ?? 0, start + 4);
        break;
      case 3:
        if (start + 12 <= damage.length) damage.writeUInt32BE(nastyLengths[random(nastyLengths.length)] ?? 0, start + 8);
        break;
      case 4:
        put(8 + random(3), random(256));
        break;
      case 5:
        put(random(40), random(256));
        break;
      case 6:
        damage = damage.subarray(0, random(damage.length + 1));
        break;
      case 7: {
        const at = random(damage.length + 1);
        damage = Buffer.concat([damage.subarray(0, at), damage.subarray(Math.min(damage.length, at + 1 + random(12)))]);
        break;
      }
      default: {
        const at = random(damage.length + 1);
        damage = Buffer.concat([
          damage.subarray(0, at),
          Uint8Array.from({ length: 1 + random(4) }, () => random(256)),
          damage.subarray(at),
        ]);
      }
    }
  }
  return damage.subarray(0, 4_096);
}
