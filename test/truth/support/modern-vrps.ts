/** The VRPs of a whole rpki-client export, read by a pattern: rpki-client writes one on a line. Only the unpacking is ours. */

import { openContent } from "@netfacts/content";
import type { PlainVrp } from "./origin-rule.ts";

export interface ExpiringVrp extends PlainVrp {
  /** Unix seconds. */
  readonly expires: number;
}

export interface Export {
  /** Unix seconds. */
  readonly builtAt: number;
  readonly vrps: readonly ExpiringVrp[];
}

/** The unpacked text. */
export async function exportText(path: string): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of openContent(path).stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("latin1");
}

export async function readExport(path: string): Promise<Export> {
  const json = await exportText(path);
  const line = /\{ "asn": (\d+), "prefix": "([^"]+)", "maxLength": (\d+), "ta": "[^"]+", "expires": (\d+) \}/g;
  const vrps = Array.from(json.matchAll(line), ([, asn, prefix = "", maxLength, expires]) => ({
    asn: Number(asn),
    prefix,
    maxLength: Number(maxLength),
    expires: Number(expires),
  }));
  return { builtAt: Date.parse(/"buildtime": "([^"]+)"/.exec(json)?.[1] ?? "") / 1000, vrps };
}
