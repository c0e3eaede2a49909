/** Readers of AS names: `asn<TAB>name` lists, and the autnums files of potaroo and the RIPE NCC. */

import { nameLettersMax, readName } from "./as-profiles.ts";
import { boundedContent } from "./bounded-content.ts";
import { isWebError, webError } from "./likeness.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { readListedAsn } from "./listed-asn.ts";
import { ReadableText } from "./readable-text.ts";
import { printable, type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";

export interface AsNameRecord {
  asn: number;
  name: string;
  /** Two capital letters, if nearly every name of the file ends with a country; otherwise null. */
  country: string | null;
}

/** From this share of names on, a `, XX` at the end is the country, and not a word of the name ("…, SA"). */
const countryShareMin = 0.9;

/** Splits one line; returns text to say what is wrong. */
type SplitLine = (line: string) => readonly [asn: string, name: string] | string;

const notNamed = "not an AS number and a name";

/** Reads lines `asn<TAB>name`, without a third column. Blank lines and lines that begin with `#` are ignored. Otherwise as `readAutnums`. */
export function readNameList(content: SourceContent, sink: (record: AsNameRecord) => void): Promise<ReaderReport> {
  return readNames(content, sink, (line) => {
    const tab = line.indexOf("\t");
    if (tab === -1) return notNamed;
    const name = line.slice(tab + 1).trim();
    return name.includes("\t") ? "a third column: a line has an AS number, a tab and a name" : [line.slice(0, tab).trim(), name];
  });
}

/**
 * Reads lines such as `AS1     LVLT-1 - Level 3 Communications, Inc.`, `AS1.10 …` and `1 LVLT-1, US`. Hands each name to the sink after the whole
 * file was read; if an AS has several names, the last one stays. White space is reduced to single spaces. `ReadableText` corrects texts that were
 * encoded wrongly. Placeholders (`-Reserved AS-`, or `AS3333` as the name of AS3333) are left out, because they name nothing.
 *
 * @throws SourceError for a file without names, for a web server's error message (`404 page not found` has the form of a name), with more bad lines
 * than allowed, or truncated within its last line.
 */
export function readAutnums(content: SourceContent, sink: (record: AsNameRecord) => void): Promise<ReaderReport> {
  // Potaroo's list ends with such a placeholder. It names nothing, so that half of it would do no harm.
  return readNames(content, sink, splitAutnum, (line) => line.endsWith("-") && /[ \t]-/.test(line.slice(0, -1)));
}

/** Cost: one or two looks at each character, whatever the line has. For that, nothing may be required after `.*`, which may end within the line. */
function splitAutnum(line: string): ReturnType<SplitLine> {
  const match = /^((?:AS)?\d[\d.]*)[ \t]+(.*)/.exec(line);
  return match?.[0].length === line.length ? [match[1] as string, match[2] as string] : notNamed;
}

async function readNames(
  content: SourceContent,
  sink: (record: AsNameRecord) => void,
  split: SplitLine,
  mayEndWith: (line: string) => boolean = () => false,
): Promise<ReaderReport> {
  const { file, badRecordsMax } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const names = new Map<number, string>();
  const texts = new ReadableText();
  let last = "";

  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1);
    last = text;
    if (text.startsWith("#") || text.trim() === "") return;
    tally.read++;
    if (tally.read === 1 && isWebError(text)) throw new SourceError(file, { line }, `is ${webError}: "${printable(text)}"`);
    const record = readRecord(split(text));
    if (typeof record === "string") tally.bad(record, { line }, text);
    else if (isPlaceholder(record.asn, record.name)) {
      tally.leaveOut("a placeholder, not a name", { line }, text);
    } else {
      if (names.has(record.asn)) tally.leaveOut("named more than once; the last name was kept", { line }, text);
      names.set(record.asn, record.name);
    }
  });

  tally.accepted = names.size;
  tally.judge(file, badRecordsMax, "names", { line: Math.max(1, lines) });
  refuseNumbers(file, names);
  if (!ended && !mayEndWith(last)) throw cutLine(file, lines);
  const notes = ended ? texts.notes() : ["the last line, a placeholder, has no line break", ...texts.notes()];
  emit(names, sink);
  return {
    bytes: meter.bytes,
    seconds: meter.seconds(),
    read: tally.read,
    accepted: tally.accepted,
    skipped: tally.skipped(),
    asOf: null,
    notes,
    kinds: { names: names.size },
  };
}

/** Returns text to say what is wrong. */
function readRecord(parts: ReturnType<SplitLine>): { asn: number; name: string } | string {
  if (typeof parts === "string") return parts;
  const asn = readListedAsn(parts[0]);
  if (asn === null) return notNamed;
  const name = readName(parts[1]);
  return name === null ? `the name has control characters or more than ${nameLettersMax} letters` : { asn, name };
}

/** Two columns of numbers, such as ranks or counts of ASes, have the form of names. */
function refuseNumbers(file: string, names: ReadonlyMap<number, string>): void {
  let numbers = 0;
  for (const name of names.values()) if (/^[\d.,]+$/.test(name)) numbers++;
  if (numbers > names.size / 2) throw new SourceError(file, null, `${numbers} of ${names.size} names are numbers: it is no list of names`);
}

function emit(names: ReadonlyMap<number, string>, sink: (record: AsNameRecord) => void): void {
  const withCountry = /^(.*\S), ?([A-Z]{2})$/;
  let countries = 0;
  for (const name of names.values()) if (withCountry.test(name)) countries++;
  const split = countries >= names.size * countryShareMin;
  for (const [asn, whole] of names) {
    const match = split ? withCountry.exec(whole) : null;
    const country = match?.[2] ?? null;
    sink({ asn, name: match?.[1] ?? whole, country: country === "ZZ" ? null : country });
  }
}

function isPlaceholder(asn: number, name: string): boolean {
  if (name === "" || /^-.*-(, ?[A-Z]{2})?$/i.test(name)) return true;
  // A regular expression per AS number would stay compiled for long: tens of megabytes of them.
  return name.replace(/, ?[A-Z]{2}$/i, "").toUpperCase() === `AS${asn}`;
}
