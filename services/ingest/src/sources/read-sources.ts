/** Reads `sources.yaml`. Reports all its faults at once, each with its line and what is expected there. */

import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Prefix, parsePrefix } from "@netfacts/address";
import { systemReason } from "@netfacts/content";
import { sectionNames } from "@netfacts/snapshot";
import { overrideSource } from "@netfacts/storage";
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { isNetworkType, readName as readAsName } from "../readers/as-profiles.ts";
import { cacheListForm, readCacheList } from "../rtr/cache-address.ts";
import { attachUpdates, type ListedUpdates } from "./attach-updates.ts";
import { type RangeType, type SourceConfig, type SourcesConfig, SourcesFileError } from "./config.ts";
import {
  defaultBadRecordsMax,
  defaultClockSkewMaxSeconds,
  defaultFullFeedMin,
  defaultFullFeedShare,
  defaultHistoryKeptSeconds,
  defaultMatchPeersMin,
  defaultObservationHalfLifeSeconds,
  defaultObservationsKeptSeconds,
  defaultRangeConfidence,
  defaultSecondsMax,
  defaultShrinkMax,
  defaultStaleAfterSeconds,
  defaultSteadyShrinkMax,
  defaultUpstreamsMax,
  longestSecondsMax,
} from "./defaults.ts";
import { type FetchSettings, fetchKeys, readFetchSettings, shownUrl } from "./fetch-settings.ts";
import { FaultList, MappingReader, resolved } from "./mapping.ts";
import { withOverrides } from "./own-overrides.ts";
import { durationForm, instantForm, readDuration, readInstant, readShare, readSize, shareForm, sizeForm } from "./quantities.ts";
import {
  type BuiltFormat,
  builtFormats,
  formatFits,
  isBuiltFormat,
  isKnownSection,
  isSourceSection,
  isStanding,
  isSteady,
  knownFormats,
  rangeListOf,
  readingOf,
  type SourceSection,
  sourceSections,
} from "./sections.ts";
import { didYouMean } from "./suggestion.ts";
import { unknownAliases, yamlFaults } from "./yaml-faults.ts";

/** A list of sources is a page or two; a file of a megabyte is something else. */
const fileBytesMax = 2 ** 20;

const topKeys = [
  "sources",
  "full_feed_min",
  "full_feed_share",
  "match_peers_min",
  "upstreams_max",
  "history_kept",
  "locations_first",
  "observation_half_life",
  "observations_kept",
  "section_shrink_max",
  "sample_data",
] as const;
const sourceKeys = [
  "name",
  "section",
  "format",
  "location",
  "required",
  "interval",
  "bytes_max",
  "seconds_max",
  "shrink_max",
  "kind_shrink_max",
  "bad_records_max",
  "count_error_max",
  "covers",
  "network_type",
  "provider",
  "confidence",
  "stale_after",
  "as_of",
  "clock_skew_max",
  "future_dates",
  "applies_to",
  ...fetchKeys,
] as const;

/**
 * Reads and checks the file. `now`: also checks that the files of required sources exist; `later`: leaves this to the readers.
 *
 * @param options.overrides  file of the operator's overrides; if it exists, they become sources after those of the list.
 * @throws SourcesFileError with every fault.
 */
export async function readSources(
  path: string,
  { files = "now", overrides = null }: { readonly files?: "now" | "later"; readonly overrides?: string | null } = {},
): Promise<SourcesConfig> {
  const file = resolve(path);
  const text = await readText(file);
  const lines = new LineCounter();
  const document: Document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const faults = new FaultList(lines);
  for (const { offset, message } of yamlFaults(document.errors)) faults.at(offset, message);
  for (const offset of unknownAliases(document)) faults.at(offset, "not YAML: an alias (*) without its anchor (&) in front of it");
  // After a syntax error the meaning of the rest is a guess, so that only syntax errors are reported.
  if (faults.faults.length > 0) throw new SourcesFileError(file, faults.sorted());

  const top = document.contents === null ? null : resolved(document.contents as Node, document);
  if (!isMap(top)) throw new SourcesFileError(file, [{ line: 1, column: 1, message: 'expected a mapping with "sources"' }]);
  const reader = new MappingReader(document, top, "the file", topKeys, faults);
  const config: SourcesConfig = { file, sources: [], ...readSettings(reader, faults) };

  const list = reader.need("sources", "a list of at least one source", (value) => (isSeq(value) && value.items.length > 0 ? value : null));
  const lineByName = new Map<string, number>();
  const updates: ListedUpdates[] = [];
  for (const item of list?.items ?? []) {
    const node = resolved(item as Node | null, document);
    if (!isMap(node)) {
      faults.at(
        (item as Node | null)?.range?.[0] ?? reader.offsetOf("sources"),
        "expected a source: a mapping with name, section, format and location",
      );
      continue;
    }
    const members = new MappingReader(document, node, "a source", sourceKeys, faults);
    const source = readSource(members, faults, dirname(file), lineByName);
    if (source === null) continue;
    config.sources.push(source);
    const appliesTo = members.read("applies_to", "the name of a source of routes", readName);
    if (source.section === "updates") updates.push({ source, members, appliesTo });
    else if (members.has("applies_to")) faults.at(members.offsetOf("applies_to"), "applies_to: is only for a source of updates");
    // An optional source keeps its last good data when its file is unavailable; the run reports that, not this check.
    if (files === "now" && source.required && source.fetch === undefined && source.format !== "rtr")
      await checkFile(source, (message) => faults.at(members.offsetOf("location"), `location: ${message}`));
  }
  attachUpdates(updates, config.sources, lineByName, faults);
  if (faults.faults.length > 0) throw new SourcesFileError(file, faults.sorted());
  return withOverrides(config, overrides);
}

async function readText(file: string): Promise<string> {
  const fail = (message: string, line: number | null = null, column: number | null = null) =>
    new SourcesFileError(file, [{ line, column, message }]);
  let bytes: Buffer;
  try {
    const { size } = await stat(file);
    if (size > fileBytesMax) throw fail(`cannot be read: ${size} bytes; a list of sources has at most ${fileBytesMax}`);
    bytes = await readFile(file);
  } catch (error) {
    throw error instanceof SourcesFileError ? error : fail(`cannot be read: ${systemReason(error)}`);
  }
  if (isUtf8(bytes) && !bytes.includes(0)) return new TextDecoder("utf-8").decode(bytes);
  const [first = 0, second = 0] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0) !== (second === 0))
    throw fail("is UTF-16 text; save it as UTF-8", 1, 1);
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    const part = bytes.subarray(start, end === -1 ? bytes.length : end);
    if (part.includes(0)) throw fail("a NUL character: not a text file", line, part.indexOf(0) + 1);
    if (!isUtf8(part)) throw fail("not UTF-8 text, probably Latin-1; save it as UTF-8", line, columnOfOdd(part));
    start = end + 1;
  }
}

/** Column of the first byte that is not UTF-8, in characters from 1. */
function columnOfOdd(line: Buffer): number {
  let end = line.length;
  while (end > 0 && !isUtf8(line.subarray(0, end))) end--;
  return line.subarray(0, end).toString("utf8").length + 1;
}

function readSettings(reader: MappingReader, faults: FaultList): Omit<SourcesConfig, "file" | "sources"> {
  const minimum = reader.mapping("full_feed_min", ["ipv4", "ipv6"]);
  const positive = "a whole number of at least 1";
  const share = reader.read("full_feed_share", shareForm, readShare) ?? defaultFullFeedShare;
  if (share === 0)
    faults.at(reader.offsetOf("full_feed_share"), "full_feed_share: must be greater than 0: with 0, every peer would count as a full feed");
  const historyKept = reader.read("history_kept", `forever, or ${durationForm}`, (value) =>
    value === "forever" ? value : readDuration(value),
  );
  return {
    fullFeedMin: {
      ipv4: minimum?.read("ipv4", positive, readPositive) ?? defaultFullFeedMin.ipv4,
      ipv6: minimum?.read("ipv6", positive, readPositive) ?? defaultFullFeedMin.ipv6,
    },
    fullFeedShare: share,
    matchPeersMin: reader.read("match_peers_min", positive, readPositive) ?? defaultMatchPeersMin,
    upstreamsMax: reader.read("upstreams_max", "a whole number from 0 to 100", readUpstreams) ?? defaultUpstreamsMax,
    historyKeptSeconds: historyKept === "forever" ? null : (historyKept ?? defaultHistoryKeptSeconds),
    sectionShrinkMax: readSectionShrinkMax(reader),
    locationsFirst:
      reader.read("locations_first", "observation or geofeed", (value) =>
        value === "observation" || value === "geofeed" ? value : null,
      ) ?? "observation",
    observationHalfLifeSeconds: reader.read("observation_half_life", durationForm, readDuration) ?? defaultObservationHalfLifeSeconds,
    observationsKeptSeconds: reader.read("observations_kept", durationForm, readDuration) ?? defaultObservationsKeptSeconds,
    sampleData: reader.read("sample_data", "true or false", readBoolean) ?? false,
  };
}

function readSectionShrinkMax(reader: MappingReader): SourcesConfig["sectionShrinkMax"] {
  const bounds = reader.mapping("section_shrink_max", sectionNames);
  const told = sectionNames.map((name) => [name, bounds?.read(name, shareForm, readShare) ?? null] as const);
  return Object.fromEntries(told.filter(([, share]) => share !== null));
}

/** Reads one source; null if a member without a default is missing or wrong. */
function readSource(members: MappingReader, faults: FaultList, folder: string, lineByName: Map<string, number>): SourceConfig | null {
  const line = faults.lineOf(members.offset);
  const name = members.need("name", "a unique name of letters, digits, dots, dashes and underscores, other than override", readName);
  const firstLine = name === null ? undefined : lineByName.get(name);
  if (firstLine !== undefined)
    faults.at(members.offsetOf("name"), `name: "${name}" is already the name of the source in line ${firstLine}`);
  else if (name !== null) lineByName.set(name, line);

  const kind = readSectionAndFormat(members, faults);
  const place = readLocation(members, faults, folder);
  const required = members.read("required", "true or false", readBoolean) ?? true;
  const interval = members.read("interval", durationForm, readDuration);
  const bytesMax = members.read("bytes_max", sizeForm, readSize);
  const secondsMax = members.read(
    "seconds_max",
    `${durationForm}, or a number of seconds`,
    (value) => readPositive(value) ?? readDuration(value),
  );
  const shrinkMax = members.read("shrink_max", shareForm, readShare);
  const kindShrinkMax = members.read("kind_shrink_max", shareForm, readShare);
  const badRecordsMax = members.read("bad_records_max", shareForm, readShare) ?? defaultBadRecordsMax;
  const countErrorMax = members.read("count_error_max", shareForm, readShare);
  if (countErrorMax !== null && kind !== null && kind.format !== "delegated")
    faults.at(members.offsetOf("count_error_max"), "count_error_max: is only for format delegated");
  const covers = members.read("covers", coversForm, readCovers);
  const isRangeList = kind !== null && rangeListOf(kind.section, kind.format) !== null;
  if (covers !== null && kind !== null && kind.section !== "locations" && !isRangeList)
    faults.at(members.offsetOf("covers"), "covers: is only for section locations and lists of ranges");
  const rangeType = readRangeType(members, kind, faults);
  const staleAfter = members.read("stale_after", `never, or ${durationForm}`, (value) =>
    value === "never" ? "never" : readDuration(value),
  );
  const asOf = members.read("as_of", instantForm, readInstant);
  const clockSkewMax = members.read("clock_skew_max", durationForm, readDuration);
  const futureDates = members.read("future_dates", "refuse or warn", (value) => (value === "refuse" || value === "warn" ? value : null));
  if (name === null || kind === null || place === null) return null;

  // A new version is expected as often as there is a new file of updates.
  const every = kind.section === "updates" ? place.fetch?.everySeconds || null : null;
  const intervalSeconds = interval ?? every ?? readingOf(kind.section).intervalSeconds;
  return {
    name,
    ...kind,
    ...place,
    required,
    intervalSeconds,
    bytesMax: bytesMax ?? readingOf(kind.section).bytesMax,
    secondsMax: Math.min(secondsMax ?? defaultSecondsMax, longestSecondsMax),
    // The number of updates since the table does not show whether they are complete.
    shrinkMax: shrinkMax ?? (isStanding(kind.format) || kind.section === "updates" ? 1 : defaultShrinkMax),
    kindShrinkMax: kindShrinkMax ?? shrinkMax ?? (isSteady(kind.format) ? defaultSteadyShrinkMax : defaultShrinkMax),
    badRecordsMax,
    countErrorMax,
    covers,
    rangeType,
    staleAfterSeconds:
      staleAfter === "never" || (staleAfter === null && isStanding(kind.format))
        ? null
        : (staleAfter ?? defaultStaleAfterSeconds(intervalSeconds)),
    asOf,
    clockSkewMaxSeconds: clockSkewMax ?? defaultClockSkewMaxSeconds,
    futureDates: futureDates ?? "refuse",
    line,
  };
}

/** The type that a list of ranges gives its prefixes. Null for other sources; null, and a fault is noted, if the type is missing or wrong. */
function readRangeType(
  members: MappingReader,
  kind: { readonly section: SourceSection; readonly format: BuiltFormat } | null,
  faults: FaultList,
): RangeType | null {
  const defaults = kind === null ? null : rangeListOf(kind.section, kind.format);
  const type = members.read("network_type", "one word of lowercase letters, digits and underscores, such as hosting", readNetworkType);
  const provider = members.read("provider", "a name of at most 64 letters, such as Amazon AWS", readProvider);
  const confidence = members.read("confidence", shareForm, readShare);
  if (kind === null) return null;
  if (defaults === null) {
    for (const key of ["network_type", "provider", "confidence"])
      if (members.has(key)) faults.at(members.offsetOf(key), `${key}: is only for lists of ranges of section network_types`);
    return null;
  }
  if (type === null && defaults.type === null && !members.has("network_type"))
    faults.at(members.offset, 'a source has no "network_type"; a list of ranges of this format needs one, such as hosting or crawler');
  const word = type ?? defaults.type;
  return word === null ? null : { type: word, provider: provider ?? defaults.provider, confidence: confidence ?? defaultRangeConfidence };
}

function readNetworkType(value: unknown): string | null {
  return typeof value === "string" && isNetworkType(value) ? value : null;
}

function readProvider(value: unknown): string | null {
  const name = typeof value === "string" && value.length <= 64 ? readAsName(value) : null;
  return name || null;
}

function readSectionAndFormat(members: MappingReader, faults: FaultList): { section: SourceSection; format: BuiltFormat } | null {
  const section = members.need("section", `one of ${sourceSections.join(", ")}`, readWord);
  const format = members.need("format", "the name of a format", readWord);
  if (section !== null && !isSourceSection(section)) {
    faults.at(
      members.offsetOf("section"),
      isKnownSection(section)
        ? `section: "${section}" is not supported by this version; it reads ${sourceSections.join(", ")}`
        : `section: unknown "${section}"${didYouMean(section, sourceSections) || `; expected one of ${sourceSections.join(", ")}`}`,
    );
  }
  if (format === null) return null;
  const at = members.offsetOf("format");
  if (!knownFormats.includes(format)) {
    const expected = section !== null && isSourceSection(section) ? readingOf(section).formats.join(", ") : builtFormats.join(", ");
    faults.at(at, `format: unknown "${format}"${didYouMean(format, builtFormats) || `; expected one of ${expected}`}`);
    return null;
  }
  if (section === null || !isKnownSection(section)) return null;
  if (!formatFits(section, format)) {
    const fitting = isSourceSection(section) ? readingOf(section).formats : knownFormats.filter((known) => formatFits(section, known));
    faults.at(at, `format: "${format}" does not fit section ${section}; expected ${fitting.join(" or ")}`);
    return null;
  }
  if (!isSourceSection(section)) return null;
  if (isBuiltFormat(section, format)) return { section, format };
  faults.at(at, `format: "${format}" is not supported by this version; for ${section} it reads ${readingOf(section).formats.join(", ")}`);
  return null;
}

function readLocation(members: MappingReader, faults: FaultList, folder: string): { location: string; fetch?: FetchSettings } | null {
  const location = members.need("location", "the path of a file, relative to this one, or an http or https URL", readWord);
  const scheme = location === null ? null : /^([a-z][a-z0-9+.-]*):\/\//i.exec(location);
  const fault = (key: string, message: string) => faults.at(members.offsetOf(key), message);
  const format = members.read("format", "", (value) => (typeof value === "string" ? value : ""));
  if (format !== "rtr" && location !== null && scheme !== null && /^https?$/i.test(scheme[1] as string)) {
    const fetch = readFetchSettings(members, location, format, folder, fault);
    return fetch === null ? null : { location: shownUrl(location), fetch };
  }
  for (const key of fetchKeys)
    if (members.has(key)) fault(key, `${key}: is only for a source that is fetched, whose location is an http or https URL`);
  if (format === "rtr" && location !== null) {
    const caches = readCacheList(location);
    if (caches === null) fault("location", `location: expected ${cacheListForm}`);
    return caches === null ? null : { location: caches.map(({ name }) => name).join(",") };
  }
  if (location === null || scheme === null) return location === null ? null : { location: resolve(folder, location) };
  const isRtr = /^rtr(\+tls)?$/i.test(scheme[1] as string);
  const expected = isRtr ? "requires format rtr" : "is not supported by this version; give a path, or an http or https URL";
  fault("location", `location: ${scheme[1]}:// ${expected}`);
  return null;
}

async function checkFile({ location, section }: SourceConfig, fault: (message: string) => void): Promise<void> {
  try {
    const found = await stat(location);
    if (section === "updates" && found.isDirectory()) return;
    if (!found.isFile()) fault(`expected a file, ${location} is something else`);
  } catch (error) {
    fault(`${location} cannot be read: ${systemReason(error)}`);
  }
}

const coversForm = "a list of prefixes such as [192.0.2.0/24, 2001:db8::/32]";

function readCovers(value: unknown): Prefix[] | null {
  if (!isSeq(value) || value.items.length === 0) return null;
  const readings = value.items.map((item) => (isScalar(item) && typeof item.value === "string" ? parsePrefix(item.value) : null));
  const prefixes = readings.flatMap((reading) => (reading?.ok ? [reading.prefix] : []));
  return prefixes.length === readings.length ? prefixes : null;
}

function readWord(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" && !value.includes("\0") ? value : null;
}

function readName(value: unknown): string | null {
  return typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value) && value !== overrideSource ? value : null;
}

function readPositive(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : null;
}

function readUpstreams(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 100 ? value : null;
}

function readBoolean(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}
