/** Reader of Routinator's `csv`: `ASN,IP Prefix,Max Length,Trust Anchor`, quoted or not. rpki-client's form has `Expires` too. */

import { boundedContent } from "./bounded-content.ts";
import { firstLineHint, splitCsvLine } from "./csv.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";
import { readVrp } from "./vrp-fields.ts";
import { VrpList } from "./vrp-list.ts";

/** Columns that every file has, named in its first line, in any order. */
const required = ["asn", "ip prefix", "max length", "trust anchor"] as const;
type Column = (typeof required)[number] | "expires";

/**
 * Reads one list. It does not contain the time at which it was made, so that nothing is dropped as expired. A VRP without a max length is bad.
 *
 * @throws SourceError with the line if there is no such first line, or that of `csvext`, no VRPs, or more bad ones than allowed.
 */
export async function readRoutinatorCsv(content: SourceContent): Promise<{ vrps: VrpList; report: ReaderReport }> {
  const { file, badRecordsMax } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const vrps = new VrpList();
  let header: readonly string[] | null = null;
  let byteOrderMark = false;
  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    let text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
    if (line === 1 && text.startsWith("\u00ef\u00bb\u00bf")) {
      byteOrderMark = true;
      text = text.slice(3);
    }
    if (text.trim() === "") return;
    if (header === null) {
      header = readHeader(file, line, text);
      return;
    }
    tally.read++;
    const vrp = readLine(header, text);
    if (typeof vrp === "string") return tally.bad(vrp, { line }, text);
    let added: boolean;
    try {
      added = vrps.add(vrp.prefix, vrp.maxLength, vrp.asn, vrp.ta, vrp.expiresAt, line);
    } catch (error) {
      throw new SourceError(file, { line }, (error as Error).message);
    }
    if (!added) tally.leaveOut("duplicate; the latest expiry was kept", { line }, text);
  });
  if (header === null) throw new SourceError(file, { line: Math.max(1, lines) }, expected);
  tally.accepted = vrps.size;
  tally.judge(file, badRecordsMax, "VRPs", { line: Math.max(1, lines) });
  if (!ended) throw cutLine(file, lines);
  const notes: string[] = [];
  if (byteOrderMark) notes.push("begins with a byte order mark");
  return {
    vrps,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      read: tally.read,
      accepted: tally.accepted,
      skipped: tally.skipped(),
      asOf: null,
      notes,
      kinds: vrps.kinds(),
    },
  };
}

/** Columns that `csvext` has in addition to those of `csv`: read as `csv`, its expiry times would be lost. */
const extColumns: readonly string[] = ["uri", "not before", "not after"];

const expected = "not Routinator's csv; expected a first line ASN,IP Prefix,Max Length,Trust Anchor";

function readHeader(file: string, line: number, text: string): string[] {
  const names = splitCsvLine(text)?.map((name) => name.toLowerCase()) ?? [];
  const isNamed = names.includes("asn") && names.includes("ip prefix");
  if (isNamed && names.some((name) => extColumns.includes(name)))
    throw new SourceError(
      file,
      { line },
      `${expected}; it looks like Routinator's csvext, which is not read: use jsonext, which tells the same`,
    );
  const missing = isNamed ? required.filter((name) => !names.includes(name)) : [];
  if (!isNamed || missing.length > 0 || new Set(names).size < names.length) {
    const what = missing.length === 0 ? firstLineHint(text) : `; it has no column ${missing.join(" and no column ")}`;
    throw new SourceError(file, { line }, `${expected}${what}`);
  }
  return names;
}

function readLine(header: readonly string[], text: string): ReturnType<typeof readVrp> {
  const fields = splitCsvLine(text);
  if (fields === null) return "a quote is not closed";
  if (fields.length !== header.length) return "the number of fields differs from the first line";
  const of = (column: Column): string | null => fields[header.indexOf(column)] || null;
  const ta = of("trust anchor");
  return readVrp({
    asn: of("asn"),
    prefix: of("ip prefix"),
    maxLength: numberOf(of("max length")),
    ta: ta === "N/A" ? null : ta,
    expires: numberOf(of("expires")),
  });
}

/** Digits become a number, an empty field stays null. Any other text stays as it is, and is refused later. */
function numberOf(text: string | null): number | string | null {
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : text;
}
