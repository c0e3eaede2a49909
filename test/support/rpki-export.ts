/** rpki-client exports with current times, because stayrtr drops expired ROAs and refuses files that are a day old. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openContent } from "@netfacts/content";
import { madeOnce } from "./made-once.ts";

/** An item of an export's `roas`. */
export interface ExportedRoa {
  readonly asn: number;
  readonly prefix: string;
  readonly maxLength: number;
  readonly ta: string;
  readonly expires: number;
}

/** The text by which VRPs are compared: `192.0.2.0/24-24 64496`. */
export function roaText({ prefix, maxLength, asn }: Pick<ExportedRoa, "prefix" | "maxLength" | "asn">): string {
  return `${prefix}-${maxLength} ${asn}`;
}

/** The ROAs of an export, compressed or not, as lines of JSON; the key is the part of the line with the VRP. Cost: 3 s and 300 MB for 0.7 M ROAs. */
export async function readExportLines(path: string): Promise<Map<string, string>> {
  const roas = new Map<string, string>();
  let rest = "";
  for await (const chunk of openContent(path).stream) {
    // rpki-client writes one ROA per line.
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const end = line.indexOf(', "ta"');
      // Skip router keys, which also have a trust anchor.
      if (end > 0 && line.includes('"maxLength"')) roas.set(line.slice(0, end), line);
    }
  }
  return roas;
}

export interface ExportPair {
  readonly paths: readonly [before: string, after: string];
  /** Number of VRPs in each of the whole files. */
  readonly vrps: readonly [before: number, after: number];
}

/**
 * Two exports, thinned once in a run: every line that the other has not, and of the VRPs that are in both every tenth.
 *
 * @param own  an empty folder, for the copies outside a run.
 */
export async function thinnedExports(paths: readonly [before: string, after: string], own: string): Promise<ExportPair> {
  const folder = await madeOnce("thinned-exports", join(own, "thinned-exports"), async (path) => {
    mkdirSync(path);
    const [before, after] = [await exportLines(paths[0]), await exportLines(paths[1])];
    const isVrp = (line: string) => line.includes('"maxLength"');
    const inAfter = new Set(after);
    const dropped = new Set(before.filter((line, at) => at % 10 > 0 && isVrp(line) && line.endsWith(",") && inAfter.has(line)));
    for (const [at, lines] of [before, after].entries())
      writeFileSync(join(path, `${at}.json`), lines.filter((line) => !dropped.has(line)).join("\n"), "latin1");
    writeFileSync(join(path, "vrps.json"), JSON.stringify([before, after].map((lines) => lines.filter(isVrp).length)));
  });
  const vrps = JSON.parse(readFileSync(join(folder, "vrps.json"), "utf8")) as [number, number];
  return { paths: [join(folder, "0.json"), join(folder, "1.json")], vrps };
}

async function exportLines(path: string): Promise<string[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of openContent(path).stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("latin1").split("\n");
}

export function parseExportLine(line: string): ExportedRoa {
  return JSON.parse(line.trim().replace(/,$/, ""));
}

/** Writes ROAs as an export of the current time, without router keys and ASPAs. The ROAs expire in a day. Replaces an existing file atomically. */
export function writeFreshExport(path: string, roas: readonly Omit<ExportedRoa, "expires">[]): void {
  const now = Date.now();
  const expires = Math.floor(now / 1_000) + 86_400;
  const lines = roas.map((roa) => JSON.stringify({ ...roa, expires }));
  const metadata = JSON.stringify({ buildtime: `${new Date(now).toISOString().slice(0, 19)}Z`, vrps: roas.length });
  writeFileSync(`${path}.new`, `{"metadata": ${metadata}, "roas": [\n${lines.join(",\n")}\n]}\n`);
  renameSync(`${path}.new`, path);
}
