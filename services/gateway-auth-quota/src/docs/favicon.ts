/** `/favicon.ico`: the icon that browsers request from every site, drawn here and served as an ICO file with one bitmap. */

import type { StaticFile } from "./static-file.ts";

/** A router with a link to each neighbour. `#`: ink, `.`: transparent. */
const drawing = [
  "................",
  ".###........###.",
  ".###........###.",
  ".####......####.",
  "....##....##....",
  ".....##..##.....",
  "......####......",
  "......####......",
  "......####......",
  "......####......",
  ".....##..##.....",
  "....##....##....",
  ".####......####.",
  ".###........###.",
  ".###........###.",
  "................",
];

/** ARGB: a blue that is visible on light and dark tabs. */
const ink = 0xff3b82f6;
const side = drawing.length;
const fileHeaderBytes = 22;
const bitmapHeaderBytes = 40;
/** One bit per pixel, each row padded to 32 bits. */
const maskBytes = side * 4;

export function favicon(): StaticFile {
  return { contentType: "image/x-icon", body: iconFile() };
}

function iconFile(): Buffer {
  const bitmapBytes = bitmapHeaderBytes + side * side * 4 + maskBytes;
  const file = Buffer.alloc(fileHeaderBytes + bitmapBytes);
  file.writeUInt16LE(1, 2); // an icon
  file.writeUInt16LE(1, 4); // images
  file.writeUInt8(side, 6);
  file.writeUInt8(side, 7);
  file.writeUInt16LE(1, 10); // planes
  file.writeUInt16LE(32, 12); // bits a pixel
  file.writeUInt32LE(bitmapBytes, 14);
  file.writeUInt32LE(fileHeaderBytes, 18);
  writeBitmap(file.subarray(fileHeaderBytes));
  return file;
}

/** Rows are stored from the bottom up. The mask stays zero: transparency is in the pixels. */
function writeBitmap(bitmap: Buffer): void {
  bitmap.writeUInt32LE(bitmapHeaderBytes, 0);
  bitmap.writeInt32LE(side, 4);
  bitmap.writeInt32LE(2 * side, 8); // the pixels and the mask
  bitmap.writeUInt16LE(1, 12);
  bitmap.writeUInt16LE(32, 14);
  for (const [fromTop, row] of drawing.entries()) {
    for (const [column, pixel] of [...row].entries()) {
      if (pixel === "#") bitmap.writeUInt32LE(ink, bitmapHeaderBytes + 4 * ((side - 1 - fromTop) * side + column));
    }
  }
}
