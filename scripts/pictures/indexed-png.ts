/** A PNG of at most 256 colours, which is a third as long as the one that a browser makes (PNG specification, third edition). */

import { crc32, deflateSync, inflateSync } from "node:zlib";

const signature = Buffer.from("89504e470d0a1a0a", "hex");
const colorsMax = 256;

/**
 * @param png  of 8 bits without interlacing, with or without an alpha channel, which is dropped.
 * @param kept colours (0xrrggbb) that stay as they are, however rare: those that say something.
 * @throws Error for a PNG of any other form.
 */
export function indexedPng(png: Buffer, kept: readonly number[] = []): Buffer {
  const { width, height, pixels } = decoded(png);
  const { chosen, indexOf } = palette(pixels, kept);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indexOf.get(pixels[y * width + x] ?? 0) ?? 0;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits, indexed.
  header.set([8, 3, 0, 0, 0], 8);
  const used = Buffer.alloc(3 * chosen.length);
  for (const [index, color] of chosen.entries()) used.writeUIntBE(color, 3 * index, 3);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("PLTE", used),
    chunk("IDAT", deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The most frequent colours have an index each; every other colour has that of the nearest one. */
function palette(pixels: Uint32Array, kept: readonly number[]): { chosen: readonly number[]; indexOf: ReadonlyMap<number, number> } {
  const counts = new Map<number, number>();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color);
  const present = kept.filter((color) => counts.has(color));
  const chosen = [...new Set([...present, ...byCount])].slice(0, colorsMax);
  const indexOf = new Map(chosen.map((color, index) => [color, index]));
  for (const color of byCount.filter((color) => !indexOf.has(color))) {
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    for (const [index, candidate] of chosen.entries()) {
      const distance = distanceOf(color, candidate);
      if (distance < least) [best, least] = [index, distance];
    }
    indexOf.set(color, best);
  }
  return { chosen, indexOf };
}

function distanceOf(a: number, b: number): number {
  const [red, green, blue] = [(a >> 16) - (b >> 16), ((a >> 8) & 255) - ((b >> 8) & 255), (a & 255) - (b & 255)];
  return red * red + green * green + blue * blue;
}

function decoded(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  let [width, height, channels] = [0, 0, 0];
  const data: Buffer[] = [];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      channels = body[9] === 2 ? 3 : 4;
      if (body[8] !== 8 || (body[9] !== 2 && body[9] !== 6) || body[12] !== 0) throw new Error("not a PNG of 8 bits a channel");
    }
    if (type === "IDAT") data.push(body);
    at += length + 12;
  }
  const bytes = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    const row = Uint8Array.from(bytes.subarray(start + 1, start + 1 + stride));
    unfilter(bytes[start] ?? 0, row, above, channels);
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0] = row.subarray(x * channels, x * channels + 3);
      pixels[y * width + x] = (red << 16) | (green << 8) | blue;
    }
    above = row;
  }
  return { width, height, pixels };
}

/** Section 9.2 of the specification: each byte is a difference to its neighbours. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, channels: number): void {
  for (let index = 0; index < row.length; index++) {
    const left = row[index - channels] ?? 0;
    const up = above[index] ?? 0;
    const corner = index < channels ? 0 : (above[index - channels] ?? 0);
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
    if (guess === undefined) throw new Error(`no such filter of PNG: ${filter}`);
    row[index] = (row[index] ?? 0) + guess;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), body]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
