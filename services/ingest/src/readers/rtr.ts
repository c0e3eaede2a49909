/** Reader of the file through which an RTR session hands over its VRPs (`../rtr/vrp-file.ts`). */

import { readVrpFile, VrpFileError, type VrpFileHead } from "../rtr/vrp-file.ts";
import { boundedContent } from "./bounded-content.ts";
import { type ReaderReport, type SourceContent, SourceError } from "./reader-report.ts";
import { VrpList } from "./vrp-list.ts";

/**
 * Reads such a file. Its time is when the session's data were last known to be current. RTR has neither trust anchors nor expiry times.
 *
 * @throws SourceError with the byte if the file is not whole. A cache without VRPs is refused, like an empty export.
 */
export async function readRtr(content: SourceContent): Promise<{ vrps: VrpList; report: ReaderReport }> {
  const { file } = content;
  const { chunks, meter } = boundedContent(content);
  const vrps = new VrpList();
  let head: VrpFileHead;
  try {
    head = await readVrpFile(chunks, ({ prefix, maxLength, asn }, offset) => {
      if (!vrps.add(prefix, maxLength, asn, null, null, offset)) throw new VrpFileError(offset, "a VRP appears twice");
    });
  } catch (error) {
    if (error instanceof VrpFileError) throw new SourceError(file, { offset: error.offset }, error.message, { cause: error });
    throw error;
  }
  const { cache, sessionId, serial, updatedAt } = head;
  if (vrps.size === 0) throw new SourceError(file, null, `${cache} has no VRPs`);
  return {
    vrps,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      read: vrps.size,
      accepted: vrps.size,
      skipped: [],
      asOf: Math.floor(updatedAt / 1_000),
      notes: [`serial ${serial} of session ${sessionId} of ${cache}`],
      kinds: vrps.kinds(),
    },
  };
}
