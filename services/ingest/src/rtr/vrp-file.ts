/** The file through which a session hands its VRPs to a run: a line of JSON that describes it, then the PDUs of one complete response. */

import { createHash } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { encodePdu, type Pdu, RtrDecoder, RtrPduError, type VrpRecords, vrpsOf } from "@netfacts/rpki/rtr";
import type { RtrData } from "./rtr-client.ts";

/** The first line. Times are Unix ms. */
export interface VrpFileHead {
  readonly format: "netfacts-rtr-1";
  readonly cache: string;
  readonly sessionId: number;
  readonly serial: number;
  readonly vrps: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
}

/** The file has another form, or is not whole. */
export class VrpFileError extends Error {
  override readonly name = "VrpFileError";
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

/** VRPs that are encoded between two turns of the event loop. */
const turnSize = 20_000;
const headBytesMax = 4_096;
const version = 1;

/** Writes the whole file, or leaves the previous one. @returns its SHA-256 */
export async function writeVrpFile(path: string, data: RtrData): Promise<string> {
  const { cache, sessionId, serial, updatedAt, expiresAt, records } = data;
  const head: VrpFileHead = { format: "netfacts-rtr-1", cache, sessionId, serial, vrps: records.asn.length, updatedAt, expiresAt };
  await mkdir(dirname(path), { recursive: true });
  const digest = createHash("sha256");
  const file = await open(`${path}.new`, "w");
  try {
    for await (const piece of piecesOf(head, records)) {
      digest.update(piece);
      await file.writeFile(piece);
    }
    await file.sync();
  } catch (error) {
    await rm(`${path}.new`, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return digest.digest("hex");
}

async function* piecesOf(head: VrpFileHead, records: VrpRecords): AsyncGenerator<Buffer> {
  const { sessionId, serial } = head;
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  let pdus: Buffer[] = [encodePdu({ kind: "cache-response", version, sessionId })];
  for (const { prefix, maxLength, asn } of vrpsOf(records)) {
    pdus.push(encodePdu({ kind: "prefix", version, announce: true, prefix, maxLength, asn }));
    if (pdus.length < turnSize) continue;
    yield Buffer.concat(pdus);
    pdus = [];
    await nextTurn();
  }
  const intervals = { refresh: 0, retry: 0, expire: 0 };
  yield Buffer.concat([...pdus, encodePdu({ kind: "end-of-data", version, sessionId, serial, intervals })]);
}

/**
 * Reads such a file, and calls `take` once for each VRP.
 *
 * @throws VrpFileError with the byte unless the file is whole.
 */
export async function readVrpFile(
  pieces: AsyncIterable<Uint8Array>,
  take: (vrp: Extract<Pdu, { kind: "prefix" }>, offset: number) => void,
): Promise<VrpFileHead> {
  const decoder = new RtrDecoder(version);
  let head: VrpFileHead | null = null;
  let headBytes = 0;
  let begun: Buffer = Buffer.alloc(0);
  let vrps = 0;
  let isWhole = false;
  const offset = () => headBytes + decoder.offset;
  for await (const piece of pieces) {
    if (head === null) {
      begun = Buffer.concat([begun, piece]);
      const end = begun.subarray(0, headBytesMax).indexOf(0x0a);
      if (end === -1 && begun.length < headBytesMax) continue;
      head = parseHead(begun.subarray(0, Math.max(end, 0)).toString("utf8"));
      headBytes = end + 1;
      decoder.feed(begun.subarray(headBytes));
    } else decoder.feed(piece);
    try {
      for (let at = offset(), pdu = decoder.next(); pdu !== null; at = offset(), pdu = decoder.next()) {
        if (isWhole) throw new VrpFileError(at, "has data after its end");
        if (pdu.kind === "prefix") {
          take(pdu, at);
          vrps++;
        } else if (pdu.kind === "end-of-data") isWhole = true;
        else if (pdu.kind !== "cache-response") throw new VrpFileError(at, `unexpected ${pdu.kind} PDU`);
      }
    } catch (error) {
      if (error instanceof RtrPduError) throw new VrpFileError(headBytes + error.offset, error.message);
      throw error;
    }
  }
  if (head === null) throw new VrpFileError(begun.length, "has no first line");
  if (!isWhole || vrps !== head.vrps) throw new VrpFileError(offset(), `ends after ${vrps} of ${head.vrps} VRPs`);
  return head;
}

function parseHead(line: string): VrpFileHead {
  try {
    const head = JSON.parse(line) as VrpFileHead;
    const numbers = [head.sessionId, head.serial, head.vrps, head.updatedAt, head.expiresAt];
    if (head.format === "netfacts-rtr-1" && typeof head.cache === "string" && numbers.every(Number.isSafeInteger)) return head;
  } catch {
    // Not JSON: refused like any other wrong first line.
  }
  throw new VrpFileError(0, "was not written by an RTR session");
}
