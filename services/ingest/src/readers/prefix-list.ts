/** Readers of lists with a prefix in each line, and of the Tor project's list of exit nodes. */

import { boundedContent } from "./bounded-content.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { type ListedRange, RangeList } from "./range-list.ts";
import { ReadableText } from "./readable-text.ts";
import type { ReaderReport, SourceContent } from "./reader-report.ts";
import { readTimestamp } from "./timestamp.ts";

/** From the first `#` of a line. It cannot begin anywhere else: otherwise a line of such marks costs the square of its length. */
const comment = /^([^#]*)#.*$/;

type Reading = Promise<{ ranges: ListedRange[]; report: ReaderReport }>;

/**
 * Reads a prefix or an address in each line. Blank lines, and text after a `#`, are ignored.
 *
 * The last line may lack its line break if it is a valid prefix with a length, because Cloudflare publishes its lists like that. If it were the rest
 * of a longer prefix, it would have host bits, or be larger than any network.
 *
 * @throws SourceError with the line for a file without prefixes, with more than a million, with more invalid ones than allowed, or truncated within
 * its last line.
 */
export async function readPrefixList(content: SourceContent): Reading {
  const { chunks, meter } = boundedContent(content);
  const list = new RangeList(content);
  const texts = new ReadableText();
  let isPrefix = false;
  const { lines, ended } = await forEachLine(content.file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1);
    const prefix = text.replace(comment, "$1").trim();
    const isValid = prefix !== "" && list.add({ prefix, place: { line }, text });
    isPrefix = isValid && /\/\d+$/.test(text);
  });
  const ranges = list.ranges({ line: Math.max(1, lines) });
  if (!ended && !isPrefix) throw cutLine(content.file, lines);
  return { ranges, report: list.report({ bytes: meter.bytes, seconds: meter.seconds(), asOf: null, notes: texts.notes() }) };
}

const torKeywords = ["ExitNode", "Published", "LastStatus"];

/**
 * Reads `ExitAddress <address> <date> <time>`, among lines `ExitNode …`, `Published …` and `LastStatus …`. The time of the list is its latest
 * `LastStatus`. Otherwise as `readPrefixList`.
 */
export async function readTorExits(content: SourceContent): Reading {
  const { chunks, meter } = boundedContent(content);
  const list = new RangeList(content);
  const texts = new ReadableText();
  let asOf: number | null = null;
  const { lines, ended } = await forEachLine(content.file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1).trim();
    if (text === "" || text.startsWith("#")) return;
    const [keyword = "", first = "", second = "", third = "", ...rest] = text.split(" ");
    const place = { line };
    if (keyword === "ExitAddress" && rest.length === 0 && timeOf(second, third) !== null) {
      if (first.includes("/")) {
        list.tally.read++;
        list.tally.bad("not an address", place, text);
      } else list.add({ prefix: first, place, text });
      return;
    }
    const time = keyword === "LastStatus" ? timeOf(first, second) : null;
    if (time !== null) asOf = Math.max(asOf ?? time, time);
    if (torKeywords.includes(keyword)) return;
    list.tally.read++;
    list.tally.bad("not a line of the list of exit nodes", place, text);
  });
  const ranges = list.ranges({ line: Math.max(1, lines) });
  if (!ended) throw cutLine(content.file, lines);
  return { ranges, report: list.report({ bytes: meter.bytes, seconds: meter.seconds(), asOf, notes: texts.notes() }) };
}

/** Unix seconds of `2026-11-21 08:50:12`, in UTC; null for anything else. */
function timeOf(date: string, time: string): number | null {
  return readTimestamp(`${date}T${time}Z`);
}
