/** Items of a batch as questions: the values and options of each kind are read as the route of that kind reads them. */

import { formatAddress, parseAddress } from "@netfacts/address";
import {
  type BatchKind,
  batchKinds,
  batchQuestions,
  encodeQuery,
  membersOf,
  nearestWord,
  operations,
  ProblemError,
  type ProblemItem,
  wholeRecord,
} from "@netfacts/contracts";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { quoteValue } from "../../edge/echo.ts";
import { type SchemaError, schemaFaults } from "../../edge/schema-fault.ts";
import { wordList } from "../../edge/word-list.ts";
import { lookups } from "../lookups.ts";
import { QuestionReader } from "../question-reader.ts";

/** A question that a service can be asked. */
export interface AskedItem {
  readonly op: BatchKind;
  /** Canonical query of the operation. */
  readonly query: string;
  /** Units that the answer costs: of the rate limit, if more than 1, and of its key's share of the service (`operations`). */
  readonly units: number;
  /** The question as it was asked, as JSON. */
  readonly echo: string;
  /** About how long its record may be, in bytes: what its place in the window costs. */
  readonly weight: number;
}

/** An item that is not a question, or not one that may be asked. */
export interface Refused {
  readonly problem: ProblemError;
  /** Length of its text, which is what reading it cost: characters in a document, bytes of a line; absent where a limit refuses it. */
  readonly length?: number;
  /** As much of it as could be read, as JSON. */
  readonly echo: string;
}

export type Item = AskedItem | Refused;

/** Most faults that are reported of one item. */
const faultsMax = 4;

/** Longest list that is validated; no member has so many words. Each wrong word costs 150 ns, and a line may have thousands. */
const wordsMax = 64;

type ItemValue = Readonly<Record<string, unknown>>;

/** Estimated lengths: of a record without its list, and of an item of its list. */
const recordBytes = 2_048;
const listItemBytes = 128;
const listLimit = 100;

/** Any words: the reader of the routes checks them, and suggests the right one. No word has a comma, which separates them there. */
const Words = Type.Optional(Type.Array(Type.String({ pattern: "^[^,]*$" })));
const schemas = new Map(
  batchKinds.map((kind) => [kind, Type.Object({ ...batchQuestions[kind].properties, fields: Words }, { additionalProperties: false })]),
);
const compiled = new Map([...schemas].map(([kind, schema]) => [kind, Compile(schema)]));
const noAddress = { ip: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 } } as const;
const lookupsByOp = new Map(lookups.map((lookup) => [lookup.op, lookup]));
/** The end of a query for a record that is whole except for its `meta`. */
const withoutMeta = encodeQuery("ip", noAddress, { ...wholeRecord, meta: false }).slice(encodeQuery("ip", noAddress, wholeRecord).length);
/** Members that name what is asked: those that a question of their kind must have. */
const namingMembers = [...new Set(batchKinds.flatMap((kind): readonly string[] => batchQuestions[kind].required))];

/**
 * @param value what JSON made of the item.
 * @param meta  whether its record has its `meta` where the item does not say.
 */
export function readItem(value: unknown, meta: boolean): Item {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return unreadableItem("is not a JSON object");
  const item = value as ItemValue;
  return readPlainAddress(item, meta) ?? readAny(item, meta);
}

/** An item that is not even an object: its problem is short, as a body may have millions of these, and `detail` says all. */
export function unreadableItem(message: string): Refused {
  return { problem: new ProblemError("batch_item_invalid", { detail: `The item ${message}.` }), echo: "null" };
}

/** The same answer as `readAny` has, at a tenth of its cost: nearly every item of a large batch is one of these. */
function readPlainAddress(item: ItemValue, meta: boolean): AskedItem | null {
  const { kind, value } = item;
  if (kind !== "ip" || typeof value !== "string" || memberCount(item) !== 2) return null;
  const address = parseAddress(value);
  // The text of an address has nothing that JSON escapes.
  return address === null
    ? null
    : {
        op: "ip",
        query: `${formatAddress(address)}${meta ? "" : withoutMeta}`,
        units: 1,
        echo: `{"kind":"ip","value":"${value}"}`,
        weight: recordBytes,
      };
}

function memberCount(item: ItemValue): number {
  let count = 0;
  for (const _ in item) count += 1;
  return count;
}

function readAny(item: ItemValue, metaDefault: boolean): Item {
  const kind = batchKinds.find((name) => name === item.kind);
  if (kind === undefined) return refuse(item, [unknownKind(item.kind)]);
  const long = Object.keys(item).find((name) => Array.isArray(item[name]) && item[name].length > wordsMax);
  if (long !== undefined) return refuse(item, [longList(long)]);
  const schema = compiled.get(kind) as NonNullable<ReturnType<typeof compiled.get>>;
  if (!schema.Check(item))
    return refuse(
      item,
      memberFaults(kind, item, () => schema.Errors(item)),
    );
  // Only a search takes any text.
  if (kind === "search" && typeof item.q === "string" && !item.q.isWellFormed()) return refuse(item, [halfCharacter]);
  const lookup = lookupsByOp.get(kind) as NonNullable<ReturnType<typeof lookupsByOp.get>>;
  const { path, search } = asRoute(kind, item);
  try {
    const reader = new QuestionReader(path, search, lookup.parameters, "a list");
    const question = lookup.read(reader);
    const fields = reader.words("fields", membersOf(kind));
    const meta = reader.flag("meta", metaDefault);
    reader.finish();
    const view = fields === null && meta ? wholeRecord : { ...wholeRecord, fields, meta };
    const limit = "limit" in question && typeof question.limit === "number" ? question.limit : 0;
    const isList = operations[kind].lists.length > 0 || item.include !== undefined;
    const weight = recordBytes + (isList ? Math.max(limit, listLimit) * listItemBytes : 0);
    const units = operations[kind].units(question as never);
    return { op: kind, query: encodeQuery(kind, question as never, view), units, echo: JSON.stringify(item), weight };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    const { detail, errors = [] } = error.fields;
    const located = errors.slice(0, faultsMax).map(inItem);
    return { problem: new ProblemError(error.code, { ...(detail === undefined ? {} : { detail }), errors: located }), echo: echoOf(item) };
  }
}

function unknownKind(kind: unknown): ProblemItem {
  const suggestion = typeof kind === "string" ? nearestWord(kind, batchKinds) : null;
  const message = `must be ${wordList(batchKinds, "or")}`;
  return { location: "kind", code: "batch_item_invalid", message, ...(suggestion === null ? {} : { suggestion }) };
}

function longList(name: string): ProblemItem {
  return { location: quoteValue(name), code: "batch_item_invalid", message: `must have at most ${wordsMax} items` };
}

/** No URL can have it. The answer would have to repeat it, and many readers of JSON refuse a document with it. */
const halfCharacter: ProblemItem = {
  location: "q",
  code: "batch_item_invalid",
  message: "has half of a surrogate pair, which is not a character",
};

/** Where the same question stands in a URL. */
function asRoute(kind: BatchKind, item: ItemValue): { path: Record<string, string>; search: string } {
  const { kind: _, value, ...rest } = item;
  const { value: parameter } = operations[kind].lookup.batch;
  const path = parameter === null ? {} : { [parameter]: `${value}` };
  const search = new URLSearchParams();
  for (const [name, option] of Object.entries(rest))
    if (!isEmptyList(name, option)) search.set(name, Array.isArray(option) ? option.join(",") : `${option}`);
  return { path, search: search.toString() };
}

/** An empty list includes nothing, which a parameter says by its absence; no `fields` would mean all of them. */
function isEmptyList(name: string, option: unknown): boolean {
  return name === "include" && Array.isArray(option) && option.length === 0;
}

/** A fault as an item has it, which takes no path for a value. */
function inItem({ suggestion, ...fault }: ProblemItem): ProblemItem {
  const isValue = typeof suggestion === "string" && !suggestion.startsWith("/");
  return { ...fault, location: locationInItem(fault.location), ...(isValue ? { suggestion } : {}) };
}

/** `path.ip` → `value`, `query.limit` → `limit`. */
function locationInItem(location: string): string {
  return location.startsWith("path.") ? "value" : location.replace(/^query\./, "");
}

/** The first faults: an item with many costs no more than one with few. */
function memberFaults(kind: BatchKind, item: ItemValue, errors: () => Iterable<SchemaError>): ProblemItem[] {
  const { properties, required } = batchQuestions[kind];
  const faults: ProblemItem[] = [];
  const add = (location: string, message: string, suggestion: string | null = null): boolean => {
    // A member of several forms is reported once, and not for each of them.
    if (!faults.some((fault) => fault.location === location && fault.message === message))
      faults.push({ location, code: "batch_item_invalid", message, ...(suggestion === null ? {} : { suggestion }) });
    return faults.length >= faultsMax;
  };
  const known = Object.keys(properties);
  for (const name in item) {
    if (Object.hasOwn(properties, name)) continue;
    if (add(quoteValue(name), `is unknown; ${kind} accepts ${wordList(known, "and")}`, nearestWord(name, known))) return faults;
  }
  for (const name of required) if (!Object.hasOwn(item, name) && add(name, "is missing")) return faults;
  for (const error of errors()) {
    // The whole item: what is unknown or missing, as told above.
    if (error.instancePath === "" || !Object.hasOwn(properties, error.instancePath.split("/", 2)[1] ?? "")) continue;
    for (const { pointer, message, suggestion } of schemaFaults(schemas.get(kind), error))
      if (add(pointer.slice(1).replaceAll("/", "."), message, suggestion)) return faults;
  }
  return faults;
}

function refuse(item: ItemValue, errors: readonly ProblemItem[]): Refused {
  return { problem: itemProblem(errors), echo: echoOf(item) };
}

function itemProblem(errors: readonly ProblemItem[]): ProblemError {
  const [first] = errors;
  const more = errors.length > 1 ? " There are more faults: see errors." : "";
  const detail =
    first === undefined ? undefined : `The item${first.location === "" ? "" : `'s ${first.location}`} ${first.message}.${more}`;
  return new ProblemError("batch_item_invalid", { ...(detail === undefined ? {} : { detail }), errors });
}

/** The members that name a question, bounded, and never with a key in them. */
function echoOf(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "null";
  const echo: Record<string, string | number> = {};
  for (const name of namingMembers) {
    const member = (value as ItemValue)[name];
    if (typeof member === "string") echo[name] = quoteValue(member);
    else if (typeof member === "number") echo[name] = member;
  }
  return JSON.stringify(echo);
}
