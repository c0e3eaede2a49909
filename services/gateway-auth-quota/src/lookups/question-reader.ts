/** Reads a question from path and query, and collects all its faults before it refuses. */

import {
  type Address,
  addressMistake,
  asnMistake,
  formatPrefix,
  hostPrefix,
  type Mistake,
  type Prefix,
  parseAddress,
  parseAsn,
  parsePrefix,
  prefixMistake,
} from "@netfacts/address";
import {
  listLimitDefault,
  listLimitMax,
  nearestWord,
  type ProblemCode,
  ProblemError,
  type ProblemItem,
  parseAsOf,
  searchCharactersMax,
  searchText,
} from "@netfacts/contracts";
import { quoteValue } from "../edge/echo.ts";
import { wordList } from "../edge/word-list.ts";

interface Fault extends ProblemItem {
  /** The sentence of the problem where this is the only fault. */
  readonly detail: string;
}

/** Most unknown parameters that are reported: a URL has room for hundreds, and each is compared with every known one. */
const unknownMax = 16;

/** A parameter separates its words by commas; an item of a batch has a JSON list. */
type ListForm = "a comma-separated list" | "a list";

/** Parameters with several words. Each word may be in a parameter of its own, as many libraries and generated clients write lists. */
const listParameters: ReadonlySet<string> = new Set(["fields", "include"]);

/** Decoders put it in place of bytes that are not UTF-8. A caller may also have sent it. */
const replacement = "\ufffd";
const sentReplacement = /%ef%bf%bd/i;

/**
 * Takes the values of one question. Readers answer a placeholder where a value is faulty; `finish` refuses then, so no placeholder
 * leaves the edge.
 */
export class QuestionReader {
  readonly #path: Readonly<Record<string, string>>;
  readonly #query = new Map<string, string>();
  readonly #search: string;
  readonly #known: readonly string[];
  readonly #faults: Fault[] = [];
  readonly #listForm: ListForm;

  /**
   * @param path   decoded path parameters.
   * @param search raw query string, without `?`.
   * @param known  the query parameters of the route; any other is a fault, and so is a second one of a name that has no list.
   * @param listForm the form in which the caller wrote lists, for the text of a fault.
   */
  constructor(
    path: Readonly<Record<string, string>>,
    search: string,
    known: readonly string[],
    listForm: ListForm = "a comma-separated list",
  ) {
    this.#listForm = listForm;
    this.#path = path;
    this.#search = search;
    this.#known = known;
    // Most questions have none, and an empty reading costs as much as that of an address.
    if (search === "") return;
    const reported = new Set<string>();
    const repeated = new Set<string>();
    let unknown = 0;
    for (const [name, value] of new URLSearchParams(search)) {
      if (!this.#known.includes(name)) {
        if (!reported.has(name) && ++unknown <= unknownMax) this.#unknownParameter(name);
      } else if (reported.has(name) && listParameters.has(name)) {
        this.#query.set(name, `${this.#query.get(name)},${value}`);
      } else if (reported.has(name)) {
        if (repeated.has(name)) continue;
        repeated.add(name);
        const message = "appears more than once";
        this.#add(`query.${name}`, "invalid_parameter", message, null, `Parameter ${name} ${message}.`);
      } else {
        this.#query.set(name, value);
      }
      reported.add(name);
    }
  }

  ip(): Address {
    const text = this.#path.ip ?? "";
    const address = parseAddress(text);
    if (address !== null) return address;
    this.#unread("path.ip", "invalid_ip", text, "is not an IPv4 or IPv6 address", addressMistake(text));
    return noAddress;
  }

  pathAsn(): number {
    return this.#asn("path.asn", this.#path.asn ?? "");
  }

  /** The AS of a path that may name an AS or a prefix, and has no prefix. */
  pathChanged(): number {
    const text = this.#path.asn ?? "";
    const asn = parseAsn(text);
    if (asn !== null) return asn;
    const what = "is neither an AS number nor a prefix";
    const address = parseAddress(text);
    if (address === null) this.#unread("path.asn", "invalid_asn", text, what, asnMistake(text));
    else {
      const suggestion = `/api/v1/changes/${formatPrefix(hostPrefix(address))}`;
      this.#unread("path.asn", "invalid_asn", text, what, { reason: "it is an IP address; a prefix has a length", suggestion });
    }
    return 0;
  }

  queryAsn(name: string): number {
    const text = this.#required(name);
    return text === null ? 0 : this.#asn(`query.${name}`, text);
  }

  pathPrefix(): Prefix {
    const { network = "", length } = this.#path;
    return length === undefined
      ? this.#prefix("path.network", network)
      : this.#prefix("path.network", `${network}/${length}`, () => (parseAddress(network) === null ? "path.network" : "path.length"));
  }

  queryPrefix(name: string): Prefix {
    const text = this.#required(name);
    return text === null ? { ...noAddress, length: 0 } : this.#prefix(`query.${name}`, text);
  }

  /** The bound of lists: 1 to 1,000. */
  limit(): number {
    const text = this.#query.get("limit");
    if (text === undefined) return listLimitDefault;
    const value = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : listLimitMax + 1;
    if (value <= listLimitMax) return value;
    this.#invalid("limit", text, `must be a whole number from 1 to ${listLimitMax}`);
    return listLimitDefault;
  }

  /** One of some words; null when absent. */
  choice<const T extends string>(name: string, values: readonly T[]): T | null {
    const text = this.#query.get(name);
    if (text === undefined) return null;
    const value = values.find((candidate) => candidate === text);
    if (value !== undefined) return value;
    this.#invalid(name, text, `must be ${wordList(values, "or")}`, nearestWord(text, values));
    return null;
  }

  /** A list of some words, separated by commas, each at most once. */
  choices<const T extends string>(name: string, values: readonly T[]): ReadonlySet<T> {
    const text = this.#query.get(name);
    const chosen = new Set<T>();
    for (const part of text?.split(",") ?? []) {
      const value = values.find((candidate) => candidate === part);
      if (value === undefined || chosen.has(value)) {
        const meant = value === undefined ? nearestWord(part, values) : null;
        this.#invalid(name, text ?? "", `must be ${this.#listForm} of ${wordList(values, "and")}, each at most once`, meant);
        break;
      }
      chosen.add(value);
    }
    return chosen;
  }

  /** As `choices`, in the order of `values`; null when absent. */
  words(name: string, values: readonly string[]): readonly string[] | null {
    if (!this.#query.has(name)) return null;
    const chosen = this.choices(name, values);
    return values.filter((value) => chosen.has(value));
  }

  /** `true` or `false`. */
  flag(name: string, absent: boolean): boolean {
    return this.either(name) ?? absent;
  }

  /** `true` or `false`; null when absent. */
  either(name: string): boolean | null {
    const choice = this.choice(name, ["true", "false"]);
    return choice === null ? null : choice === "true";
  }

  /** A time of the past as Unix seconds (`parseAsOf`); null when absent. */
  pastTime(name: string, nowMs = Date.now()): number | null {
    const text = this.#query.get(name);
    if (text === undefined) return null;
    const time = parseAsOf(text, nowMs);
    if (typeof time === "number") return time;
    const must =
      time === "future" ? "must not be in the future" : "must be a time such as 2026-11-20T12:00:00Z, or a date such as 2026-11-20";
    this.#invalid(name, text, must);
    return null;
  }

  /** Text that a person typed, without the spaces around it. */
  searchText(name: string): string {
    const text = this.#required(name);
    if (text?.includes(replacement) && !sentReplacement.test(this.#search)) {
      // A search for it would find nothing, without a word.
      const detail = `Parameter ${name} must be percent-encoded UTF-8, such as %C3%BC for ü.`;
      this.#add(`query.${name}`, "invalid_parameter", "must be percent-encoded UTF-8", null, detail);
      return noText;
    }
    const read = text === null ? null : searchText(text);
    if (text === null || read !== null) return read ?? noText;
    const [message, detail] =
      text.trim() === ""
        ? ["must not be empty", `Parameter ${name} must not be empty.`]
        : [`must have at most ${searchCharactersMax} characters`, `Parameter ${name} must have at most ${searchCharactersMax} characters.`];
    this.#add(`query.${name}`, "invalid_parameter", message, null, detail);
    return noText;
  }

  /** As it stands; empty when absent. */
  text(name: string): string {
    return this.#query.get(name) ?? "";
  }

  /**
   * Call after the last value was read.
   *
   * @throws ProblemError that lists every fault; its code is that of the faults where they agree, else `invalid_parameter`.
   */
  finish(): void {
    const [first, ...others] = this.#faults;
    if (first === undefined) return;
    const code = others.every((fault) => fault.code === first.code) ? first.code : "invalid_parameter";
    const detail = others.length === 0 ? first.detail : `The request has ${others.length + 1} errors, listed in errors[].`;
    throw new ProblemError(code, { detail, errors: this.#faults.map(({ detail: _, ...item }) => item) });
  }

  #required(name: string): string | null {
    const text = this.#query.get(name);
    if (text !== undefined) return text;
    this.#add(`query.${name}`, "invalid_parameter", "is missing", null, `Parameter ${name} is missing.`);
    return null;
  }

  #asn(location: string, text: string): number {
    const asn = parseAsn(text);
    if (asn !== null) return asn;
    this.#unread(location, "invalid_asn", text, "is not an AS number", asnMistake(text));
    return 0;
  }

  /** @param unreadLocation  the place of a text that is no prefix, where it has another place than host bits. */
  #prefix(location: string, text: string, unreadLocation = () => location): Prefix {
    const reading = parsePrefix(text);
    if (reading.ok) return reading.prefix;
    if (reading.fault === "host-bits") {
      const detail = `${quoteValue(text)} has bits set beyond its length.`;
      this.#add(location, "prefix_has_host_bits", "host bits are set", formatPrefix(reading.corrected), detail);
    } else {
      this.#unread(unreadLocation(), "invalid_prefix", text, "is not an IPv4 or IPv6 prefix", prefixMistake(text));
    }
    return { ...noAddress, length: 0 };
  }

  #unread(location: string, code: ProblemCode, text: string, what: string, { reason, suggestion, kind }: Mistake): void {
    const message = reason === null ? what : `${what}: ${reason}`;
    const detail = `"${quoteValue(text)}" ${message}.`;
    if (kind === undefined) this.#add(location, code, message, suggestion, detail);
    // A parameter beside others cannot be replaced by the path of a route.
    else this.#add(location, code, message, location.startsWith("path.") ? `${routeOf[kind]}/${suggestion}` : null, detail);
  }

  #unknownParameter(name: string): void {
    const takes = this.#known.length === 0 ? "this route has no parameters" : `this route accepts ${wordList(this.#known, "and")}`;
    const quoted = quoteValue(name);
    const meant = nearestWord(name, this.#known);
    this.#add(`query.${quoted}`, "invalid_parameter", `is unknown; ${takes}`, meant, `Parameter "${quoted}" is unknown; ${takes}.`);
  }

  #invalid(name: string, text: string, takes: string, meant: string | null = null): void {
    this.#add(`query.${name}`, "invalid_parameter", takes, meant, `Parameter ${name} ${takes}, not "${quoteValue(text)}".`);
  }

  #add(location: string, code: ProblemCode, message: string, suggestion: string | null, detail: string): void {
    this.#faults.push({ location, code, message, ...(suggestion === null ? {} : { suggestion }), detail });
  }
}

/** Where a text of another kind than expected can be asked for. */
const routeOf: Readonly<Record<NonNullable<Mistake["kind"]>, string>> = {
  address: "/api/v1/ip",
  prefix: "/api/v1/prefix",
  asn: "/api/v1/asn",
};

/** They stand for a value that could not be read until `finish` refuses. */
const noText = "-";
const noAddress: Address = { version: 4, w0: 0, w1: 0, w2: 0, w3: 0 };
