/** Damage to messages, from a seed. */

/** Numbers from 0 to below 2³², the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** One to four of: a flipped bit, a set byte, a cut, bytes put in or taken out, a changed count, a pointer, a piece said twice. */
export function mutate(message: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(message);
  const rounds = 1 + (random() % 4);
  for (let round = 0; round < rounds && bytes.length > 2; round += 1) {
    // The id stays: who does not know it is not even heard.
    const at = 2 + (random() % (bytes.length - 2));
    switch (random() % 8) {
      case 0:
        bytes[at]! ^= 1 << (random() % 8);
        break;
      case 1:
        bytes[at] = random() & 255;
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from([random() & 255, random() & 255]), bytes.subarray(at)]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + (random() % 8))]);
        break;
      case 5:
        if (bytes.length >= 12) bytes.writeUInt16BE(random() & 0xffff, 4 + 2 * (random() % 4));
        break;
      case 6:
        if (at + 1 < bytes.length) bytes.writeUInt16BE(0xc000 | (random() % (bytes.length + 8)), at);
        break;
      default:
        bytes = Buffer.concat([bytes, bytes.subarray(at, at + (random() % 64))]);
    }
  }
  return bytes;
}
